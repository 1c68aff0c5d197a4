/* As block.c with a thread that writes each batch to the FPGA, and hands it to another that has the FPGA work on it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>

#include "common.h"

static uint32_t batch[WORDS];
static sem_t written, taken;
static fpga_t *fpga;

static void *writer(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        prepare(batch, round);
        sem_wait(&taken);
        #pragma recap put send(data, unit_top.worker, x)
        fpgaWrite(fpga, batch, 0, WORDS);
        sem_post(&written);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    uint32_t total = 0;
    fpga = fpgaOpen(0);
    sem_init(&written, 0, 0);
    sem_init(&taken, 0, 1);
    #pragma recap pace send(ctrl, unit_top.worker, pace)
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    pthread_create(&thread, NULL, writer, NULL);
    pthread_setname_np(thread, "writer");
    for (int round = 0; round < ROUNDS; round++) {
        sem_wait(&written);
        #pragma recap begin send(ctrl, unit_top.worker, go)
        fpgaWriteReg(fpga, COMMAND, command(0, WORDS));
        #pragma recap poll wait_recv(late_sender, unit_top.worker, d)
        while (!fpgaReadReg(fpga, DONE))
            ;
        #pragma recap get recv(data, unit_top.worker, y)
        total = total * 31 + fpgaReadReg(fpga, SUM);
        sem_post(&taken);
    }
    pthread_join(thread, NULL);
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
