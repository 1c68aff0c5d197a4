/* As control.c, but all that is sent in a round goes in one call: data, pace twice, command. */
#include "common.h"

enum { FIRST = COMMAND - 2 - WORDS };

int main(void)
{
    uint32_t words[WORDS + 3], total = 0;
    fpga_t *fpga = fpgaOpen(0);
    for (int round = 0; round < ROUNDS; round++) {
        words[WORDS] = pace(CLEAR, 1);
        words[WORDS + 1] = pace(CLEAR, CYCLES);
        prepare(words, round);
        words[WORDS + 2] = command(FIRST, WORDS);
        #pragma recap put send(data, unit_top.worker, x)
        fpgaWrite(fpga, words, FIRST, WORDS + 3);
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
