/* Which thread has which core, and who waits for one; vcores.h says what the functions do. */
#include "vcores.h"

#include <stddef.h>

int64_t vc_clock_ps;
void (*vc_waited)(int number, int for_a_core, int64_t from_ps, int64_t to_ps);

static vthread *queue; /* ready, who came first before the others */
static vthread *on_core[VC_MOST_CORES];
static int last_on[VC_MOST_CORES]; /* the number after that of the thread that a core had last */

void vc_get_core(vthread *t, int core)
{
    t->state = VC_RUNNING;
    t->core = t->last_core = core;
    t->got_ps = t->began_ps = vc_clock_ps;
    t->polls = 0;
    if (last_on[core] && last_on[core] != t->number + 1)
        t->left_ps += vc_set.switch_ps;
    last_on[core] = t->number + 1;
    on_core[core] = t;
}

vthread *vc_next_on(int core)
{
    vthread *t = queue;
    while (t && (t->rank != core / vc_set.cores || (t->pin >= 0 && t->pin != core)))
        t = t->queue;
    return t;
}

static void count_wait(vthread *t, int for_a_core, int64_t from_ps, int64_t to_ps)
{
    if (vc_waited && to_ps > from_ps)
        vc_waited(t->number, for_a_core, from_ps, to_ps);
    *(for_a_core ? &t->queued_ps : &t->waited_ps) += to_ps - from_ps;
}

void vc_count_wait(vthread *t, int for_a_core, int64_t since_ps)
{
    if (t->waits_ps) {
        count_wait(t, 0, t->waits_ps - 1, since_ps);
        t->waits_ps = 1 + vc_clock_ps;
    }
    count_wait(t, for_a_core, since_ps, vc_clock_ps);
}

void vc_waits(int64_t since_ps)
{
    if (vc_self && since_ps >= 0)
        vc_self->waits_ps = 1 + since_ps;
    else if (vc_self)
        vc_self->waits_end = 1;
}

void vc_end_wait(vthread *t)
{
    if (t->waits_ps)
        count_wait(t, 0, t->waits_ps - 1, vc_clock_ps);
    t->waits_ps = 0;
    t->waits_end = 0;
}

void vc_leave_queue(vthread *t)
{
    vthread **at = &queue;
    while (*at != t)
        at = &(*at)->queue;
    *at = t->queue;
}

void vc_give_up_core(vthread *t)
{
    int core = t->core;
    vthread *next = vc_next_on(core);
    if (t->core_ps)
        t->core_ps[core % vc_set.cores] += vc_clock_ps - t->got_ps;
    t->core = -1;
    on_core[core] = NULL;
    if (!next)
        return;
    vc_leave_queue(next);
    vc_count_wait(next, 1, next->queued_since_ps);
    vc_get_core(next, core);
}

static void enqueue(vthread *t)
{
    t->state = VC_READY;
    t->queued_since_ps = vc_clock_ps;
    t->queue = NULL;
    vc_changes++; /* who yields from here on gives up its core */
    vthread **at = &queue;
    while (*at)
        at = &(*at)->queue;
    *at = t;
}

static void take_core(vthread *t)
{
    int core = t->pin < 0 ? t->last_core : t->pin, first = t->rank * vc_set.cores, end = first + vc_set.cores;
    if (t->pin < 0 && (core < 0 || on_core[core]))
        for (core = first; core < end && on_core[core]; core++)
            ;
    if (core < end && !on_core[core])
        vc_get_core(t, core);
    else
        enqueue(t);
}

void vc_place(vthread *t)
{
    if (t->what != VC_CARD && t->what != VC_INTERRUPT) /* which are parts of a call of the card's */
        vc_count_wait(t, 0, t->since_ps);
    take_core(t);
}

void vc_move(vthread *t)
{
    vc_give_up_core(t);
    take_core(t);
}

void vc_end_slice(vthread *t)
{
    int64_t done = vc_clock_ps - t->began_ps;
    t->left_ps = t->left_ps > done ? t->left_ps - done : 0;
    vc_give_up_core(t);
    enqueue(t);
}
