/* A streaming application replayed with queues of other depths (replay/queues.py): the host's threads on virtual cores by
 * rules 1 to 9 of resources/card/README.md, the threads that move data over the bus by what they do
 * (resources/streaming/card.hpp), and the FPGA's words as traffic.c has them. Times in ps, but for the FPGA's cycles. */
#include "traffic.c"

enum { CALL, TAKE, POST, SLEEP, UNTIL, CREATE, JOIN, BIND, YIELD, END, EXIT, /* of what a thread does in turn */
       TRANSFER, INTERRUPT, VALUE };
enum { LISTED, INTO, OUT_OF };
/* What costs a thread that moves data how long before it: its own times, by what comes next. */
enum { TO_FIRST, TO_POST, TO_MORE, TO_READ, TO_WRITE, TO_WRITE_EACH, TO_PAUSE, TO_READ_AGAIN, TO_DEADLINE, TO_AGAIN, TO_REFUSED, TO_WAITED, TO_CLOSE,
       TO_IRQ = 0, TO_LOOK, TO_VALUE, TO_WINDOW, TO_PUSH_FIRST, TO_PUSH_EACH, TO_PUSHED, TO_PUSH, TO_REST, COSTS = 13 };

typedef struct {
    int32_t kind, what;  /* a semaphore, a thread, a core */
    int64_t own_ps;      /* of its thread's before it */
    int64_t argument;    /* SLEEP: how long; UNTIL: when; TRANSFER: how many words (`what`: to the FPGA); TAKE: own time until it waits, where nothing is there */
    int64_t waited_ps;   /* TAKE: by how much longer the own time after it is where it waited */
    int64_t element;     /* POST: the number in the run of the element that it pushes; -1: none */
} op;

#define OF_THREAD /* `step`, `count` and so on are of those that move data */ \
    op now; \
    int phase, step, over, follows; /* whether it took the end of its stream; it goes on after an element's row */ \
    int64_t row, waited, count, room, popped, deadline_ps, end, moved, last_read;
#include "cores.h"

typedef struct {
    int64_t from, to;
} range;

typedef struct {
    int64_t threads, semaphores;
    settings cores;
    const op *ops;
    const int32_t *role;
    const range *begin;          /* each thread's ops; of one that moves data, its ends */
    const int64_t *cost;         /* COSTS of each thread */
    const int64_t *counts;       /* each semaphore's at its beginning */
    const int64_t *taken_begin;  /* where the moments at which each was taken begin in `taken`; one more */
    int64_t *taken;
    int64_t *put, *element;      /* how many elements were put into each semaphore's queue, and their numbers, as `taken` */
    const int64_t *row_after;    /* as `taken` by element: the row of `ops` with which who popped it goes on; -1: its next one */
    const int64_t *row_at_end;   /* each thread's after the end of a stream; -1: its next one */
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

#define MOST_IDLE 100000 /* events in which nothing but looks in vain happens: nobody can go on */
#define MOST_ENDS 512
typedef struct {
    const application *a;
    const traffic *t;
    progress fpga;
    cores c;
    int64_t idle, bus_free_ps[2];
    int64_t *value, *taken;
    int64_t pushed[MOST_ENDS], popped[MOST_ENDS], there[MOST_ENDS];
    int over[MOST_ENDS], closed[MOST_ENDS]; /* whether the last look saw an end of the stream, and its thread is done with it */
    int64_t open_ins, closes;               /* streams into the FPGA that have not ended, in which cycle the last did */
    int64_t before_push[MOST_ENDS], before_pop[MOST_ENDS];
} world;

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

/* In which cycle the stream of an end out of the FPGA is over: as long after its last element as in the run; where that is
 * not known, once all streams into the FPGA are. */
static int64_t over_from(const world *w, int64_t e)
{
    const application *a = w->a;
    int32_t last = a->nodes[a->end_push[e] + a->end_count[e] - 1];
    if (!is_known(w, last) || (a->end_last[e] < 0 && w->open_ins))
        return NEVER;
    if (a->end_last[e] >= 0)
        return w->fpga.time[last] + a->end_last[e];
    return w->fpga.time[last] > w->closes ? w->fpga.time[last] : w->closes;
}

/* In which cycle an end out of the FPGA wants to be looked at. */
static int64_t wanted(const world *w, int64_t e, int64_t last_read)
{
    const application *a = w->a;
    int64_t m = w->popped[e], from = a->end_push[e], first = NEVER;
    if (m >= a->end_count[e])
        return w->closed[e] ? NEVER : over_from(w, e);
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
        int64_t cycle = wanted(w, e, w->c.threads[n].last_read);
        first = cycle < first ? cycle : first;
    }
    if (first == NEVER)
        return NEVER;
    int64_t at = start(clock_of(w), first);
    return at > w->c.clock_ps ? at : w->c.clock_ps;
}

static void look_at_interrupts(world *w)
{
    for (int n = 0; n < w->a->threads; n++) {
        thread *t = &w->c.threads[n];
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
    thread *t = &w->c.threads[n];
    int64_t e = t->end, words, sends = 0, takes;
    if (a->role[n] == LISTED)
        sends = t->now.what, words = t->now.argument;
    else if (a->role[n] == INTO)
        sends = t->step == TO_FIRST || t->step == TO_CLOSE, words = t->step == TO_FIRST ? t->count * a->end_words[e] : 1;
    else
        words = t->step == TO_VALUE ? a->begin[n].to - a->begin[n].from : t->count * a->end_words[e];
    takes = (sends ? a->send_ps : a->receive_ps)[words];
    int64_t *free_ps = &w->bus_free_ps[a->bus_shared ? 0 : sends];
    int64_t begun = w->c.clock_ps > *free_ps ? w->c.clock_ps : *free_ps;
    *free_ps = begun + takes;
    if (a->role[n] == LISTED) {
        ; /* no element */
    } else if (t->step == TO_CLOSE && a->role[n] == INTO) {
        w->open_ins--, w->closes = due(w, begun, 1, 0, takes);
    } else if (sends) {
        for (int64_t i = 0; i < t->count; i++) {
            int32_t node = a->nodes[a->end_push[e] + w->pushed[e]++];
            caused(w->t, &w->fpga, node, due(w, begun, words, (i + 1) * a->end_words[e] - 1, takes));
        }
        t->room -= t->count;
    } else if (a->role[n] == INTO) {
        t->room = a->end_depth[e] - 1 - held(w, e, due(w, begun, 1, 0, takes));
    } else if (t->step == TO_VALUE) {
        for (int64_t i = 0; i < words; i++)
        {
            int64_t e = a->begin[n].from + i, cycle = due(w, begun, words, i, takes);
            w->there[e] = held(w, e, cycle);
            w->over[e] = w->popped[e] >= a->end_count[e] && over_from(w, e) <= cycle;
        }
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
    op one = {kind, (int32_t)what, own_ps, argument, 0, -1};
    return one;
}

/* Of a thread that takes from a queue and sends into the FPGA: after what it did last. `step` is what it does then. */
static op next_into(world *w, int n)
{
    const application *a = w->a;
    thread *t = &w->c.threads[n];
    op one;
    const int64_t *cost = a->cost + COSTS * n, e = t->end = a->begin[n].from;
    switch (t->step) {
    case TO_FIRST:
        if (t->over && cost[TO_CLOSE] >= 0) { /* it tells the FPGA */
            t->step = TO_CLOSE;
            return does(TRANSFER, 0, cost[TO_CLOSE], 0);
        }
        if (t->over)
            break;
        t->step = TO_POST, t->count = 0;
        one = does(TAKE, a->end_there[e], t->popped ? cost[TO_AGAIN] : cost[TO_FIRST], cost[TO_REFUSED]);
        one.waited_ps = cost[TO_WAITED];
        return one;
    case TO_POST:
        if (t->popped == a->end_count[e]) { /* this was the stream's end */
            t->over = 1, t->step = TO_FIRST;
            return next_into(w, n);
        }
        t->step = TO_MORE, t->popped++, t->count++;
        return does(POST, a->end_room[e], cost[TO_POST], 0);
    case TO_MORE:
        if (t->count == 1)
            t->deadline_ps = w->c.clock_ps + cost[TO_DEADLINE] + a->flush_ps;
        if (t->count == a->bulk) {
            t->step = TO_READ;
            return next_into(w, n);
        }
        t->step = TO_READ_AGAIN;
        return does(TAKE, a->end_there[e], cost[TO_MORE], -1);
    case TO_READ_AGAIN: /* it took, or the time was over */
        t->over = !t->timed_out && t->popped == a->end_count[e];
        t->step = t->timed_out || t->over ? TO_READ : TO_POST;
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
    thread *t = &w->c.threads[n];
    op one;
    const int64_t *cost = a->cost + COSTS * n, first = a->begin[n].from, last = a->begin[n].to;
    int left = 0;
    switch (t->step) {
    case TO_IRQ:
        for (int64_t e = first; e < last; e++)
            left |= !w->closed[e];
        if (!left)
            break;
        t->step = TO_LOOK;
        return does(INTERRUPT, 0, cost[TO_IRQ], 0);
    case TO_LOOK:
        t->step = TO_VALUE, t->end = first - 1, t->moved = 0;
        return does(TRANSFER, 0, cost[TO_LOOK], 0);
    case TO_VALUE:
        while (++t->end < last && w->closed[t->end])
            ;
        if (t->end < last) {
            t->step = TO_WINDOW;
            return does(VALUE, a->end_room[t->end], cost[TO_VALUE], 0);
        }
        t->step = TO_IRQ;
        for (int64_t e = first; e < last; e++)
            left |= !w->closed[e];
        return t->moved || !left ? next_out_of(w, n) : does(SLEEP, 0, cost[TO_REST], a->flush_ps);
    case TO_WINDOW:
        t->count = w->there[t->end] < a->bulk ? w->there[t->end] : a->bulk;
        if (t->count > w->value[a->end_room[t->end]])
            t->count = 0;
        t->moved += t->count;
        if (!t->count) {
            t->step = TO_VALUE;
            if (w->over[t->end]) {
                w->closed[t->end] = 1;
                return does(POST, a->end_there[t->end], 0, 0);
            }
            return next_out_of(w, n);
        }
        t->step = TO_PUSH, t->room = 0;
        return does(TRANSFER, 0, cost[TO_WINDOW], 0);
    case TO_PUSH:
        if (t->room == t->count) {
            t->step = TO_VALUE;
            return next_out_of(w, n);
        }
        t->step = TO_PUSHED;
        return does(TAKE, a->end_room[t->end], t->room ? cost[TO_PUSH] : cost[TO_PUSH_FIRST] + t->count * cost[TO_PUSH_EACH], 0);
    case TO_PUSHED:
        t->step = TO_PUSH, t->room++;
        one = does(POST, a->end_there[t->end], cost[TO_PUSHED], 0);
        one.element = a->put[one.what];
        return one;
    }
    return does(END, 0, 0, 0);
}

static void next(world *w, int n)
{
    thread *t = &w->c.threads[n];
    int role = w->a->role[n];
    t->under_way = t->waits = t->phase = 0;
    if (role == LISTED)
        t->now = t->follows || t->row < w->a->begin[n].to ? w->a->ops[t->row++] : does(END, 0, NEVER, 0);
    else
        t->now = role == INTO ? next_into(w, n) : next_out_of(w, n);
    t->timed_out = 0;
    t->left_ps += t->now.own_ps + t->waited;
    t->waited = 0;
}

/* ---- what it does ---- */

/* The element that a thread pushes comes after those that are in the queue. */
static void put(world *w, const op *post)
{
    const application *a = w->a;
    int64_t at = a->taken_begin[post->what] + a->put[post->what];
    if (post->element >= 0 && at < a->taken_begin[post->what + 1])
        a->element[at] = post->element, a->put[post->what]++;
}

/* Which element a thread popped decides what it does next where several share a queue. */
static void follow(world *w, int n, int semaphore, int64_t nth)
{
    const application *a = w->a;
    int64_t begin = a->taken_begin[semaphore];
    int64_t row = nth < a->put[semaphore] ? a->row_after[begin + a->element[begin + nth]] : a->row_at_end[n];
    if (a->role[n] == LISTED && row >= 0)
        w->c.threads[n].row = row, w->c.threads[n].follows = 1;
}

static void take(world *w, int n)
{
    thread *t = &w->c.threads[n];
    int semaphore = t->now.what;
    if (w->value[semaphore]) {
        w->value[semaphore]--;
        w->idle = 0;
        if (t->phase || t->waits)
            t->waited = (int)t->now.waited_ps;
        int64_t nth = w->taken[semaphore]++, at = w->a->taken_begin[semaphore] + nth;
        if (at < w->a->taken_begin[semaphore + 1])
            w->a->taken[at] = w->c.clock_ps;
        if (semaphore % 2 && w->a->taken_begin[semaphore] < w->a->taken_begin[semaphore + 1]) /* it took an element */
            follow(w, n, semaphore, nth);
        next(w, n);
    } else if (!t->phase && t->now.argument >= 0) { /* the try failed */
        t->phase = 1;
        t->under_way = 0;
        t->left_ps += t->now.argument;
    } else {
        block(&w->c, n, semaphore, t->now.argument < 0 ? t->deadline_ps : NEVER, -1);
    }
}

static void take_effect(world *w, int n)
{
    thread *t = &w->c.threads[n];
    int64_t until;
    switch (t->now.kind) {
    case CALL: case POST: case TAKE: case CREATE: case JOIN: case YIELD: case VALUE:
        t->left_ps += w->c.of.call_ps;
    }
    switch (t->now.kind) {
    case TAKE:
        take(w, n);
        return;
    case POST:
        w->idle = 0;
        w->value[t->now.what]++;
        put(w, &t->now);
        wake_some(&w->c, t->now.what, -1, 1);
        break;
    case CREATE:
        if (t->now.what > 0 && t->now.what < w->a->threads) {
            w->c.threads[t->now.what].pin = t->pin;
            next(w, t->now.what);
            wake(&w->c, t->now.what);
        }
        break;
    case JOIN:
        if (t->now.what >= 0 && t->now.what < w->a->threads && w->c.threads[t->now.what].state != ENDED) {
            block(&w->c, n, w->a->semaphores + t->now.what, NEVER, -1);
            return;
        }
        break;
    case SLEEP: case UNTIL:
        until = t->now.kind == SLEEP ? w->c.clock_ps + t->now.argument : t->now.argument;
        if (until > w->c.clock_ps || t->now.kind == SLEEP) {
            block(&w->c, n, -1, until, -1);
            return;
        }
        break;
    case BIND:
        t->pin = t->now.what;
        if (t->pin != -1 && t->pin != t->core) {
            t->under_way = t->waits = 1;
            give_up_core(&w->c, n);
            take_core(&w->c, n);
            return;
        }
        break;
    case YIELD:
        if (next_on(&w->c, t->core) >= 0) {
            t->under_way = t->waits = 1;
            end_slice(&w->c, n);
            return;
        }
        break;
    case TRANSFER:
        until = transfer(w, n);
        t->spoken = 1;
        if (w->a->held[n])
            t->under_way = t->waits = 1, t->until_ps = until;
        else
            block(&w->c, n, -1, until, -1);
        return;
    case INTERRUPT:
        t->spoken = 1;
        block(&w->c, n, -1, NEVER, -1);
        t->event_ps = interrupt_ps(w, n);
        return;
    case END:
        t->state = ENDED;
        wake_some(&w->c, w->a->semaphores + n, -1, NEVER);
        give_up_core(&w->c, n);
        return;
    }
    next(w, n);
}

/* A call that waited goes on. */
static void go_on(world *w, int n)
{
    thread *t = &w->c.threads[n];
    t->spoken = 0;
    if (t->now.kind == TAKE && !t->timed_out)
        take(w, n);
    else
        next(w, n);
}

/* When the application ends; -1 where nobody can go on. */
static int64_t end_of(world *w)
{
    cores *c = &w->c;
    get_core(c, 0, 0);
    next(w, 0);
    for (;;) {
        int64_t at_ps;
        int kind, n = first_event(c, &kind, &at_ps);
        if (n < 0 || w->idle++ > MOST_IDLE)
            return -1;
        thread *t = &c->threads[n];
        c->clock_ps = at_ps > c->clock_ps ? at_ps : c->clock_ps;
        if (kind == E_WAKE)
            take_core(c, n);
        else if (kind == E_CARD || kind == E_TIME_OUT)
            t->timed_out = 1, t->event_ps = NEVER, wake(c, n);
        else if (kind == E_SLICE)
            end_slice(c, n);
        else {
            t->began_ps = c->clock_ps, t->left_ps = t->until_ps = 0;
            if (t->under_way)
                go_on(w, n);
            else if (t->now.kind == EXIT)
                return c->clock_ps;
            else
                take_effect(w, n);
        }
    }
}

/* The application with FIFOs of the FPGA of these depths, and semaphores as `counts` says. Returns when it ended, -1 where
 * nobody can go on, -2 where there is no memory. `value` and `taken` are room for a number of each semaphore. */
int64_t replay_queues(const application *a, const traffic *t, const int64_t *depth, int64_t *time, int32_t *waits, int32_t *queue,
                      int64_t *value, int64_t *taken)
{
    world *w = calloc(1, sizeof *w);
    int64_t found = -2;
    if (!w)
        return found;
    w->a = a, w->t = t, w->value = value, w->taken = taken;
    memcpy(value, a->counts, (size_t)a->semaphores * sizeof *value);
    memset(taken, 0, (size_t)a->semaphores * sizeof *taken);
    memset(a->put, 0, (size_t)a->semaphores * sizeof *a->put);
    memset(a->taken, -1, (size_t)a->taken_begin[a->semaphores] * sizeof *a->taken);
    if (t) {
        w->fpga = (progress){depth, time, waits, queue, 0, 0};
        begin(t, &w->fpga);
        drain(t, &w->fpga);
    }
    if (begin_cores(&w->c, &a->cores, a->threads)) {
        for (int n = 0; n < a->threads; n++) {
            w->c.threads[n].last_read = -1, w->c.threads[n].row = a->begin[n].from;
            w->open_ins += a->role[n] == INTO && a->cost[COSTS * n + TO_CLOSE] >= 0;
        }
        found = end_of(w);
    }
    end_cores(&w->c);
    free(w);
    return found;
}
