/* Two threads, each with a core of its own: a batch at a time, in PARTS starts. With EARLY the next batch is prepared and
 * written while the core works; with ONCE the pace is set in the first round only. */
#define _GNU_SOURCE
#include <pthread.h>

#include "common.h"

enum { HALF = WORDS / 2, PART = HALF / PARTS };

static fpga_t *fpga;
static uint32_t batches[2][WORDS];

static void write_batch(int core, int round)
{
    prepare(batches[core], round);
    #pragma recap put send(data, unit.worker, x)
    fpgaWrite(fpga, batches[core], (uint32_t)(core * 4 * HALF + round % 2 * HALF), HALF);
}

static void *work(void *of)
{
    int core = of != NULL;
    uint32_t from = (uint32_t)(core * 4 * HALF);
    for (int round = 0; round < ROUNDS; round++) {
        if (!EARLY || round == 0)
            write_batch(core, round);
        if (!ONCE || round == 0) {
            #pragma recap pace send(ctrl, unit.worker, pace)
            fpgaWriteReg(fpga, PACE, CYCLES);
        }
        for (int part = 0; part < PARTS; part++) {
            #pragma recap begin send(ctrl, unit.worker, go)
            fpgaWriteReg(fpga, (uint32_t)(0x410 + core), command((int)from + round % 2 * HALF + part * PART, PART));
            if (EARLY && part == 0 && round + 1 < ROUNDS)
                write_batch(core, round + 1);
            #pragma recap poll wait_recv(late_sender, unit.worker, d)
            while (!fpgaReadReg(fpga, (uint32_t)(0x510 + core)))
                ;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    fpga = fpgaOpen(0);
    pthread_create(&thread, NULL, work, &fpga);
    work(NULL);
    pthread_join(thread, NULL);
    #pragma recap get recv(data, unit.worker, y)
    printf("%u\n", fpgaReadReg(fpga, SUM));
    fpgaClose(fpga);
    return 0;
}
