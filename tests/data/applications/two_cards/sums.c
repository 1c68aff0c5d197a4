/* A thread for each card: it fills the card's memory, has the words added up, and reads the sum. */
#include <pthread.h>
#include <stdio.h>

#include "fpga.h"

static uint32_t sums[2];

static void *use_card(void *argument)
{
    int number = argument != NULL;
    uint32_t words[256];
    #pragma recap openCard overhead(initialize)
    fpga_t *fpga = fpgaOpen(number);
    if (!fpga)
        return NULL;
    for (int i = 0; i < 256; i++)
        words[i] = (uint32_t)(i + 1) * (number ? 1000 : 1);
    #pragma recap fill send(data, summer.memory, words)
    fpgaWrite(fpga, words, 0, 256);
    #pragma recap start send(ctrl, summer.core, n)
    fpgaWriteReg(fpga, 0x800, number ? 100 : 256);
    #pragma recap waitSum wait_recv(late_sender, summer.core, sum)
    fpgaWaitIrq(fpga);
    #pragma recap readSum recv(ctrl, summer.core, sum)
    sums[number] = fpgaReadReg(fpga, 0x801);
    #pragma recap closeCard overhead(finalize)
    fpgaClose(fpga);
    return NULL;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, use_card, &other);
    use_card(NULL);
    pthread_join(other, NULL);
    printf("%u %u %s\n", sums[0], sums[1], fpgaOpen(2) ? "and a third card" : "on two cards");
    return 0;
}
