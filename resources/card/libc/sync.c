/* Barriers, semaphores, what is done once and futexes on the virtual clock. Each keeps its state in the program's own
 * object. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc.h"

/* ---- barriers: an own layout ---- */

typedef struct {
    unsigned needed, arrived;
} barrier;
_Static_assert(sizeof(barrier) <= sizeof(pthread_barrier_t), "a barrier's state lies in the program's object");

static int make_barrier(barrier *b, unsigned needed)
{
    *b = (barrier){needed, 0};
    return needed ? 0 : EINVAL;
}

static int meet(barrier *b, const void *where)
{
    vc_call(SYNC_BARRIER, b, b->needed);
    if (++b->arrived < b->needed) {
        vc_block(VC_BARRIER, b, VC_NEVER, where);
        return 0;
    }
    b->arrived = 0;
    vc_wake(b, INT_MAX);
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

ON_CLOCK(int, pthread_barrier_init, (pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned needed),
         (b, attr, needed), make_barrier((barrier *)b, needed))
ON_CLOCK(int, pthread_barrier_destroy, (pthread_barrier_t *b), (b), 0)
ON_CLOCK(int, pthread_barrier_wait, (pthread_barrier_t *b), (b), meet((barrier *)b, HERE))

/* ---- semaphores: the value in the first word ---- */

static int failed(int error)
{
    errno = error;
    return -1;
}

static int refused(int error)
{
    vc_refused();
    return failed(error);
}

static int take_semaphore(unsigned *value, int tries, int64_t until_ps, const void *where)
{
    vc_call(SYNC_TAKE, value, 0);
    vc_argument(*value);
    while (!*value)
        if (tries)
            return refused(EAGAIN);
        else if (threads_wait(VC_SEMAPHORE, value, until_ps, where) == VC_TIMED_OUT)
            return failed(ETIMEDOUT);
    --*value;
    return 0;
}

static int post(unsigned *value)
{
    vc_call(SYNC_POST, value, 0);
    vc_argument(*value);
    ++*value;
    vc_wake(value, 1);
    return 0;
}

int sem_init(sem_t *s, int shared, unsigned value)
{
    if (vc_self && shared)
        locks_refuse_shared("semaphore");
    return REAL(sem_init)(s, shared, value);
}

sem_t *sem_open(const char *name, int flags, ...)
{
    if (vc_self)
        locks_refuse_shared("named semaphore");
    va_list more;
    va_start(more, flags);
    unsigned mode = va_arg(more, unsigned), value = va_arg(more, unsigned);
    va_end(more);
    return REAL(sem_open)(name, flags, mode, value);
}

ON_CLOCK(int, sem_wait, (sem_t *s), (s), take_semaphore((unsigned *)s, 0, VC_NEVER, HERE))
ON_CLOCK(int, sem_timedwait, (sem_t *s, const struct timespec *at), (s, at),
         take_semaphore((unsigned *)s, 0, clocks_time_ps(CLOCK_REALTIME, at), HERE))
ON_CLOCK(int, sem_clockwait, (sem_t *s, clockid_t clock, const struct timespec *at), (s, clock, at),
         take_semaphore((unsigned *)s, 0, clocks_time_ps(clock, at), HERE))
ON_CLOCK(int, sem_trywait, (sem_t *s), (s), take_semaphore((unsigned *)s, 1, 0, HERE))
ON_CLOCK(int, sem_post, (sem_t *s), (s), post((unsigned *)s))
ON_CLOCK(int, sem_getvalue, (sem_t *s, int *value), (s, value), (vc_call(SYNC_OTHER, s, 0), *value = (int)*(unsigned *)s, 0))

/* ---- what is done once: 0, 1 while it is done, 2; C++ guards: two bytes, done and being done ---- */

static int do_once(pthread_once_t *once, void (*routine)(void), const void *where)
{
    vc_call(SYNC_ONCE, once, 0);
    while (*once == 1)
        vc_block(VC_ONCE, once, VC_NEVER, where);
    if (*once == 2)
        return 0;
    *once = 1;
    routine();
    vc_call(SYNC_ONCE_DONE, once, 1);
    *once = 2;
    vc_wake(once, INT_MAX);
    return 0;
}

ON_CLOCK(int, pthread_once, (pthread_once_t *once, void (*routine)(void)), (once, routine), do_once(once, routine, HERE))

int __cxa_guard_acquire(char *guard);
void __cxa_guard_release(char *guard);
void __cxa_guard_abort(char *guard);

int __cxa_guard_acquire(char *guard)
{
    if (vc_self)
        vc_call(SYNC_ONCE, guard, 0);
    while (vc_self && guard[1] && !guard[0])
        vc_block(VC_ONCE, guard, VC_NEVER, HERE);
    if (guard[0])
        return 0;
    guard[1] = 1;
    return 1;
}

static void end_guard(char *guard, char done)
{
    if (vc_self)
        vc_call(SYNC_ONCE_DONE, guard, done);
    guard[0] = done;
    guard[1] = 0;
    if (vc_self)
        vc_wake(guard, INT_MAX);
}

void __cxa_guard_release(char *guard) { end_guard(guard, 1); }
void __cxa_guard_abort(char *guard) { end_guard(guard, 0); }

/* ---- futexes: C++20's wait and notify, latches, futures ---- */

static long futex(int *word, int operation, int value, const struct timespec *time, const void *where)
{
    int64_t until_ps = VC_NEVER;
    int wakes = (operation & FUTEX_CMD_MASK) == FUTEX_WAKE || (operation & FUTEX_CMD_MASK) == FUTEX_WAKE_BITSET;
    vc_call(wakes ? SYNC_FUTEX_WAKE : SYNC_FUTEX_WAIT, word, wakes ? value : 0);
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (__atomic_load_n(word, __ATOMIC_RELAXED) != value)
            return refused(EAGAIN);
        if (time && (operation & FUTEX_CMD_MASK) == FUTEX_WAIT)
            until_ps = clocks_after_ps(time);
        else if (time)
            until_ps = clocks_time_ps(operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, time);
        return vc_block(VC_FUTEX, word, until_ps, where) == VC_TIMED_OUT ? failed(ETIMEDOUT) : 0;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: return vc_wake(word, value);
    default: vc_fatal("the program calls futex with an operation that virtual cores do not know (only WAIT and WAKE)");
    }
}

long syscall(long number, ...)
{
    va_list more;
    long a[6];
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    if (vc_self && number == SYS_futex)
        return futex((int *)a[0], (int)a[1], (int)a[2], (const struct timespec *)a[3], HERE);
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
