/* As registers.c in two transfers: the FPGA works on words as they come, and all results are read together. */
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
    #pragma recap get recv(data, unit_top.worker, y)
    fpgaRead(fpga, words, 0, ROUNDS * WORDS);
    for (int i = 0; i < ROUNDS * WORDS; i++)
        total = total * 31 + words[i];
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
