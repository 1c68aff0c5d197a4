/* Virtual cores; vcores.h says what they are, README.md by which rules. */
#define _GNU_SOURCE
#include "vcores.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host_time.h"
#include "real.h"
#include "spins.h"

#define MANY_POLLS 100

vc_settings vc_set = {.ranks = 1, .cores = 1, .slice_ps = VC_LATEST_PS, .skips_spins = 1};
uint64_t vc_changes;
int vc_card_awaited;
int64_t (*vc_card)(int64_t until_ps, const void **object);
static int64_t card_ps = VC_NEVER; /* when what a thread waits for comes from the card, where that is known, and what */
static const void *card_object;
int (*vc_outside)(void);
void (*vc_before_others)(void);
static int64_t nobody_watches;
volatile int64_t *vc_running = &nobody_watches;

static int frozen;
static int64_t others_ps = VC_NEVER; /* before this nothing happens but the running thread's calls */
static uint64_t orders;
static int by_itself; /* what wakes a thread is a time, or the card */

/* It does nothing but look at the same variables, round by round, until something changes. */
static int spins(const vthread *t) { return t->spin_ps && t->spin_changes == vc_changes; }

static void warn_of_polling(const vthread *t)
{
    if (t->polls >= MANY_POLLS || spins(t))
        vc_note("a thread spent a whole slice (simulation.slice_ps) polling an atomic variable while others waited for a core: "
                "with more spinning threads than simulation.cores most of the time is spent so", NULL);
}

static void make_ready(vthread *t)
{
    if (vc_set.wake_ps) {
        t->state = VC_WAKING;
        t->event_ps = vc_clock_ps + vc_set.wake_ps;
        t->order = ++orders;
    } else {
        vc_place(t);
    }
    others_ps = 0;
}

void vc_wake_thread(vthread *t, vc_result result)
{
    t->result = result;
    vc_is_woken(t, by_itself ? NULL : vc_self);
    if (t->state == VC_BLOCKED) {
        make_ready(t);
    } else { /* it held its core */
        t->what = VC_SLEEP;
        t->until_ps = vc_clock_ps;
        others_ps = 0;
    }
}

void vc_due(vthread *t, int64_t at_ps)
{
    t->event_ps = at_ps;
    others_ps = 0;
}

static int waits(const vthread *t, const void *object)
{
    return t->object == object && (t->state == VC_BLOCKED || t->what == VC_SPIN);
}

int vc_wake(const void *object, int most)
{
    int woken = 0;
    for (; woken < most; woken++) {
        vthread *first = NULL;
        for (vthread *t = vc_threads; t; t = t->next)
            if (waits(t, object) && (!first || t->order < first->order))
                first = t;
        if (!first)
            break;
        vc_wake_thread(first, VC_WOKEN);
        first->object = NULL;
    }
    return woken;
}

/* ---- what happens next ---- */

typedef enum { CARD, WAKE, TIME_OUT, CALL, SLICE } event_kind; /* in this order at equal times */
typedef struct {
    int64_t at_ps;
    event_kind kind;
    vthread *thread;
} event;

static int earlier(const event *a, const event *b)
{
    if (a->at_ps != b->at_ps)
        return a->at_ps < b->at_ps;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->kind == WAKE ? a->thread->order < b->thread->order : a->thread->number < b->thread->number;
}

static int64_t call_time(const vthread *t)
{
    int64_t at = t->began_ps + t->left_ps;
    return at > t->until_ps ? at : t->until_ps;
}

static int64_t slice_end(const vthread *t)
{
    int64_t slices = (vc_clock_ps - t->got_ps + vc_set.slice_ps - 1) / vc_set.slice_ps;
    return t->got_ps + (slices ? slices : 1) * vc_set.slice_ps;
}

/* The first of all that the threads are going to do, those who spin apart (VC_NEVER: nothing), and the time of the second. */
static event first_but_spins(int64_t *second_ps)
{
    event first = {VC_NEVER, SLICE, NULL};
    *second_ps = VC_NEVER;
    for (vthread *t = vc_threads; t; t = t->next) {
        event found[2];
        int n = 0;
        if (t->state == VC_RUNNING && call_time(t) != VC_NEVER && !spins(t))
            found[n++] = (event){call_time(t), CALL, t};
        if (t->state == VC_RUNNING && vc_next_on(t->core))
            found[n++] = (event){slice_end(t), SLICE, t};
        if (t->state == VC_WAKING || (t->state == VC_BLOCKED && t->event_ps != VC_NEVER))
            found[n++] = (event){t->event_ps, t->state == VC_WAKING ? WAKE : TIME_OUT, t};
        while (n--) {
            if (first.thread && !earlier(&found[n], &first)) {
                if (found[n].at_ps < *second_ps)
                    *second_ps = found[n].at_ps;
            } else {
                *second_ps = first.at_ps;
                first = found[n];
            }
        }
    }
    return first;
}

/* The first of all that is going to happen; those who spin have gone on to it. In the rounds before it all accesses see what
 * they saw in the round before; the last of them is run, where the event may come between two accesses. */
static event first_event(int64_t *second_ps)
{
    event next = first_but_spins(second_ps);
    if (vc_card_awaited || card_ps != VC_NEVER) {
        if (card_ps == VC_NEVER)
            card_ps = vc_card(next.at_ps, &card_object);
        if (card_ps != VC_NEVER)
            next = (event){card_ps > vc_clock_ps ? card_ps : vc_clock_ps, CARD, NULL};
        *second_ps = 0; /* each call of the host's is another time up to which the card may run */
    }
    event first = next;
    for (vthread *t = vc_threads; t && next.at_ps != VC_NEVER; t = t->next) {
        event call = {call_time(t), CALL, t};
        if (t->state != VC_RUNNING || !spins(t))
            continue;
        *second_ps = 0; /* it has to be taken along with each call of the others */
        if (!earlier(&call, &next))
            continue;
        int64_t from_ps = call.at_ps, rounds = (next.at_ps - from_ps) / t->spin_ps;
        call.at_ps = from_ps + rounds * t->spin_ps;
        if (t->spins_at_one_point)
            rounds += earlier(&call, &next);
        else if (rounds && !earlier(&call, &next)) /* the others of its accesses might come after the event */
            rounds--;
        call.at_ps = from_ps + rounds * t->spin_ps;
        t->left_ps += rounds * t->spin_ps;
        t->own_ps += rounds * t->spin_ps;
        t->work_ps += rounds * t->spin_work_ps;
        host_time_add(rounds * t->spin_work_ps);
        if (earlier(&call, &first))
            first = call;
    }
    return first;
}

static void give_turn(vthread *to)
{
    *vc_running = to->number;
    __atomic_store_n(&to->turn, 1, __ATOMIC_RELEASE);
    REAL(syscall)(SYS_futex, &to->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void vc_await_turn(vthread *self)
{
    while (!__atomic_load_n(&self->turn, __ATOMIC_ACQUIRE))
        REAL(syscall)(SYS_futex, &self->turn, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    self->turn = 0;
}

/* Who waits for the end of a thread in the background has told it to come to one. */
static int waits_for_ever(const vthread *t)
{
    return t->state == VC_BLOCKED && t->event_ps == VC_NEVER &&
           !(t->what == VC_JOIN && ((const vthread *)t->object)->background);
}

/* Nobody can go on but those in the background, who wait for times. */
static int all_wait_for_ever(void)
{
    for (vthread *t = vc_threads; t; t = t->next)
        if (!t->background && t->state != VC_ENDED && !waits_for_ever(t))
            return 0;
    return !vc_card_awaited && card_ps == VC_NEVER;
}

void vc_go_on(vthread *self)
{
    for (;;) {
        int64_t second_ps;
        event e = first_event(&second_ps);
        if (e.at_ps == VC_NEVER) {
            if (!vc_outside || !vc_outside())
                vc_stuck();
            continue;
        }
        if (e.at_ps > vc_clock_ps)
            vc_clock_ps = e.at_ps;
        vthread *t = e.thread;
        switch (e.kind) {
        case CARD:
            card_ps = VC_NEVER;
            by_itself = 1;
            vc_wake(card_object, INT_MAX);
            by_itself = 0;
            break;
        case WAKE: vc_place(t); break;
        case TIME_OUT:
            if (t->background && all_wait_for_ever() && (!vc_outside || !vc_outside()))
                vc_stuck();
            by_itself = 1;
            vc_wake_thread(t, VC_TIMED_OUT);
            by_itself = 0;
            break;
        case SLICE:
            warn_of_polling(t);
            vc_end_slice(t);
            break;
        case CALL:
            others_ps = second_ps;
            t->began_ps = vc_clock_ps;
            t->left_ps = t->until_ps = 0;
            if (t == self)
                return;
            give_turn(t);
            if (self)
                vc_await_turn(self);
            return;
        }
    }
}

/* ---- for the running thread ---- */

int64_t vc_now(void) { return vc_self && !vc_failed ? vc_self->began_ps + vc_self->left_ps : vc_clock_ps; }

void vc_charge(void)
{
    vthread *self = vc_self;
    int64_t work_ps = host_time_charge(self->number);
    self->work_ps += work_ps;
    self->left_ps += work_ps;
    self->own_ps += work_ps;
    if (self->left_ps > VC_LATEST_PS - self->began_ps)
        self->left_ps = VC_LATEST_PS - self->began_ps;
}

void vc_access(void)
{
    vthread *self = vc_self;
    vc_charge();
    int64_t at = self->began_ps + self->left_ps;
    if (__builtin_expect(at < others_ps && !self->spin_ps, 1)) {
        vc_clock_ps = self->began_ps = at;
        self->left_ps = 0;
        return;
    }
    vc_go_on(self);
    self->spin_ps = 0;
    host_time_forget();
}

int64_t vc_point(void)
{
    vc_access();
    vc_changes++;
    if (vc_self->waits_end)
        vc_end_wait(vc_self);
    return vc_clock_ps;
}

void vc_call(rcw_sync_kind kind, const void *object, int64_t argument)
{
    if (vc_before_others && vc_live > 1)
        vc_before_others();
    vc_point();
    vc_does(kind, object, argument);
    vc_self->polls = 0;
    vc_self->left_ps += vc_set.call_ps;
}

vc_result vc_block(vc_what what, const void *object, int64_t until_ps, const void *where)
{
    vthread *self = vc_self;
    if (vc_failed || frozen) /* nobody is left who could wake it */
        vc_fatal("a destructor waits for another thread after the program's end");
    if (until_ps != VC_NEVER && until_ps > VC_LATEST_PS)
        until_ps = VC_LATEST_PS;
    self->state = VC_BLOCKED;
    self->what = what, self->object = object, self->where = where;
    self->since_ps = vc_clock_ps;
    self->event_ps = until_ps;
    self->order = ++orders;
    vc_waits_for(what);
    vc_give_up_core(self);
    vc_go_on(self);
    self->object = NULL;
    vc_went_on(what, self->result == VC_TIMED_OUT && what != VC_SLEEP && what != VC_MESSAGE ? SYNC_TIMED_OUT
                     : self->result == VC_CANCELLED ? SYNC_CANCELLED : SYNC_DONE);
    vc_changes++; /* what it brings, such as the card's data */
    host_time_forget();
    return self->result;
}

void vc_hold(int64_t until_ps)
{
    vthread *self = vc_self;
    if (until_ps != VC_NEVER && until_ps > VC_LATEST_PS)
        until_ps = VC_LATEST_PS;
    self->until_ps = self->woken_ps = until_ps;
    vc_waits_for(VC_SPIN);
    vc_go_on(self);
    vc_went_on(VC_SPIN, SYNC_DONE);
    vc_changes++;
    host_time_forget();
}

void vc_spin(const void *object, const void *where)
{
    vthread *self = vc_self;
    self->what = VC_SPIN, self->object = object, self->where = where;
    self->since_ps = vc_clock_ps;
    self->order = ++orders;
    vc_hold(VC_NEVER);
    self->what = VC_SLEEP, self->object = NULL;
}

void vc_yield(void)
{
    vthread *self = vc_self;
    vc_access();
    vc_does(SYNC_YIELD, NULL, 0);
    self->left_ps += vc_set.call_ps;
    if (!vc_next_on(self->core)) {
        spin_passed();
        return;
    }
    vc_end_slice(self);
    vc_go_on(self);
    self->call.t1_ps = vc_clock_ps;
    host_time_forget();
}

void vc_pin(int core)
{
    vthread *self = vc_self;
    vc_access();
    if (core >= 0)
        core += self->rank * vc_set.cores;
    self->pin = core;
    vc_does(SYNC_BIND, NULL, core);
    if (core < 0 || core == self->core)
        return;
    vc_move(self);
    vc_go_on(self);
    self->call.t1_ps = vc_clock_ps;
    host_time_forget();
}

int vc_core(void) { return vc_self->core - vc_self->rank * vc_set.cores; }

void vc_freeze(void)
{
    frozen = 1;
    others_ps = VC_NEVER;
    if (vc_self)
        vc_self->spin_ps = 0;
}

int64_t vc_others_ps(void) { return others_ps; }
