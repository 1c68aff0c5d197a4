/* Words through a design's streams, replayed: each happens once all that it comes after has happened (replay/traffic.py).
 * A node's time is in cycles of its clock, or in picoseconds (clock -1). */
#include <stdint.h>
#include <string.h>

typedef struct {
    int64_t num, den; /* a cycle lasts num / den ps */
} period;

typedef struct {
    int64_t count;                 /* nodes */
    const int32_t *clock;          /* of each */
    const period *periods;         /* of each clock */
    const int64_t *begin;          /* where each node's followers begin; one more */
    const int32_t *follower;
    const int64_t *lag;            /* by which each follower comes after it */
    const int32_t *causes;         /* how many each node has, those by full FIFOs apart */
    const int64_t *earliest;       /* in its own unit, from which on each may be */
    int64_t fifos;
    const int64_t *push_begin;     /* where each FIFO's pushes begin in `push`; one more */
    const int32_t *push;           /* nodes */
    const int64_t *room_lag;       /* of each FIFO: from a pop to the push that takes its place */
    const int64_t *pop_begin;      /* where the pops of each node begin; one more */
    const int32_t *pop_fifo;
    const int64_t *pop_number;     /* of the FIFO's pops, from 0 */
    int64_t pipes;                 /* pipelines that stand still as a whole while their last word is not taken */
    const int64_t *pipe_begin;     /* where the words of each begin in what follows */
    const int32_t *pipe_out;       /* the node that gives each word */
    const int64_t *latency;        /* of each pipeline */
    const int32_t *in_pipe;        /* of each node: the pipeline that it gives a word to, or -1, */
    const int64_t *in_word;        /* and which word, from where its pipeline's begin */
    const int32_t *out_pipe;       /* the same of the one that it takes a word from */
    const int64_t *out_word;
    int64_t *entered;              /* of each word: when it was taken, in cycles in which its pipeline moved */
    int64_t *offered;              /* when it is offered */
    int64_t *left;                 /* when it left */
    int64_t *stood;                /* how long the pipeline stood still before that */
    int64_t *of_pipe;              /* of each: words taken, words that left, those that had when the last was taken, and the word
                                      that waits to be taken, or -1 */
} traffic;

enum { TAKEN, LEFT, BEFORE, WAITING, FIELDS };

static int64_t start(period p, int64_t cycle) { return (int64_t)(((__int128)cycle * p.num + p.den - 1) / p.den); }
static int64_t over(period p, int64_t ps) { return (int64_t)((__int128)ps * p.den / p.num); }

/* When what comes after a node may be: `lag` is in cycles of its own clock; in ps where one of the two is a time. */
static int64_t after(const traffic *t, int32_t from, int32_t to, int64_t time, int64_t lag)
{
    int32_t one = t->clock[from], other = t->clock[to];
    if (one == other)
        return time + lag;
    if (other < 0)
        return start(t->periods[one], time + 1) + lag;
    if (one < 0)
        return over(t->periods[other], time + lag) - 1; /* the cycle before: as a word is due (resources/card/README.md) */
    return over(t->periods[other], start(t->periods[one], time + 1)) + lag;
}

static void release(const traffic *t, int32_t node, int32_t *waits, int32_t *queue, int64_t *last);

/* The next word of a pipeline is offered, once it was taken and the one before left. */
static void offer(const traffic *t, int32_t p, int64_t *time, int32_t *waits, int32_t *queue, int64_t *last)
{
    int64_t *pipe = t->of_pipe + FIELDS * p, word = pipe[LEFT], at = t->pipe_begin[p] + word;
    if (word >= pipe[TAKEN] || at >= t->pipe_begin[p + 1])
        return;
    int32_t node = t->pipe_out[at];
    t->offered[at] = t->entered[at] + t->latency[p] + (word ? t->stood[at - 1] : 0);
    if (node < 0)
        return;
    if (t->offered[at] > time[node])
        time[node] = t->offered[at];
    if (!--waits[node])
        release(t, node, waits, queue, last);
}

/* A word may be taken as far as all else goes: not while the pipeline stands still. */
static void enter(const traffic *t, int32_t node, int64_t *time, int32_t *waits, int32_t *queue, int64_t *last)
{
    int32_t p = t->in_pipe[node];
    int64_t *pipe = t->of_pipe + FIELDS * p, base = t->pipe_begin[p], at = time[node];
    while (pipe[BEFORE] < pipe[LEFT] && t->left[base + pipe[BEFORE]] <= at)
        pipe[BEFORE]++;
    int64_t end = pipe[BEFORE];
    if (end < pipe[TAKEN] && t->offered[base + end] <= at) {
        if (end == pipe[LEFT]) {
            pipe[WAITING] = node;
            return;
        }
        at = t->left[base + end];
        pipe[BEFORE]++;
    }
    pipe[WAITING] = -1;
    time[node] = at;
    t->entered[base + t->in_word[node]] = at - (pipe[BEFORE] ? t->stood[base + pipe[BEFORE] - 1] : 0);
    pipe[TAKEN]++;
    queue[(*last)++] = node;
    if (pipe[LEFT] == t->in_word[node])
        offer(t, p, time, waits, queue, last);
}

static void leave(const traffic *t, int32_t node, int64_t *time, int32_t *waits, int32_t *queue, int64_t *last)
{
    int32_t p = t->out_pipe[node];
    int64_t *pipe = t->of_pipe + FIELDS * p, word = t->out_word[node], at = t->pipe_begin[p] + word;
    t->left[at] = time[node];
    t->stood[at] = (word ? t->stood[at - 1] : 0) + time[node] - t->offered[at];
    pipe[LEFT]++;
    offer(t, p, time, waits, queue, last);
    if (pipe[WAITING] >= 0)
        enter(t, (int32_t)pipe[WAITING], time, waits, queue, last);
}

static int64_t *times; /* of the replay that goes on */

/* A node after which nothing else has to happen before it does. */
static void release(const traffic *t, int32_t node, int32_t *waits, int32_t *queue, int64_t *last)
{
    if (t->in_pipe[node] >= 0)
        enter(t, node, times, waits, queue, last);
    else
        queue[(*last)++] = node;
}

/* What has room for as many nodes, and how far `drain` has come. */
typedef struct {
    const int64_t *depth; /* of each FIFO; 0: as deep as it likes */
    int64_t *time;        /* of each node */
    int32_t *waits;       /* for how many it waits; -1: it has happened */
    int32_t *queue;
    int64_t first, last;
} progress;

static void begin(const traffic *t, progress *p)
{
    p->first = p->last = 0;
    times = p->time;
    for (int64_t i = 0; i < t->pipes; i++) {
        memset(t->of_pipe + FIELDS * i, 0, FIELDS * sizeof *t->of_pipe);
        t->of_pipe[FIELDS * i + WAITING] = -1;
    }
    memcpy(p->waits, t->causes, (size_t)t->count * sizeof *p->waits);
    memcpy(p->time, t->earliest, (size_t)t->count * sizeof *p->time);
    for (int64_t f = 0; f < t->fifos; f++)
        for (int64_t i = t->push_begin[f] + p->depth[f]; p->depth[f] && i < t->push_begin[f + 1]; i++)
            p->waits[t->push[i]]++;
    for (int64_t n = 0; n < t->count; n++)
        if (!p->waits[n])
            release(t, (int32_t)n, p->waits, p->queue, &p->last);
}

/* A node has one cause less to wait for, and is not before `at`. */
static void caused(const traffic *t, progress *p, int32_t node, int64_t at)
{
    if (at > p->time[node])
        p->time[node] = at;
    if (!--p->waits[node])
        release(t, node, p->waits, p->queue, &p->last);
}

/* All happens that can. */
static void drain(const traffic *t, progress *p)
{
    while (p->first < p->last) {
        int32_t node = p->queue[p->first++];
        p->waits[node] = -1;
        if (t->out_pipe[node] >= 0)
            leave(t, node, p->time, p->waits, p->queue, &p->last);
        for (int64_t i = t->begin[node]; i < t->begin[node + 1]; i++)
            caused(t, p, t->follower[i], after(t, node, t->follower[i], p->time[node], t->lag[i]));
        for (int64_t i = t->pop_begin[node]; i < t->pop_begin[node + 1]; i++) {
            int32_t f = t->pop_fifo[i];
            int64_t place = t->push_begin[f] + t->pop_number[i] + p->depth[f];
            if (p->depth[f] && place < t->push_begin[f + 1])
                caused(t, p, t->push[place], after(t, node, t->push[place], p->time[node], t->room_lag[f]));
        }
    }
}

/* Every node's time with FIFOs of these depths (0: as deep as they like); -1 of those that never happen. `waits` and `queue`
 * are room for as many nodes. Returns how many happen. */
int64_t replay(const traffic *t, const int64_t *depth, int64_t *time, int32_t *waits, int32_t *queue)
{
    progress p = {depth, time, waits, queue, 0, 0};
    begin(t, &p);
    drain(t, &p);
    for (int64_t n = 0; n < t->count; n++)
        if (waits[n] >= 0)
            time[n] = -1;
    return p.last;
}
