/* What virtual cores cost in real time, and measured work on them: thread_costs.py has it. Arguments: what, how often. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long often;
static sem_t here, there, never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int variable;

/* The real clock, of which the virtual one knows nothing. */
static int64_t real_ns(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Branches that depend on data: the lengths of some chains of numbers that are halved, or tripled and one more. */
static long chains(long from, long to)
{
    long steps = 0;
    for (long n = from; n < to; n++)
        for (unsigned long k = (unsigned long)n; k != 1; steps++)
            k = k & 1 ? 3 * k + 1 : k / 2;
    return steps;
}

static void *blocked(void *unused)
{
    sem_wait(&never);
    return unused;
}

static void *answer(void *unused)
{
    for (long i = 0; i < often; i++) {
        sem_wait(&there);
        sem_post(&here);
    }
    return unused;
}

static void *kernel(void *from) { return (void *)chains((long)from, (long)from + often); }

static void calls(void)
{
    for (long i = 0; i < often / 2; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
}

static void accesses(void)
{
    for (long i = 0; i < often; i++)
        atomic_fetch_add(&variable, 1);
}

static void handovers(void)
{
    for (long i = 0; i < often; i++) {
        sem_post(&there);
        sem_wait(&here);
    }
}

static void alone(void)
{
    if (chains(1, often) < 0)
        exit(1);
}

static void four(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, kernel, (void *)1L);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*program)(void); void *(*beside)(void *); } all[] = {
        {"calls", calls, blocked}, {"accesses", accesses, blocked}, {"handovers", handovers, answer},
        {"kernel", alone, NULL}, {"four", four, NULL},
    };
    pthread_t other;
    often = argc > 2 ? atol(argv[2]) : 0;
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof all[0]; i++)
        if (!strcmp(argv[1], all[i].name)) {
            if (all[i].beside)
                pthread_create(&other, NULL, all[i].beside, NULL);
            usleep(1);
            int64_t began = real_ns();
            all[i].program();
            printf("%lld\n", (long long)(real_ns() - began));
            exit(0);
        }
    return 2;
}
