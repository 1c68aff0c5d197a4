/* As small.c, but all batches are written in one call before the first is begun. */
#include "common.h"

int main(void)
{
    static uint32_t words[ROUNDS * WORDS];
    uint32_t total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.worker, pace)
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    for (int round = 0; round < ROUNDS; round++)
        prepare(words + round * WORDS, round);
    #pragma recap put send(data, unit_top.worker, x)
    fpgaWrite(fpga, words, 0, ROUNDS * WORDS);
    for (int round = 0; round < ROUNDS; round++) {
        #pragma recap begin send(ctrl, unit_top.worker, go)
        fpgaWriteReg(fpga, COMMAND, command(round * WORDS, WORDS));
        #pragma recap poll wait_recv(late_sender, unit_top.worker, d)
        while (!fpgaReadReg(fpga, DONE))
            ;
        #pragma recap get recv(data, unit_top.worker, y)
        total = total * 31 + fpgaReadReg(fpga, SUM);
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
