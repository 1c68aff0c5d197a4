/* The AWS FPGA SDK's helpers for DMA: prototypes of aws/aws-fpga. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fpga_dma_driver { FPGA_DMA_EDMA, FPGA_DMA_XDMA };

int fpga_dma_open_queue(enum fpga_dma_driver which_driver, int slot_id, int channel, bool is_read);
int fpga_dma_burst_read(int fd, uint8_t *buffer, size_t xfer_sz, size_t address);
int fpga_dma_burst_write(int fd, uint8_t *buffer, size_t xfer_sz, size_t address);

#ifdef __cplusplus
}
#endif
