/* The vendor's header. */
#ifndef FPGA_H
#define FPGA_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fpga fpga_t;

fpga_t *fpgaOpen(int card);
int fpgaWrite(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words);
int fpgaRead(fpga_t *fpga, uint32_t *data, uint32_t addr, int words);
int fpgaWaitIrq(fpga_t *fpga);
void fpgaClose(fpga_t *fpga);

#ifdef __cplusplus
}
#endif
#endif
