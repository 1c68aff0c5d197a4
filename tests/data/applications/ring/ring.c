/* Starts both FPGAs with WORDS words, and waits for one. */
#include "fpga.h"

int main(void)
{
    #pragma recap openLeft overhead(initialize)
    fpga_t *left = fpgaOpen(0);
    #pragma recap openRight overhead(initialize)
    fpga_t *right = fpgaOpen(1);
    #pragma recap startLeft send(ctrl, node.core, n)
    fpgaWriteReg(left, 0x800, WORDS);
    #pragma recap startRight send(ctrl, node.core, n)
    fpgaWriteReg(right, 0x800, WORDS);
    #pragma recap waitDone overhead(late_sender)
    fpgaWaitIrq(right);
    #pragma recap closeLeft overhead(finalize)
    fpgaClose(left);
    #pragma recap closeRight overhead(finalize)
    fpgaClose(right);
    return 0;
}
