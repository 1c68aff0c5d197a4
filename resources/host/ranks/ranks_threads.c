/* Records which thread of a rank starts which thread, and waits for its end, by pthread or C11: a part of ranks.c. Each thread gets a
 * number when it is started (`order` of its records). Threads without recorded calls, such as those of libraries, have no records. Other
 * waits between threads are recorded by ranks_locks.c. */
#define _GNU_SOURCE
#include "ranks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct started {
    struct started *next;
    void *(*run)(void *);
    int (*run_c11)(void *);
    void *argument;
    pthread_t thread;
    int64_t number, asked, begun;
} started;

static __thread started *untold; /* the calling thread, until a record of its start is written */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static started *all;

/* Writes a record of the calling thread, if the thread has recorded calls. */
static void keep(int kind, int64_t number, int64_t t0, int64_t t1)
{
    rcw_message_record record = {.comm = -1, .kind = kind, .peer = RCW_FROM_ALL, .order = number, .t0 = t0, .posted = t0, .t1 = t1};
    if (!rcw_self)
        return;
    record.thread = rcw_self->number;
    rcw_keep(&record);
}

void rcw_thread_began(void)
{
    started *own = untold;
    if (!own || !rcw_self)
        return;
    untold = NULL;
    keep(RCW_THREAD_BEGUN, own->number, own->begun, own->begun);
}

static void over(void *value)
{
    int64_t now = rcw_ticks();
    keep(RCW_THREAD_OVER, ((started *)value)->number, now, now);
}

static void *begin(void *value)
{
    started *own = value;
    void *result;
    own->begun = rcw_ticks();
    untold = own;
    pthread_cleanup_push(over, own);
    result = own->run ? own->run(own->argument) : (void *)(intptr_t)own->run_c11(own->argument);
    pthread_cleanup_pop(1);
    return result;
}

static int begin_c11(void *value) { return (int)(intptr_t)begin(value); }

/* NULL if nothing is recorded. Otherwise no thread can join it before `keep_started` has added it to the list. */
static started *new_thread(started of)
{
    static int64_t numbers;
    started *own = rcw_ranks_on ? malloc(sizeof *own) : NULL;
    if (!own)
        return NULL;
    *own = of;
    own->number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    own->asked = rcw_ticks();
    rcw_lock(&lock);
    return own;
}

static int keep_started(started *own, int result, const pthread_t *thread)
{
    int64_t number = own->number, asked = own->asked;
    if (!result) {
        own->thread = *thread;
        own->next = all;
        all = own;
    }
    rcw_unlock(&lock);
    if (result)
        free(own);
    else
        keep(RCW_THREAD_STARTED, number, asked, rcw_ticks());
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    REAL(pthread_create);
    started *own = new_thread((started){.run = run, .argument = argument});
    return own ? keep_started(own, real_pthread_create(thread, attributes, begin, own), thread)
               : real_pthread_create(thread, attributes, run, argument);
}

/* To the C library a thrd_t is a pthread_t. */
MAY_BE_OWN int thrd_create(pthread_t *thread, int (*run)(void *), void *argument)
{
    REAL(thrd_create);
    started *own = new_thread((started){.run_c11 = run, .argument = argument});
    return own ? keep_started(own, real_thrd_create(thread, begin_c11, own), thread) : real_thrd_create(thread, run, argument);
}

static void keep_joined(pthread_t thread, int64_t t0)
{
    started *own = NULL;
    rcw_lock(&lock);
    for (started **at = &all; *at; at = &(*at)->next)
        if (pthread_equal((*at)->thread, thread)) {
            own = *at;
            *at = own->next;
            break;
        }
    rcw_unlock(&lock);
    if (own)
        keep(RCW_THREAD_JOINED, own->number, t0, rcw_ticks());
    free(own);
}

/* A call that waits for the end of `thread`. One that was in vain ends by itself: nobody lets go what it waits for. */
#define JOINS(call) \
    { \
        REAL(call); \
        int64_t t0 = rcw_ranks_on ? rcw_ticks() : 0; \
        int result = real_##call ARGUMENTS; \
        if (!result) \
            keep_joined(thread, t0); \
        else if (result == ETIMEDOUT) \
            keep(RCW_WAITED, (int64_t)thread, t0, rcw_ticks()); \
        return result; \
    }

#define ARGUMENTS (thread, value)
int pthread_join(pthread_t thread, void **value) JOINS(pthread_join)
int pthread_tryjoin_np(pthread_t thread, void **value) JOINS(pthread_tryjoin_np)
MAY_BE_OWN int thrd_join(pthread_t thread, int *value) JOINS(thrd_join)
#undef ARGUMENTS
#define ARGUMENTS (thread, value, until)
int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until) JOINS(pthread_timedjoin_np)
#undef ARGUMENTS
#define ARGUMENTS (thread, value, clock, until)
int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *until) JOINS(pthread_clockjoin_np)
#undef ARGUMENTS
