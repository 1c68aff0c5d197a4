/* Every call of the Nallatech template: words are written, added up and read. */
#include <stdio.h>

#include "fpga.h"

enum { DATA = 0x000, COUNT = 0x200, START = 0x201, SUM = 0x202, WORDS = 64 };

static uint32_t added(fpga_t *fpga, uint32_t count)
{
    if (fpgaWriteReg(fpga, COUNT, count) || fpgaWriteReg(fpga, START, 1) || fpgaWaitIrq(fpga))
        return 0;
    return fpgaReadReg(fpga, SUM);
}

int main(void)
{
    uint32_t words[WORDS], back[WORDS];
    fpga_t *fpga = fpgaOpen(0);
    if (!fpga || fpgaConfigure(fpga, "sum.bit"))
        return 1;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i;
    if (fpgaWrite(fpga, words, DATA, WORDS))
        return 2;
    for (uint32_t count = 16; count <= WORDS; count += 16)
        printf("%u: %u\n", count, added(fpga, count));
    for (int part = 0; part < 4; part++)
        if (fpgaRead(fpga, back + part * WORDS / 4, DATA + (uint32_t)part * WORDS / 4, WORDS / 4))
            return 3;
    for (int part = 0; part < 2; part++)
        if (fpgaWriteAsync(fpga, back + part * WORDS / 2, DATA, WORDS / 2))
            return 4;
    fpgaWait(fpga);
    printf("again %u\n", added(fpga, WORDS / 2));
    fpgaClose(fpga);
    return 0;
}
