#include <stdio.h>
#include "dev.h"

int main(void)
{
    uint32_t words[256], done, sum;
    mdev_t board = dev_open(0);
    if (!board)
        return 1;
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < 256; i++)
            words[i] = i + round;
        if (dev_write(board, 0, words, sizeof words) || dev_write_reg(board, 0x200, 1))
            return 2;
        do {
            if (dev_read_reg(board, 0x200, &done))
                return 3;
        } while (!done);
    }
    if (dev_read(board, 0x201, &sum, sizeof sum))
        return 4;
    printf("%u\n", sum);
    dev_close(board);
    return 0;
}
