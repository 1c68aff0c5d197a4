/* As control.c, but the command goes along with the data: the word after them. */
#include "common.h"

int main(void)
{
    uint32_t words[WORDS + 1], total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.worker, pace)
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    words[WORDS] = command(COMMAND - WORDS, WORDS);
    for (int round = 0; round < ROUNDS; round++) {
        prepare(words, round);
        #pragma recap put send(data, unit_top.worker, x)
        fpgaWrite(fpga, words, COMMAND - WORDS, WORDS + 1);
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
