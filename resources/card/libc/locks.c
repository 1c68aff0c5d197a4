/* Mutexes, condition variables, read-write locks and spin locks on the virtual clock.
 *
 * Each keeps its state in the program's own object, laid out so that a static initialiser and the C library's `init`
 * functions make a free one. Who waits for it is known to the scheduler by its address. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

#include "libc.h"

static int refused(int error)
{
    vc_refused();
    return error;
}

static int me(void) { return vc_self->number + 1; }

/* ---- mutexes: __lock 0 or 1, __owner, __count of a recursive one, __nusers who wait ---- */

enum { TYPE = 3, UNUSUAL = 16 | 32 | 64 }; /* of __kind: robust, and two priority protocols */

static int type_of(const pthread_mutex_t *m) { return m->__data.__kind & TYPE; }

int locks_owner(const vthread *t)
{
    return t->what == VC_MUTEX ? ((const pthread_mutex_t *)t->object)->__data.__owner - 1 : -1;
}

static int take(pthread_mutex_t *m, int64_t until_ps, const void *where)
{
    if (m->__data.__kind & UNUSUAL)
        vc_note("a mutex is robust or has a priority protocol: on virtual cores it is a plain one", where);
    while (m->__data.__lock) {
        if (m->__data.__owner == me() && type_of(m) == PTHREAD_MUTEX_RECURSIVE_NP) {
            m->__data.__count++;
            return 0;
        }
        if (m->__data.__owner == me() && type_of(m) == PTHREAD_MUTEX_ERRORCHECK_NP)
            return refused(EDEADLK);
        if (until_ps == VC_NEVER)
            vc_check_ring(m, m->__data.__owner - 1, where);
        m->__data.__nusers++;
        vc_result result = vc_block(VC_MUTEX, m, until_ps, where);
        m->__data.__nusers--;
        if (result == VC_TIMED_OUT)
            return ETIMEDOUT;
    }
    m->__data.__lock = 1;
    m->__data.__owner = me();
    return 0;
}

static int lock(pthread_mutex_t *m, int64_t until_ps, const void *where)
{
    vc_call(SYNC_LOCK, m, 0);
    return take(m, until_ps, where);
}

static int try_lock(pthread_mutex_t *m)
{
    vc_call(SYNC_LOCK, m, 0);
    if (m->__data.__lock && !(m->__data.__owner == me() && type_of(m) == PTHREAD_MUTEX_RECURSIVE_NP))
        return refused(EBUSY);
    return take(m, VC_NEVER, NULL);
}

static int let_go(pthread_mutex_t *m)
{
    if (m->__data.__owner != me() && type_of(m) != PTHREAD_MUTEX_TIMED_NP && type_of(m) != PTHREAD_MUTEX_ADAPTIVE_NP)
        return refused(EPERM);
    if (m->__data.__count) {
        m->__data.__count--;
        return 0;
    }
    m->__data.__lock = m->__data.__owner = 0;
    if (m->__data.__nusers)
        vc_wake(m, 1);
    return 0;
}

ON_CLOCK(int, pthread_mutex_lock, (pthread_mutex_t *m), (m), lock(m, VC_NEVER, HERE))
ON_CLOCK(int, pthread_mutex_trylock, (pthread_mutex_t *m), (m), try_lock(m))
ON_CLOCK(int, pthread_mutex_clocklock, (pthread_mutex_t *m, clockid_t clock, const struct timespec *at), (m, clock, at),
         lock(m, clocks_time_ps(clock, at), HERE))
ON_CLOCK(int, pthread_mutex_timedlock, (pthread_mutex_t *m, const struct timespec *at), (m, at),
         lock(m, clocks_time_ps(CLOCK_REALTIME, at), HERE))
ON_CLOCK(int, pthread_mutex_unlock, (pthread_mutex_t *m), (m), (vc_call(SYNC_UNLOCK, m, 0), let_go(m)))

/* ---- what is shared between processes is refused ---- */

void locks_refuse_shared(const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "a %s is shared between processes: only threads of one process can wait for one another on "
             "the virtual clock", what);
    vc_fatal(text);
}

#define MAY_BE_SHARED(kind, words)                                              \
    int kind##attr_setpshared(kind##attr_t *attr, int shared)                   \
    {                                                                           \
        if (vc_self && shared == PTHREAD_PROCESS_SHARED)                        \
            locks_refuse_shared(words);                                         \
        return REAL(kind##attr_setpshared)(attr, shared);                       \
    }
MAY_BE_SHARED(pthread_mutex, "mutex")
MAY_BE_SHARED(pthread_cond, "condition variable")
MAY_BE_SHARED(pthread_rwlock, "read-write lock")
MAY_BE_SHARED(pthread_barrier, "barrier")

/* ---- condition variables ---- */

typedef struct {
    pthread_mutex_t *mutex;
    const void *where;
} to_take;

static void take_after_cancel(void *argument)
{
    to_take *t = argument;
    take(t->mutex, VC_NEVER, t->where);
}

static int wait_on(pthread_cond_t *c, pthread_mutex_t *m, int64_t until_ps, const void *where)
{
    to_take again = {m, where};
    vc_result result;
    vc_call(SYNC_WAIT, c, (intptr_t)m);
    threads_act_on_cancel();
    unsigned count = m->__data.__count; /* a recursive one is let go as a whole */
    m->__data.__count = 0;
    int error = let_go(m);
    if (error)
        return error;
    result = vc_block(VC_CONDITION, c, until_ps, where);
    pthread_cleanup_push(take_after_cancel, &again);
    threads_act_on_cancel();
    pthread_cleanup_pop(1);
    m->__data.__count = count;
    return result == VC_TIMED_OUT ? ETIMEDOUT : 0;
}

static clockid_t clock_of(const pthread_cond_t *c) /* what pthread_cond_init makes of the attribute */
{
    return c->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

ON_CLOCK(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m), wait_on(c, m, VC_NEVER, HERE))
ON_CLOCK(int, pthread_cond_clockwait, (pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *at),
         (c, m, clock, at), wait_on(c, m, clocks_time_ps(clock, at), HERE))
ON_CLOCK(int, pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at), (c, m, at),
         wait_on(c, m, clocks_time_ps(clock_of(c), at), HERE))
ON_CLOCK(int, pthread_cond_signal, (pthread_cond_t *c), (c), (vc_call(SYNC_SIGNAL, c, 0), vc_wake(c, 1), 0))
ON_CLOCK(int, pthread_cond_broadcast, (pthread_cond_t *c), (c), (vc_call(SYNC_BROADCAST, c, 0), vc_wake(c, INT_MAX), 0))

/* ---- read-write locks: __readers, __cur_writer; whoever waits is woken when it is free, and asks again ---- */

static int take_rw(pthread_rwlock_t *l, int writes, int tries, int64_t until_ps, const void *where)
{
    vc_call(writes ? SYNC_LOCK_WRITING : SYNC_LOCK_READING, l, 0);
    if (l->__data.__cur_writer == me())
        return refused(tries ? EBUSY : EDEADLK);
    while (l->__data.__cur_writer || (writes && l->__data.__readers)) {
        if (tries)
            return refused(EBUSY);
        if (vc_block(VC_RWLOCK, l, until_ps, where) == VC_TIMED_OUT)
            return ETIMEDOUT;
    }
    if (writes)
        l->__data.__cur_writer = me();
    else
        l->__data.__readers++;
    return 0;
}

static int let_go_rw(pthread_rwlock_t *l)
{
    vc_call(SYNC_UNLOCK_BOTH, l, 0);
    if (l->__data.__cur_writer == me())
        l->__data.__cur_writer = 0;
    else if (l->__data.__readers)
        l->__data.__readers--;
    if (!l->__data.__cur_writer && !l->__data.__readers)
        vc_wake(l, INT_MAX);
    return 0;
}

ON_CLOCK(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l), take_rw(l, 0, 0, VC_NEVER, HERE))
ON_CLOCK(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l), take_rw(l, 1, 0, VC_NEVER, HERE))
ON_CLOCK(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *l), (l), take_rw(l, 0, 1, VC_NEVER, HERE))
ON_CLOCK(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *l), (l), take_rw(l, 1, 1, VC_NEVER, HERE))
ON_CLOCK(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *l, const struct timespec *at), (l, at),
         take_rw(l, 0, 0, clocks_time_ps(CLOCK_REALTIME, at), HERE))
ON_CLOCK(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *l, const struct timespec *at), (l, at),
         take_rw(l, 1, 0, clocks_time_ps(CLOCK_REALTIME, at), HERE))
ON_CLOCK(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *l, clockid_t clock, const struct timespec *at), (l, clock, at),
         take_rw(l, 0, 0, clocks_time_ps(clock, at), HERE))
ON_CLOCK(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *l, clockid_t clock, const struct timespec *at), (l, clock, at),
         take_rw(l, 1, 0, clocks_time_ps(clock, at), HERE))
ON_CLOCK(int, pthread_rwlock_unlock, (pthread_rwlock_t *l), (l), let_go_rw(l))

/* ---- spin locks: who waits keeps its core ---- */

static int take_spin(pthread_spinlock_t *lock, int tries, const void *where)
{
    vc_call(SYNC_LOCK_SPINNING, (const void *)lock, 0);
    while (*lock != 0) {
        if (tries)
            return refused(EBUSY);
        vc_spin((const void *)lock, where);
    }
    *lock = 1;
    return 0;
}

static int let_go_spin(pthread_spinlock_t *lock)
{
    vc_call(SYNC_UNLOCK_SPINNING, (const void *)lock, 0);
    *lock = 0;
    vc_wake((const void *)lock, 1);
    return 0;
}

ON_CLOCK(int, pthread_spin_init, (pthread_spinlock_t *lock, int shared), (lock, shared), (*lock = 0))
ON_CLOCK(int, pthread_spin_lock, (pthread_spinlock_t *lock), (lock), take_spin(lock, 0, HERE))
ON_CLOCK(int, pthread_spin_trylock, (pthread_spinlock_t *lock), (lock), take_spin(lock, 1, HERE))
ON_CLOCK(int, pthread_spin_unlock, (pthread_spinlock_t *lock), (lock), let_go_spin(lock))
