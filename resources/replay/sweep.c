/* Replays a run as a graph (workbench/replay): nodes begin when all that they wait for is over.

   Times are picoseconds in domain 0, and cycles of the clock `domain` elsewhere. A cause is (node, lag): the node's end,
   or its begin where the number is negative (~node), in the time of whoever waits, and that much later; of a clock's for
   domain 0, that many cycles of the clock. */
#include <stdint.h>
#include <stdlib.h>

enum { PLAIN, TRANSFER, POLLS };

typedef struct { int64_t num, den; } period; /* a cycle lasts num / den ps */

typedef struct {
    int64_t gap_ps;    /* from a poll that failed to the next, beyond those in `gaps` */
    int64_t sample_ps; /* from a poll's begin to its word's end at the port */
    int64_t gap_first, gap_count;
    int32_t clock, shorter; /* the port's, and how many cycles before that it looks */
    int64_t asked;          /* out: how many polls */
} polls;

typedef struct {
    int64_t nodes, alone;       /* one thread alone makes all calls: nobody has a bus between two polls */
    const int64_t *cause_first; /* nodes + 1 */
    const int32_t *cause;
    const int64_t *lag, *work;
    const uint8_t *kind, *domain;
    const int32_t *extra; /* TRANSFER: the bus, -1: none; POLLS: a row of `rows` */
    const period *clocks; /* by domain; 0 is unused */
    polls *rows;
    const int64_t *gaps;
    int64_t *poll_ends;          /* out: of the poll before each of `gaps` */
    const int32_t *bus_of_polls; /* by row */
    int64_t *begin, *end, *bus_free;
    int32_t *bus_user, *after; /* who had the bus last, and before each node that had to wait for it (-1: did not) */
} graph;

static int64_t cycle_at(period p, int64_t ps)
{
    return p.den == 1 ? ps / p.num : (int64_t)((__int128)ps * p.den / p.num);
}

static int64_t begin_of(period p, int64_t cycle)
{
    return p.den == 1 ? cycle * p.num : (int64_t)(((__int128)cycle * p.num + p.den - 1) / p.den);
}

/* When a cause lets a node in `domain` begin. */
static int64_t reached(const graph *g, int64_t edge, uint8_t domain)
{
    int32_t from = g->cause[edge];
    int64_t lag = g->lag[edge], t = from < 0 ? g->begin[~from] : g->end[from];
    uint8_t source = g->domain[from < 0 ? ~from : from];
    if (source == domain)
        return t + lag;
    if (!source)
        return cycle_at(g->clocks[domain], t) + lag;
    if (!domain) /* a time, of which whole cycles later say nothing: they are the source's */
        return begin_of(g->clocks[source], t + lag);
    return cycle_at(g->clocks[domain], begin_of(g->clocks[source], t)) + lag;
}

/* When a node that could begin at `t` gets its bus. */
static int64_t on_bus(const graph *g, int64_t node, int32_t bus, int64_t t)
{
    g->after[node] = -1;
    if (bus < 0)
        return t;
    if (g->bus_free[bus] > t) {
        g->after[node] = g->bus_user[bus];
        t = g->bus_free[bus];
    }
    g->bus_user[bus] = (int32_t)node;
    return t;
}

/* From when on a poll that gets its bus sees what it asks for, given what lets the row of polls `node` end. */
static int64_t due_from(const graph *g, int64_t node)
{
    const polls *row = &g->rows[g->extra[node]];
    period p = g->clocks[row->clock];
    int64_t seen_from = reached(g, g->cause_first[node + 1] - 1, (uint8_t)row->clock);
    /* a poll looks in cycle floor((t + sample - shorter P) / P) - 1 */
    return begin_of(p, seen_from + 1) + begin_of(p, row->shorter) - row->sample_ps;
}

static void poll(const graph *g, int64_t node, int64_t t)
{
    polls *row = &g->rows[g->extra[node]];
    int32_t bus = g->bus_of_polls[g->extra[node]];
    int64_t takes = g->work[node], asked = 1;
    t = on_bus(g, node, bus, t);
    g->begin[node] = t;
    int64_t due = due_from(g, node);
    for (int64_t i = 0; t < due && i < row->gap_count; ++i, ++asked) {
        g->poll_ends[row->gap_first + i] = t + takes;
        t += takes + g->gaps[row->gap_first + i];
    }
    if (t < due) {
        int64_t period_ps = takes + row->gap_ps, more = (due - t + period_ps - 1) / period_ps;
        t += more * period_ps;
        asked += more;
    }
    row->asked = asked;
    g->end[node] = t + takes;
    if (bus >= 0)
        g->bus_free[bus] = t + takes;
}

static void visit(const graph *g, int64_t node)
{
    int64_t first = g->cause_first[node], last = g->cause_first[node + 1], t = 0;
    uint8_t domain = g->domain[node], kind = g->kind[node];
    for (int64_t edge = first; edge < last - (kind == POLLS); ++edge) {
        int64_t now = reached(g, edge, domain);
        t = now > t ? now : t;
    }
    if (kind == POLLS) {
        poll(g, node, t);
        return;
    }
    int32_t bus = kind == TRANSFER ? g->extra[node] : -1;
    t = on_bus(g, node, bus, t);
    g->begin[node] = t;
    g->end[node] = t + g->work[node];
    if (bus >= 0)
        g->bus_free[bus] = g->end[node];
}

/* All nodes in `order`, or in that of their numbers: causes come before those who wait. */
void replay_sweep(const graph *g, const int32_t *order)
{
    for (int64_t i = 0; i < g->nodes; ++i)
        visit(g, order ? order[i] : i);
}

/* What a node's end was due to, after a sweep: the number of a cause, ~node where it had to wait for the bus that this
   one had, INT64_MIN where nothing was. */
static int64_t due_to(const graph *g, int64_t node)
{
    int64_t first = g->cause_first[node], last = g->cause_first[node + 1], found = INT64_MIN, latest = -1;
    uint8_t domain = g->domain[node];
    if (g->kind[node] == POLLS && g->rows[g->extra[node]].asked > 1)
        return last - 1;
    if (g->after[node] >= 0)
        return ~(int64_t)g->after[node];
    for (int64_t edge = first; edge < last - (g->kind[node] == POLLS); ++edge) {
        int64_t now = reached(g, edge, domain);
        if (now > latest) {
            latest = now;
            found = edge;
        }
    }
    return found;
}

/* The critical path back from a node: the nodes, at most `most` of them, and how many. Of each, `whole` says whether all
   of it is on the path (1) or only its beginning (0). */
int64_t replay_path(const graph *g, int64_t node, int32_t *path, uint8_t *whole, int64_t most)
{
    int64_t count = 0;
    for (uint8_t all = 1; count < most;) {
        path[count] = (int32_t)node;
        whole[count++] = all;
        int64_t edge = due_to(g, node);
        if (edge == INT64_MIN)
            break;
        all = edge < 0 || g->cause[edge] >= 0;
        node = edge < 0 ? ~edge : g->cause[edge] < 0 ? ~g->cause[edge] : g->cause[edge];
    }
    return count;
}

/* What each node's end was due to: the node (-1: nothing), and whether that is its end (0), its begin (1), or the bus
   that it had (2). */
void replay_due(const graph *g, int32_t *due, uint8_t *how)
{
    for (int64_t node = 0; node < g->nodes; ++node) {
        int64_t edge = due_to(g, node);
        int32_t from = edge == INT64_MIN ? -1 : edge < 0 ? (int32_t)~edge : g->cause[edge];
        how[node] = edge == INT64_MIN ? 0 : edge < 0 ? 2 : from < 0;
        due[node] = how[node] == 1 ? ~from : from;
    }
}

/* The latest time of a cause by which a node in `domain` may begin no later than `limit`. */
static int64_t allowed(const graph *g, int64_t edge, uint8_t domain, int64_t limit)
{
    int32_t from = g->cause[edge];
    int64_t lag = g->lag[edge];
    uint8_t source = g->domain[from < 0 ? ~from : from];
    if (source == domain)
        return limit - lag;
    if (!source)
        return begin_of(g->clocks[domain], limit - lag + 1) - 1;
    if (!domain)
        return cycle_at(g->clocks[source], limit) - lag;
    return cycle_at(g->clocks[source], begin_of(g->clocks[domain], limit - lag + 1) - 1);
}

/* Of polls that may end no later than `latest`: how late they may begin, and in which cycle the answer may be there. Both
   may be late at once: so the answer comes no later than the last poll, or they may as well be asked at other moments. */
static int64_t polls_may_begin(const graph *g, int64_t node, int64_t latest, int64_t *seen)
{
    const polls *row = &g->rows[g->extra[node]];
    period p = g->clocks[row->clock];
    int64_t last = g->end[node] - g->work[node], spare = latest - g->end[node], longest = row->gap_ps;
    for (int64_t i = 0; i < row->gap_count; ++i)
        longest = g->gaps[row->gap_first + i] > longest ? g->gaps[row->gap_first + i] : longest;
    longest += g->work[node];
    if (spare < longest - 1)
        longest = spare + 1;
    *seen = cycle_at(p, last + spare - longest + 1 + row->sample_ps - begin_of(p, row->shorter)) - 1;
    return spare + 1 > longest ? latest - g->work[node] : g->begin[node] + spare;
}

/* After a sweep in `order`, how late each node may begin and end, in its own time, without the end of `last` coming later:
   each alone, with buses given in the same order. Before polls it may be more; what nobody waits for has twice the time
   that all takes. */
void replay_latest(const graph *g, const int32_t *order, int64_t last, int64_t *begin, int64_t *end)
{
    int64_t far = 0; /* for what nobody waits for */
    for (int64_t i = 0; i < g->nodes; ++i) {
        int64_t t = g->domain[i] ? begin_of(g->clocks[g->domain[i]], g->end[i]) : g->end[i];
        far = t > far ? t : far;
    }
    for (int64_t i = 0; i < g->nodes; ++i) {
        begin[i] = INT64_MAX;
        end[i] = g->domain[i] ? cycle_at(g->clocks[g->domain[i]], 2 * far) : 2 * far;
        int32_t bus = g->kind[i] == TRANSFER ? g->extra[i] : g->kind[i] == POLLS ? g->bus_of_polls[g->extra[i]] : -1;
        if (bus >= 0)
            g->bus_free[bus] = INT64_MAX;
    }
    end[last] = g->end[last];
    for (int64_t i = g->nodes - 1; i >= 0; --i) {
        int64_t node = order ? order[i] : i, first = g->cause_first[node], stop = g->cause_first[node + 1], seen = 0;
        uint8_t domain = g->domain[node], kind = g->kind[node];
        int32_t bus = kind == TRANSFER ? g->extra[node] : kind == POLLS ? g->bus_of_polls[g->extra[node]] : -1;
        if (bus >= 0 && g->bus_free[bus] < end[node])
            end[node] = g->bus_free[bus];
        int64_t may = kind == POLLS ? polls_may_begin(g, node, end[node], &seen) : end[node] - g->work[node];
        if (may < begin[node])
            begin[node] = may;
        if (bus >= 0) /* where others go on between polls, the last of them counts */
            g->bus_free[bus] = kind == POLLS && !g->alone ? end[node] - g->work[node] : begin[node];
        for (int64_t edge = first; edge < stop; ++edge) {
            int answer = kind == POLLS && edge == stop - 1;
            int64_t limit = answer ? allowed(g, edge, (uint8_t)g->rows[g->extra[node]].clock, seen)
                                   : allowed(g, edge, domain, begin[node]);
            int64_t *of = g->cause[edge] < 0 ? &begin[~g->cause[edge]] : &end[g->cause[edge]];
            *of = limit < *of ? limit : *of;
        }
    }
}

static int64_t ready_ps(const graph *g, int64_t node)
{
    int64_t t = 0;
    uint8_t domain = g->domain[node];
    int64_t last = g->cause_first[node + 1] - (g->kind[node] == POLLS);
    for (int64_t edge = g->cause_first[node]; edge < last; ++edge) {
        int64_t now = reached(g, edge, domain);
        t = now > t ? now : t;
    }
    return domain ? begin_of(g->clocks[domain], t) : t;
}

typedef struct { int64_t at; int32_t node; } ready;

static int before(ready a, ready b) { return a.at != b.at ? a.at < b.at : a.node < b.node; }

static void push(ready *heap, int64_t *count, ready one)
{
    int64_t i = (*count)++;
    for (; i && before(one, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = one;
}

static ready pop(ready *heap, int64_t *count)
{
    ready top = heap[0], last = heap[--*count];
    int64_t i = 0, child;
    while ((child = 2 * i + 1) < *count) {
        child += child + 1 < *count && before(heap[child + 1], heap[child]);
        if (!before(heap[child], last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

static int32_t source_of(const graph *g, int64_t edge) { return g->cause[edge] < 0 ? ~g->cause[edge] : g->cause[edge]; }

/* Whether an edge tells what the polls of `node` ask for, where other threads go on between them. */
static int asked_for(const graph *g, int64_t node, int64_t edge)
{
    return !g->alone && g->kind[node] == POLLS && edge == g->cause_first[node + 1] - 1;
}

/* The next poll of a row, from `t` on; its end. */
static int64_t ask(const graph *g, int64_t node, int64_t t)
{
    polls *row = &g->rows[g->extra[node]];
    int32_t bus = g->bus_of_polls[g->extra[node]];
    t = on_bus(g, node, bus, t);
    if (!row->asked++)
        g->begin[node] = t;
    g->end[node] = t + g->work[node];
    if (row->asked <= row->gap_count)
        g->poll_ends[row->gap_first + row->asked - 1] = g->end[node];
    if (bus >= 0)
        g->bus_free[bus] = g->end[node];
    return g->end[node];
}

static int64_t gap_after(const graph *g, const polls *row)
{
    return row->asked > row->gap_count ? row->gap_ps : g->gaps[row->gap_first + row->asked - 1];
}

enum { REACHED = -1 }; /* in place of how many causes of a node are missing */

/* Polls alone are left, and what each of them asks for comes of none of them. */
static int ask_in_vain(const graph *g, const ready *heap, int64_t count, const int32_t *missing)
{
    for (int64_t i = 0; i < count; ++i) {
        int32_t node = heap[i].node < 0 ? ~heap[i].node : heap[i].node;
        if (g->kind[node] != POLLS || missing[source_of(g, g->cause_first[node + 1] - 1)] == REACHED)
            return 0;
    }
    return 1;
}

/* The same in the order of time, which is left in `order`: who asks first gets a bus. Where several threads poll, each
   poll is for itself: a node ~n in the heap is the end of one. How many nodes were reached: fewer than there are where
   some wait for one another, -1 where memory is short. */
int64_t replay_in_time(const graph *g, int32_t *order)
{
    int64_t n = g->nodes, edges = g->cause_first[n], count = 0, done = 0;
    int32_t *missing = malloc((size_t)(n + 1) * sizeof *missing), *next = malloc((size_t)(edges + 1) * sizeof *next);
    int64_t *head = malloc((size_t)(n + 1) * sizeof *head);
    ready *heap = malloc((size_t)(n + 1) * sizeof *heap);
    if (!missing || !next || !head || !heap) {
        done = -1;
        goto out;
    }
    for (int64_t i = 0; i <= n; ++i)
        head[i] = 0;
    for (int64_t e = 0; e < edges; ++e)
        head[source_of(g, e)]++;
    for (int64_t i = 0, sum = 0; i < n; ++i)
        head[i] = sum += head[i];
    head[n] = edges;
    for (int64_t i = n - 1; i >= 0; --i)
        for (int64_t e = g->cause_first[i]; e < g->cause_first[i + 1]; ++e)
            next[--head[source_of(g, e)]] = asked_for(g, i, e) ? -1 : (int32_t)i;
    for (int64_t i = 0; i < n; ++i) {
        int64_t last = g->cause_first[i + 1];
        missing[i] = (int32_t)(last - g->cause_first[i]) - (last > g->cause_first[i] && asked_for(g, i, last - 1));
        if (g->kind[i] == POLLS)
            g->rows[g->extra[i]].asked = 0;
        if (!missing[i])
            push(heap, &count, (ready){0, (int32_t)i});
    }
    while (count) {
        ready one = pop(heap, &count);
        int32_t node = one.node < 0 ? ~one.node : one.node;
        if (g->alone || g->kind[node] != POLLS) {
            visit(g, node);
        } else if (one.node >= 0) {
            push(heap, &count, (ready){ask(g, node, one.at), ~node});
            continue;
        } else if (missing[source_of(g, g->cause_first[node + 1] - 1)] != REACHED || one.at - g->work[node] < due_from(g, node)) {
            push(heap, &count, (ready){one.at + gap_after(g, &g->rows[g->extra[node]]), node});
            if (ask_in_vain(g, heap, count, missing))
                break;
            continue;
        }
        missing[node] = REACHED;
        order[done++] = node;
        for (int64_t e = head[node]; e < head[node + 1]; ++e)
            if (next[e] >= 0 && !--missing[next[e]])
                push(heap, &count, (ready){ready_ps(g, next[e]), next[e]});
    }
out:
    free(missing);
    free(next);
    free(head);
    free(heap);
    return done;
}
