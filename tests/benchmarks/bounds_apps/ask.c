/* A command of 64 words, polled for, its sum read: nothing is written beside. */
#include "common.h"

int main(void)
{
    uint32_t words[WORDS], total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.port, pace)
    fpgaWriteReg(fpga, PACE, CYCLES);
    for (int round = 0; round < ROUNDS; round++) {
        prepare(words, round);
        #pragma recap begin send(ctrl, unit_top.port, go)
        fpgaWriteReg(fpga, COMMAND, command(0, WORDS));
        #pragma recap poll wait_recv(late_sender, unit_top.port, d)
        while (!fpgaReadReg(fpga, DONE))
            ;
        #pragma recap get recv(data, unit_top.port, y)
        total = total * 31 + fpgaReadReg(fpga, SUM);
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
