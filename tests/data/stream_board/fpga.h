/* The vendor's header: words go into a stream, and come out of one. */
#ifndef FPGA_H
#define FPGA_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fpga fpga_t;

fpga_t *fpgaOpen(int card);
int fpgaSend(fpga_t *fpga, const uint16_t *data, int words);
int fpgaReceive(fpga_t *fpga, uint16_t *data, int words);
void fpgaClose(fpga_t *fpga);

#ifdef __cplusplus
}
#endif
#endif
