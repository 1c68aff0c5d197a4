#include <stdio.h>
#include <fpga.h>

int main(void)
{
    fpga_t *fpga = fpgaOpen(0);
    for (int n = 1; n <= ROUNDS; n++) {
        if (n == 2 && BROKEN)
            fpgaWriteReg(fpga, 3, BROKEN);
        fpgaWriteReg(fpga, 0, 20 * n);
        while (fpgaReadReg(fpga, 1))
            ;
        printf("%u\n", fpgaReadReg(fpga, 0));
    }
    printf("%u\n", fpgaReadReg(fpga, 2));
    fpgaClose(fpga);
    return 0;
}
