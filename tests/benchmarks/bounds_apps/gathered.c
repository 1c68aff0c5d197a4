/* Any number of cores, and one register that tells of all. */
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
        for (int k = 0; k < CORES; k++) {
            #pragma recap begin send(ctrl, unit.worker, go)
            fpgaWriteReg(fpga, (uint32_t)(0x410 + k), command(k * WORDS / CORES, WORDS / CORES));
        }
        #pragma recap poll wait_recv(late_sender, unit.worker, d)
        while (!fpgaReadReg(fpga, DONE))
            ;
        #pragma recap get recv(data, unit.worker, y)
        total = total * 31 + fpgaReadReg(fpga, SUM);
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
