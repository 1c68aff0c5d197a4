/* As registers.c, but four words are moved in one call; starts and polls stay. */
#include "common.h"

int main(void)
{
    uint32_t words[WORDS], back[4], total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.worker, pace)
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    for (int round = 0; round < ROUNDS; round++) {
        prepare(words, round);
        for (int i = 0; i < WORDS; i += 4) {
            #pragma recap put send(data, unit_top.worker, x)
            fpgaWrite(fpga, words + i, 0, 4);
            #pragma recap begin send(ctrl, unit_top.worker, go)
            fpgaWriteReg(fpga, COMMAND, command(0, 4));
            #pragma recap poll wait_recv(late_sender, unit_top.worker, d)
            while (!fpgaReadReg(fpga, DONE))
                ;
            #pragma recap get recv(data, unit_top.worker, y)
            fpgaRead(fpga, back, 0, 4);
            for (int k = 0; k < 4; k++)
                total = total * 31 + back[k];
        }
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
