/* Every call of the LitePCIe template: registers of a design, and buffers that it adds to. */
#include "liblitepcie.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 3, WORDS = DMA_BUFFER_SIZE / 4 };

int main(void)
{
    struct litepcie_dma_ctrl dma = {.use_reader = 1, .use_writer = 1};
    int64_t hardware, software;
    char *buffer;
    int log = open("log", O_CREAT | O_RDWR, 0600), fd = open("/dev/litepcie0", O_RDWR);
    if (fd < 0 || log < 0)
        return 1;
    litepcie_writel(fd, 0, 5);
    printf("adds %u, counted %u\n", litepcie_readl(fd, 0), litepcie_readl(fd, 8));
    printf("own %d", litepcie_request_dma(fd, 1, 0));
    printf(" again %d\n", litepcie_request_dma(fd, 1, 0));
    litepcie_dma_set_loopback(fd, 0);
    litepcie_dma_reader(fd, 0, &hardware, &software);
    litepcie_dma_writer(fd, 0, &hardware, &software);
    litepcie_release_dma(fd, 1, 0);

    if (litepcie_dma_init(&dma, "/dev/litepcie0", 0))
        return 1;
    for (int round = 0; round <= ROUNDS; round++) {
        litepcie_dma_process(&dma);
        while ((buffer = litepcie_dma_next_read_buffer(&dma))) {
            uint64_t sum = 0;
            for (int i = 0; i < WORDS; i++)
                sum += ((uint32_t *)buffer)[i];
            printf("round %d sum %llu\n", round, (unsigned long long)sum);
        }
        for (int n = 0; round < ROUNDS && n < 2 && (buffer = litepcie_dma_next_write_buffer(&dma)); n++)
            for (int i = 0; i < WORDS; i++)
                ((uint32_t *)buffer)[i] = (uint32_t)(i + round + n);
    }
    while ((buffer = litepcie_dma_next_write_buffer(&dma)))
        buffer[0] = 1; /* never sent */
    printf("came %lld, counted %u\n", (long long)dma.writer_sw_count, litepcie_readl(fd, 8));
    litepcie_dma_cleanup(&dma);
    close(fd);
    close(log);
    return 0;
}
