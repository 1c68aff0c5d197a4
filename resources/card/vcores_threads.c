/* Threads as they come and go; vcores.h says what the functions do. */
#define _GNU_SOURCE
#include "vcores.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>

#include "host_time.h"
#include "real.h"
#include "spins.h"

extern void *__libc_stack_end;

__thread vthread *vc_self;
int vc_live;
vthread *vc_threads;
static vthread **threads_end = &vc_threads;
static int numbers;

static vthread *known(vthread *t)
{
    t->number = numbers++;
    t->core = t->last_core = -1;
    t->rank = vc_self ? vc_self->rank : 0;
    t->pin = vc_self ? vc_self->pin : -1;
    t->event_ps = VC_NEVER;
    t->core_ps = calloc((size_t)vc_set.cores, sizeof *t->core_ps);
    *threads_end = t;
    threads_end = &t->next;
    return t;
}

void vc_start(void)
{
    if (vc_set.cores > VC_MOST_CORES / vc_set.ranks)
        vc_set.cores = VC_MOST_CORES / vc_set.ranks;
    vthread *main_thread = known(calloc(1, sizeof *main_thread));
    main_thread->real = pthread_self();
    main_thread->stack_top = __libc_stack_end;
    vc_live = 1;
    vc_get_core(main_thread, 0);
    vc_self = main_thread;
}

/* From the second thread on, one real core is enough, and handing over is fastest within it. */
static void stay_on_one_cpu(void)
{
    cpu_set_t one;
    int cpu = REAL(sched_getcpu)();
    if (cpu < 0 || !host_time.deterministic)
        return;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    REAL(sched_setaffinity)(0, sizeof one, &one);
}

vthread *vc_new(void)
{
    vthread *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    if (numbers == 1)
        stay_on_one_cpu();
    t->state = VC_BLOCKED;
    t->what = VC_SLEEP;
    t->since_ps = t->begin_ps = vc_clock_ps;
    return known(t);
}

void vc_ready(vthread *t)
{
    vc_live++;
    vc_wake_thread(t, VC_WOKEN);
}

vthread *vc_new_rank(int rank)
{
    vthread *t = vc_new();
    if (!t)
        return NULL;
    t->rank = rank;
    t->pin = -1;
    vc_live++;
    vc_get_core(t, rank * vc_set.cores);
    vc_due(t, VC_NEVER); /* who runs may have to wait for it */
    return t;
}

void vc_discard(vthread *t)
{
    for (vthread **at = &vc_threads; *at; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            if (threads_end == &t->next)
                threads_end = at;
            break;
        }
    spin_forget(t);
    free(t->core_ps);
    free(t);
}

void vc_begin(vthread *t)
{
    vc_self = t;
    t->stack_top = __builtin_frame_address(0);
    vc_await_turn(t);
    host_time_forget();
}

void vc_end_rank(void)
{
    for (vthread *t = vc_threads; t; t = t->next) {
        if (t->rank != vc_self->rank || t == vc_self || t->state == VC_ENDED)
            continue;
        vc_remember(t, vc_clock_ps);
        if (t->state == VC_READY)
            vc_leave_queue(t);
        if (t->state == VC_RUNNING)
            vc_give_up_core(t);
        t->state = VC_ENDED;
        vc_live--;
    }
}

void vc_end(void)
{
    vthread *self = vc_self;
    vc_does(SYNC_END, NULL, 0);
    vc_remember(self, vc_clock_ps);
    self->state = VC_ENDED;
    vc_live--;
    vc_wake(self, INT_MAX);
    vc_give_up_core(self);
    vc_self = NULL;
    if (self->detached)
        vc_discard(self);
    vc_go_on(NULL);
}

vthread *vc_find(int number)
{
    for (vthread *t = vc_threads; t; t = t->next)
        if (t->number == number)
            return t;
    return NULL;
}

vthread *vc_by_real(pthread_t real)
{
    for (vthread *t = vc_threads; t; t = t->next)
        if (pthread_equal(t->real, real))
            return t;
    return NULL;
}

void vc_settle(void)
{
    for (vthread *t = vc_threads; t; t = t->next) {
        if (t->state == VC_BLOCKED && t->what != VC_CARD && t->what != VC_INTERRUPT)
            vc_count_wait(t, 0, t->since_ps);
        if (t->state == VC_READY)
            vc_count_wait(t, 1, t->queued_since_ps);
        if (t->state != VC_ENDED)
            vc_remember(t, vc_clock_ps);
    }
}
