/* A streaming application replayed with queues of other depths (replay/queues.py): the host's threads on virtual cores by
 * rules 1 to 9 of resources/card/README.md, the threads that move data over the bus by what they do
 * (resources/streaming/card.hpp), and the FPGA's words as traffic.c has them. Times in ps, but for the FPGA's cycles. */
#include "traffic.c"

#define NEVER ((int64_t)1 << 62)

enum { CALL, TAKE, POST, SLEEP, UNTIL, CREATE, JOIN, BIND, YIELD, END, EXIT, /* of what a thread does in turn */
       TRANSFER, INTERRUPT, VALUE };
enum { LISTED, INTO, OUT_OF };
enum { READY, RUNNING, BLOCKED, WAKING, ENDED };
enum { E_CARD, E_WAKE, E_TIME_OUT, E_CALL, E_SLICE }; /* in this order at equal times */
/* What costs a thread that moves data how long before it: its own times, by what comes next. */
enum { TO_FIRST, TO_POST, TO_MORE, TO_READ, TO_WRITE, TO_WRITE_EACH, TO_PAUSE, TO_READ_AGAIN, TO_DEADLINE, TO_AGAIN, TO_REFUSED, TO_WAITED,
       TO_IRQ = 0, TO_LOOK, TO_VALUE, TO_WINDOW, TO_PUSH_FIRST, TO_PUSH_EACH, TO_PUSHED, TO_PUSH, TO_REST, COSTS = 12 };

typedef struct {
    int32_t kind, what;  /* a semaphore, a thread, a core */
    int64_t own_ps;      /* of its thread's before it */
    int64_t argument;    /* SLEEP: how long; UNTIL: when; TAKE: own time until it waits, where nothing is there */
    int64_t waited_ps;   /* TAKE: by how much longer the own time after it is where it waited */
} op;

typedef struct {
    int64_t from, to;
} range;

typedef struct {
    int64_t threads, semaphores, count_cores, slice_ps, call_ps, wake_ps, switch_ps;
    const op *ops;
    const int32_t *role;
    const range *begin;          /* each thread's ops; of one that moves data, its ends */
    const int64_t *cost;         /* COSTS of each thread */
    const int64_t *counts;       /* each semaphore's at its beginning */
    const int64_t *taken_begin;  /* where the moments at which each was taken begin in `taken`; one more */
    int64_t *taken;
    int64_t bulk, flush_ps, flush_cycles;
    const int32_t *held;         /* whether transfers of each thread keep its core */
    const int64_t *end_there, *end_room; /* of each end of an edge on the bus: the semaphores of its queue */
    const int64_t *end_words, *end_depth; /* words of an element; elements that the FPGA's queue has room for */
    const int64_t *end_push, *end_pop;    /* where its nodes begin in `nodes` */
    const int64_t *end_count, *end_last;  /* elements; by how many cycles the end comes after the last one, -1: not seen */
    const int32_t *nodes;
    const int64_t *send_ps, *receive_ps;  /* how long so many words take */
    int64_t bus_shared, clock;
} application;

typedef struct {
    int state, core, last_core, pin, under_way, timed_out, waits, spoken, semaphore, joins, phase, waited;
    int64_t left_ps, until_ps, got_ps, began_ps, event_ps, order, row;
    op now;
    /* of those that move data */
    int step;
    int64_t count, room, popped, deadline_ps, end, moved, last_read;
} thread;

#define MOST_THREADS 512
#define MOST_IDLE 100000 /* events in which nothing but looks in vain happens: nobody can go on */
#define MOST_ENDS 512
typedef struct {
    const application *a;
    const traffic *t;
    progress fpga;
    thread threads[MOST_THREADS];
    int on_core[MOST_THREADS], last_on[MOST_THREADS], queue[MOST_THREADS];
    int64_t queued, clock_ps, orders, idle, bus_free_ps[2];
    int sent[2]; /* whether the last transfer of a bus was one to the FPGA */
    int64_t *value, *taken;
    int64_t pushed[MOST_ENDS], popped[MOST_ENDS], there[MOST_ENDS];
    int64_t before_push[MOST_ENDS], before_pop[MOST_ENDS];
} world;

/* ---- cores ---- */

static void get_core(world *w, int n, int core)
{
    thread *t = &w->threads[n];
    t->state = RUNNING, t->core = t->last_core = core;
    t->got_ps = t->began_ps = w->clock_ps;
    if (w->last_on[core] != -1 && w->last_on[core] != n)
        t->left_ps += w->a->switch_ps;
    w->last_on[core] = n, w->on_core[core] = n;
}

static int next_on(const world *w, int core)
{
    for (int64_t i = 0; i < w->queued; i++)
        if (w->threads[w->queue[i]].pin == -1 || w->threads[w->queue[i]].pin == core)
            return (int)i;
    return -1;
}

static void give_up_core(world *w, int n)
{
    int core = w->threads[n].core, at;
    w->threads[n].core = -1, w->on_core[core] = -1;
    if ((at = next_on(w, core)) >= 0) {
        int other = w->queue[at];
        memmove(w->queue + at, w->queue + at + 1, (size_t)(w->queued - at - 1) * sizeof *w->queue);
        w->queued--;
        get_core(w, other, core);
    }
}

static void take_core(world *w, int n)
{
    thread *t = &w->threads[n];
    int core = t->pin < 0 ? t->last_core : t->pin;
    if (t->pin < 0 && (core < 0 || w->on_core[core] >= 0)) {
        core = -1;
        for (int c = 0; c < w->a->count_cores && core < 0; c++)
            if (w->on_core[c] < 0)
                core = c;
    }
    if (core >= 0 && core < w->a->count_cores && w->on_core[core] < 0)
        get_core(w, n, core);
    else
        t->state = READY, w->queue[w->queued++] = n;
}

static void end_slice(world *w, int n)
{
    thread *t = &w->threads[n];
    t->left_ps -= w->clock_ps - t->began_ps;
    if (t->left_ps < 0)
        t->left_ps = 0;
    give_up_core(w, n);
    t->state = READY, w->queue[w->queued++] = n;
}

static void block(world *w, int n, int64_t until_ps)
{
    thread *t = &w->threads[n];
    t->state = BLOCKED, t->order = ++w->orders, t->event_ps = until_ps;
    t->under_way = 1, t->timed_out = 0, t->waits++;
    give_up_core(w, n);
}

static void wake(world *w, int n)
{
    thread *t = &w->threads[n];
    t->semaphore = t->joins = -1;
    if (w->a->wake_ps)
        t->state = WAKING, t->order = ++w->orders, t->event_ps = w->clock_ps + w->a->wake_ps;
    else
        take_core(w, n);
}

static void wake_longest(world *w, int semaphore)
{
    int first = -1;
    for (int n = 0; n < w->a->threads; n++)
        if (w->threads[n].state == BLOCKED && w->threads[n].semaphore == semaphore
            && (first < 0 || w->threads[n].order < w->threads[first].order))
            first = n;
    if (first >= 0)
        wake(w, first);
}

/* ---- the FPGA ---- */

static period clock_of(const world *w) { return w->t->periods[w->a->clock]; }
static int is_known(const world *w, int64_t node) { return w->fpga.waits[node] < 0; }

/* How many of an end's nodes were before a cycle, of those that begin at `nodes`; from `*so_far` on. */
static int64_t before(const world *w, int64_t nodes, int64_t count, int64_t cycle, int64_t *so_far)
{
    while (*so_far < count) {
        int32_t node = w->a->nodes[nodes + *so_far];
        if (!is_known(w, node) || w->fpga.time[node] >= cycle)
            break;
        ++*so_far;
    }
    return *so_far;
}

static int64_t held(world *w, int64_t e, int64_t cycle)
{
    int64_t in = before(w, w->a->end_push[e], w->a->end_count[e], cycle, &w->before_push[e]);
    return in - before(w, w->a->end_pop[e], w->a->end_count[e], cycle, &w->before_pop[e]);
}

/* In which cycle an end out of the FPGA wants to be looked at. */
static int64_t wanted(const world *w, int64_t e, int64_t last_read)
{
    const application *a = w->a;
    int64_t m = w->popped[e], from = a->end_push[e], first = NEVER;
    if (m >= a->end_count[e])
        return NEVER;
    if (is_known(w, a->nodes[from + m])) {
        int64_t since = w->fpga.time[a->nodes[from + m]];
        first = (since > last_read ? since : last_read) + 1 + a->flush_cycles;
    }
    if (m + a->bulk <= a->end_count[e] && is_known(w, a->nodes[from + m + a->bulk - 1])) {
        int64_t full = w->fpga.time[a->nodes[from + m + a->bulk - 1]] + 1;
        first = full < first ? full : first;
    }
    int32_t last = a->nodes[from + a->end_count[e] - 1];
    if (a->end_last[e] >= 0 && is_known(w, last) && w->fpga.time[last] + a->end_last[e] < first)
        first = w->fpga.time[last] + a->end_last[e];
    return first;
}

static int64_t interrupt_ps(const world *w, int n)
{
    const application *a = w->a;
    int64_t first = NEVER;
    for (int64_t e = a->begin[n].from; e < a->begin[n].to; e++) {
        int64_t cycle = wanted(w, e, w->threads[n].last_read);
        first = cycle < first ? cycle : first;
    }
    if (first == NEVER)
        return NEVER;
    int64_t at = start(clock_of(w), first);
    return at > w->clock_ps ? at : w->clock_ps;
}

static void look_at_interrupts(world *w)
{
    for (int n = 0; n < w->a->threads; n++) {
        thread *t = &w->threads[n];
        if (w->a->role[n] == OUT_OF && t->state == BLOCKED && t->now.kind == INTERRUPT)
            t->event_ps = interrupt_ps(w, n);
    }
}

static int64_t due(const world *w, int64_t start_ps, int64_t words, int64_t word, int64_t takes_ps)
{
    return over(clock_of(w), start_ps + (int64_t)((__int128)(word + 1) * takes_ps / words)) - 1;
}

/* A transfer of an end's elements, of how full queues are, or of a word of another kind: when it is over. */
static int64_t transfer(world *w, int n)
{
    const application *a = w->a;
    thread *t = &w->threads[n];
    int64_t e = t->end, words, sends = 0, takes;
    if (a->role[n] == INTO)
        sends = t->step == TO_FIRST, words = sends ? t->count * a->end_words[e] : 1;
    else
        words = t->step == TO_VALUE ? a->begin[n].to - a->begin[n].from : t->count * a->end_words[e];
    takes = (sends ? a->send_ps : a->receive_ps)[words];
    int64_t *free_ps = &w->bus_free_ps[a->bus_shared ? 0 : sends];
    int64_t begun = w->clock_ps > *free_ps ? w->clock_ps : *free_ps;
    *free_ps = begun + takes;
    if (w->sent[free_ps - w->bus_free_ps]) /* the design runs to the end of a send that has the bus, others wake after it */
        w->clock_ps = begun;
    w->sent[free_ps - w->bus_free_ps] = (int)sends;
    if (sends) {
        for (int64_t i = 0; i < t->count; i++) {
            int32_t node = a->nodes[a->end_push[e] + w->pushed[e]++];
            caused(w->t, &w->fpga, node, due(w, begun, words, (i + 1) * a->end_words[e] - 1, takes));
        }
        t->room -= t->count;
    } else if (a->role[n] == INTO) {
        t->room = a->end_depth[e] - 1 - held(w, e, due(w, begun, 1, 0, takes));
    } else if (t->step == TO_VALUE) {
        for (int64_t i = 0; i < words; i++)
            w->there[a->begin[n].from + i] = held(w, a->begin[n].from + i, due(w, begun, words, i, takes));
    } else {
        for (int64_t i = 0; i < t->count; i++) {
            int32_t node = a->nodes[a->end_pop[e] + w->popped[e]++];
            t->last_read = due(w, begun, words, (i + 1) * a->end_words[e] - 1, takes);
            caused(w->t, &w->fpga, node, t->last_read);
        }
    }
    drain(w->t, &w->fpga);
    look_at_interrupts(w);
    return begun + takes;
}

/* ---- what a thread does next ---- */

static op does(int kind, int64_t what, int64_t own_ps, int64_t argument)
{
    op one = {kind, (int32_t)what, own_ps, argument, 0};
    return one;
}

/* Of a thread that takes from a queue and sends into the FPGA: after what it did last. `step` is what it does then. */
static op next_into(world *w, int n)
{
    const application *a = w->a;
    thread *t = &w->threads[n];
    op one;
    const int64_t *cost = a->cost + COSTS * n, e = t->end = a->begin[n].from;
    switch (t->step) {
    case TO_FIRST:
        t->step = TO_POST, t->count = 0;
        one = does(TAKE, a->end_there[e], t->popped ? cost[TO_AGAIN] : cost[TO_FIRST], cost[TO_REFUSED]);
        one.waited_ps = cost[TO_WAITED];
        return one;
    case TO_POST:
        if (t->popped == a->end_count[e]) /* this was the stream's end */
            break;
        t->step = TO_MORE, t->popped++, t->count++;
        return does(POST, a->end_room[e], cost[TO_POST], 0);
    case TO_MORE:
        if (t->count == 1)
            t->deadline_ps = w->clock_ps + cost[TO_DEADLINE] + a->flush_ps;
        if (t->count == a->bulk) {
            t->step = TO_READ;
            return next_into(w, n);
        }
        t->step = TO_READ_AGAIN;
        return does(TAKE, a->end_there[e], cost[TO_MORE], -1);
    case TO_READ_AGAIN: /* it took, or the time was over */
        t->step = t->timed_out || t->popped == a->end_count[e] ? TO_READ : TO_POST;
        return next_into(w, n);
    case TO_READ:
        t->step = TO_WRITE;
        if (t->room < t->count)
            return does(TRANSFER, 0, cost[t->now.kind == SLEEP ? TO_READ_AGAIN : TO_READ], 0);
        return next_into(w, n);
    case TO_WRITE:
        if (t->room < t->count) {
            t->step = TO_READ;
            return does(SLEEP, 0, cost[TO_PAUSE], a->flush_ps);
        }
        t->step = TO_FIRST;
        return does(TRANSFER, 0, cost[TO_WRITE] + t->count * cost[TO_WRITE_EACH], 0);
    }
    return does(END, 0, 0, 0);
}

/* Of the thread that takes out of the FPGA, edge by edge. */
static op next_out_of(world *w, int n)
{
    const application *a = w->a;
    thread *t = &w->threads[n];
    const int64_t *cost = a->cost + COSTS * n, first = a->begin[n].from, last = a->begin[n].to;
    int left = 0;
    switch (t->step) {
    case TO_IRQ:
        for (int64_t e = first; e < last; e++)
            left |= w->popped[e] < a->end_count[e];
        if (!left)
            break;
        t->step = TO_LOOK;
        return does(INTERRUPT, 0, cost[TO_IRQ], 0);
    case TO_LOOK:
        t->step = TO_VALUE, t->end = first - 1, t->moved = 0;
        return does(TRANSFER, 0, cost[TO_LOOK], 0);
    case TO_VALUE:
        if (++t->end < last) {
            t->step = TO_WINDOW;
            return does(VALUE, a->end_room[t->end], cost[TO_VALUE], 0);
        }
        t->step = TO_IRQ;
        return t->moved ? next_out_of(w, n) : does(SLEEP, 0, cost[TO_REST], a->flush_ps);
    case TO_WINDOW:
        t->count = w->there[t->end] < a->bulk ? w->there[t->end] : a->bulk;
        if (t->count > w->value[a->end_room[t->end]])
            t->count = 0;
        t->moved += t->count;
        if (!t->count) {
            t->step = TO_VALUE;
            return next_out_of(w, n);
        }
        t->step = TO_PUSH, t->room = 0;
        return does(TRANSFER, 0, cost[TO_WINDOW], 0);
    case TO_PUSH:
        if (t->room == t->count) {
            t->step = TO_VALUE;
            if (w->popped[t->end] == a->end_count[t->end]) /* the end of the stream, soon after */
                return does(POST, a->end_there[t->end], 0, 0);
            return next_out_of(w, n);
        }
        t->step = TO_PUSHED;
        return does(TAKE, a->end_room[t->end], t->room ? cost[TO_PUSH] : cost[TO_PUSH_FIRST] + t->count * cost[TO_PUSH_EACH], 0);
    case TO_PUSHED:
        t->step = TO_PUSH, t->room++;
        return does(POST, a->end_there[t->end], cost[TO_PUSHED], 0);
    }
    return does(END, 0, 0, 0);
}

static void next(world *w, int n)
{
    thread *t = &w->threads[n];
    int role = w->a->role[n];
    t->under_way = t->waits = t->phase = 0;
    if (role == LISTED)
        t->now = t->row < w->a->begin[n].to ? w->a->ops[t->row++] : does(END, 0, NEVER, 0);
    else
        t->now = role == INTO ? next_into(w, n) : next_out_of(w, n);
    t->timed_out = 0;
    t->left_ps += t->now.own_ps + t->waited;
    t->waited = 0;
}

/* ---- what it does ---- */

static void take(world *w, int n)
{
    thread *t = &w->threads[n];
    int semaphore = t->now.what;
    if (w->value[semaphore]) {
        w->value[semaphore]--;
        w->idle = 0;
        if (t->phase || t->waits)
            t->waited = (int)t->now.waited_ps;
        int64_t at = w->a->taken_begin[semaphore] + w->taken[semaphore]++;
        if (at < w->a->taken_begin[semaphore + 1])
            w->a->taken[at] = w->clock_ps;
        next(w, n);
    } else if (!t->phase && t->now.argument >= 0) { /* the try failed */
        t->phase = 1;
        t->under_way = 0;
        t->left_ps += t->now.argument;
    } else {
        t->semaphore = semaphore;
        block(w, n, t->now.argument < 0 ? t->deadline_ps : NEVER);
    }
}

static void take_effect(world *w, int n)
{
    thread *t = &w->threads[n];
    int64_t until;
    switch (t->now.kind) {
    case CALL: case POST: case TAKE: case CREATE: case JOIN: case YIELD: case VALUE:
        t->left_ps += w->a->call_ps;
    }
    switch (t->now.kind) {
    case TAKE:
        take(w, n);
        return;
    case POST:
        w->idle = 0;
        w->value[t->now.what]++;
        wake_longest(w, t->now.what);
        break;
    case CREATE:
        if (t->now.what > 0 && t->now.what < w->a->threads) {
            w->threads[t->now.what].pin = t->pin;
            next(w, t->now.what);
            wake(w, t->now.what);
        }
        break;
    case JOIN:
        if (t->now.what >= 0 && t->now.what < w->a->threads && w->threads[t->now.what].state != ENDED) {
            t->joins = t->now.what;
            block(w, n, NEVER);
            return;
        }
        break;
    case SLEEP: case UNTIL:
        until = t->now.kind == SLEEP ? w->clock_ps + t->now.argument : t->now.argument;
        if (until > w->clock_ps || t->now.kind == SLEEP) {
            block(w, n, until);
            return;
        }
        break;
    case BIND:
        t->pin = t->now.what;
        if (t->pin != -1 && t->pin != t->core) {
            t->under_way = t->waits = 1;
            give_up_core(w, n);
            take_core(w, n);
            return;
        }
        break;
    case YIELD:
        if (next_on(w, t->core) >= 0) {
            t->under_way = t->waits = 1;
            end_slice(w, n);
            return;
        }
        break;
    case TRANSFER:
        until = transfer(w, n);
        t->spoken = 1;
        if (w->a->held[n])
            t->under_way = t->waits = 1, t->until_ps = until;
        else
            block(w, n, until);
        return;
    case INTERRUPT:
        t->spoken = 1;
        block(w, n, NEVER);
        t->event_ps = interrupt_ps(w, n);
        return;
    case END:
        t->state = ENDED;
        for (int other = 0; other < w->a->threads; other++)
            if (w->threads[other].state == BLOCKED && w->threads[other].joins == n)
                wake(w, other);
        give_up_core(w, n);
        return;
    }
    next(w, n);
}

/* A call that waited goes on. */
static void go_on(world *w, int n)
{
    thread *t = &w->threads[n];
    t->spoken = 0;
    if (t->now.kind == TAKE && !t->timed_out)
        take(w, n);
    else
        next(w, n);
}

/* The application with FIFOs of the FPGA of these depths, and semaphores as `counts` says. Returns 1 where it came to its
 * end, 0 where nobody can go on. `value` and `taken` are room for a number of each semaphore. */
int64_t replay_queues(const application *a, const traffic *t, const int64_t *depth, int64_t *time, int32_t *waits, int32_t *queue,
                      int64_t *value, int64_t *taken)
{
    static world w;
    memset(&w, 0, sizeof w);
    w.a = a, w.t = t, w.value = value, w.taken = taken;
    memcpy(value, a->counts, (size_t)a->semaphores * sizeof *value);
    memset(taken, 0, (size_t)a->semaphores * sizeof *taken);
    memset(a->taken, -1, (size_t)a->taken_begin[a->semaphores] * sizeof *a->taken);
    if (t) {
        w.fpga = (progress){depth, time, waits, queue, 0, 0};
        begin(t, &w.fpga);
        drain(t, &w.fpga);
    }
    for (int n = 0; n < a->threads; n++) {
        thread *one = &w.threads[n];
        one->state = BLOCKED, one->event_ps = NEVER, one->last_read = -1;
        one->core = one->last_core = one->pin = one->semaphore = one->joins = -1;
        one->row = a->begin[n].from;
    }
    for (int c = 0; c < a->count_cores; c++)
        w.on_core[c] = w.last_on[c] = -1;
    get_core(&w, 0, 0);
    next(&w, 0);
    for (;;) {
        int64_t first = NEVER, of = -1, kind = E_SLICE, number = 0;
        for (int n = 0; n < a->threads; n++) {
            thread *one = &w.threads[n];
            int64_t at, what, order = n;
            if (one->state == RUNNING) {
                at = one->began_ps + one->left_ps, what = E_CALL;
                at = one->until_ps > at ? one->until_ps : at;
                if (w.queued && next_on(&w, one->core) >= 0) {
                    int64_t slices = (w.clock_ps - one->got_ps + a->slice_ps - 1) / a->slice_ps;
                    int64_t end = one->got_ps + (slices > 1 ? slices : 1) * a->slice_ps;
                    if (end < at)
                        at = end, what = E_SLICE;
                }
            } else if (one->state == WAKING)
                at = one->event_ps, what = E_WAKE, order = one->order;
            else if (one->state == BLOCKED && one->event_ps < NEVER)
                at = one->event_ps, what = one->spoken ? E_CARD : E_TIME_OUT;
            else
                continue;
            if (at < first || (at == first && (what < kind || (what == kind && order < number))))
                first = at, kind = what, of = n, number = order;
        }
        if (of < 0 || first >= NEVER || w.idle++ > MOST_IDLE)
            return 0;
        thread *one = &w.threads[of];
        w.clock_ps = first > w.clock_ps ? first : w.clock_ps;
        if (kind == E_WAKE)
            take_core(&w, (int)of);
        else if (kind == E_CARD || kind == E_TIME_OUT)
            one->timed_out = 1, one->event_ps = NEVER, wake(&w, (int)of);
        else if (kind == E_SLICE)
            end_slice(&w, (int)of);
        else {
            one->began_ps = w.clock_ps, one->left_ps = one->until_ps = 0;
            if (one->under_way)
                go_on(&w, (int)of);
            else if (one->now.kind == EXIT)
                return 1;
            else
                take_effect(&w, (int)of);
        }
    }
}
