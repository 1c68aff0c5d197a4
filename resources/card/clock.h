/* When a clock's cycles begin, for the card and for its client library (workbench/model/cycles.py says the same). Cycle k
 * begins at the first whole picosecond after k periods; with a drift, as much earlier as by then it runs ahead. */
#ifndef RCW_CLOCK_H
#define RCW_CLOCK_H
#include <stdint.h>

typedef struct {
    int64_t period_num, period_den; /* a cycle lasts period_num / period_den ps at time 0 */
    int64_t drift;                  /* its frequency grows by so many parts in 10^12 each second */
} rcw_clock;

static inline int64_t rcw_ahead_ps(const rcw_clock *clock, int64_t ps)
{
    __int128 half_square = (__int128)ps * ps / 2000000000000; /* of seconds, in ps */
    return (int64_t)(half_square * clock->drift / 1000000000000);
}

static inline int64_t rcw_cycle_start(const rcw_clock *clock, int64_t cycle)
{
    int64_t ps = (int64_t)(((__int128)cycle * clock->period_num + clock->period_den - 1) / clock->period_den);
    return clock->drift ? ps - rcw_ahead_ps(clock, ps) : ps;
}

/* How many cycles are over at a time. */
static inline int64_t rcw_cycles_before(const rcw_clock *clock, int64_t ps)
{
    int64_t steady = ps;
    for (int i = 0; clock->drift && i < 4; i++)
        steady = ps + rcw_ahead_ps(clock, steady);
    int64_t cycle = (int64_t)((__int128)steady * clock->period_den / clock->period_num);
    while (clock->drift && rcw_cycle_start(clock, cycle + 1) <= ps)
        cycle++;
    while (clock->drift && rcw_cycle_start(clock, cycle) > ps)
        cycle--;
    return cycle;
}
#endif
