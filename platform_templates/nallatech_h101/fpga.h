/* Host API of a Nallatech-like PCI-X card, as in Fig. 4 of the ReCAP paper: one 32-bit port of word addresses.
 * Functions that return int return 0, or -1 on a wrong argument. */
#ifndef FPGA_H
#define FPGA_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fpga fpga_t;

/* Open card number `card` (from 0); NULL if there is none. */
fpga_t *fpgaOpen(int card);

/* Load a bitstream. Before the first transfer only. */
int fpgaConfigure(fpga_t *fpga, const char *bitfile);

/* Move `words` 32-bit words to or from consecutive word addresses; returns when they are there. */
int fpgaWrite(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words);
int fpgaRead(fpga_t *fpga, uint32_t *data, uint32_t addr, int words);

/* One word: a register. */
int fpgaWriteReg(fpga_t *fpga, uint32_t addr, uint32_t value);
uint32_t fpgaReadReg(fpga_t *fpga, uint32_t addr);

/* Begin a write and return at once; fpgaWait returns when all of them are done. */
int fpgaWriteAsync(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words);
int fpgaWait(fpga_t *fpga);

/* Wait until the FPGA's interrupt is high. */
int fpgaWaitIrq(fpga_t *fpga);

void fpgaClose(fpga_t *fpga);

#ifdef __cplusplus
}
#endif
#endif
