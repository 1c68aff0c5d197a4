/* The API of a board with one FPGA. */
#ifndef KX_H
#define KX_H
#include <stdint.h>

typedef struct kx kx;

kx *kx_open(int number);
void kx_wr32(kx *k, uint32_t a, uint32_t x);
uint32_t kx_rd32(kx *k, uint32_t a);
int kx_wr_block(kx *k, uint32_t a, const uint32_t *src, uint32_t number);
void kx_close(kx *k);
#endif
