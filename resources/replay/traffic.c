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
    const int64_t *pops;           /* of each FIFO, in all */
} traffic;

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

/* Every node's time with FIFOs of these depths (0: as deep as they like); -1 of those that never happen. `waits` and `queue`
 * are room for as many nodes. Returns how many happen. */
int64_t replay(const traffic *t, const int64_t *depth, int64_t *time, int32_t *waits, int32_t *queue)
{
    int64_t first = 0, last = 0;
    memcpy(waits, t->causes, (size_t)t->count * sizeof *waits);
    memcpy(time, t->earliest, (size_t)t->count * sizeof *time);
    for (int64_t f = 0; f < t->fifos; f++)
        for (int64_t i = t->push_begin[f] + depth[f]; depth[f] && i < t->push_begin[f + 1]; i++)
            waits[t->push[i]]++;
    for (int64_t n = 0; n < t->count; n++)
        if (!waits[n])
            queue[last++] = (int32_t)n;
    while (first < last) {
        int32_t node = queue[first++];
        for (int64_t i = t->begin[node]; i < t->begin[node + 1]; i++) {
            int32_t next = t->follower[i];
            int64_t at = after(t, node, next, time[node], t->lag[i]);
            if (at > time[next])
                time[next] = at;
            if (!--waits[next])
                queue[last++] = next;
        }
        for (int64_t i = t->pop_begin[node]; i < t->pop_begin[node + 1]; i++) {
            int32_t f = t->pop_fifo[i];
            int64_t place = t->push_begin[f] + t->pop_number[i] + depth[f];
            if (!depth[f] || place >= t->push_begin[f + 1])
                continue;
            int32_t next = t->push[place];
            int64_t at = after(t, node, next, time[node], t->room_lag[f]);
            if (at > time[next])
                time[next] = at;
            if (!--waits[next])
                queue[last++] = next;
        }
    }
    for (int64_t n = 0; n < t->count; n++)
        if (waits[n])
            time[n] = -1;
    return last;
}
