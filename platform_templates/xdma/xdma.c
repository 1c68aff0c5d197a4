/* XDMA's character devices on the simulated card: xdmaN is card N. DMA channels go through the ports of the tables `write` and `read`,
 * the user registers through those of `write_reg` and `read_reg`; an event is the card's interrupt. */
#include <errno.h>
#include <stdio.h>

#include "cdev_sgdma.h"
#include "wbcard.h"

static void *open_channel(const char *path, int flags)
{
    int number;
    (void)flags;
    errno = ENOENT;
    return sscanf(path, "/dev/xdma%d_", &number) == 1 && number < wbcard_count() ? wbcard_open(number) : NULL;
}

static void close_channel(void *file) { wbcard_close(file); }

static ssize_t refused(void)
{
    errno = EIO;
    return -1;
}

static ssize_t write_memory(void *file, const void *from, size_t bytes, off_t at)
{
    return wbcard_send(file, "write", from, at, (int64_t)bytes) ? refused() : (ssize_t)bytes;
}

static ssize_t read_memory(void *file, void *to, size_t bytes, off_t at)
{
    return wbcard_receive(file, "read", to, at, (int64_t)bytes) ? refused() : (ssize_t)wbcard_got();
}

/* As the driver does, a register at a time. */
static ssize_t write_register(void *file, const void *from, size_t bytes, off_t at)
{
    return bytes < 4 || wbcard_send(file, "write_reg", from, at, 4) ? refused() : 4;
}

static ssize_t read_register(void *file, void *to, size_t bytes, off_t at)
{
    return bytes < 4 || wbcard_receive(file, "read_reg", to, at, 4) ? refused() : 4;
}

static void *map_registers(void *file, size_t bytes, off_t at)
{
    return wbcard_map(file, "write_reg", "read_reg", at, 1, (int64_t)bytes);
}

static ssize_t read_event(void *file, void *to, size_t bytes, off_t at)
{
    (void)at;
    if (bytes != 4 || wbcard_wait_irq(file))
        return refused();
    *(uint32_t *)to = 1;
    return 4;
}

static int request_channel(void *file, unsigned long request, void *argument)
{
    int *value = argument;
    (void)file;
    if (request == IOCTL_XDMA_ADDRMODE_SET && *value == XDMA_ADDRMODE_MEMORY)
        return 0;
    if (request == IOCTL_XDMA_ADDRMODE_GET || request == IOCTL_XDMA_ALIGN_GET) {
        *value = request == IOCTL_XDMA_ALIGN_GET ? 1 : XDMA_ADDRMODE_MEMORY;
        return 0;
    }
    rcw_note("XDMA: fixed addresses and performance counters of a channel are not there on the simulated card");
    errno = ENOTTY;
    return -1;
}

const wbcard_file wbcard_files[] = {
    {"/dev/xdma*_h2c_*", open_channel, NULL, write_memory, request_channel, NULL, close_channel},
    {"/dev/xdma*_c2h_*", open_channel, read_memory, NULL, request_channel, NULL, close_channel},
    {"/dev/xdma*_user", open_channel, read_register, write_register, NULL, map_registers, close_channel},
    {"/dev/xdma*_events_*", open_channel, read_event, NULL, NULL, NULL, close_channel},
    {0},
};
