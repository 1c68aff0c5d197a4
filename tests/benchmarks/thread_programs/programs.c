/* Programs of a few threads whose times are known by hand: threads.py has them. The first argument chooses one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static int a_number, another; /* the program's further arguments */

/* ---- a bounded queue of a mutex and two conditions ---- */

#define LONGEST 8
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    int size, count, first, items[LONGEST];
} queue;
#define QUEUE(n) {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, n, 0, 0, {0}}

static void put(queue *q, int item)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == q->size)
        pthread_cond_wait(&q->not_full, &q->lock);
    q->items[(q->first + q->count++) % q->size] = item;
    pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->lock);
}

static int get(queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (!q->count)
        pthread_cond_wait(&q->not_empty, &q->lock);
    int item = q->items[q->first];
    q->first = (q->first + 1) % q->size;
    q->count--;
    pthread_cond_signal(&q->not_full);
    pthread_mutex_unlock(&q->lock);
    return item;
}

static pthread_t begun[16];
static int begun_count;

static void begin(void *(*function)(void *), long argument)
{
    pthread_create(&begun[begun_count++], NULL, function, (void *)argument);
}

static void join_all(void)
{
    for (int i = 0; i < begun_count; i++)
        pthread_join(begun[i], NULL);
}

static queue q2 = QUEUE(2);

static void *produce(void *each)
{
    for (int i = 0; i < 3; i++) {
        work((long)each);
        put(&q2, i);
    }
    return NULL;
}

/* bounded queue: argument: a producer's work an item */
static void bounded_queue(void)
{
    begin(produce, a_number);
    begin(produce, a_number);
    for (int i = 0; i < 6; i++) {
        get(&q2);
        work(2);
    }
    join_all();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int done;

static void *hold(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        work(10);
        pthread_mutex_unlock(&lock);
        work(5);
    }
    return unused;
}

static void contended_lock(void)
{
    for (int i = 0; i < 3; i++)
        begin(hold, 0);
    join_all();
}

/* pipeline: arguments: items, the queues' length */
static queue between[3] = {QUEUE(0), QUEUE(0), QUEUE(0)};

static void *stage(void *argument)
{
    static const int each[] = {1, 3, 2, 1};
    long number = (long)argument;
    for (int i = 0; i < a_number; i++) {
        if (number)
            get(&between[number - 1]);
        work(each[number]);
        if (number < 3)
            put(&between[number], i);
    }
    return NULL;
}

static void pipeline(void)
{
    for (int i = 0; i < 3; i++)
        between[i].size = another;
    for (long i = 0; i < 4; i++)
        begin(stage, i);
    join_all();
}

static pthread_barrier_t meeting;

static void *rotate(void *argument)
{
    long number = (long)argument;
    for (int round = 0; round < 2; round++) {
        work(1 + (number + round) % 3);
        pthread_barrier_wait(&meeting);
    }
    work(number);
    return NULL;
}

static void barrier(void)
{
    pthread_barrier_init(&meeting, NULL, 3);
    for (long i = 0; i < 3; i++)
        begin(rotate, i);
    join_all();
    pthread_barrier_destroy(&meeting);
}

static void *sleeps(void *us)
{
    usleep((useconds_t)(long)us);
    return NULL;
}

static void sleeping(void)
{
    struct timespec span = {0, 100000};
    begin(sleeps, 60);
    nanosleep(&span, &span);
    join_all();
}

/* a wait that times out; what the clock says is the exit code, in us */
static void timed_wait(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000;
    begin(sleeps, 20);
    pthread_mutex_lock(&lock);
    if (pthread_cond_timedwait(&condition, &lock, &until) == 0)
        exit(1);
    pthread_mutex_unlock(&lock);
    join_all();
}

static int ends[2];

static void *write_later(void *unused)
{
    work(5);
    if (write(ends[1], "x", 1) != 1)
        exit(1);
    work(1);
    return unused;
}

static void through_a_pipe(void)
{
    char got = 0;
    if (pipe(ends))
        exit(1);
    begin(write_later, 0);
    if (read(ends[0], &got, 1) != 1 || got != 'x')
        exit(1);
    work(3);
    join_all();
}

static mtx_t c11_lock;

static int hold_c11(void *unused)
{
    (void)unused;
    mtx_lock(&c11_lock);
    work(3);
    mtx_unlock(&c11_lock);
    return 7;
}

static void c11_threads(void)
{
    thrd_t thread;
    int value = 0;
    mtx_init(&c11_lock, mtx_plain);
    thrd_create(&thread, hold_c11, NULL);
    thrd_sleep(&(struct timespec){0, 1000}, NULL);
    mtx_lock(&c11_lock);
    work(4);
    mtx_unlock(&c11_lock);
    thrd_join(thread, &value);
    if (value != 7)
        exit(1);
}

static void *wait_forever(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &lock);
    pthread_cond_wait(&condition, &lock);
    pthread_cleanup_pop(1);
    return unused;
}

static void cancelled(void)
{
    void *value;
    begin(wait_forever, 0);
    work(5);
    pthread_cancel(begun[0]);
    pthread_join(begun[0], &value);
    pthread_mutex_lock(&lock); /* the cleanup has let it go */
    if (value != PTHREAD_CANCELED)
        exit(1);
}

static void *end_all(void *unused)
{
    work(6);
    exit(0);
    return unused;
}

static void exit_in_a_thread(void)
{
    begin(end_all, 0);
    begin(wait_forever, 0);
    join_all();
}

static void *outlive(void *unused)
{
    work(9);
    return unused;
}

static void main_ends_first(void)
{
    begin(outlive, 0);
    pthread_exit(NULL);
}

static void *lock_both_ways(void *unused)
{
    pthread_mutex_lock(&other);
    work(2);
    pthread_mutex_lock(&lock); /* main has it */
    return unused;
}

static void mutex_ring(void)
{
    begin(lock_both_ways, 0);
    pthread_mutex_lock(&lock);
    work(3);
    pthread_mutex_lock(&other); /* thread 1 has it */
}

static void *signal_too_early(void *unused)
{
    pthread_cond_signal(&condition);
    return unused;
}

static void lost_signal(void)
{
    begin(signal_too_early, 0);
    work(1);
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&condition, &lock);
}

void rcw_background(void);

static void *looks_on(void *unused)
{
    for (rcw_background();;)
        usleep(4);
    return unused;
}

static void lost_signal_watched(void)
{
    begin(looks_on, 0);
    lost_signal();
}

static void *looks_on_once(void *unused)
{
    rcw_background();
    usleep(10);
    return unused;
}

static void watchers_end(void)
{
    begin(looks_on, 0);
    begin(looks_on_once, 0);
    pthread_join(begun[1], NULL);
}

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

static void *reads(void *us)
{
    pthread_rwlock_rdlock(&rw);
    work((long)us);
    pthread_rwlock_unlock(&rw);
    return NULL;
}

static void *writes(void *us)
{
    work(1);
    pthread_rwlock_wrlock(&rw);
    work((long)us);
    pthread_rwlock_unlock(&rw);
    return NULL;
}

static void read_write_lock(void)
{
    begin(reads, 4);
    begin(reads, 6);
    begin(writes, 5);
    join_all();
}

static sem_t semaphore;

static void *wait_semaphore(void *unused)
{
    for (int i = 0; i < 3; i++) {
        sem_wait(&semaphore);
        work(1);
    }
    return unused;
}

static void semaphores(void)
{
    sem_init(&semaphore, 0, 0);
    begin(wait_semaphore, 0);
    for (int i = 0; i < 3; i++) {
        work(2);
        sem_post(&semaphore);
    }
    join_all();
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void prepare(void) { work(4); }

static void *use_prepared(void *unused)
{
    pthread_once(&once, prepare);
    work(1);
    return unused;
}

static void done_once(void)
{
    for (int i = 0; i < 3; i++)
        begin(use_prepared, 0);
    join_all();
}

static pthread_spinlock_t spinlock;

static void *spin_hold(void *unused)
{
    pthread_spin_lock(&spinlock);
    work(5);
    pthread_spin_unlock(&spinlock);
    return unused;
}

static void spin_lock(void)
{
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    begin(spin_hold, 0);
    begin(spin_hold, 0);
    join_all();
}

static void *wait_done(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!done)
        pthread_cond_wait(&condition, &lock);
    work(2);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void broadcast(void)
{
    for (int i = 0; i < 3; i++)
        begin(wait_done, 0);
    work(4);
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&lock);
    join_all();
}

/* operators on an _Atomic variable; polls every 6 ns until it is set after 10 us */
static _Atomic int ready, rounds;

static void *set_ready(void *unused)
{
    work(10);
    rounds += 2;
    ready |= rounds;
    return unused;
}

static void atomic_operators(void)
{
    begin(set_ready, 0);
    while (!ready)
        work_ns(6);
    join_all();
    if (rounds-- != 2 || ready != 2)
        exit(1);
}

/* prints in the order of virtual time, and how many processors there are */
static void *say(void *argument)
{
    long number = (long)argument;
    work(3 - number);
    printf("thread %ld\n", number);
    return NULL;
}

static void printing(void)
{
    for (long i = 0; i < 3; i++)
        begin(say, i);
    join_all();
    printf("%ld processors\n", sysconf(_SC_NPROCESSORS_ONLN));
}

static void *work_20(void *unused)
{
    work(20);
    return unused;
}

/* slices: two threads of 20 each, and one that ends in the middle of a slice */
static void slices(void)
{
    begin(work_20, 0);
    begin(work_20, 0);
    work(7);
    join_all();
}

/* ---- threads that bind themselves to a core ---- */

static void bind_to(int core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    if (pthread_setaffinity_np(pthread_self(), sizeof one, &one))
        abort();
}

static void *works_on_core_1(void *us)
{
    bind_to(1);
    work((long)us);
    return NULL;
}

static void *works_on_core_0(void *us)
{
    bind_to(0);
    work((long)us);
    return NULL;
}

static void bound(void)
{
    begin(works_on_core_1, 10);
    begin(works_on_core_1, 10);
    begin(works_on_core_0, 5);
    join_all();
}

static const struct {
    const char *name;
    void (*program)(void);
} programs[] = {
    {"bounded_queue", bounded_queue}, {"contended_lock", contended_lock}, {"pipeline", pipeline}, {"barrier", barrier},
    {"sleeping", sleeping}, {"timed_wait", timed_wait}, {"through_a_pipe", through_a_pipe}, {"c11_threads", c11_threads},
    {"cancelled", cancelled}, {"exit_in_a_thread", exit_in_a_thread}, {"main_ends_first", main_ends_first},
    {"mutex_ring", mutex_ring}, {"lost_signal", lost_signal},
    {"lost_signal_watched", lost_signal_watched}, {"watchers_end", watchers_end}, {"read_write_lock", read_write_lock},
    {"semaphores", semaphores}, {"done_once", done_once}, {"spin_lock", spin_lock}, {"broadcast", broadcast},
    {"bound", bound}, {"printing", printing}, {"slices", slices}, {"atomic_operators", atomic_operators},
};

int main(int argc, char **argv)
{
    a_number = argc > 2 ? atoi(argv[2]) : 0;
    another = argc > 3 ? atoi(argv[3]) : 0;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (argc > 1 && !strcmp(argv[1], programs[i].name)) {
            programs[i].program();
            return 0;
        }
    fprintf(stderr, "no such program\n");
    return 2;
}
