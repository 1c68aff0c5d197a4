#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "driver/zk_ioctl.h"

enum { REG_CTRL = 0x400 / 4, REG_STATUS = 0x404 / 4, REG_LENGTH = 0x408 / 4, REG_RESULT = 0x40c / 4 };

int main(void)
{
    int fd = zk_open(0);
    if (fd < 0) {
        perror("zk_open");
        return EXIT_FAILURE;
    }
    volatile uint32_t *regs = zk_map(fd, 0x1000);
    uint32_t samples[256];
    uint64_t energy = 0;
    int32_t x = 12345;

    for (int block = 0; block < 16; block++) {
        for (int i = 0; i < 256; i++) {
            x = (int32_t)((uint32_t)x * 1103515245u + 12345u);
            samples[i] = (uint32_t)(x >> 20) & 0xfff;
        }
        if (zk_write_block(fd, 0, samples, sizeof samples) != 0)
            return EXIT_FAILURE;
        regs[REG_LENGTH] = 256;
        regs[REG_CTRL] = 1;
        while (!(regs[REG_STATUS] & 1))
            ;
        energy += regs[REG_RESULT];
    }
    printf("energy %" PRIu64 "\n", energy);
    zk_unmap(regs, 0x1000);
    zk_close(fd);
    return EXIT_SUCCESS;
}
