/* Which thread of a rank starts which, and waits for its end: a part of ranks.c. Each thread gets a number as it is started, the order
 * of its records. Of threads that call nothing that is recorded, such as those of libraries, nothing is. What they
 * wait for of one another besides is recorded by ranks_locks.c. */
#define _GNU_SOURCE
#include "ranks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct started {
    struct started *next;
    void *(*run)(void *);
    void *argument;
    pthread_t thread;
    int64_t number, begun;
} started;

static __thread started *untold; /* the calling thread, as long as no record says that it began */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static started *all;

/* Of the calling thread, where it calls what is recorded. */
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
    result = own->run(own->argument);
    pthread_cleanup_pop(1);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static int64_t numbers;
    if (!real)
        real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    started *own = rcw_ranks_on ? malloc(sizeof *own) : NULL;
    if (!own)
        return real(thread, attributes, run, argument);
    *own = (started){.run = run, .argument = argument, .number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED)};
    int64_t number = own->number, t0 = rcw_ticks();
    rcw_lock(&lock); /* nobody joins it before it is known here */
    int result = real(thread, attributes, begin, own);
    if (!result) {
        own->thread = *thread;
        own->next = all;
        all = own;
    }
    rcw_unlock(&lock);
    if (result)
        free(own);
    else
        keep(RCW_THREAD_STARTED, number, t0, rcw_ticks());
    return result;
}

int pthread_join(pthread_t thread, void **value)
{
    static int (*real)(pthread_t, void **);
    if (!real)
        real = (int (*)(pthread_t, void **))dlsym(RTLD_NEXT, "pthread_join");
    int64_t t0 = rcw_ranks_on ? rcw_ticks() : 0;
    int result = real(thread, value);
    started *own = NULL;
    rcw_lock(&lock);
    for (started **at = &all; *at && !result; at = &(*at)->next)
        if (pthread_equal((*at)->thread, thread)) {
            own = *at;
            *at = own->next;
            break;
        }
    rcw_unlock(&lock);
    if (own && rcw_ranks_on)
        keep(RCW_THREAD_JOINED, own->number, t0, rcw_ticks());
    free(own);
    return result;
}
