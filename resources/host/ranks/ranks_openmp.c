/* Records for which threads of its rank a thread of an OpenMP program waits: a part of ranks.c, for programs that GCC compiles. Its
 * runtime (libgomp) waits by system calls of its own, so the functions here stand between the program and that runtime.
 *
 * A parallel region is a team of threads with a number. Its threads meet when it begins, at each barrier, and when it ends; these
 * meetings are numbered in each thread, which is the same in all of them. At a meeting a thread lets the others go (RCW_LET_GO) and
 * waits for all of them (RCW_WAITED_FOR_ALL). Critical regions, locks and ordered regions are recorded by address, as in ranks_locks.c.
 *
 * Waits of tasks, doacross loops, cancelled regions, target regions and runtimes other than libgomp are not recorded. The run reports
 * this (RCW_NOT_FOLLOWED). */
#define _GNU_SOURCE
#include "ranks.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 1024, BEGIN = 0, END = -1, ORDERED = -2 };

typedef struct {
    void (*run)(void *);
    void *data;
    int64_t number;
    const void *master; /* its master thread: the address of one of that thread's variables */
    int64_t ended;      /* when the master had done its own part */
} team;

/* The calling thread's team, the number of its meetings, and when it left the previous team (0: none). */
static __thread const team *own;
static __thread int meetings;
static __thread int64_t left;

/* How many threads are in, or wait for, critical regions and locks whose addresses have this hash. */
static int users[PLACES];

/* Critical regions without a name, and `atomic` regions. */
static char critical, atomic;

void rcw_not_followed(int what)
{
    static int known[RCW_IN_HANDLER + 1];
    int64_t now = rcw_ticks();
    if (rcw_ranks_on && !__atomic_exchange_n(&known[what], 1, __ATOMIC_RELAXED))
        rcw_keep_wait(RCW_NOT_FOLLOWED, what, 0, now, now);
}

static int is_other_runtime(struct dl_phdr_info *of, size_t size, void *more)
{
    (void)size, (void)more;
    return strstr(of->dlpi_name, "libomp.so") || strstr(of->dlpi_name, "libiomp5");
}

void rcw_look_for_runtimes(void)
{
    if (dl_iterate_phdr(is_other_runtime, NULL))
        rcw_not_followed(RCW_OTHER_OPENMP);
}

/* ---- teams ---- */

static void run_part(void *data)
{
    team *of = data;
    const team *outer = own;
    int outer_meetings = meetings;
    int is_master = of->master == &own;
    own = of;
    meetings = BEGIN;
    if (!is_master && left)
        rcw_keep_wait(RCW_WAITED_FOR_ALL, of->number, BEGIN, left, rcw_ticks());
    of->run(of->data);
    int64_t now = rcw_ticks();
    if (is_master)
        of->ended = now;
    else
        rcw_keep_wait(RCW_LET_GO, of->number, END, now, now);
    left = now;
    own = outer;
    meetings = outer_meetings;
}

static team new_team(void (*run)(void *), void *data)
{
    static int64_t numbers;
    team of = {.run = run, .data = data, .number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED), .master = &own};
    int64_t now = rcw_ticks();
    rcw_keep_wait(RCW_LET_GO, of.number, BEGIN, now, now);
    return of;
}

static void end_team(const team *of)
{
    left = rcw_ticks();
    rcw_keep_wait(RCW_WAITED_FOR_ALL, of->number, END, of->ended, left);
}

#define PARALLEL(name, more, ...) \
    void name(void (*run)(void *), void *data, unsigned threads, __VA_ARGS__) \
    { \
        REAL(name); \
        if (!rcw_ranks_on) { \
            real_##name(run, data, threads, UNPACKED more); \
            return; \
        } \
        team of = new_team(run, data); \
        real_##name(run_part, &of, threads, UNPACKED more); \
        end_team(&of); \
    }
#define UNPACKED(...) __VA_ARGS__

PARALLEL(GOMP_parallel, (flags), unsigned flags)
PARALLEL(GOMP_parallel_sections, (count, flags), unsigned count, unsigned flags)
#define LOOP(name) PARALLEL(GOMP_parallel_loop_##name, (first, end, step, chunk, flags), long first, long end, long step, long chunk, \
                            unsigned flags)
#define LOOP_AT_RUNTIME(name) PARALLEL(GOMP_parallel_loop_##name, (first, end, step, flags), long first, long end, long step, unsigned flags)
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(nonmonotonic_dynamic)
LOOP(nonmonotonic_guided)
LOOP_AT_RUNTIME(runtime)
LOOP_AT_RUNTIME(nonmonotonic_runtime)
LOOP_AT_RUNTIME(maybe_nonmonotonic_runtime)

/* A meeting of the team since t0. */
static void meet(int64_t t0)
{
    if (!own)
        return;
    meetings++;
    rcw_keep_wait(RCW_LET_GO, own->number, meetings, t0, t0);
    rcw_keep_wait(RCW_WAITED_FOR_ALL, own->number, meetings, t0, rcw_ticks());
}

#define MEETS(name) \
    void name(void) \
    { \
        REAL(name); \
        int64_t t0 = rcw_ticks(); \
        real_##name(); \
        meet(t0); \
    }
MEETS(GOMP_barrier)
MEETS(GOMP_loop_end)
MEETS(GOMP_sections_end)

#define MEETS_OR_IS_CANCELLED(name) \
    _Bool name(void) \
    { \
        REAL(name); \
        int64_t t0 = rcw_ticks(); \
        _Bool result = real_##name(); \
        meet(t0); \
        return result; \
    }
MEETS_OR_IS_CANCELLED(GOMP_barrier_cancel)
MEETS_OR_IS_CANCELLED(GOMP_loop_end_cancel)
MEETS_OR_IS_CANCELLED(GOMP_sections_end_cancel)

/* The first thread that comes gets NULL, and gives the others a value by GOMP_single_copy_end, where all meet. */
void *GOMP_single_copy_start(void)
{
    REAL(GOMP_single_copy_start);
    int64_t t0 = rcw_ticks();
    void *result = real_GOMP_single_copy_start();
    if (result)
        meet(t0);
    return result;
}

void GOMP_single_copy_end(void *value)
{
    REAL(GOMP_single_copy_end);
    int64_t t0 = rcw_ticks();
    real_GOMP_single_copy_end(value);
    meet(t0);
}

/* ---- ordered regions ---- */

void GOMP_ordered_start(void)
{
    REAL(GOMP_ordered_start);
    int64_t t0 = rcw_ticks();
    real_GOMP_ordered_start();
    if (own)
        rcw_keep_wait(RCW_WAITED, own->number, ORDERED, t0, rcw_ticks());
}

void GOMP_ordered_end(void)
{
    REAL(GOMP_ordered_end);
    int64_t now = rcw_ticks();
    if (own)
        rcw_keep_wait(RCW_LET_GO, own->number, ORDERED, now, now);
    real_GOMP_ordered_end();
}

/* ---- critical regions and locks ---- */

static int *users_of(const void *what) { return &users[((uintptr_t)what >> 3) % PLACES]; }

/* A call that waits for `what` if another thread is in it. */
#define ENTERS(name, what, arguments, ...) \
    void name(__VA_ARGS__) \
    { \
        REAL(name); \
        if (__atomic_fetch_add(users_of(what), 1, __ATOMIC_SEQ_CST) <= 0) { \
            real_##name arguments; \
            return; \
        } \
        int64_t t0 = rcw_begin_wait(what); \
        real_##name arguments; \
        rcw_end_wait(what, t0); \
    }
#define LEAVES(name, what, arguments, ...) \
    void name(__VA_ARGS__) \
    { \
        REAL(name); \
        rcw_let_go(what); \
        __atomic_sub_fetch(users_of(what), 1, __ATOMIC_SEQ_CST); \
        real_##name arguments; \
    }
#define ENTERS_IF_FREE(name) \
    int name(void *lock) \
    { \
        REAL(name); \
        int result = real_##name(lock); \
        if (result) \
            __atomic_add_fetch(users_of(lock), 1, __ATOMIC_SEQ_CST); \
        return result; \
    }

ENTERS(GOMP_critical_start, &critical, (), void)
LEAVES(GOMP_critical_end, &critical, (), void)
ENTERS(GOMP_critical_name_start, lock, (lock), void **lock)
LEAVES(GOMP_critical_name_end, lock, (lock), void **lock)
ENTERS(GOMP_atomic_start, &atomic, (), void)
LEAVES(GOMP_atomic_end, &atomic, (), void)
ENTERS(omp_set_lock, lock, (lock), void *lock)
LEAVES(omp_unset_lock, lock, (lock), void *lock)
ENTERS_IF_FREE(omp_test_lock)
ENTERS(omp_set_nest_lock, lock, (lock), void *lock)
LEAVES(omp_unset_nest_lock, lock, (lock), void *lock)
ENTERS_IF_FREE(omp_test_nest_lock)

/* ---- what is not followed ---- */

/* Functions with up to sixteen arguments, numbers or addresses of the size of a long. */
#define NOT_FOLLOWED(name, what) \
    long name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n, long o, long p) \
    { \
        REAL(name); \
        rcw_not_followed(what); \
        return real_##name(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p); \
    }
NOT_FOLLOWED(GOMP_task, RCW_TASKS)
NOT_FOLLOWED(GOMP_taskloop, RCW_TASKS)
NOT_FOLLOWED(GOMP_taskloop_ull, RCW_TASKS)
NOT_FOLLOWED(GOMP_parallel_reductions, RCW_TASKS)
NOT_FOLLOWED(GOMP_loop_doacross_start, RCW_DOACROSS)
NOT_FOLLOWED(GOMP_loop_doacross_static_start, RCW_DOACROSS)
NOT_FOLLOWED(GOMP_loop_doacross_dynamic_start, RCW_DOACROSS)
NOT_FOLLOWED(GOMP_loop_doacross_guided_start, RCW_DOACROSS)
NOT_FOLLOWED(GOMP_loop_doacross_runtime_start, RCW_DOACROSS)
NOT_FOLLOWED(GOMP_loop_ull_doacross_start, RCW_DOACROSS)
NOT_FOLLOWED(GOMP_loop_ull_doacross_static_start, RCW_DOACROSS)
NOT_FOLLOWED(GOMP_loop_ull_doacross_dynamic_start, RCW_DOACROSS)
NOT_FOLLOWED(GOMP_loop_ull_doacross_guided_start, RCW_DOACROSS)
NOT_FOLLOWED(GOMP_loop_ull_doacross_runtime_start, RCW_DOACROSS)
NOT_FOLLOWED(GOMP_cancel, RCW_CANCELLED)
NOT_FOLLOWED(GOMP_target_ext, RCW_OFFLOADED)
