/* What threads wait for one another with, on the virtual clock: the C library's functions, defined in the program.
 *
 * A mutex, condition variable or lock keeps its state in the program's own object, laid out so that a static initialiser
 * and the C library's `init` functions make a free one. Who waits for it is known to the scheduler by its address.
 * Threads that are not on the virtual clock get the C library's functions. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "clocks.h"
#include "real.h"
#include "vcores.h"

#define HERE __builtin_return_address(0)

static int me(void) { return vc_self->number + 1; }

/* ---- cancelling: it acts at calls ---- */

static void act_on_cancel(void)
{
    if (vc_self->cancelled && !vc_self->may_not_be_cancelled) {
        vc_self->may_not_be_cancelled = 1;
        REAL(pthread_exit)(PTHREAD_CANCELED);
    }
}

/* A call at which a thread may be cancelled; vc_block's result. */
vc_result sync_wait(vc_what what, const void *object, int64_t until_ps, const void *where)
{
    act_on_cancel();
    vc_result result = vc_block(what, object, until_ps, where);
    act_on_cancel();
    return result;
}

int pthread_cancel(pthread_t thread)
{
    vthread *t = vc_self ? vc_by_real(thread) : NULL;
    if (!vc_self)
        return REAL(pthread_cancel)(thread);
    vc_call();
    if (!t || t->state == VC_ENDED)
        return ESRCH;
    t->cancelled = 1;
    if (t == vc_self)
        return 0;
    if (t->state == VC_BLOCKED && !t->may_not_be_cancelled && t->what != VC_MUTEX && t->what != VC_RWLOCK)
        vc_wake_thread(t, VC_CANCELLED);
    return 0;
}

void pthread_testcancel(void)
{
    if (!vc_self) {
        REAL(pthread_testcancel)();
        return;
    }
    vc_call();
    act_on_cancel();
}

int pthread_setcancelstate(int state, int *old)
{
    if (vc_self) {
        if (old)
            *old = vc_self->may_not_be_cancelled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
        vc_self->may_not_be_cancelled = state == PTHREAD_CANCEL_DISABLE;
        return 0;
    }
    return REAL(pthread_setcancelstate)(state, old);
}

int pthread_setcanceltype(int type, int *old)
{
    if (vc_self && type == PTHREAD_CANCEL_ASYNCHRONOUS)
        vc_note("a thread asked to be cancelled at any time (PTHREAD_CANCEL_ASYNCHRONOUS): on virtual cores it is at its "
                "next call");
    return REAL(pthread_setcanceltype)(type, old);
}

/* ---- mutexes: __lock 0 or 1, __owner, __count of a recursive one, __nusers who wait ---- */

enum { TYPE = 3, UNUSUAL = 16 | 32 | 64, SHARED = 128 }; /* of __kind: robust, and two priority protocols */

static int type_of(const pthread_mutex_t *m) { return m->__data.__kind & TYPE; }

static int owner_of(const vthread *t)
{
    return t->what == VC_MUTEX ? ((const pthread_mutex_t *)t->object)->__data.__owner - 1 : -1;
}

static int take(pthread_mutex_t *m, int64_t until_ps, const void *where)
{
    if (m->__data.__kind & UNUSUAL)
        vc_note("a mutex is robust or has a priority protocol: on virtual cores it is a plain one");
    while (m->__data.__lock) {
        if (m->__data.__owner == me() && type_of(m) == PTHREAD_MUTEX_RECURSIVE_NP) {
            m->__data.__count++;
            return 0;
        }
        if (m->__data.__owner == me() && type_of(m) == PTHREAD_MUTEX_ERRORCHECK_NP)
            return EDEADLK;
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

static int let_go(pthread_mutex_t *m)
{
    if (m->__data.__owner != me() && type_of(m) != PTHREAD_MUTEX_TIMED_NP && type_of(m) != PTHREAD_MUTEX_ADAPTIVE_NP)
        return EPERM;
    if (m->__data.__count) {
        m->__data.__count--;
        return 0;
    }
    m->__data.__lock = m->__data.__owner = 0;
    if (m->__data.__nusers)
        vc_wake(m, 1);
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
    if (!vc_self)
        return REAL(pthread_mutex_lock)(m);
    vc_call();
    return take(m, VC_NEVER, HERE);
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
    if (!vc_self)
        return REAL(pthread_mutex_trylock)(m);
    vc_call();
    if (m->__data.__lock && !(m->__data.__owner == me() && type_of(m) == PTHREAD_MUTEX_RECURSIVE_NP))
        return EBUSY;
    return take(m, VC_NEVER, HERE);
}

int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
    if (!vc_self)
        return REAL(pthread_mutex_clocklock)(m, clock, until);
    vc_call();
    return take(m, clocks_time_ps(clock, until), HERE);
}

int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    if (!vc_self)
        return REAL(pthread_mutex_timedlock)(m, until);
    vc_call();
    return take(m, clocks_time_ps(CLOCK_REALTIME, until), HERE);
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
    if (!vc_self)
        return REAL(pthread_mutex_unlock)(m);
    vc_call();
    return let_go(m);
}

static void refuse_shared(const char *what)
{
    char text[200];
    __builtin_snprintf(text, sizeof text, "a %s is shared between processes: only threads of one process can wait for one "
                       "another on the virtual clock", what);
    vc_fatal(text);
}

int pthread_mutexattr_setpshared(pthread_mutexattr_t *attr, int shared)
{
    if (vc_self && shared == PTHREAD_PROCESS_SHARED)
        refuse_shared("mutex");
    return REAL(pthread_mutexattr_setpshared)(attr, shared);
}

int pthread_condattr_setpshared(pthread_condattr_t *attr, int shared)
{
    if (vc_self && shared == PTHREAD_PROCESS_SHARED)
        refuse_shared("condition variable");
    return REAL(pthread_condattr_setpshared)(attr, shared);
}

int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *attr, int shared)
{
    if (vc_self && shared == PTHREAD_PROCESS_SHARED)
        refuse_shared("read-write lock");
    return REAL(pthread_rwlockattr_setpshared)(attr, shared);
}

int pthread_barrierattr_setpshared(pthread_barrierattr_t *attr, int shared)
{
    if (vc_self && shared == PTHREAD_PROCESS_SHARED)
        refuse_shared("barrier");
    return REAL(pthread_barrierattr_setpshared)(attr, shared);
}

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
    vc_call();
    act_on_cancel();
    unsigned count = m->__data.__count; /* a recursive one is let go as a whole */
    m->__data.__count = 0;
    int error = let_go(m);
    if (error)
        return error;
    result = vc_block(VC_CONDITION, c, until_ps, where);
    pthread_cleanup_push(take_after_cancel, &again);
    act_on_cancel();
    pthread_cleanup_pop(1);
    m->__data.__count = count;
    return result == VC_TIMED_OUT ? ETIMEDOUT : 0;
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    return vc_self ? wait_on(c, m, VC_NEVER, HERE) : REAL(pthread_cond_wait)(c, m);
}

int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
    return vc_self ? wait_on(c, m, clocks_time_ps(clock, until), HERE) : REAL(pthread_cond_clockwait)(c, m, clock, until);
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    if (!vc_self)
        return REAL(pthread_cond_timedwait)(c, m, until);
    int monotonic = c->__data.__wrefs & 2; /* what pthread_cond_init makes of the attribute */
    return wait_on(c, m, clocks_time_ps(monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, until), HERE);
}

int pthread_cond_signal(pthread_cond_t *c)
{
    if (!vc_self)
        return REAL(pthread_cond_signal)(c);
    vc_call();
    vc_wake(c, 1);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *c)
{
    if (!vc_self)
        return REAL(pthread_cond_broadcast)(c);
    vc_call();
    vc_wake(c, INT_MAX);
    return 0;
}

/* ---- read-write locks: __readers, __cur_writer; whoever waits is woken when it is free, and asks again ---- */

static int take_rw(pthread_rwlock_t *l, int writes, int tries, int64_t until_ps, const void *where)
{
    if (l->__data.__cur_writer == me())
        return tries ? EBUSY : EDEADLK;
    while (l->__data.__cur_writer || (writes && l->__data.__readers)) {
        if (tries)
            return EBUSY;
        if (vc_block(VC_RWLOCK, l, until_ps, where) == VC_TIMED_OUT)
            return ETIMEDOUT;
    }
    if (writes)
        l->__data.__cur_writer = me();
    else
        l->__data.__readers++;
    return 0;
}

#define RWLOCK(name, writes, tries, parameters, arguments, until)         \
    int name parameters                                                   \
    {                                                                     \
        if (!vc_self)                                                     \
            return REAL(name) arguments;                                  \
        vc_call();                                                        \
        return take_rw(l, writes, tries, until, HERE);                    \
    }
RWLOCK(pthread_rwlock_rdlock, 0, 0, (pthread_rwlock_t *l), (l), VC_NEVER)
RWLOCK(pthread_rwlock_wrlock, 1, 0, (pthread_rwlock_t *l), (l), VC_NEVER)
RWLOCK(pthread_rwlock_tryrdlock, 0, 1, (pthread_rwlock_t *l), (l), VC_NEVER)
RWLOCK(pthread_rwlock_trywrlock, 1, 1, (pthread_rwlock_t *l), (l), VC_NEVER)
RWLOCK(pthread_rwlock_timedrdlock, 0, 0, (pthread_rwlock_t *l, const struct timespec *at), (l, at),
       clocks_time_ps(CLOCK_REALTIME, at))
RWLOCK(pthread_rwlock_timedwrlock, 1, 0, (pthread_rwlock_t *l, const struct timespec *at), (l, at),
       clocks_time_ps(CLOCK_REALTIME, at))
RWLOCK(pthread_rwlock_clockrdlock, 0, 0, (pthread_rwlock_t *l, clockid_t clock, const struct timespec *at), (l, clock, at),
       clocks_time_ps(clock, at))
RWLOCK(pthread_rwlock_clockwrlock, 1, 0, (pthread_rwlock_t *l, clockid_t clock, const struct timespec *at), (l, clock, at),
       clocks_time_ps(clock, at))

int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    if (!vc_self)
        return REAL(pthread_rwlock_unlock)(l);
    vc_call();
    if (l->__data.__cur_writer == me())
        l->__data.__cur_writer = 0;
    else if (l->__data.__readers)
        l->__data.__readers--;
    if (!l->__data.__cur_writer && !l->__data.__readers)
        vc_wake(l, INT_MAX);
    return 0;
}

/* ---- barriers: an own layout ---- */

typedef struct {
    unsigned needed, arrived;
} barrier;
_Static_assert(sizeof(barrier) <= sizeof(pthread_barrier_t), "a barrier's state lies in the program's object");

int pthread_barrier_init(pthread_barrier_t *object, const pthread_barrierattr_t *attr, unsigned needed)
{
    if (!vc_self)
        return REAL(pthread_barrier_init)(object, attr, needed);
    if (!needed)
        return EINVAL;
    *(barrier *)object = (barrier){needed, 0};
    return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *object) { return vc_self ? 0 : REAL(pthread_barrier_destroy)(object); }

int pthread_barrier_wait(pthread_barrier_t *object)
{
    barrier *b = (barrier *)object;
    if (!vc_self)
        return REAL(pthread_barrier_wait)(object);
    vc_call();
    if (++b->arrived < b->needed) {
        vc_block(VC_BARRIER, b, VC_NEVER, HERE);
        return 0;
    }
    b->arrived = 0;
    vc_wake(b, INT_MAX);
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

/* ---- semaphores: the value in the first word ---- */

static int take_semaphore(sem_t *s, int64_t until_ps, const void *where)
{
    unsigned *value = (unsigned *)s;
    vc_call();
    while (!*value)
        if (sync_wait(VC_SEMAPHORE, s, until_ps, where) == VC_TIMED_OUT) {
            errno = ETIMEDOUT;
            return -1;
        }
    --*value;
    return 0;
}

int sem_init(sem_t *s, int shared, unsigned value)
{
    if (vc_self && shared)
        refuse_shared("semaphore");
    return REAL(sem_init)(s, shared, value);
}

sem_t *sem_open(const char *name, int flags, ...)
{
    if (vc_self)
        refuse_shared("named semaphore");
    va_list more;
    va_start(more, flags);
    unsigned mode = va_arg(more, unsigned), value = va_arg(more, unsigned);
    va_end(more);
    return REAL(sem_open)(name, flags, mode, value);
}

int sem_wait(sem_t *s) { return vc_self ? take_semaphore(s, VC_NEVER, HERE) : REAL(sem_wait)(s); }

int sem_timedwait(sem_t *s, const struct timespec *at)
{
    return vc_self ? take_semaphore(s, clocks_time_ps(CLOCK_REALTIME, at), HERE) : REAL(sem_timedwait)(s, at);
}

int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *at)
{
    return vc_self ? take_semaphore(s, clocks_time_ps(clock, at), HERE) : REAL(sem_clockwait)(s, clock, at);
}

int sem_trywait(sem_t *s)
{
    if (!vc_self)
        return REAL(sem_trywait)(s);
    vc_call();
    if (*(unsigned *)s) {
        --*(unsigned *)s;
        return 0;
    }
    errno = EAGAIN;
    return -1;
}

int sem_post(sem_t *s)
{
    if (!vc_self)
        return REAL(sem_post)(s);
    vc_call();
    ++*(unsigned *)s;
    vc_wake(s, 1);
    return 0;
}

int sem_getvalue(sem_t *s, int *value)
{
    if (!vc_self)
        return REAL(sem_getvalue)(s, value);
    vc_call();
    *value = (int)*(unsigned *)s;
    return 0;
}

/* ---- spin locks: who waits keeps its core ---- */

int pthread_spin_lock(pthread_spinlock_t *lock)
{
    if (!vc_self)
        return REAL(pthread_spin_lock)(lock);
    vc_call();
    while (*lock != 0)
        vc_spin((const void *)lock, HERE);
    *lock = 1;
    return 0;
}

int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    if (!vc_self)
        return REAL(pthread_spin_init)(lock, shared);
    *lock = 0;
    return 0;
}

int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    if (!vc_self)
        return REAL(pthread_spin_trylock)(lock);
    vc_call();
    if (*lock)
        return EBUSY;
    *lock = 1;
    return 0;
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    if (!vc_self)
        return REAL(pthread_spin_unlock)(lock);
    vc_call();
    *lock = 0;
    vc_wake((const void *)lock, 1);
    return 0;
}

/* ---- what is done once: 0, 1 while it is done, 2; C++ guards: two bytes, done and being done ---- */

int pthread_once(pthread_once_t *once, void (*routine)(void))
{
    if (!vc_self)
        return REAL(pthread_once)(once, routine);
    vc_call();
    while (*once == 1)
        vc_block(VC_ONCE, once, VC_NEVER, HERE);
    if (*once == 2)
        return 0;
    *once = 1;
    routine();
    vc_call();
    *once = 2;
    vc_wake(once, INT_MAX);
    return 0;
}

int __cxa_guard_acquire(char *guard);
void __cxa_guard_release(char *guard);
void __cxa_guard_abort(char *guard);

int __cxa_guard_acquire(char *guard)
{
    if (vc_self)
        vc_call();
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
        vc_call();
    guard[0] = done;
    guard[1] = 0;
    if (vc_self)
        vc_wake(guard, INT_MAX);
}

void __cxa_guard_release(char *guard) { end_guard(guard, 1); }
void __cxa_guard_abort(char *guard) { end_guard(guard, 0); }

/* ---- futexes: C++20's wait and notify, latches, futures ---- */

static long futex(int *word, int operation, int value, uintptr_t time_or_count, int value3, const void *where)
{
    const struct timespec *time = (const struct timespec *)time_or_count;
    int64_t until_ps = VC_NEVER;
    (void)value3;
    vc_call();
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (__atomic_load_n(word, __ATOMIC_RELAXED) != value) {
            errno = EAGAIN;
            return -1;
        }
        if (time && (operation & FUTEX_CMD_MASK) == FUTEX_WAIT)
            until_ps = clocks_after_ps(time);
        else if (time)
            until_ps = clocks_time_ps(operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, time);
        if (vc_block(VC_FUTEX, word, until_ps, where) == VC_TIMED_OUT) {
            errno = ETIMEDOUT;
            return -1;
        }
        return 0;
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
        return futex((int *)a[0], (int)a[1], (int)a[2], (uintptr_t)a[3], (int)a[5], HERE);
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- threads ---- */

typedef struct {
    vthread *thread;
    void *(*function)(void *);
    thrd_start_t c11;
    void *argument;
} beginning;

static pthread_key_t last_destructor;

/* A thread ends on the virtual clock in the last round of its keys' destructors, after those of its own. */
static void end_thread(void *rounds)
{
    if ((long)rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(last_destructor, (char *)rounds + 1);
        return;
    }
    vc_point();
    if (vc_count() == 1) /* main has ended before */
        REAL(exit)(0);
    vc_end();
}

static void *begin_thread(void *argument)
{
    beginning b = *(beginning *)argument;
    free(argument);
    pthread_setspecific(last_destructor, (void *)1);
    vc_begin(b.thread);
    act_on_cancel();
    return b.c11 ? (void *)(intptr_t)b.c11(b.argument) : b.function(b.argument);
}

static int create(pthread_t *thread, const pthread_attr_t *attr, beginning b)
{
    int detached = 0;
    vc_call();
    beginning *given = malloc(sizeof *given);
    b.thread = given ? vc_new() : NULL;
    if (!b.thread) {
        free(given);
        return EAGAIN;
    }
    *given = b;
    if (attr)
        pthread_attr_getdetachstate(attr, &detached);
    b.thread->detached = detached == PTHREAD_CREATE_DETACHED;
    int error = REAL(pthread_create)(&b.thread->real, attr, begin_thread, given);
    if (error) {
        vc_discard(b.thread);
        free(given);
        return error;
    }
    *thread = b.thread->real;
    vc_ready(b.thread);
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *), void *argument)
{
    if (!vc_self)
        return REAL(pthread_create)(thread, attr, function, argument);
    return create(thread, attr, (beginning){.function = function, .argument = argument});
}

static int join(pthread_t thread, void **value, int64_t until_ps, const void *where)
{
    vthread *t = vc_by_real(thread);
    if (t == vc_self)
        return EDEADLK;
    vc_call();
    if (!t || t->detached) /* of a library's own */
        return t ? EINVAL : REAL(pthread_join)(thread, value);
    while (t->state != VC_ENDED)
        if (until_ps == 0)
            return EBUSY;
        else if (sync_wait(VC_JOIN, t, until_ps, where) == VC_TIMED_OUT)
            return ETIMEDOUT;
    vc_discard(t);
    return REAL(pthread_join)(thread, value);
}

int pthread_join(pthread_t thread, void **value)
{
    return vc_self ? join(thread, value, VC_NEVER, HERE) : REAL(pthread_join)(thread, value);
}

int pthread_tryjoin_np(pthread_t thread, void **value)
{
    return vc_self ? join(thread, value, 0, HERE) : REAL(pthread_tryjoin_np)(thread, value);
}

int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *at)
{
    return vc_self ? join(thread, value, clocks_time_ps(CLOCK_REALTIME, at), HERE)
                   : REAL(pthread_timedjoin_np)(thread, value, at);
}

int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *at)
{
    return vc_self ? join(thread, value, clocks_time_ps(clock, at), HERE)
                   : REAL(pthread_clockjoin_np)(thread, value, clock, at);
}

int pthread_detach(pthread_t thread)
{
    vthread *t = vc_self ? vc_by_real(thread) : NULL;
    if (t) {
        vc_call();
        t->detached = 1;
        if (t->state == VC_ENDED)
            vc_discard(t);
    }
    return REAL(pthread_detach)(thread);
}

void pthread_exit(void *value)
{
    if (vc_self)
        vc_point();
    REAL(pthread_exit)(value);
    __builtin_unreachable();
}

int sched_yield(void)
{
    if (!vc_self)
        return REAL(sched_yield)();
    vc_yield();
    return 0;
}

/* ---- C11's threads, whose functions in the C library do not call those above ---- */

static int c11(int error)
{
    return error == 0 ? thrd_success : error == ETIMEDOUT ? thrd_timedout : error == EBUSY ? thrd_busy
         : error == ENOMEM ? thrd_nomem : thrd_error;
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    if (!vc_self)
        return REAL(thrd_create)(thread, function, argument);
    return c11(create(thread, NULL, (beginning){.c11 = function, .argument = argument}));
}

int thrd_join(thrd_t thread, int *value)
{
    void *result;
    int error = c11(pthread_join(thread, &result));
    if (value && error == thrd_success)
        *value = (int)(intptr_t)result;
    return error;
}

int thrd_detach(thrd_t thread) { return c11(pthread_detach(thread)); }
void thrd_exit(int value) { pthread_exit((void *)(intptr_t)value); }
void thrd_yield(void) { sched_yield(); }
int mtx_lock(mtx_t *m) { return c11(pthread_mutex_lock((pthread_mutex_t *)m)); }
int mtx_trylock(mtx_t *m) { return c11(pthread_mutex_trylock((pthread_mutex_t *)m)); }
int mtx_unlock(mtx_t *m) { return c11(pthread_mutex_unlock((pthread_mutex_t *)m)); }
int cnd_signal(cnd_t *c) { return c11(pthread_cond_signal((pthread_cond_t *)c)); }
int cnd_broadcast(cnd_t *c) { return c11(pthread_cond_broadcast((pthread_cond_t *)c)); }
int cnd_wait(cnd_t *c, mtx_t *m) { return c11(pthread_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m)); }
void call_once(once_flag *once, void (*routine)(void)) { pthread_once((pthread_once_t *)once, routine); }

int mtx_timedlock(mtx_t *m, const struct timespec *at)
{
    return c11(pthread_mutex_timedlock((pthread_mutex_t *)m, at));
}

int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *at)
{
    return c11(pthread_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, at));
}

/* ---- the start and forks ---- */

static void in_child(void) { vc_self = NULL; } /* it has its own clock, and no card */

void sync_start(void)
{
    vc_owner = owner_of;
    pthread_key_create(&last_destructor, end_thread);
    pthread_setspecific(last_destructor, (void *)1); /* main may leave by pthread_exit */
    pthread_atfork(NULL, NULL, in_child);
}
