/* A thread that prepares batches, in two buffers, while another has the FPGA work on them. */
#define _GNU_SOURCE
#include <pthread.h>

#include "common.h"

static uint32_t batches[2][WORDS];
static int full;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void fill(int by, int until)
{
    pthread_mutex_lock(&lock);
    full += by;
    pthread_cond_signal(&changed);
    while (full == until)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void *producer(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        prepare(batches[round % 2], round);
        fill(1, 2);
    }
    return unused;
}
