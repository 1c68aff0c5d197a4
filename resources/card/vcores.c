/* Virtual cores; vcores.h says what they are, README.md by which rules. */
#define _GNU_SOURCE
#include "vcores.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host_time.h"
#include "real.h"
#include "spins.h"
#include "wbcard.h"

#define MAX_CORES 1024
#define MANY_POLLS 100

vc_settings vc_set = {.cores = 1, .slice_ps = VC_LATEST_PS, .skips_spins = 1};
__thread vthread *vc_self;
int vc_live;
uint64_t vc_changes;
int vc_card_awaited;
int64_t (*vc_card)(int64_t until_ps, const void **object);
static int64_t card_ps = VC_NEVER; /* when what a thread waits for comes from the card, where that is known, and what */
static const void *card_object;
int (*vc_outside)(void);
void (*vc_waited)(int number, int for_a_core, int64_t from_ps, int64_t to_ps);
static int64_t nobody_watches;
volatile int64_t *vc_running = &nobody_watches;

vthread *vc_threads;
static vthread **threads_end = &vc_threads;
static vthread *queue_head, *queue_tail;
static vthread *on_core[MAX_CORES];
static int last_on[MAX_CORES]; /* the number after that of the thread that a core had last */
static int numbers, frozen;
static int64_t now_ps;
static int64_t others_ps = VC_NEVER; /* before this nothing happens but the running thread's calls */
static uint64_t orders;

/* ---- cores and the queue ---- */

static void get_core(vthread *t, int core)
{
    t->state = VC_RUNNING;
    t->core = t->last_core = core;
    t->got_ps = t->began_ps = now_ps;
    t->polls = 0;
    if (last_on[core] && last_on[core] != t->number + 1)
        t->left_ps += vc_set.switch_ps;
    last_on[core] = t->number + 1;
    on_core[core] = t;
}

static void waited(vthread *t, int for_a_core, int64_t since_ps)
{
    if (vc_waited && now_ps > since_ps)
        vc_waited(t->number, for_a_core, since_ps, now_ps);
    *(for_a_core ? &t->queued_ps : &t->waited_ps) += now_ps - since_ps;
}

static void give_up_core(vthread *t)
{
    int core = t->core;
    vthread *head = queue_head;
    if (t->core_ps)
        t->core_ps[core] += now_ps - t->got_ps;
    t->core = -1;
    on_core[core] = NULL;
    if (!head)
        return;
    queue_head = head->queue;
    waited(head, 1, head->queued_since_ps);
    get_core(head, core);
}

static void enqueue(vthread *t)
{
    t->state = VC_READY;
    t->queued_since_ps = now_ps;
    t->queue = NULL;
    vc_changes++; /* who yields from here on gives up its core */
    if (queue_head)
        queue_tail->queue = t;
    else
        queue_head = t;
    queue_tail = t;
}

/* Its last core if that is free, else the lowest free one, else the queue. */
static void place(vthread *t)
{
    if (t->what != VC_CARD && t->what != VC_INTERRUPT) /* which are parts of a call of the card's */
        waited(t, 0, t->since_ps);
    int core = t->last_core;
    if (core < 0 || on_core[core])
        for (core = 0; core < vc_set.cores && on_core[core]; core++)
            ;
    if (core < vc_set.cores)
        get_core(t, core);
    else
        enqueue(t);
}

/* To the queue's tail, with the work that is left. */
static void end_slice(vthread *t)
{
    int64_t done = now_ps - t->began_ps;
    t->left_ps = t->left_ps > done ? t->left_ps - done : 0;
    give_up_core(t);
    enqueue(t);
}

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
        t->event_ps = now_ps + vc_set.wake_ps;
        t->order = ++orders;
    } else {
        place(t);
    }
    others_ps = 0;
}

void vc_wake_thread(vthread *t, vc_result result)
{
    t->result = result;
    if (t->state == VC_BLOCKED) {
        make_ready(t);
    } else { /* it held its core */
        t->what = VC_SLEEP;
        t->until_ps = now_ps;
        others_ps = 0;
    }
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
    int64_t slices = (now_ps - t->got_ps + vc_set.slice_ps - 1) / vc_set.slice_ps;
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
        if (t->state == VC_RUNNING && queue_head)
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
            next = (event){card_ps > now_ps ? card_ps : now_ps, CARD, NULL};
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

static void await_turn(vthread *self)
{
    while (!__atomic_load_n(&self->turn, __ATOMIC_ACQUIRE))
        REAL(syscall)(SYS_futex, &self->turn, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    self->turn = 0;
}

/* Lets happen what comes before the calling thread's next call; returns when that takes effect. NULL: there is none. */
static void go_on(vthread *self)
{
    for (;;) {
        int64_t second_ps;
        event e = first_event(&second_ps);
        if (e.at_ps == VC_NEVER) {
            if (!vc_outside || !vc_outside())
                vc_stuck();
            continue;
        }
        if (e.at_ps > now_ps)
            now_ps = e.at_ps;
        vthread *t = e.thread;
        switch (e.kind) {
        case CARD:
            card_ps = VC_NEVER;
            vc_wake(card_object, numbers);
            break;
        case WAKE: place(t); break;
        case TIME_OUT: vc_wake_thread(t, VC_TIMED_OUT); break;
        case SLICE:
            warn_of_polling(t);
            end_slice(t);
            break;
        case CALL:
            others_ps = second_ps;
            t->began_ps = now_ps;
            t->left_ps = t->until_ps = 0;
            if (t == self)
                return;
            give_turn(t);
            if (self)
                await_turn(self);
            return;
        }
    }
}

/* ---- for the running thread ---- */

int64_t vc_now(void) { return vc_self && !vc_failed ? vc_self->began_ps + vc_self->left_ps : now_ps; }

void vc_charge(void)
{
    vthread *self = vc_self;
    int64_t work_ps = host_time_charge();
    self->work_ps += work_ps;
    self->left_ps += work_ps;
    if (self->left_ps > VC_LATEST_PS - self->began_ps)
        self->left_ps = VC_LATEST_PS - self->began_ps;
}

void vc_access(void)
{
    vthread *self = vc_self;
    vc_charge();
    int64_t at = self->began_ps + self->left_ps;
    if (__builtin_expect(at < others_ps && !self->spin_ps, 1)) {
        now_ps = self->began_ps = at;
        self->left_ps = 0;
        return;
    }
    go_on(self);
    self->spin_ps = 0;
    host_time_forget();
}

int64_t vc_point(void)
{
    vc_access();
    vc_changes++;
    return now_ps;
}

void vc_call(void)
{
    vc_point();
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
    self->since_ps = now_ps;
    self->event_ps = until_ps;
    self->order = ++orders;
    give_up_core(self);
    go_on(self);
    self->object = NULL;
    vc_changes++; /* what it brings, such as the card's data */
    host_time_forget();
    return self->result;
}

void vc_hold(int64_t until_ps)
{
    vthread *self = vc_self;
    if (until_ps != VC_NEVER && until_ps > VC_LATEST_PS)
        until_ps = VC_LATEST_PS;
    self->until_ps = until_ps;
    go_on(self);
    vc_changes++;
    host_time_forget();
}

void vc_spin(const void *object, const void *where)
{
    vthread *self = vc_self;
    self->what = VC_SPIN, self->object = object, self->where = where;
    self->since_ps = now_ps;
    self->order = ++orders;
    vc_hold(VC_NEVER);
    self->what = VC_SLEEP, self->object = NULL;
}

void vc_yield(void)
{
    vthread *self = vc_self;
    vc_access();
    self->left_ps += vc_set.call_ps;
    if (!queue_head) {
        spin_passed();
        return;
    }
    end_slice(self);
    go_on(self);
    host_time_forget();
}

int64_t vc_others_ps(void) { return others_ps; }

/* ---- threads ---- */

extern void *__libc_stack_end;

static vthread *known(vthread *t)
{
    t->number = numbers++;
    t->core = t->last_core = -1;
    t->event_ps = VC_NEVER;
    t->core_ps = calloc((size_t)vc_set.cores, sizeof *t->core_ps);
    *threads_end = t;
    threads_end = &t->next;
    return t;
}

void vc_start(void)
{
    if (vc_set.cores > MAX_CORES)
        vc_set.cores = MAX_CORES;
    vthread *main_thread = known(calloc(1, sizeof *main_thread));
    main_thread->real = pthread_self();
    main_thread->stack_top = __libc_stack_end;
    vc_live = 1;
    get_core(main_thread, 0);
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
    t->since_ps = t->begin_ps = now_ps;
    return known(t);
}

void vc_ready(vthread *t)
{
    vc_live++;
    make_ready(t);
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
    await_turn(t);
    host_time_forget();
}

void vc_end(void)
{
    vthread *self = vc_self;
    vc_remember(self, now_ps);
    self->state = VC_ENDED;
    vc_live--;
    vc_wake(self, INT_MAX);
    give_up_core(self);
    vc_self = NULL;
    if (self->detached)
        vc_discard(self);
    go_on(NULL);
}

void vc_freeze(void)
{
    frozen = 1;
    others_ps = VC_NEVER;
    if (vc_self)
        vc_self->spin_ps = 0;
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
            waited(t, 0, t->since_ps);
        if (t->state == VC_READY)
            waited(t, 1, t->queued_since_ps);
        if (t->state != VC_ENDED)
            vc_remember(t, now_ps);
    }
}
