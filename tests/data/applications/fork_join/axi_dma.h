/* A card's streams and registers, as its vendor offers them. */
#ifndef AXI_DMA_H
#define AXI_DMA_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct axi_dma axi_dma;

int axi_dma_open(int card, axi_dma **dma);                             /* 0, or -1 */
ssize_t axi_dma_send(axi_dma *dma, const void *from, size_t bytes);    /* how many went, or -1 */
ssize_t axi_dma_receive(axi_dma *dma, void *to, size_t bytes);         /* how many came, or -1 */
int axi_dma_register(axi_dma *dma, uint32_t offset, uint32_t value);   /* 0, or -1 */
void axi_dma_close(axi_dma *dma);
#endif
