/* Filters SAMPLES samples on the card and compares them with the same sums made here. */
#include <stdio.h>

#include "axi_dma.h"

int main(void)
{
    uint32_t in[SAMPLES], out[2 * SAMPLES], wrong = 0;
    axi_dma *dma;
    #pragma recap openCard overhead(initialize)
    int failed = axi_dma_open(0, &dma);
    if (failed)
        return 1;
    for (int i = 0; i < SAMPLES; i++)
        in[i] = (uint32_t)i * 2654435761u >> 16;
    for (int k = 0; k < 4; k++) {
        #pragma recap setCoefficient send(ctrl, fir_axis.registers, c1)
        axi_dma_register(dma, 4 * (uint32_t)k, (uint32_t)k + 1);
    }
    #pragma recap sendSamples send(data, fir_axis.filter, x1)
    axi_dma_send(dma, in, sizeof in);
    #pragma recap readSums recv(data, fir_axis.filter, y1)
    ssize_t bytes = axi_dma_receive(dma, out, sizeof out); /* a packet: as many sums as there were samples */
    #pragma recap setAgain send(ctrl, fir_axis.registers, c1)
    axi_dma_register(dma, 0, 1); /* at once, long before all that was asked for would have been there */
    for (int i = 0; i < SAMPLES; i++) {
        uint32_t sum = 0;
        for (int k = 0; k < 4 && k <= i; k++)
            sum += in[i - k] * (uint32_t)(k + 1);
        wrong += sum != out[i];
    }
    printf("%d bytes, %u wrong\n", (int)bytes, wrong);
    #pragma recap closeCard overhead(finalize)
    axi_dma_close(dma);
    return 0;
}
