/* Zephyr-K accelerator: kernel driver interface and user library. */
#ifndef ZK_IOCTL_H
#define ZK_IOCTL_H
#include <stdint.h>
#include <stddef.h>
#include <sys/ioctl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZK_MAGIC 'z'

struct zk_xfer {
    uint32_t offset;   /* byte offset in the accelerator's window */
    uint32_t length;   /* bytes */
    void    *buffer;
};

#define ZK_IOC_RESET  _IO(ZK_MAGIC, 0)
#define ZK_IOC_WRITE  _IOW(ZK_MAGIC, 1, struct zk_xfer)
#define ZK_IOC_READ   _IOWR(ZK_MAGIC, 2, struct zk_xfer)
#define ZK_IOC_WAIT   _IO(ZK_MAGIC, 3)

/* Opens /dev/zkN. Returns a file descriptor or -1. */
int zk_open(unsigned int minor);
int zk_close(int fd);

/* Thin wrapper around ioctl(2). */
int zk_ioctl(int fd, unsigned long request, void *argument);

/* Maps the register window; MAP_FAILED on error. */
volatile uint32_t *zk_map(int fd, size_t length);
int zk_unmap(volatile uint32_t *window, size_t length);

/* Block helpers, built on ZK_IOC_WRITE and ZK_IOC_READ. */
int zk_write_block(int fd, uint32_t offset, const void *buffer, uint32_t length);
int zk_read_block(int fd, uint32_t offset, void *buffer, uint32_t length);

#ifdef __cplusplus
}
#endif
#endif
