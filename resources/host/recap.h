/* The recording runtime that is linked into an instrumented host program (recap.c).
 *
 * With $RCW_RAW set to a folder, every call is counted exactly in `host_stats.bin`: rcw_stats_header, alone in the first
 * 4096 bytes, then a block for each thread, which is its rcw_thread and a rcw_stats_row for each slot. It is mapped
 * into memory, so that it can be read while the program runs, and whatever ends the process, even SIGKILL, leaves all of
 * it. A forked child's calls are counted in a file of its own, `host_stats_1.bin` and so on, that begins with its first.
 * Without $RCW_RAW nothing is recorded.
 *
 * With $RCW_TRACE set too, and not empty, and always on a simulated card's clock, every call is also recorded in
 * `host_calls.bin` (../card/records.h: whole ones on a simulated card, short ones elsewhere). A thread fills pieces of it that are mapped into memory in
 * turn, and a thread of the runtime's own, its agent, appends the full ones to the file. Only records whose `piece` is
 * not 0 count: the others are room that was not used, or is to be used again. What is killed between appending a piece
 * and clearing it leaves its records twice, by thread, piece and place the same.
 *
 * Times are in ticks of the clock, which the header scales. On a simulated card's clock recording costs nothing: what it
 * took is taken off, call by call. At a normal exit `recording.txt` says what recording a call adds to the clock of the
 * records, in a loop of nothing else (cost_ps_per_call, the median of some rounds, and cost_ps_spread between its
 * quartiles), how much was taken off in this run (taken_off_ps, on a simulated card's clock), how long the run took
 * (time_ps, elsewhere), and how many records were lost.
 *
 * A thread never waits for another, except on a simulated card's clock, where waiting takes no time. Where a record
 * cannot be stored (a full disk, or calls come faster than they can be written), it is dropped and counted in the row's
 * `lost`; the other columns stay exact. */
#ifndef RECAP_H
#define RECAP_H
#include <stddef.h>
#include <stdint.h>

#include "../card/records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The clock. recap.c's own is CLOCK_MONOTONIC; a simulated card's client library brings a stronger definition, and its
 * virtual clock. */
int64_t rcw_now_ps(void);

/* Takes the time since the clock was last asked off the calling thread's, where the clock can do that (a simulated
 * card's), and says how much it was; 0 elsewhere. */
int64_t rcw_skip_ps(void);

/* Takes time off recap.c's own clock: what was done meanwhile was no work of the program's. */
void rcw_set_aside(int64_t ps);

/* Whether the program is one of several ranks: then its clock has to go on as theirs do, and nothing is set aside. */
int rcw_clock_is_shared(void);

/* The clock behind recap.c's own: a name that processes share which read the same one (0: not known); the moment at which the
 * program's times begin, in ticks of that clock, and by CLOCK_MONOTONIC. */
int rcw_shared_clock(char *name, size_t room, int64_t *zero_ticks, int64_t *zero_ns);

/* How many transfers the calling thread has begun; always 0 without a simulated card. */
int64_t rcw_transfer_count(void);

/* Tells a simulated card how to ask for the site of the call that the calling thread is in, as tables number it; -1: none. */
void rcw_tell_sites(int (*site)(void));

/* The calling thread's number; `without` where there is no simulated card. */
int rcw_thread_number(int without);

/* Between 1 and 0 the calling thread waits in real time, on a simulated card's clock in none. */
void rcw_aside(int aside);

#define RCW_STATS_MAGIC 0x32535752 /* "RWS2" */

typedef struct {
    int32_t magic;
    int32_t slots;        /* rows a thread */
    int32_t threads;      /* how many blocks follow */
    int32_t thread_bytes; /* from one thread's block to the next one's */
    int32_t process;      /* 0, or the number of the forked child that this file is of */
    int32_t children;     /* how many forked children made calls: in process 0's file */
    int32_t pid;
    int32_t ended;        /* the program came to its end by itself */
    int64_t zero;         /* the tick at which time began */
    double ps_per_tick;   /* told again and again, better and better; 0: not known yet */
    int64_t record_bytes; /* of a record of host_calls.bin */
} rcw_stats_header;       /* 56 bytes */

enum { RCW_DEPTH = 4 };

typedef struct {
    int64_t t0;    /* when it was entered */
    int64_t frame; /* how far the stack then reached */
    int32_t slot;
    int32_t reserved;
} rcw_under_way;   /* 24 bytes */

/* The beginning of a thread's block. Call number n (from 0) of those under way, each within the one before (in its callback,
 * say), is under_way[n % RCW_DEPTH]. What comes after these is the runtime's own. */
typedef struct rcw_thread {
    int64_t first, last; /* when its first call was entered, and its last left */
    int32_t depth;       /* how many calls are under way */
    int32_t number;
    int64_t begun;       /* 1: a thread is here */
    rcw_under_way under_way[RCW_DEPTH];
    int64_t slot;        /* the last call's; -1: there was none */
    char *next, *end;    /* in the piece that is being filled; NULL where calls are not recorded one by one */
    char *live;
    int64_t handed_over, appended; /* how many full pieces so far */
    struct rcw_thread *older;
    int32_t pieces, piece;         /* how many in memory, and the number, from 1, of the one that is being filled */
    int64_t reserved[8];
} rcw_thread;            /* 256 bytes */

/* One per (thread, call site, state, entry), of the calls that returned. A run is consecutive calls of one row; the one
 * under way, of the thread's last slot, is not in `runs`, `min_run` and `max_run` yet. Rates are of calls
 * with bytes > 0 that took any time: the fastest one's bytes and ticks, and the slowest one's (0 ticks: there was none). */
typedef struct rcw_stats_row {
    int64_t count;
    int64_t size; /* a call of so many bytes moves no bound if it takes from `least` to `most`: the runtime's own */
    int64_t ticks, least, bytes, most;
    int64_t before; /* how many of `count` were before the last run */
    int64_t runs, min_run, max_run, lost;
    int64_t inner, inner_ticks; /* how many calls were within another recorded call, and how much of `ticks` */
    int32_t site, state, entry;
    int32_t left;               /* calls that were left by a longjmp, and are in no other column */
    double fast_bytes, fast_ticks, slow_bytes, slow_ticks;
    int64_t reserved[5];
} rcw_stats_row;                /* 192 bytes */

/* What the generated wrappers number: a site, a state and an entry. */
typedef struct {
    int32_t site, state, entry;
} rcw_slot;

/* Sources that were instrumented together: a whole program's, or one that was compiled by itself. Sites and states are
 * numbered within it; `told`, one line of JSON (workbench/api/host_units.py), describes them. The program's are those of
 * its units one after the other, as they are added; states 0 and 1 are every unit's, and not among the `states`. */
typedef struct rcw_unit {
    const rcw_slot *slots;
    int32_t slot_count, sites, states;
    const char *told;
    int32_t first; /* of its slots among the program's; -1: there is no room for them */
    struct rcw_unit *next;
} rcw_unit;

/* Each unit adds itself by a constructor of priority 101. Those that do it before recording begins (102) are all taken;
 * a library that is loaded later finds room for some slots. `host_units.jsonl` has what they tell, line by line. */
void rcw_add_unit(rcw_unit *unit);

extern rcw_slot *rcw_slots; /* the program's */
extern int rcw_slot_count;

/* What an entry's expressions say of one call. `which` is the entry among the callee's, -1 when no condition holds. */
typedef struct {
    int which;
    int32_t fpga;
    int64_t bytes, address;
} rcw_call;

/* What a wrapper keeps between the beginning and the end of a call. */
typedef struct {
    int64_t t0, transfers;
    int depth;
} rcw_start;

#define RCW_PIECE_RECORDS 512

extern int rcw_recording;        /* of the process that was started: its children see 0 */
extern int rcw_by_counter;       /* ticks are the processor's time stamp counter's */
extern int64_t rcw_aside_ticks, rcw_floor_ticks, rcw_pair_at, rcw_lost;
extern int rcw_simulated;        /* a simulated card's clock: reading it costs no virtual time */
extern int64_t rcw_taken_off_ps; /* there: what recording took so far */
extern __thread rcw_thread *rcw_self;
extern __thread int rcw_inside_of; /* the constructor or destructor, by number, that is recorded and under way, */
extern __thread const void *rcw_inside_at; /* and of which object */
extern __thread int rcw_expected; /* the constructor or destructor, by number, whose next call is recorded already */
rcw_thread *rcw_begin_thread(void);
int rcw_unwound(rcw_thread *thread, const void *frame);
void rcw_settle(rcw_thread *thread, int depth, int slot);
void rcw_bound(rcw_stats_row *row, int64_t bytes, int64_t took);
void rcw_pair(int64_t now);
void rcw_record(rcw_thread *thread, int slot, int64_t t0, int64_t t1, int64_t transfers, rcw_call call);

#define RCW_INLINE static __inline__ __attribute__((always_inline))
#define RCW_RARELY(condition) __builtin_expect(!!(condition), 0)

RCW_INLINE int64_t rcw_ticks(void)
{
#if defined(__x86_64__)
    if (!RCW_RARELY(!rcw_by_counter))
        return (int64_t)__builtin_ia32_rdtsc() - rcw_aside_ticks;
#endif
    return rcw_now_ps();
}

/* The calling thread's buffers, or NULL when nothing is to be recorded of the unit's calls. */
RCW_INLINE rcw_thread *rcw_ready(const rcw_unit *unit)
{
    return RCW_RARELY(unit->first < 0) ? 0 : RCW_RARELY(!rcw_self) ? rcw_begin_thread() : rcw_self;
}

RCW_INLINE void rcw_take_off(void)
{
    if (rcw_simulated)
        __atomic_fetch_add(&rcw_taken_off_ps, rcw_skip_ps(), __ATOMIC_RELAXED);
}

/* The first thing that a wrapper does. On a simulated card's clock the program's own time ends here. */
RCW_INLINE rcw_start rcw_enter(void)
{
    rcw_start start = {0, 0, 0};
    if (RCW_RARELY(!rcw_by_counter) && rcw_simulated)
        start.t0 = rcw_now_ps();
    return start;
}

RCW_INLINE rcw_stats_row *rcw_row(rcw_thread *thread, int64_t slot) { return (rcw_stats_row *)(thread + 1) + slot; }

RCW_INLINE void rcw_end_run(rcw_stats_row *row)
{
    int64_t run = row->count - row->before;
    row->runs++;
    if (RCW_RARELY(run > row->max_run))
        row->max_run = run;
    if (RCW_RARELY(run < row->min_run))
        row->min_run = run;
}

/* Whether a call's values are those that a short record has room for. */
RCW_INLINE int rcw_fits(int64_t took, const rcw_call *call)
{
    uint64_t above = (uint64_t)(took + 1) >> 32 | (uint64_t)(call->bytes + INT64_C(0x80000000)) >> 32;
    return !(above | (uint32_t)(call->fpga + 128) >> 8);
}

RCW_INLINE void rcw_write(rcw_thread *thread, int slot, int64_t t0, uint32_t took, const rcw_call *call)
{
    rcw_short_record *record = (rcw_short_record *)thread->next;
    thread->next += sizeof *record;
    __builtin_prefetch(record + 16, 1); /* the agent had these lines last */
    record->t0 = t0;
    record->address = call->address;
    record->took = took;
    record->bytes = (int32_t)call->bytes;
    record->slot = (uint16_t)slot;
    record->thread = (uint16_t)thread->number;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    *(volatile int32_t *)&record->piece = (int32_t)((uint32_t)thread->piece << 8 | (uint8_t)call->fpga);
}

/* The last thing before the call itself, whose slot is known now. Elsewhere the call's time begins here. */
RCW_INLINE void rcw_go(rcw_thread *thread, rcw_start *start, int slot)
{
    const void *frame = __builtin_frame_address(0);
    int depth = thread->depth;
    if (RCW_RARELY(depth))
        depth = rcw_unwound(thread, frame);
    volatile rcw_under_way *mine = &thread->under_way[(unsigned)depth % RCW_DEPTH];
    mine->slot = slot;
    mine->frame = (int64_t)(intptr_t)frame;
    start->depth = depth++;
    *(volatile int32_t *)&thread->depth = depth;
    if (RCW_RARELY(!rcw_by_counter) && rcw_simulated) {
        mine->t0 = start->t0;
        start->transfers = rcw_transfer_count();
        rcw_take_off();
    } else {
        mine->t0 = start->t0 = rcw_ticks();
    }
}

/* The first thing after the call: it is counted, and recorded where calls are. */
RCW_INLINE void rcw_leave(rcw_thread *thread, const rcw_start *start, int slot, const rcw_call *call)
{
    int64_t t1 = rcw_ticks() - rcw_floor_ticks, took = t1 - start->t0;
    rcw_stats_row *row = rcw_row(thread, slot);
    if (RCW_RARELY(took < 0))
        t1 = start->t0, took = 0;
    if (RCW_RARELY(thread->depth - 1 != start->depth))
        rcw_settle(thread, start->depth, slot);
    if (thread->slot != slot) {
        if (!RCW_RARELY(thread->slot < 0))
            rcw_end_run(rcw_row(thread, thread->slot));
        thread->slot = slot;
        row->before = row->count;
    }
    row->count++;
    row->ticks += took;
    if (call->bytes > 0) {
        row->bytes += call->bytes;
        if (RCW_RARELY(call->bytes != row->size || took < row->least || took > row->most))
            rcw_bound(row, call->bytes, took);
    }
    if (RCW_RARELY(start->depth)) {
        row->inner++;
        row->inner_ticks += took;
    }
    thread->last = t1;
    thread->depth = start->depth;
    if (RCW_RARELY(thread->next != 0)) {
        if (RCW_RARELY(thread->next == thread->end || !rcw_by_counter || !rcw_fits(took, call)))
            rcw_record(thread, slot, start->t0, t1, start->transfers, *call);
        else
            rcw_write(thread, slot, start->t0, (uint32_t)took, call);
    }
    if (RCW_RARELY(t1 > rcw_pair_at))
        rcw_pair(t1);
    if (RCW_RARELY(!rcw_by_counter))
        rcw_take_off();
}

#ifdef __cplusplus
}
#endif
#endif
