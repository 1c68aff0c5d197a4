/* What a thread's own code cost; host_time.h and README.md say how it is told. */
#define _GNU_SOURCE
#include "host_time.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "atomics.h"
#include "real.h"
#include "wbcard.h"

#define SHORT_NS 20000 /* who loses the processor loses it for longer */
#define LEAST_PS 250   /* no code takes less: one cycle of a fast processor */

host_time_settings host_time = {.factor = 1.0};

static int64_t cpu_cost_ps, wall_cost_ps; /* what one reading of a clock adds to it: the mean of many */
static int64_t skip_tail_ps;              /* what rcw_skip_ps takes after its own reading, likewise */
static int64_t access_ps;                 /* what rcw_access takes without that */
static int64_t total_ps;

static __thread uint64_t blocks_run;  /* basic blocks of the user's sources, counted by gcc's own calls */
static __thread uint64_t blocks_mark; /* blocks_run, or the clocks, when the library was last left */
static __thread int64_t cpu_mark_ns, wall_mark_ns, wall_last_ns, charged_ps, owed_ps;

void __sanitizer_cov_trace_pc(void) { blocks_run++; }

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    REAL(clock_gettime)(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
static int64_t wall_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

void host_time_forget(void)
{
    blocks_mark = blocks_run;
    if (!host_time.deterministic) {
        charged_ps = 0;
        cpu_mark_ns = cpu_ns();
        wall_mark_ns = wall_last_ns = wall_ns();
    }
}

/* The thread's CPU time since this was last asked, or since the mark, in picoseconds. Reading the CPU clock is a system
 * call that takes longer than much of what is to be measured; reading the wall clock is not. So the wall clock tells the
 * time of a short stretch, and of any in which the thread ran all the while, which the CPU clock knows. Clocks go in steps:
 * what a stretch comes to less than it can take is taken off the next, so that sums are right. Reading them may also take less
 * than when that was measured: so a stretch always takes something, or a thread would look at a variable for ever, and no more
 * is taken off than a short stretch, or its later work would cost nothing. */
static int64_t stretch_ps(void)
{
    int64_t now = wall_ns(), gap_ns = now - wall_last_ns;
    int64_t ps = gap_ns > SHORT_NS ? 0 : gap_ns * 1000 - wall_cost_ps;
    if (gap_ns > SHORT_NS) {
        int64_t cpu = cpu_ns() - cpu_mark_ns;
        ps = now - wall_mark_ns > cpu ? cpu * 1000 - cpu_cost_ps - charged_ps : gap_ns * 1000 - wall_cost_ps;
        now = wall_ns();
    }
    wall_last_ns = now;
    charged_ps += ps + wall_cost_ps;
    ps += owed_ps;
    int64_t taken_ps = ps < LEAST_PS ? LEAST_PS : ps;
    owed_ps = ps - taken_ps < -SHORT_NS * 1000 ? -SHORT_NS * 1000 : ps - taken_ps;
    return taken_ps;
}

typedef struct {
    int thread;
    int64_t parts;
} scale;
static scale *scales;
static int scale_count;

void host_time_scale(int thread, int64_t parts)
{
    scale *more = realloc(scales, (size_t)(scale_count + 1) * sizeof *scales);
    if (more)
        scales = more, scales[scale_count++] = (scale){thread, parts};
}

int64_t host_time_charge(int thread)
{
    int64_t cost;
    if (host_time.deterministic)
        cost = (int64_t)(blocks_run - blocks_mark) * host_time.basic_block_ps;
    else
        cost = 1 + llround((double)stretch_ps() * host_time.factor); /* not 0 by a small factor either */
    for (int i = 0; i < scale_count; i++)
        if (scales[i].thread < 0 || scales[i].thread == thread)
            cost = (int64_t)((__int128)cost * scales[i].parts / 1000000000);
    blocks_mark = blocks_run;
    host_time_add(cost);
    return cost;
}

void host_time_add(int64_t work_ps) { __atomic_fetch_add(&total_ps, work_ps, __ATOMIC_RELAXED); }

int64_t host_time_total_ps(void) { return __atomic_load_n(&total_ps, __ATOMIC_RELAXED); }

int64_t rcw_skip_ps(void)
{
    if (host_time.deterministic) /* only the user's sources are counted then */
        return 0;
    int64_t skipped_ps = llround((double)stretch_ps() * host_time.factor);
    owed_ps -= skip_tail_ps;
    return skipped_ps;
}

void host_time_owe(void) { owed_ps -= access_ps; }

/* ---- what reading the clocks costs ---- */

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t after_reading_ps(int64_t (*clock)(void))
{
    int64_t first = clock();
    return (clock() - first) * 1000;
}

static int64_t after_skipping_ps(int64_t (*clock)(void))
{
    int64_t before = owed_ps;
    (void)clock;
    rcw_skip_ps();
    owed_ps = 1000000; /* what comes out below zero is told as well */
    int64_t took = stretch_ps() - 1000000;
    owed_ps = before;
    return took;
}

static int64_t after_access_ps(int64_t (*clock)(void))
{
    int64_t first = clock();
    rcw_access_always();
    return (clock() - first) * 1000 - wall_cost_ps;
}

/* The mean of many measurements, without those in which something else ran. Some are below zero: what reading a clock costs
 * is taken off, and may have been measured while the processor was slower. */
static int64_t mean_ps(int64_t (*measure)(int64_t (*)(void)), int64_t (*clock)(void))
{
    enum { MANY = 1001 };
    static int64_t took[MANY];
    int64_t sum = 0, middle;
    int count = 0;
    for (int i = 0; i < MANY; i++)
        took[i] = measure(clock);
    qsort(took, MANY, sizeof took[0], compare);
    middle = took[MANY / 2];
    while (count < MANY && took[count] <= middle + (middle < 0 ? -middle : middle) + 20000)
        sum += took[count++];
    return sum / count;
}

void host_time_calibrate(void)
{
    if (!host_time.deterministic) {
        cpu_cost_ps = mean_ps(after_reading_ps, cpu_ns);
        wall_cost_ps = mean_ps(after_reading_ps, wall_ns);
        access_ps = mean_ps(after_access_ps, wall_ns);
        host_time_forget();
        skip_tail_ps = mean_ps(after_skipping_ps, wall_ns);
        owed_ps = 0;
    }
    host_time_forget();
}
