/* Programs of a few threads and a card, whose times are known by hand: threads.py has them. */
#include <fpga.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static fpga_t *fpga;
static uint32_t word;
static sem_t free_buffers, full_buffers;

static void *send_buffers(void *unused)
{
    for (int i = 0; i < 4; i++) {
        sem_wait(&full_buffers);
        fpgaWrite(fpga, &word, 0, 1);
        sem_post(&free_buffers);
    }
    return unused;
}

static void double_buffer(void)
{
    pthread_t sender;
    sem_init(&free_buffers, 0, 2);
    sem_init(&full_buffers, 0, 0);
    pthread_create(&sender, NULL, send_buffers, NULL);
    for (int i = 0; i < 4; i++) {
        sem_wait(&free_buffers);
        work(30);
        sem_post(&full_buffers);
    }
    pthread_join(sender, NULL);
}

static void *send_three(void *unused)
{
    for (int i = 0; i < 3; i++) {
        work(10);
        fpgaWrite(fpga, &word, 0, 1);
    }
    return unused;
}

static void shared_bus(void)
{
    pthread_t other;
    pthread_create(&other, NULL, send_three, NULL);
    send_three(NULL);
    pthread_join(other, NULL);
}

static void *work_20(void *unused)
{
    work(20);
    return unused;
}

static void poller(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, work_20, NULL);
    while (!fpgaReadReg(fpga, 0))
        ;
    pthread_join(worker, NULL);
}

static void *work_from_8(void *unused)
{
    usleep(8);
    work(20);
    return unused;
}

static void interrupt(void)
{
    struct timespec now;
    pthread_t worker;
    pthread_create(&worker, NULL, work_from_8, NULL);
    fpgaWaitIrq(fpga);
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%ld ns\n", now.tv_nsec);
    pthread_join(worker, NULL);
}

static const struct {
    const char *name;
    void (*program)(void);
} programs[] = {
    {"double_buffer", double_buffer}, {"shared_bus", shared_bus}, {"poller", poller}, {"interrupt", interrupt},
};

int main(int argc, char **argv)
{
    fpga = fpgaOpen(0);
    for (size_t i = 0; fpga && i < sizeof programs / sizeof programs[0]; i++)
        if (argc > 1 && !strcmp(argv[1], programs[i].name)) {
            programs[i].program();
            return 0;
        }
    fprintf(stderr, "no such program\n");
    return 2;
}
