/* LitePCIe on the simulated card: its driver's files, litepcieN being card N, and the library on them. Registers go through the ports
 * of the tables `write_reg` and `read_reg`, DMA through the streams of `write` and `read`. A design is taken to give back as much as
 * it is given: so much is received, whenever the program looks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "liblitepcie.h"
#include "wbcard.h"

typedef struct {
    wbcard_t *card;
    int64_t sent, received; /* bytes */
    int locked_reader, locked_writer;
} device;

/* ---- the driver ---- */

static void *open_device(const char *path, int flags)
{
    int number;
    device *made = calloc(1, sizeof *made);
    int known = made && sscanf(path, "/dev/litepcie%d", &number) == 1 && number < wbcard_count();
    (void)flags;
    if (known && (made->card = wbcard_open(number)))
        return made;
    free(made);
    errno = ENOENT;
    return NULL;
}

static void close_device(void *file)
{
    wbcard_close(((device *)file)->card);
    free(file);
}

static ssize_t moved(int failed, size_t bytes)
{
    errno = EIO;
    return failed ? -1 : (ssize_t)bytes;
}

static ssize_t write_stream(void *file, const void *from, size_t bytes, off_t at)
{
    device *to = file;
    (void)at;
    to->sent += (int64_t)bytes;
    return moved(wbcard_send_async(to->card, "write", from, 0, (int64_t)bytes), bytes);
}

static ssize_t read_stream(void *file, void *to, size_t bytes, off_t at)
{
    device *from = file;
    int64_t there = from->sent - from->received;
    (void)at;
    if ((int64_t)bytes > there)
        bytes = (size_t)there;
    from->received += (int64_t)bytes;
    return moved(wbcard_receive(from->card, "read", to, 0, (int64_t)bytes), bytes);
}

static void lock(device *of, struct litepcie_ioctl_lock *asked)
{
    asked->dma_reader_status = !asked->dma_reader_request || !of->locked_reader;
    asked->dma_writer_status = !asked->dma_writer_request || !of->locked_writer;
    of->locked_reader = (of->locked_reader || asked->dma_reader_request) && !asked->dma_reader_release;
    of->locked_writer = (of->locked_writer || asked->dma_writer_request) && !asked->dma_writer_release;
}

static int request_device(void *file, unsigned long request, void *argument)
{
    device *of = file;
    if (request == LITEPCIE_IOCTL_REG) {
        struct litepcie_ioctl_reg *one = argument;
        return one->is_write ? wbcard_send(of->card, "write_reg", &one->val, one->addr, 4)
                             : wbcard_receive(of->card, "read_reg", &one->val, one->addr, 4);
    }
    if (request == LITEPCIE_IOCTL_DMA) {
        if (((struct litepcie_ioctl_dma *)argument)->loopback_enable)
            rcw_note("LitePCIe: DMA's own loopback is not there on the simulated card: all goes through the design");
    } else if (request == LITEPCIE_IOCTL_DMA_READER) {
        struct litepcie_ioctl_dma_reader *told = argument;
        told->hw_count = told->sw_count = of->sent / DMA_BUFFER_SIZE;
    } else if (request == LITEPCIE_IOCTL_DMA_WRITER) {
        struct litepcie_ioctl_dma_writer *told = argument;
        told->hw_count = of->sent / DMA_BUFFER_SIZE;
        told->sw_count = of->received / DMA_BUFFER_SIZE;
    } else if (request == LITEPCIE_IOCTL_LOCK) {
        lock(of, argument);
    } else {
        errno = ENOTTY;
        return -1;
    }
    return 0;
}

const wbcard_file wbcard_files[] = {
    {"/dev/litepcie*", open_device, read_stream, write_stream, request_device, NULL, close_device},
    {0},
};

/* ---- the library ---- */

int64_t get_time_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

uint32_t litepcie_readl(int fd, uint32_t addr)
{
    struct litepcie_ioctl_reg one = {.addr = addr};
    ioctl(fd, LITEPCIE_IOCTL_REG, &one);
    return one.val;
}

void litepcie_writel(int fd, uint32_t addr, uint32_t val)
{
    struct litepcie_ioctl_reg one = {addr, val, 1};
    ioctl(fd, LITEPCIE_IOCTL_REG, &one);
}

void litepcie_dma_set_loopback(int fd, uint8_t loopback_enable)
{
    struct litepcie_ioctl_dma asked = {loopback_enable};
    ioctl(fd, LITEPCIE_IOCTL_DMA, &asked);
}

void litepcie_dma_reader(int fd, uint8_t enable, int64_t *hw_count, int64_t *sw_count)
{
    struct litepcie_ioctl_dma_reader asked = {enable, 0, 0};
    ioctl(fd, LITEPCIE_IOCTL_DMA_READER, &asked);
    *hw_count = asked.hw_count;
    *sw_count = asked.sw_count;
}

void litepcie_dma_writer(int fd, uint8_t enable, int64_t *hw_count, int64_t *sw_count)
{
    struct litepcie_ioctl_dma_writer asked = {enable, 0, 0};
    ioctl(fd, LITEPCIE_IOCTL_DMA_WRITER, &asked);
    *hw_count = asked.hw_count;
    *sw_count = asked.sw_count;
}

uint8_t litepcie_request_dma(int fd, uint8_t reader, uint8_t writer)
{
    struct litepcie_ioctl_lock asked = {.dma_reader_request = reader > 0, .dma_writer_request = writer > 0};
    ioctl(fd, LITEPCIE_IOCTL_LOCK, &asked);
    return asked.dma_reader_status && asked.dma_writer_status;
}

void litepcie_release_dma(int fd, uint8_t reader, uint8_t writer)
{
    struct litepcie_ioctl_lock asked = {.dma_reader_release = reader > 0, .dma_writer_release = writer > 0};
    ioctl(fd, LITEPCIE_IOCTL_LOCK, &asked);
}

int litepcie_dma_init(struct litepcie_dma_ctrl *dma, const char *device_name, uint8_t zero_copy)
{
    dma->zero_copy = zero_copy;
    dma->reader_hw_count = dma->reader_sw_count = dma->writer_hw_count = dma->writer_sw_count = 0;
    dma->buffers_available_read = dma->buffers_available_write = 0;
    dma->usr_read_buf_offset = dma->usr_write_buf_offset = 0;
    dma->fds.fd = open(device_name, O_RDWR | O_CLOEXEC);
    if (dma->fds.fd < 0 || !litepcie_request_dma(dma->fds.fd, dma->use_reader, dma->use_writer))
        return -1;
    litepcie_dma_set_loopback(dma->fds.fd, dma->loopback);
    dma->buf_rd = calloc(1, DMA_BUFFER_TOTAL_SIZE);
    dma->buf_wr = calloc(1, DMA_BUFFER_TOTAL_SIZE);
    return dma->buf_rd && dma->buf_wr ? 0 : -1;
}

void litepcie_dma_cleanup(struct litepcie_dma_ctrl *dma)
{
    litepcie_release_dma(dma->fds.fd, dma->use_reader, dma->use_writer);
    free(dma->buf_rd);
    free(dma->buf_wr);
    close(dma->fds.fd);
}

void litepcie_dma_process(struct litepcie_dma_ctrl *dma)
{
    if (dma->use_reader) { /* what the program has filled since */
        size_t filled = (size_t)dma->usr_write_buf_offset * DMA_BUFFER_SIZE;
        if (filled && write(dma->fds.fd, dma->buf_wr, filled) < 0)
            perror("litepcie");
        dma->usr_write_buf_offset = 0;
        dma->buffers_available_write = DMA_BUFFER_COUNT / 2;
        litepcie_dma_reader(dma->fds.fd, 1, &dma->reader_hw_count, &dma->reader_sw_count);
    }
    if (dma->use_writer) {
        ssize_t got = read(dma->fds.fd, dma->buf_rd, DMA_BUFFER_TOTAL_SIZE);
        dma->buffers_available_read = got > 0 ? (unsigned)(got / DMA_BUFFER_SIZE) : 0;
        dma->usr_read_buf_offset = 0;
        litepcie_dma_writer(dma->fds.fd, 1, &dma->writer_hw_count, &dma->writer_sw_count);
    }
}

static char *next(char *buffers, unsigned *offset, unsigned *available)
{
    if (!*available)
        return NULL;
    --*available;
    return buffers + (*offset)++ * (size_t)DMA_BUFFER_SIZE;
}

char *litepcie_dma_next_read_buffer(struct litepcie_dma_ctrl *dma)
{
    return next(dma->buf_rd, &dma->usr_read_buf_offset, &dma->buffers_available_read);
}

char *litepcie_dma_next_write_buffer(struct litepcie_dma_ctrl *dma)
{
    return next(dma->buf_wr, &dma->usr_write_buf_offset, &dma->buffers_available_write);
}
