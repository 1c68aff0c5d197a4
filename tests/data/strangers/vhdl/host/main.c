#include <stdio.h>

#include "kx.h"

enum { CTRL = 0x40, STATUS = 0x41, RESULT = 0x42, WORDS = 64, BLOCKS = 6 };

int main(void)
{
    uint32_t words[WORDS];
    kx *k = kx_open(0);
    if (!k)
        return 1;
    for (uint32_t block = 0; block < BLOCKS; block++) {
        for (uint32_t i = 0; i < WORDS; i++)
            words[i] = block * WORDS + i;
        kx_wr_block(k, 0, words, WORDS);
        kx_wr32(k, CTRL, WORDS);
        while (!kx_rd32(k, STATUS))
            ;
        printf("%08x\n", kx_rd32(k, RESULT));
    }
    kx_close(k);
    return 0;
}
