/* Threads on the virtual clock: their beginning, end and cancelling, pthreads' and C11's. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "libc.h"

/* ---- cancelling: it acts at calls ---- */

void threads_act_on_cancel(void)
{
    if (vc_self->cancelled && !vc_self->may_not_be_cancelled) {
        vc_self->may_not_be_cancelled = 1;
        REAL(pthread_exit)(PTHREAD_CANCELED);
    }
}

vc_result threads_wait(vc_what what, const void *object, int64_t until_ps, const void *where)
{
    threads_act_on_cancel();
    vc_result result = vc_block(what, object, until_ps, where);
    threads_act_on_cancel();
    return result;
}

static int cancel(vthread *t)
{
    vc_call(SYNC_CANCEL, NULL, t ? t->number : -1);
    if (!t || t->state == VC_ENDED)
        return ESRCH;
    t->cancelled = 1;
    if (t != vc_self && t->state == VC_BLOCKED && !t->may_not_be_cancelled && t->what != VC_MUTEX && t->what != VC_RWLOCK)
        vc_wake_thread(t, VC_CANCELLED);
    return 0;
}

static int set_cancel_state(int state, int *old)
{
    if (old)
        *old = vc_self->may_not_be_cancelled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    vc_self->may_not_be_cancelled = state == PTHREAD_CANCEL_DISABLE;
    return 0;
}

ON_CLOCK(int, pthread_cancel, (pthread_t thread), (thread), cancel(vc_by_real(thread)))
ON_CLOCK(void, pthread_testcancel, (void), (), (vc_call(SYNC_OTHER, NULL, 0), threads_act_on_cancel()))
ON_CLOCK(int, pthread_setcancelstate, (int state, int *old), (state, old), set_cancel_state(state, old))

int pthread_setcanceltype(int type, int *old)
{
    if (vc_self && type == PTHREAD_CANCEL_ASYNCHRONOUS)
        vc_note("a thread asked to be cancelled at any time (PTHREAD_CANCEL_ASYNCHRONOUS): on virtual cores it is at its "
                "next call", HERE);
    return REAL(pthread_setcanceltype)(type, old);
}

/* ---- beginning and end ---- */

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
    if (vc_before_others)
        vc_before_others();
    vc_point();
    if (vc_live == 1) /* main has ended before */
        REAL(exit)(0);
    vc_end();
}

void threads_begin(void) { pthread_setspecific(last_destructor, (void *)1); }

static void *begin_thread(void *argument)
{
    beginning b = *(beginning *)argument;
    free(argument);
    threads_begin();
    vc_begin(b.thread);
    threads_act_on_cancel();
    return b.c11 ? (void *)(intptr_t)b.c11(b.argument) : b.function(b.argument);
}

static int create(pthread_t *thread, const pthread_attr_t *attr, beginning b)
{
    int detached = 0;
    vc_call(SYNC_CREATE, NULL, -1);
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
    vc_argument(b.thread->number);
    vc_ready(b.thread);
    return 0;
}

static int join(pthread_t thread, void **value, int64_t until_ps, const void *where)
{
    vthread *t = vc_by_real(thread);
    if (t == vc_self)
        return EDEADLK;
    vc_call(SYNC_JOIN, NULL, t ? t->number : -1);
    if (!t || t->detached) /* of a library's own */
        return t ? EINVAL : REAL(pthread_join)(thread, value);
    while (t->state != VC_ENDED)
        if (until_ps == 0) {
            vc_refused();
            return EBUSY;
        } else if (threads_wait(VC_JOIN, t, until_ps, where) == VC_TIMED_OUT)
            return ETIMEDOUT;
    vc_discard(t);
    return REAL(pthread_join)(thread, value);
}

ON_CLOCK(int, pthread_create, (pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *), void *argument),
         (thread, attr, function, argument),
         create(thread, attr, (beginning){.function = function, .argument = argument}))
static int name(pthread_t thread, const char *called)
{
    vthread *t = vc_by_real(thread);
    if (t && strlen(called) < sizeof t->name)
        strcpy(t->name, called);
    return REAL(pthread_setname_np)(thread, called);
}

ON_CLOCK(int, pthread_setname_np, (pthread_t thread, const char *called), (thread, called), name(thread, called))
ON_CLOCK(int, pthread_join, (pthread_t thread, void **value), (thread, value), join(thread, value, VC_NEVER, HERE))
ON_CLOCK(int, pthread_tryjoin_np, (pthread_t thread, void **value), (thread, value), join(thread, value, 0, HERE))
ON_CLOCK(int, pthread_timedjoin_np, (pthread_t thread, void **value, const struct timespec *at), (thread, value, at),
         join(thread, value, clocks_time_ps(CLOCK_REALTIME, at), HERE))
ON_CLOCK(int, pthread_clockjoin_np, (pthread_t thread, void **value, clockid_t clock, const struct timespec *at),
         (thread, value, clock, at), join(thread, value, clocks_time_ps(clock, at), HERE))
ON_CLOCK(int, sched_yield, (void), (), (vc_yield(), 0))

int pthread_detach(pthread_t thread)
{
    vthread *t = vc_self ? vc_by_real(thread) : NULL;
    if (t) {
        vc_call(SYNC_OTHER, NULL, 0);
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

/* ---- C11's threads, whose functions in the C library do not call those above ---- */

static int c11(int error)
{
    return error == 0 ? thrd_success : error == ETIMEDOUT ? thrd_timedout : error == EBUSY ? thrd_busy
         : error == ENOMEM ? thrd_nomem : thrd_error;
}

ON_CLOCK(int, thrd_create, (thrd_t *thread, thrd_start_t function, void *argument), (thread, function, argument),
         c11(create(thread, NULL, (beginning){.c11 = function, .argument = argument})))

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

/* ---- the start, and forks ---- */

static void in_child(void) { vc_self = NULL; } /* it has its own clock, and no card */

void libc_start(void)
{
    vc_owner = locks_owner;
    pthread_key_create(&last_destructor, end_thread);
    threads_begin(); /* main may leave by pthread_exit */
    pthread_atfork(NULL, NULL, in_child);
    files_start();
}
