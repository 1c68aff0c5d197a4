/* The two stages of pair.v: MAKE cycles for the first, ADD for the second. */
#include <stdint.h>
#include <stdio.h>

#include "fpga.h"

int main(void)
{
    uint32_t total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.maker, pace)
    fpgaWriteReg(fpga, 0x401, (uint32_t)MAKE << 16 | ADD);
    for (int round = 0; round < ROUNDS; round++) {
        #pragma recap begin send(ctrl, unit_top.maker, go)
        fpgaWriteReg(fpga, 0x400, 64);
        #pragma recap poll wait_recv(late_sender, unit_top.adder, d)
        while (!fpgaReadReg(fpga, 0x501))
            ;
        #pragma recap get recv(data, unit_top.adder, y)
        total = total * 31 + fpgaReadReg(fpga, 0x502);
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
