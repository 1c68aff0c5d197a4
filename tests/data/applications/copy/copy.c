/* Fills memory on the card, has the card copy it, and compares the copy. */
#include <stdio.h>

#include "fpga.h"

enum { START = 0x00, FROM = 0x04, TO = 0x08, LENGTH = 0x0c, HERE = 0x0000, THERE = 0x2000 };

int main(void)
{
    uint32_t data[WORDS], copy[WORDS], wrong = 0;
    #pragma recap openCard overhead(initialize)
    fpga_t *fpga = fpgaOpen(0);
    if (!fpga)
        return 1;
    for (uint32_t i = 0; i < WORDS; i++)
        data[i] = i * 2654435761u;
    #pragma recap fill send(data, $MEM, f1)
    fpgaWrite(fpga, data, HERE, WORDS);
    #pragma recap setFrom send(ctrl, copy_engine.mover, s1)
    fpgaWriteReg(fpga, FROM, HERE);
    #pragma recap setTo send(ctrl, copy_engine.mover, s1)
    fpgaWriteReg(fpga, TO, THERE);
    #pragma recap setLength send(ctrl, copy_engine.mover, s1)
    fpgaWriteReg(fpga, LENGTH, WORDS);
    #pragma recap start send(ctrl, copy_engine.mover, s1)
    fpgaWriteReg(fpga, START, 1);
    #pragma recap waitDone wait_recv(late_sender, copy_engine.mover, i1)
    fpgaWaitIrq(fpga);
    #pragma recap readCopy recv(data, $MEM, c1)
    fpgaRead(fpga, copy, THERE, WORDS);
    for (int i = 0; i < WORDS; i++)
        wrong += copy[i] != data[i];
    printf("%u wrong\n", wrong);
    #pragma recap closeCard overhead(finalize)
    fpgaClose(fpga);
    return 0;
}
