/* Has the card add up the numbers from 1 to n, one a cycle of its fast clock. */
#include <stdio.h>

#include "fpga.h"

int main(void)
{
    static const uint32_t upto[] = {1000, 100, 37};
    #pragma recap openCard overhead(initialize)
    fpga_t *fpga = fpgaOpen(0);
    if (!fpga)
        return 1;
    for (int i = 0; i < 3; i++) {
        #pragma recap start send(ctrl, two_clocks.worker, n)
        fpgaWriteReg(fpga, 0, upto[i]);
        #pragma recap waitSum wait_recv(late_sender, two_clocks.worker, sum)
        fpgaWaitIrq(fpga);
        #pragma recap readSum recv(ctrl, two_clocks.worker, sum)
        printf("%u\n", fpgaReadReg(fpga, 0));
    }
    #pragma recap closeCard overhead(finalize)
    fpgaClose(fpga);
    return 0;
}
