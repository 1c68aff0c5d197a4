/* Requests to XDMA's DMA channels, with the values of Xilinx/dma_ip_drivers (XDMA/linux-kernel/xdma/cdev_sgdma.h). */
#ifndef RCW_CDEV_SGDMA_H
#define RCW_CDEV_SGDMA_H
#include <stdint.h>
#include <sys/ioctl.h>

#define IOCTL_XDMA_PERF_V1 (1)
#define XDMA_ADDRMODE_MEMORY (0)
#define XDMA_ADDRMODE_FIXED (1)

struct xdma_performance_ioctl {
    uint32_t version;
    uint32_t transfer_size;
    uint32_t stopped;
    uint32_t iterations;
    uint64_t clock_cycle_count;
    uint64_t data_cycle_count;
    uint64_t pending_count;
};

#define IOCTL_XDMA_PERF_START _IOW('q', 1, struct xdma_performance_ioctl *)
#define IOCTL_XDMA_PERF_STOP _IOW('q', 2, struct xdma_performance_ioctl *)
#define IOCTL_XDMA_PERF_GET _IOR('q', 3, struct xdma_performance_ioctl *)
#define IOCTL_XDMA_ADDRMODE_SET _IOW('q', 4, int)
#define IOCTL_XDMA_ADDRMODE_GET _IOR('q', 5, int)
#define IOCTL_XDMA_ALIGN_GET _IOR('q', 6, int)
#endif
