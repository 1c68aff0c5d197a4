/* As double.c, but the FPGA calls when it is done. */
#include "common.h"

int main(void)
{
    uint32_t words[WORDS], total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.worker, pace)
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    prepare(words, 0);
    #pragma recap first send(data, unit_top.worker, x)
    fpgaWrite(fpga, words, 0, WORDS);
    for (int round = 0; round < ROUNDS; round++) {
        #pragma recap begin send(ctrl, unit_top.worker, go)
        fpgaWriteReg(fpga, COMMAND, command(round % 2 * WORDS, WORDS));
        if (round + 1 < ROUNDS) {
            prepare(words, round + 1);
            #pragma recap put send(data, unit_top.worker, x)
            fpgaWrite(fpga, words, (uint32_t)((round + 1) % 2 * WORDS), WORDS);
        }
        #pragma recap called wait_recv(late_sender, unit_top.worker, d)
        fpgaWaitIrq(fpga);
        #pragma recap get recv(data, unit_top.worker, y)
        total = total * 31 + fpgaReadReg(fpga, SUM);
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
