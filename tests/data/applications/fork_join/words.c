#include <stdint.h>
#include <stdio.h>

#include "axi_dma.h"

#ifndef WORDS
#define WORDS 128
#endif
#ifndef PAUSE
#define PAUSE 0
#endif

/* Sends WORDS words; each comes back as 2 n + 1, of the two branches that it took. */
int main(void)
{
    static uint32_t data[WORDS], back[WORDS];
    axi_dma *dma;
    unsigned long sum = 0;

    if (axi_dma_open(0, &dma)) return 1;
    for (uint32_t i = 0; i < WORDS; i++) data[i] = i;
    axi_dma_send(dma, data, sizeof data);
    axi_dma_receive(dma, back, sizeof back);
    for (uint32_t i = 0; i < WORDS; i++) sum += back[i];
    for (volatile int i = 0; i < PAUSE; i++)
        ;
    printf("%lu\n", sum);
    axi_dma_close(dma);
    return 0;
}
