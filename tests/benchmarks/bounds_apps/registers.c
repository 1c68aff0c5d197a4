/* A cipher's way: four words in registers, a start, a poll, four words back, and that for every four words. */
#include "common.h"

int main(void)
{
    uint32_t words[WORDS], total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.worker, pace)
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    for (int round = 0; round < ROUNDS; round++) {
        prepare(words, round);
        for (int i = 0; i < WORDS; i += 4) {
            for (int k = 0; k < 4; k++) {
                #pragma recap put send(data, unit_top.worker, x)
                fpgaWriteReg(fpga, (uint32_t)k, words[i + k]);
            }
            #pragma recap begin send(ctrl, unit_top.worker, go)
            fpgaWriteReg(fpga, COMMAND, command(0, 4));
            #pragma recap poll wait_recv(late_sender, unit_top.worker, d)
            while (!fpgaReadReg(fpga, DONE))
                ;
            for (int k = 0; k < 4; k++) {
                #pragma recap get recv(data, unit_top.worker, y)
                total = total * 31 + fpgaReadReg(fpga, (uint32_t)k);
            }
        }
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
