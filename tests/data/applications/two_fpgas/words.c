/* Has one FPGA send WORDS words to another, which adds them up. */
#include <stdio.h>

#include "fpga.h"

int main(void)
{
    #pragma recap openLeft overhead(initialize)
    fpga_t *left = fpgaOpen(0);
    #pragma recap openRight overhead(initialize)
    fpga_t *right = fpgaOpen(1);
    #pragma recap expect send(ctrl, receiver.take, wanted)
    fpgaWriteReg(right, 0x800, WORDS);
    #pragma recap start send(ctrl, sender.send, n)
    fpgaWriteReg(left, 0x800, WORDS);
    #pragma recap waitSum wait_recv(late_sender, receiver.take, words)
    fpgaWaitIrq(right);
    #pragma recap readSum recv(ctrl, receiver.take, words)
    printf("%u\n", (unsigned)fpgaReadReg(right, 0x801));
    #pragma recap closeLeft overhead(finalize)
    fpgaClose(left);
    #pragma recap closeRight overhead(finalize)
    fpgaClose(right);
    return 0;
}
