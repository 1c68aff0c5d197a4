/* The vendor's header, as it comes with the board. */
#ifndef FPGA_H
#define FPGA_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fpga fpga_t;

fpga_t *fpgaOpen(int card);
int fpgaConfigure(fpga_t *fpga, const char *bitfile);
int fpgaWrite(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words);
int fpgaRead(fpga_t *fpga, uint32_t *data, uint32_t addr, int words);
int fpgaWriteReg(fpga_t *fpga, uint32_t addr, uint32_t value);
uint32_t fpgaReadReg(fpga_t *fpga, uint32_t addr);
int fpgaWriteAsync(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words);
int fpgaWait(fpga_t *fpga);
int fpgaWaitIrq(fpga_t *fpga);
void fpgaClose(fpga_t *fpga);

#ifdef __cplusplus
}
#endif
#endif
