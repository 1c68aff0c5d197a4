/* Two cores, each begun and asked on its own. */
#include "common.h"

int main(void)
{
    uint32_t words[WORDS], total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit.worker, pace)
    fpgaWriteReg(fpga, PACE, CYCLES);
    for (int round = 0; round < ROUNDS; round++) {
        prepare(words, round);
        #pragma recap put send(data, unit.worker, x)
        fpgaWrite(fpga, words, 0, WORDS);
        for (int k = 0; k < 2; k++) {
            #pragma recap begin send(ctrl, unit.worker, go)
            fpgaWriteReg(fpga, (uint32_t)(0x410 + k), command(k * WORDS / 2, WORDS / 2));
        }
        #pragma recap poll0 wait_recv(late_sender, unit.worker, d)
        while (!fpgaReadReg(fpga, 0x510))
            ;
        #pragma recap poll1 wait_recv(late_sender, unit.worker, d)
        while (!fpgaReadReg(fpga, 0x511))
            ;
        #pragma recap get recv(data, unit.worker, y)
        total = total * 31 + fpgaReadReg(fpga, SUM);
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
