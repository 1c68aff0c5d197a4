#include <stdint.h>
#include <stdio.h>

#include "fpga.h"

enum { MEMORY = 0x000, CONTROL = 0x800, STOPPED = 0x801, RESULT = 0x480 / 4 };

/* Fills an array, and sums it up in a way that needs shifts of every length. */
static const uint32_t program[] = {
    0x40000093, /* addi x1, x0, 0x400   # the array */
    0x00000113, /* addi x2, x0, 0 */
    0x01000293, /* addi x5, x0, 16 */
    0x00311193, /* fill: slli x3, x2, 3 */
    0x0021c1b3, /* xor  x3, x3, x2 */
    0x0030a023, /* sw   x3, 0(x1) */
    0x00408093, /* addi x1, x1, 4 */
    0x00110113, /* addi x2, x2, 1 */
    0xfe5146e3, /* blt  x2, x5, fill */
    0x40000093, /* addi x1, x0, 0x400 */
    0x00000113, /* addi x2, x0, 0 */
    0x00000213, /* addi x4, x0, 0 */
    0x0000a183, /* add:  lw   x3, 0(x1) */
    0x00320233, /* add  x4, x4, x3 */
    0x00225333, /* srl  x6, x4, x2 */
    0x00624233, /* xor  x4, x4, x6 */
    0x00408093, /* addi x1, x1, 4 */
    0x00110113, /* addi x2, x2, 1 */
    0xfe5144e3, /* blt  x2, x5, add */
    0x48402023, /* sw   x4, 0x480(x0) */
    0x00100073, /* ebreak */
};

int main(void)
{
    fpga_t *fpga = fpgaOpen(0);

    fpgaWriteReg(fpga, CONTROL, 0);
    fpgaWrite(fpga, program, MEMORY, sizeof program / sizeof *program);
    fpgaWriteReg(fpga, CONTROL, 1);
    while (!fpgaReadReg(fpga, STOPPED))
        ;
    printf("%u\n", fpgaReadReg(fpga, MEMORY + RESULT));
    fpgaClose(fpga);
    return 0;
}
