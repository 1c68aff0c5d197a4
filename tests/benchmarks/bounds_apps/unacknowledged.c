/* As acknowledged.c, with one wait at the end. */
#include "common.h"

int main(void)
{
    uint32_t words[ROUNDS][WORDS];
    fpga_t *fpga = fpgaOpen(0);
    for (int round = 0; round < ROUNDS; round++) {
        prepare(words[round], round);
        #pragma recap put send(data, unit_top.worker, x)
        fpgaWriteAsync(fpga, words[round], 0, WORDS);
    }
    #pragma recap sent wait_send(ack, unit_top.worker, x)
    fpgaWait(fpga);
    #pragma recap begin send(ctrl, unit_top.worker, go)
    fpgaWriteReg(fpga, COMMAND, command(0, WORDS));
    #pragma recap get recv(data, unit_top.worker, y)
    fpgaRead(fpga, words[0], 0, WORDS);
    printf("%u\n", words[0][WORDS - 1]);
    fpgaClose(fpga);
    return 0;
}
