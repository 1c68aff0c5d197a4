/* Polls with a pause between two. */
#include <unistd.h>
#include "common.h"
int main(void)
{
    uint32_t words[WORDS], total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.worker, pace)
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    for (int round = 0; round < ROUNDS; round++) {
        prepare(words, round);
        #pragma recap put send(data, unit_top.worker, x)
        fpgaWrite(fpga, words, 0, WORDS);
        #pragma recap begin send(ctrl, unit_top.worker, go)
        fpgaWriteReg(fpga, COMMAND, command(0, WORDS));
        #pragma recap poll wait_recv(late_sender, unit_top.worker, d)
        while (!fpgaReadReg(fpga, DONE))
            usleep(PAUSE);
        #pragma recap get recv(data, unit_top.worker, y)
        total = total * 31 + fpgaReadReg(fpga, SUM);
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
