/* LitePCIe's driver, as far as it is served on the simulated card: values of enjoy-digital/litepcie (software/kernel). */
#ifndef RCW_LITEPCIE_H
#define RCW_LITEPCIE_H
#include <stdint.h>
#include <sys/ioctl.h>

#define DMA_BUFFER_COUNT 256
#define DMA_BUFFER_SIZE 8192
#define DMA_BUFFER_TOTAL_SIZE (DMA_BUFFER_COUNT * DMA_BUFFER_SIZE)

struct litepcie_ioctl_reg {
    uint32_t addr;
    uint32_t val;
    uint8_t is_write;
};

struct litepcie_ioctl_dma {
    uint8_t loopback_enable;
};

struct litepcie_ioctl_dma_writer {
    uint8_t enable;
    int64_t hw_count;
    int64_t sw_count;
};

struct litepcie_ioctl_dma_reader {
    uint8_t enable;
    int64_t hw_count;
    int64_t sw_count;
};

struct litepcie_ioctl_lock {
    uint8_t dma_reader_request;
    uint8_t dma_writer_request;
    uint8_t dma_reader_release;
    uint8_t dma_writer_release;
    uint8_t dma_reader_status;
    uint8_t dma_writer_status;
};

struct litepcie_ioctl_mmap_dma_info {
    uint64_t dma_tx_buf_offset;
    uint64_t dma_tx_buf_size;
    uint64_t dma_tx_buf_count;
    uint64_t dma_rx_buf_offset;
    uint64_t dma_rx_buf_size;
    uint64_t dma_rx_buf_count;
};

struct litepcie_ioctl_mmap_dma_update {
    int64_t sw_count;
};

#define LITEPCIE_IOCTL 'S'
#define LITEPCIE_IOCTL_REG _IOWR(LITEPCIE_IOCTL, 0, struct litepcie_ioctl_reg)
#define LITEPCIE_IOCTL_DMA _IOW(LITEPCIE_IOCTL, 20, struct litepcie_ioctl_dma)
#define LITEPCIE_IOCTL_DMA_WRITER _IOWR(LITEPCIE_IOCTL, 21, struct litepcie_ioctl_dma_writer)
#define LITEPCIE_IOCTL_DMA_READER _IOWR(LITEPCIE_IOCTL, 22, struct litepcie_ioctl_dma_reader)
#define LITEPCIE_IOCTL_LOCK _IOWR(LITEPCIE_IOCTL, 25, struct litepcie_ioctl_lock)
#endif
