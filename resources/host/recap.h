/* The recording runtime that is linked into an instrumented host program (recap.c).
 *
 * With $RCW_RAW set to a folder, every call is recorded in `host_calls.bin` (rcw_call_record, ../card/records.h) and
 * counted exactly in `host_stats.bin` (rcw_stats_header, then rcw_stats_row). A thread fills pieces of host_calls.bin
 * that are mapped into memory in turn, and a thread of the runtime's own appends the full ones to the file;
 * host_stats.bin is mapped as a whole. So whatever ends the process, even SIGKILL, leaves every record in the file.
 * Only those whose `piece` is not 0 count: the others are room that was not used, or is to be used again. What is killed
 * between appending a piece and clearing it leaves its records twice, by thread, piece and place the same. Without
 * $RCW_RAW nothing is recorded.
 *
 * On a simulated card's clock recording costs nothing: what it took is taken off, call by call. At a normal exit
 * `recording.txt` says what recording a call adds to the clock of the records, in a loop of nothing else
 * (cost_ps_per_call, the median of some rounds, and cost_ps_spread between its quartiles), how much was taken off in this
 * run (taken_off_ps, on a simulated card's clock), how long the run took (time_ps, elsewhere), and how many records were
 * lost.
 *
 * A thread never waits for another, except on a simulated card's clock, where waiting takes no time. Where a record
 * cannot be stored (a full disk, or calls come faster than they can be written), it is dropped and counted in the row's
 * `lost`; the other columns stay exact. A forked child records nothing. */
#ifndef RECAP_H
#define RECAP_H
#include <stdint.h>

#include "../card/records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The clock. recap.c's own is the processor's time stamp counter, or CLOCK_MONOTONIC where that is not steady; a
 * simulated card's client library brings a stronger definition, and its virtual clock. */
int64_t rcw_now_ps(void);

/* Takes the time since the clock was last asked off the calling thread's, where the clock can do that (a simulated
 * card's), and says how much it was; 0 elsewhere. */
int64_t rcw_skip_ps(void);

/* Takes time off recap.c's own clock: what was done meanwhile was no work of the program's. */
void rcw_set_aside(int64_t ps);

/* How many transfers the calling thread has begun; always 0 without a simulated card. */
int64_t rcw_transfer_count(void);

/* The calling thread's number; `without` where there is no simulated card. */
int rcw_thread_number(int without);

/* Between 1 and 0 the calling thread waits in real time, on a simulated card's clock in none. */
void rcw_aside(int aside);

#define RCW_STATS_MAGIC 0x31535752 /* "RWS1" */

typedef struct {
    int32_t magic;
    int32_t slots;        /* rows a thread */
    int32_t threads;      /* how many blocks of `slots` rows follow */
    int32_t thread_bytes; /* from one thread's first row to the next one's */
} rcw_stats_header; /* 16 bytes, alone in the file's first 4096 */

/* One per (thread, call site, state, entry). A run is consecutive calls of one row; the run under way is not in `runs`,
 * `min_run` and `max_run` yet. Rates count only calls with bytes > 0 that took any time. */
typedef struct {
    int32_t site, state, entry, thread;
    int64_t count, bytes, time_ps, lost;
    double min_bytes_per_s, max_bytes_per_s; /* 0: no call counts */
    int64_t runs, min_run, max_run, run;
} rcw_stats_row; /* 96 bytes */

/* What the generated wrappers number: recap.c takes the table from rcw_wrappers.c. */
typedef struct {
    int32_t site, state, entry;
} rcw_slot;
extern const rcw_slot rcw_slots[];
extern const int rcw_slot_count;

/* What an entry's expressions say of one call. `which` is the entry among the callee's, -1 when no condition holds. */
typedef struct {
    int which;
    int32_t fpga;
    int64_t bytes, address;
} rcw_call;

typedef struct {
    int64_t t0_ps, transfers;
} rcw_start;

#define RCW_PIECE_RECORDS 512

typedef struct rcw_thread {
    rcw_call_record *next, *end; /* in the piece that is being filled */
    rcw_stats_row *rows, *last;
    rcw_call_record *live;
    int64_t handed_over, appended; /* how many full pieces so far */
    struct rcw_thread *older;
    int32_t number, pieces;
} rcw_thread;

extern int rcw_recording;
extern int64_t rcw_clock_floor_ps, rcw_lost;
extern int rcw_simulated;        /* a simulated card's clock: reading it costs no virtual time */
extern int64_t rcw_taken_off_ps; /* there: what recording took so far */
extern __thread rcw_thread *rcw_self;
rcw_thread *rcw_begin_thread(void);
int rcw_more_records(rcw_thread *thread);

static inline rcw_call_record *rcw_piece(const rcw_thread *thread, int64_t number)
{
    return thread->live + number % thread->pieces * RCW_PIECE_RECORDS;
}

/* The calling thread's buffers, or NULL when nothing is to be recorded. */
static inline rcw_thread *rcw_ready(void)
{
    if (__builtin_expect(!rcw_recording, 0))
        return 0;
    return __builtin_expect(rcw_self != 0, 1) ? rcw_self : rcw_begin_thread();
}

static inline void rcw_take_off(void)
{
    if (__builtin_expect(rcw_simulated, 0))
        __atomic_fetch_add(&rcw_taken_off_ps, rcw_skip_ps(), __ATOMIC_RELAXED);
}

/* The first thing that a wrapper does. On a simulated card's clock the program's own time ends here. */
static inline rcw_start rcw_enter(void)
{
    rcw_start start = {0, 0};
    if (__builtin_expect(rcw_simulated, 0))
        start.t0_ps = rcw_now_ps();
    return start;
}

/* The last thing before the call itself. Elsewhere the call's time begins here. */
static inline void rcw_go(rcw_start *start)
{
    start->transfers = rcw_transfer_count();
    if (__builtin_expect(rcw_simulated, 0))
        rcw_take_off();
    else
        start->t0_ps = rcw_now_ps();
}

static inline void rcw_count(rcw_thread *thread, rcw_stats_row *row, int64_t bytes, int64_t took_ps)
{
    rcw_stats_row *last = thread->last;
    if (last != row) {
        if (last) {
            last->runs++;
            if (last->run > last->max_run)
                last->max_run = last->run;
            if (!last->min_run || last->run < last->min_run)
                last->min_run = last->run;
            last->run = 0;
        }
        thread->last = row;
    }
    row->run++;
    row->count++;
    row->time_ps += took_ps;
    if (bytes > 0) {
        row->bytes += bytes;
        if (took_ps > 0) { /* divisions only where a bound moves */
            double scaled = (double)bytes * 1e12, took = (double)took_ps;
            if (scaled > row->max_bytes_per_s * took)
                row->max_bytes_per_s = scaled / took;
            if (scaled < row->min_bytes_per_s * took || row->min_bytes_per_s == 0)
                row->min_bytes_per_s = scaled / took;
        }
    }
}

static inline void rcw_record(
    rcw_thread *thread, const rcw_start *start, int slot, const rcw_call *call, int64_t t1_ps)
{
    int64_t transfers = rcw_transfer_count() - start->transfers;
    if (t1_ps < start->t0_ps)
        t1_ps = start->t0_ps;
    rcw_count(thread, thread->rows + slot, call->bytes, t1_ps - start->t0_ps);
    if (__builtin_expect(thread->next == thread->end, 0) && !rcw_more_records(thread)) {
        thread->rows[slot].lost++;
        __atomic_fetch_add(&rcw_lost, 1, __ATOMIC_RELAXED);
        return;
    }
    rcw_call_record *record = thread->next++;
    __builtin_prefetch(record + 8, 1); /* the writer had these lines last */
    const rcw_slot *is = &rcw_slots[slot];
    record->site = is->site;
    record->state = is->state;
    record->entry = is->entry;
    record->thread = thread->number;
    record->t0_ps = start->t0_ps;
    record->t1_ps = t1_ps;
    record->bytes = call->bytes;
    record->address = call->address;
    record->fpga = call->fpga;
    record->first_transfer = transfers ? start->transfers : -1;
    record->transfers = transfers;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    *(volatile int32_t *)&record->piece = (int32_t)thread->handed_over + 1;
}

static inline void rcw_leave(rcw_thread *thread, const rcw_start *start, int slot, const rcw_call *call)
{
    int64_t t1_ps = rcw_now_ps() - rcw_clock_floor_ps;
    rcw_record(thread, start, slot, call, t1_ps);
    rcw_take_off();
}

#ifdef __cplusplus
}
#endif
#endif
