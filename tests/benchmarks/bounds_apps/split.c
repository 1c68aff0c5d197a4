/* As big.c in 32 calls of 128 KiB. */
#include <stdint.h>
#include <stdio.h>

#include "fpga.h"

static uint32_t words[1 << 20];

int main(void)
{
    fpga_t *fpga = fpgaOpen(0);
    for (int i = 0; i < 1 << 20; i += 1024)
        words[i] = (uint32_t)i;
    for (int i = 0; i < 1 << 20; i += 1 << 15) {
        #pragma recap put send(data, unit_top.worker, x)
        fpgaWrite(fpga, words + i, (uint32_t)i, 1 << 15);
    }
    #pragma recap get recv(data, unit_top.worker, y)
    printf("%u\n", fpgaReadReg(fpga, 0x300000));
    fpgaClose(fpga);
    return 0;
}
