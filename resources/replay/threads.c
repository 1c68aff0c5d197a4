/* The host's threads again, from table `syncs` (replay/threads.py). What a thread does between two calls is its own time on
 * a core. What calls mean (a mutex, a semaphore, a barrier) is done again; waits for conditions, futexes and what is done
 * once end with the call that ended them in the run, or do not wait where that came before. A message is there as long after it was
 * sent as in the run. */
#define OF_THREAD int64_t row, end; /* its call that comes next, or is under way, of those before `end` */
#include "cores.h"

/* As in model/syncs.py. */
enum { OTHER = 1, LOCK, UNLOCK, WAIT, SIGNAL, BROADCAST, LOCK_READING, LOCK_WRITING, UNLOCK_BOTH, LOCK_SPINNING,
       UNLOCK_SPINNING, BARRIER, TAKE, POST, ONCE, ONCE_DONE, FUTEX_WAIT, FUTEX_WAKE, CREATE, JOIN, CANCEL, END, EXIT, SLEEP,
       YIELD, BIND, PIPE, CARD, CARD_HELD, INTERRUPT, SEND_MESSAGE, AWAIT_MESSAGE };
enum { DONE, TIMED_OUT, REFUSED, CANCELLED, NOT_OVER };

typedef struct {
    int64_t owner, count; /* that a mutex is held besides, of readers, a semaphore's value, who arrived */
} thing;

typedef struct {
    settings of;
    int64_t threads, objects;       /* threads are objects too, behind the others */
    const int64_t *begin;           /* each thread's first row; one more */
    const uint8_t *kind, *result, *anew; /* `anew`: its semaphore begins with its argument */
    const uint8_t *ends_waits;      /* whether a wait ended by it in the run */
    const int32_t *object;
    const int64_t *argument;        /* WAIT: the mutex, as an object */
    const int64_t *lag_ps;          /* from the call until what ended its wait, -1: it did not wait; AWAIT_MESSAGE: from `woken_by`
                                     * until the message is there */
    const int64_t *woken_by;        /* the row of that, -1 */
    const int64_t *needs;           /* LOCK: the row that has to be over before, -1 */
} script;

typedef struct {
    const script *s;
    const int64_t *took_ps, *own_ps;
    int64_t *t0_ps, *t1_ps, *lender, *lent_ps;
    int64_t *let_go, *free_ps; /* of each core by which row, and when */
    thing *things;
    cores c;
} world;

static void next(world *w, int n)
{
    thread *t = &w->c.threads[n];
    t->under_way = t->timed_out = t->waits = 0;
    t->left_ps += t->row < t->end ? w->own_ps[t->row] : NEVER;
}

static void finish(world *w, int n)
{
    thread *t = &w->c.threads[n];
    w->t1_ps[t->row++] = w->c.clock_ps;
    next(w, n);
}

/* ---- a call takes effect ---- */

/* Whether what a thread's call needs of others is there. */
static int may(const world *w, int n)
{
    int64_t row = w->c.threads[n].row, needed = w->s->needs[row];
    return w->s->kind[row] != LOCK || needed < 0 || w->t1_ps[needed] >= 0;
}

/* Wake the longest waiter for a mutex that may have it. */
static void wake_next(world *w, int64_t mutex)
{
    int first = -1;
    for (int n = 0; n < w->c.count; n++) {
        const thread *t = &w->c.threads[n];
        if (t->state == BLOCKED && t->object == mutex && may(w, n)
            && (first < 0 || t->order < w->c.threads[first].order))
            first = n;
    }
    if (first >= 0)
        wake(&w->c, first);
}

static void let_go(world *w, int64_t mutex, int whole)
{
    thing *of = &w->things[mutex];
    if (of->count && !whole) {
        of->count--;
        return;
    }
    of->owner = -1;
    wake_next(w, mutex);
}

/* What a call does before it may have to wait. */
static void act(world *w, int n, int64_t row)
{
    thread *t = &w->c.threads[n];
    int64_t object = w->s->object[row], argument = w->s->argument[row];
    thing *of = &w->things[object];
    switch (w->s->kind[row]) {
    case WAIT:
        let_go(w, argument, 1);
        break;
    case UNLOCK:
        let_go(w, object, 0);
        break;
    case UNLOCK_BOTH:
        if (of->owner == n)
            of->owner = -1;
        else if (of->count)
            of->count--;
        if (of->owner < 0 && !of->count)
            wake_some(&w->c, object, -1, NEVER);
        break;
    case UNLOCK_SPINNING:
        of->owner = -1;
        wake_some(&w->c, object, -1, 1);
        break;
    case BARRIER:
        if (++of->count >= argument) {
            of->count = 0, t->waits = 1; /* it is through */
            wake_some(&w->c, object, -1, NEVER);
        }
        break;
    case POST:
        of->count++;
        wake_some(&w->c, object, -1, 1);
        break;
    case CREATE:
        if (argument > 0 && argument < w->c.count) {
            w->c.threads[argument].pin = t->pin, w->c.threads[argument].rank = t->rank;
            next(w, (int)argument);
            wake(&w->c, (int)argument);
        }
        break;
    case BIND:
        t->pin = (int)argument;
    }
}

/* ---- and goes on, or waits ---- */

static int waits_for_mutex(world *w, int n, int64_t mutex, int64_t until_ps)
{
    thing *of = &w->things[mutex];
    if (of->owner == n)
        of->count++;
    else if (of->owner >= 0) {
        block(&w->c, n, mutex, until_ps, -1);
        return 1;
    } else if (until_ps == NEVER)
        of->owner = n, of->count = 0;
    return 0;
}

/* Whether a call that waits at most once does. */
static int waits_once(world *w, int n, int64_t row)
{
    cores *c = &w->c;
    thread *t = &c->threads[n];
    int spoken;
    switch (w->s->kind[row]) {
    case BARRIER:
        block(c, n, w->s->object[row], NEVER, -1);
        break;
    case SLEEP:
        block(c, n, -1, c->clock_ps + w->s->lag_ps[row], -1);
        break;
    case CARD:
    case INTERRUPT:
        spoken = w->s->lag_ps[row] >= 0 && w->s->result[row] == DONE;
        if (w->took_ps[row] <= 0 && !spoken)
            return 0;
        block(c, n, -1, c->clock_ps + w->took_ps[row], -1);
        t->spoken = spoken;
        return 1;
    case CARD_HELD:
        t->until_ps = c->clock_ps + w->took_ps[row];
        break;
    case YIELD:
        if (next_on(c, t->core) < 0)
            return 0;
        end_slice(c, n);
        break;
    case BIND:
        if (t->pin == -1 || t->pin == t->core)
            return 0;
        give_up_core(c, n);
        take_core(c, n);
        break;
    default:
        return 0;
    }
    t->spoken = 0, t->waits = t->under_way = 1;
    return 1;
}

/* Whether a call has to wait, by its own rules; what it does where it has not. */
static int waits(world *w, int n, int64_t row)
{
    cores *c = &w->c;
    thread *t = &c->threads[n];
    int64_t object = w->s->object[row], argument = w->s->argument[row];
    int kind = w->s->kind[row], timed = w->s->result[row] == TIMED_OUT, writes = kind == LOCK_WRITING;
    int64_t until_ps = timed ? w->t0_ps[row] + w->s->lag_ps[row] : NEVER;
    thing *of = &w->things[object];
    switch (kind) {
    case WAIT:
        return waits_for_mutex(w, n, argument, NEVER);
    case LOCK:
        if (!may(w, n)) {
            block(c, n, object, until_ps, -1);
            return 1;
        }
        return waits_for_mutex(w, n, object, until_ps);
    case LOCK_READING:
    case LOCK_WRITING:
        if (of->owner >= 0 || (writes && of->count)) {
            block(c, n, object, until_ps, -1);
            return 1;
        }
        if (!timed)
            of->owner = writes ? n : -1, of->count = writes ? 0 : of->count + 1;
        return 0;
    case LOCK_SPINNING:
        if (of->owner >= 0) {
            t->object = object, t->order = ++c->orders, t->spins = t->under_way = 1, t->until_ps = NEVER;
            return 1;
        }
        of->owner = n;
        return 0;
    case TAKE:
        if (!of->count) {
            block(c, n, object, until_ps, -1);
            return 1;
        }
        of->count -= !timed;
        return 0;
    case JOIN:
        if (argument < 0 || argument >= c->count || c->threads[argument].state == ENDED)
            return 0;
        block(c, n, w->s->objects + argument, until_ps, -1);
        return 1;
    case PIPE:
        if (t->waits < argument) {
            block(c, n, object, NEVER, -1);
            return 1;
        }
        wake_some(c, object, -1, NEVER);
        return 0;
    }
    return t->waits ? 0 : waits_once(w, n, row);
}

/* Whether a call waits, as it begins, for the one that ended its wait in the run. */
static int waits_by_cause(world *w, int n, int64_t row)
{
    cores *c = &w->c;
    int kind = w->s->kind[row], result = w->s->result[row];
    int by_cause = kind == WAIT || kind == FUTEX_WAIT || kind == ONCE || result == CANCELLED || result == NOT_OVER;
    if (c->threads[n].waits || !by_cause)
        return 0;
    int64_t cause = w->s->woken_by[row], due_ps = c->clock_ps + w->s->lag_ps[row];
    if (result == NOT_OVER)
        block(c, n, -1, NEVER, -1);
    else if (result == TIMED_OUT)
        block(c, n, -1, due_ps, -1);
    else if (w->s->lag_ps[row] < 0 || (cause >= 0 && w->t0_ps[cause] >= 0)) {
        c->threads[n].waits = 1;
        return 0;
    } else
        block(c, n, -1, cause >= 0 ? NEVER : due_ps, cause);
    return 1;
}

/* Whether a call waits for its message. */
static int waits_for_message(world *w, int n, int64_t row)
{
    int64_t sent = w->s->woken_by[row];
    if (w->s->kind[row] != AWAIT_MESSAGE || w->c.threads[n].timed_out)
        return 0;
    if (w->s->result[row] == NOT_OVER || (sent >= 0 && w->t0_ps[sent] < 0))
        block(&w->c, n, -1, NEVER, sent);
    else if (sent >= 0 && w->t0_ps[sent] + w->s->lag_ps[row] > w->c.clock_ps)
        block(&w->c, n, -1, w->t0_ps[sent] + w->s->lag_ps[row], -1);
    else
        return 0;
    return 1;
}

/* A message that is sent: who waits for it goes on when it is there. */
static void send_message(world *w, int64_t row)
{
    for (int n = 0; n < w->c.count; n++) {
        thread *t = &w->c.threads[n];
        if (t->state == BLOCKED && t->cause == row && w->s->kind[t->row] == AWAIT_MESSAGE)
            t->cause = -1, t->event_ps = w->c.clock_ps + w->s->lag_ps[t->row];
    }
}

/* A call at its first moment, or once more when it was woken: it waits, or is over. */
static void go_on(world *w, int n)
{
    int64_t row = w->c.threads[n].row;
    int result = w->s->result[row];
    int over = result == REFUSED || (result == TIMED_OUT && w->c.threads[n].timed_out && w->s->kind[row] != WAIT);
    if (!over && (waits_for_message(w, n, row) || waits_by_cause(w, n, row) || waits(w, n, row)))
        return;
    if (w->s->kind[row] == AWAIT_MESSAGE)
        w->c.threads[n].left_ps += w->s->argument[row];
    finish(w, n);
}

static void take_effect(world *w, int n)
{
    thread *t = &w->c.threads[n];
    int64_t row = t->row;
    int kind = w->s->kind[row];
    w->t0_ps[row] = w->c.clock_ps;
    switch (kind) {
    case END: case EXIT: case SLEEP: case BIND: case CARD: case CARD_HELD: case INTERRUPT: case AWAIT_MESSAGE:
        break;
    case SEND_MESSAGE:
        t->left_ps += w->s->argument[row];
        send_message(w, row);
        break;
    default:
        t->left_ps += w->c.of.call_ps;
    }
    if (w->s->anew[row])
        w->things[w->s->object[row]].count = w->s->argument[row];
    if (kind == END) {
        w->t1_ps[row] = w->c.clock_ps;
        t->state = ENDED;
        wake_some(&w->c, w->s->objects + n, -1, NEVER);
        give_up_core(&w->c, n);
        return;
    }
    if (w->s->result[row] != REFUSED)
        act(w, n, row);
    if (w->s->ends_waits[row])
        wake_some(&w->c, -1, row, NEVER);
    go_on(w, n);
}

/* Keep who had a core before: of a thread that got it, before its row takes effect or to come back from it. */
static void keep_cores(world *w, int64_t row)
{
    if (w->c.let_go >= 0)
        w->let_go[w->c.let_go] = row, w->free_ps[w->c.let_go] = w->c.clock_ps;
    if (w->c.got < 0)
        return;
    const thread *t = &w->c.threads[w->c.got];
    int64_t at = 2 * t->row + t->under_way;
    w->lender[at] = w->let_go[t->last_core], w->lent_ps[at] = w->free_ps[t->last_core];
}

/* When the program ends; -1 where no thread can go on. */
static int64_t end_of(world *w)
{
    cores *c = &w->c;
    for (int rank = 0; rank < c->of.ranks && rank < c->count; rank++) {
        c->threads[rank].rank = rank;
        get_core(c, rank, rank * (int)c->of.count);
        next(w, rank);
    }
    for (;;) {
        int64_t at_ps;
        int kind, n = first_event(c, &kind, &at_ps);
        if (n < 0)
            return -1;
        thread *t = &c->threads[n];
        int64_t row = t->row;
        c->clock_ps = at_ps > c->clock_ps ? at_ps : c->clock_ps, c->got = c->let_go = -1;
        if (kind == E_WAKE)
            take_core(c, n);
        else if (kind == E_CARD || kind == E_TIME_OUT)
            t->timed_out = 1, wake(c, n);
        else if (kind == E_SLICE)
            end_slice(c, n);
        else {
            t->began_ps = c->clock_ps, t->left_ps = t->until_ps = 0;
            if (t->under_way)
                go_on(w, n);
            else if (w->s->kind[t->row] == EXIT) {
                w->t0_ps[t->row] = w->t1_ps[t->row] = c->clock_ps;
                for (int other = 0; other < c->count; other++) /* what others are about ends with it */
                    if (c->threads[other].under_way)
                        w->t1_ps[c->threads[other].row] = c->clock_ps;
                return c->clock_ps;
            } else
                take_effect(w, n);
        }
        keep_cores(w, row);
    }
}

/* The threads with so much time for each call of the card's, and before each row: when rows took effect and were over, -1
 * where the program ended before. `lender` has two of each row: the row with which another let go the
 * core that its thread then got, before it took effect and until it was over (-1: none), and `lent_ps` when. Returns when the
 * program ended, -1 where no thread can go on, -2 where there is no memory. */
int64_t replay_threads(const script *s, const int64_t *took_ps, const int64_t *own_ps, int64_t *t0_ps, int64_t *t1_ps,
                       int64_t *lender, int64_t *lent_ps)
{
    world w = {.s = s, .took_ps = took_ps, .own_ps = own_ps, .t0_ps = t0_ps, .t1_ps = t1_ps,
               .lender = lender, .lent_ps = lent_ps};
    w.things = malloc((size_t)(s->objects + 1) * sizeof *w.things);
    int64_t end_ps = -2;
    size_t cores = (size_t)(s->of.count * s->of.ranks);
    w.let_go = malloc(2 * cores * sizeof *w.let_go);
    if (begin_cores(&w.c, &s->of, s->threads) && w.things && w.let_go) {
        w.free_ps = w.let_go + cores;
        memset(w.let_go, -1, cores * sizeof *w.let_go);
        for (int64_t n = 0; n < s->objects; n++)
            w.things[n] = (thing){-1, 0};
        for (int64_t n = 0; n < s->threads; n++)
            w.c.threads[n].row = s->begin[n], w.c.threads[n].end = s->begin[n + 1];
        memset(t0_ps, -1, (size_t)s->begin[s->threads] * sizeof *t0_ps);
        memset(t1_ps, -1, (size_t)s->begin[s->threads] * sizeof *t1_ps);
        memset(lender, -1, 2 * (size_t)s->begin[s->threads] * sizeof *lender);
        end_ps = end_of(&w);
    }
    end_cores(&w.c);
    free(w.things);
    free(w.let_go);
    return end_ps;
}
