#include <stdio.h>
#include "fpga.h"
int main(void)
{
    fpga_t *f = fpgaOpen(0);
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < 8; i++) fpgaWriteReg(f, 0x10 + i, i + r);
        fpgaWriteReg(f, 8, 1);
        while (!(fpgaReadReg(f, 9) & 1)) ;
        printf("%08x\n", fpgaReadReg(f, 0x80));
    }
    fpgaClose(f);
    return 0;
}
