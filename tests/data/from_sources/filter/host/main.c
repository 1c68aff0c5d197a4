#include <stdio.h>
#include "fpga.h"
#include "samples.h"
int main(void) {
    fpga_t *fpga = fpgaOpen(0);
    for (int i = 0; i < COUNT; i++) fpgaWriteReg(fpga, 0x10, sample_at(i));
    printf("%u\n", fpgaReadReg(fpga, 0x11));
    fpgaClose(fpga);
    return 0;
}
