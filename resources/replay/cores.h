/* Threads on virtual cores: who has a core, who waits, and what happens next, by rules 1 to 9 of resources/card/README.md.
 * Who includes this says before in OF_THREAD what else a thread has. Times in ps. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NEVER ((int64_t)1 << 62)

enum { READY, RUNNING, BLOCKED, WAKING, ENDED };
enum { E_CARD, E_WAKE, E_TIME_OUT, E_CALL, E_SLICE }; /* in this order at equal times */

typedef struct {
    int state, core, last_core, pin;
    int rank;                   /* whose cores it runs on */
    int under_way, waits;       /* its call, which waited so many times */
    int timed_out, spoken;      /* the card says when its wait ends */
    int spins;                  /* it waits on its core */
    int64_t left_ps, until_ps;  /* on a core, before its next call takes effect; nor does it before */
    int64_t got_ps, began_ps, event_ps, order;
    int64_t object, cause;      /* what it waits for, the call that ends its wait; -1 */
    OF_THREAD
} thread;

typedef struct {
    int64_t count, slice_ps, call_ps, wake_ps, switch_ps; /* so many cores of each rank */
    int64_t ranks;
} settings;

typedef struct {
    settings of;
    int64_t count, queued, clock_ps, orders; /* `count`: of threads */
    thread *threads;
    int *on_core, *last_on, *queue;
    int got, let_go; /* who got a core last, and which core was let go last; -1 */
} cores;

/* All threads blocked, all cores free. Returns 0 where there is no memory. */
static int begin_cores(cores *c, const settings *of, int64_t count)
{
    *c = (cores){.of = *of, .count = count};
    c->threads = calloc((size_t)count + 1, sizeof *c->threads);
    int64_t all = of->count * of->ranks;
    c->on_core = malloc((size_t)(2 * all + count + 1) * sizeof *c->on_core);
    if (!c->threads || !c->on_core)
        return 0;
    c->last_on = c->on_core + all, c->queue = c->last_on + all;
    memset(c->on_core, -1, (size_t)all * 2 * sizeof *c->on_core);
    for (int64_t n = 0; n < count; n++) {
        thread *t = &c->threads[n];
        t->state = BLOCKED, t->event_ps = NEVER;
        t->core = t->last_core = t->pin = -1, t->object = t->cause = -1;
    }
    return 1;
}

static void end_cores(cores *c)
{
    free(c->threads), free(c->on_core);
}

/* ---- who has which core ---- */

static void get_core(cores *c, int n, int core)
{
    thread *t = &c->threads[n];
    t->state = RUNNING, t->core = t->last_core = core;
    t->got_ps = t->began_ps = c->clock_ps;
    if (c->last_on[core] != -1 && c->last_on[core] != n)
        t->left_ps += c->of.switch_ps;
    c->last_on[core] = c->on_core[core] = c->got = n;
}

/* Where in the queue the first thread is that may have this core; -1. */
static int next_on(const cores *c, int core)
{
    for (int64_t i = 0; i < c->queued; i++) {
        const thread *t = &c->threads[c->queue[i]];
        if (t->rank == core / c->of.count && (t->pin == -1 || t->pin == core))
            return (int)i;
    }
    return -1;
}

static void enqueue(cores *c, int n)
{
    c->threads[n].state = READY, c->queue[c->queued++] = n;
}

static void give_up_core(cores *c, int n)
{
    int core = c->threads[n].core, at;
    c->threads[n].core = -1, c->on_core[core] = -1, c->let_go = core;
    if ((at = next_on(c, core)) >= 0) {
        int other = c->queue[at];
        memmove(c->queue + at, c->queue + at + 1, (size_t)(c->queued - at - 1) * sizeof *c->queue);
        c->queued--;
        get_core(c, other, core);
    }
}

static void take_core(cores *c, int n)
{
    thread *t = &c->threads[n];
    int core = t->pin < 0 ? t->last_core : t->pin, first = t->rank * (int)c->of.count, end = first + (int)c->of.count;
    if (t->pin < 0 && (core < 0 || c->on_core[core] >= 0)) {
        core = -1;
        for (int one = first; one < end && core < 0; one++)
            if (c->on_core[one] < 0)
                core = one;
    }
    if (core >= 0 && core < end && c->on_core[core] < 0)
        get_core(c, n, core);
    else
        enqueue(c, n);
}

static void end_slice(cores *c, int n)
{
    thread *t = &c->threads[n];
    t->left_ps -= c->clock_ps - t->began_ps;
    if (t->left_ps < 0)
        t->left_ps = 0;
    give_up_core(c, n);
    enqueue(c, n);
}

/* ---- waiting and waking ---- */

static void block(cores *c, int n, int64_t object, int64_t until_ps, int64_t cause)
{
    thread *t = &c->threads[n];
    t->state = BLOCKED, t->object = object, t->cause = cause, t->order = ++c->orders;
    t->event_ps = until_ps, t->under_way = 1, t->timed_out = 0, t->waits++;
    give_up_core(c, n);
}

static void wake(cores *c, int n)
{
    thread *t = &c->threads[n];
    t->object = t->cause = -1;
    if (t->spins)
        t->spins = 0, t->until_ps = c->clock_ps;
    else if (c->of.wake_ps)
        t->state = WAKING, t->order = ++c->orders, t->event_ps = c->clock_ps + c->of.wake_ps;
    else
        take_core(c, n);
}

/* Wake the longest waiters for an object, or for a call, at most so many. */
static void wake_some(cores *c, int64_t object, int64_t cause, int64_t most)
{
    for (; most > 0; most--) {
        int first = -1;
        for (int n = 0; n < c->count; n++) {
            const thread *t = &c->threads[n];
            if ((t->state == BLOCKED || t->spins) && (object >= 0 ? t->object == object : t->cause == cause)
                && (first < 0 || t->order < c->threads[first].order))
                first = n;
        }
        if (first < 0)
            return;
        wake(c, first);
    }
}

/* ---- what happens next ---- */

static int64_t slice_end(const cores *c, const thread *t)
{
    int64_t slices = (c->clock_ps - t->got_ps + c->of.slice_ps - 1) / c->of.slice_ps;
    return t->got_ps + (slices > 1 ? slices : 1) * c->of.slice_ps;
}

/* To whom something happens next: what and when; -1 where nothing can. */
static int first_event(const cores *c, int *kind, int64_t *at_ps)
{
    int of = -1, first_kind = E_SLICE;
    int64_t first = NEVER, first_order = 0;
    for (int n = 0; n < c->count; n++) {
        const thread *t = &c->threads[n];
        int64_t at, order = n;
        int what = E_CALL;
        if (t->state == RUNNING) {
            at = t->began_ps + t->left_ps;
            at = t->until_ps > at ? t->until_ps : at;
            if (c->queued && next_on(c, t->core) >= 0 && slice_end(c, t) < at)
                at = slice_end(c, t), what = E_SLICE;
        } else if (t->state == WAKING)
            at = t->event_ps, what = E_WAKE, order = t->order;
        else if (t->state == BLOCKED && t->event_ps < NEVER)
            at = t->event_ps, what = t->spoken ? E_CARD : E_TIME_OUT;
        else
            continue;
        if (at < first || (at == first && (what < first_kind || (what == first_kind && order < first_order))))
            first = at, first_kind = what, first_order = order, of = n;
    }
    *kind = first_kind, *at_ps = first;
    return first < NEVER ? of : -1;
}
