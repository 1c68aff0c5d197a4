/* The recording runtime; recap.h says what it leaves behind. */
#define _GNU_SOURCE
#include "recap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096

enum { LATE_SLOTS = 512 };

int rcw_recording, rcw_simulated;
int64_t rcw_lost, rcw_taken_off_ps;
__thread rcw_thread *rcw_self;
__thread int rcw_expected;
__thread int rcw_inside_of;
__thread const void *rcw_inside_at;

static int stats_fd = -1, units_fd = -1;
static int traced, process; /* which: 0, or the number of a forked child */
static int threads_begun;
static rcw_thread *threads; /* the youngest; each knows the next older one */
static const char *folder;
static rcw_stats_header *header, *first_header; /* this process's, and that of the one which was started */

rcw_slot *rcw_slots;
int rcw_slot_count;
static int slots_room, began;
static int32_t sites, states = 2; /* of the units so far */
static rcw_unit *units, **last_unit = &units;

__attribute__((weak)) int64_t rcw_transfer_count(void) { return 0; }

__attribute__((weak)) int rcw_clock_is_shared(void) { return 0; }

__attribute__((weak)) int64_t rcw_skip_ps(void) { return 0; }

__attribute__((weak)) int rcw_thread_number(int without) { return without; }

__attribute__((weak)) void rcw_aside(int aside) { (void)aside; }

__attribute__((weak)) void rcw_tell_sites(int (*site)(void)) { (void)site; }

/* Make room in the file and map it, with its pages there already. NULL when the disk is full. */
static void *grow(int fd, int64_t offset, size_t bytes)
{
    if (posix_fallocate(fd, offset, (off_t)bytes))
        return NULL;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
    return at == MAP_FAILED ? NULL : at;
}

#include "clock.h"

_Static_assert(sizeof(rcw_thread) == 256 && sizeof(rcw_stats_row) == 192, "as the workbench reads them");

#include "ring.h"

/* ---- what a row counts ---- */

/* A call that may be the slowest or the fastest; and between which times the next one of its size is neither. */
void rcw_bound(rcw_stats_row *row, int64_t bytes, int64_t took)
{
    double size = (double)bytes, time = (double)took;
    if (took > 0 && size * row->fast_ticks > row->fast_bytes * time)
        row->fast_bytes = size, row->fast_ticks = time;
    if (took > 0 && size * row->slow_ticks < row->slow_bytes * time)
        row->slow_bytes = size, row->slow_ticks = time;
    row->size = bytes;
    row->least = row->fast_bytes > 0 ? (int64_t)(row->fast_ticks * size / row->fast_bytes) : INT64_MAX;
    row->most = (int64_t)(row->slow_ticks * size / row->slow_bytes);
}

/* Calls that seem to be under way although the stack they were on is gone, were left by a longjmp. How many are left
 * around one that is made with the stack at `frame`. */
int rcw_unwound(rcw_thread *thread, const void *frame)
{
    for (int known = RCW_DEPTH; thread->depth && known; known--, thread->depth--) {
        const rcw_under_way *call = &thread->under_way[(unsigned)(thread->depth - 1) % RCW_DEPTH];
        if ((uintptr_t)call->frame > (uintptr_t)frame)
            break;
        rcw_row(thread, call->slot)->left++;
    }
    return thread->depth;
}

/* A call that is left while others seem to be under way within it: they were left by a longjmp. Or one that seemed to be
 * left so before: its stack was another one (a signal's, a coroutine's). */
void rcw_settle(rcw_thread *thread, int depth, int slot)
{
    if (thread->depth <= depth)
        rcw_row(thread, slot)->left--;
    for (int known = RCW_DEPTH; thread->depth > depth + 1 && known; known--, thread->depth--)
        rcw_row(thread, thread->under_way[(unsigned)(thread->depth - 1) % RCW_DEPTH].slot)->left++;
}

static int site_under_way(void)
{
    rcw_thread *thread = rcw_self;
    if (!thread || !thread->depth)
        return -1;
    return rcw_row(thread, thread->under_way[(unsigned)(thread->depth - 1) % RCW_DEPTH].slot)->site;
}

/* ---- threads and processes ---- */

static size_t block_bytes(void)
{
    return (sizeof(rcw_thread) + (size_t)slots_room * sizeof(rcw_stats_row) + PAGE - 1) / PAGE * PAGE;
}

/* A file of the process's: NAME.EXTENSION, a forked child's NAME_1.EXTENSION and so on. */
static int create(const char *name, const char *extension)
{
    char path[4096], number[16] = "";
    if (process)
        snprintf(number, sizeof number, "_%d", process);
    int length = snprintf(path, sizeof path, "%s/%s%s.%s", folder, name, number, extension);
    int fd = length < (int)sizeof path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        fprintf(stderr, "recap: cannot write %s/%s%s.%s: %s\n", folder, name, number, extension, strerror(errno));
    return fd;
}

/* The process's files. 0 where it has none, and records nothing. */
static int begin_process(void)
{
    stats_fd = create("host_stats", "bin");
    calls_fd = traced && stats_fd >= 0 ? create("host_calls", "bin") : -1;
    long_calls_fd = calls_fd >= 0 && !rcw_simulated ? create("host_long_calls", "bin") : -1;
    if (stats_fd < 0 || (traced && calls_fd < 0))
        return 0;
    header = grow(stats_fd, 0, PAGE);
    if (!header) {
        fprintf(stderr, "recap: no room for records in %s\n", folder);
        header = calloc(1, sizeof *header); /* count in memory, so that the program goes on undisturbed */
    }
    if (!header)
        return 0;
    header->record_bytes = (int64_t)record_bytes;
    header->slots = rcw_slot_count;
    header->thread_bytes = (int32_t)block_bytes();
    header->process = process;
    header->pid = getpid();
    header->magic = RCW_STATS_MAGIC;
    return 1;
}

/* Number a thread's rows from a slot on. */
static void begin_rows(rcw_thread *thread, int from)
{
    for (int i = from; i < rcw_slot_count; i++)
        *rcw_row(thread, i) = (rcw_stats_row){
            .fast_ticks = 1, .slow_bytes = 1, .min_run = INT64_MAX, /* what any call or run is less or more than */
            .site = rcw_slots[i].site, .state = rcw_slots[i].state, .entry = rcw_slots[i].entry};
}

static rcw_thread *add_thread(void)
{
    int number = rcw_thread_number(__atomic_fetch_add(&threads_begun, 1, __ATOMIC_RELAXED));
    rcw_thread *thread = grow(stats_fd, PAGE + (int64_t)number * (int64_t)block_bytes(), block_bytes());
    if (!thread && !(thread = calloc(1, block_bytes()))) /* a full disk: count in memory */
        return NULL;
    thread->number = number;
    thread->first = rcw_simulated ? 0 : rcw_ticks(); /* a card knows when its threads began */
    thread->slot = -1;
    thread->begun = 1;
    begin_rows(thread, 0);
    if (traced)
        begin_pieces(thread);
    do
        thread->older = threads;
    while (!__sync_bool_compare_and_swap(&threads, thread->older, thread));
    for (int known = header->threads; known <= thread->number;)
        if (__atomic_compare_exchange_n(&header->threads, &known, thread->number + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            break;
    return thread;
}

/* The calling thread's buffers, numbered in the order of first calls, or as a simulated card does. A forked child's first
 * begins the child's files. NULL where nothing is recorded, or there is no memory for them. */
rcw_thread *rcw_begin_thread(void)
{
    int saved = errno;
    if (!first_header)
        return NULL;
    if (!header) { /* only the thread that forked is in a child */
        process = __atomic_add_fetch(&first_header->children, 1, __ATOMIC_RELAXED);
        if (begin_process())
            header->zero = first_header->zero, header->ps_per_tick = first_header->ps_per_tick;
        else
            first_header = NULL;
    }
    if (first_header && !(rcw_self = add_thread()))
        first_header = NULL;
    errno = saved;
    return rcw_self;
}

/* A child's calls are its own: what is left of its parent's, such as a call that forks itself, counts for nothing here. */
static void in_child(void)
{
    for (rcw_thread *thread = threads, *older; thread; thread = older) {
        older = thread->older;
        mmap(thread, block_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    rcw_recording = traced = 0;
    rcw_self = threads = NULL;
    header = NULL;
    stats_fd = units_fd = -1;
    threads_begun = 0;
    forget_pieces();
    if (rcw_simulated) /* the card serves the process that was started */
        first_header = NULL;
}

/* ---- units ---- */

static void tell(const rcw_unit *unit)
{
    struct iovec line[] = {{(char *)unit->told, strlen(unit->told)}, {(char *)"\n", 1}};
    if (units_fd >= 0 && writev(units_fd, line, 2) < 0)
        fprintf(stderr, "recap: cannot write what the program's calls are: %s\n", strerror(errno));
}

/* Room for so many slots in all; 0 where there is none, as in rows that are there already. */
static int make_room(int slots)
{
    if (slots <= slots_room)
        return 1;
    void *more = began ? NULL : realloc(rcw_slots, (size_t)slots * sizeof *rcw_slots);
    if (!more)
        return 0;
    rcw_slots = more;
    slots_room = slots;
    return 1;
}

void rcw_add_unit(rcw_unit *unit)
{
    for (const rcw_unit *known = units; rcw_simulated && known; known = known->next)
        if (known->slot_count == unit->slot_count && !strcmp(known->told, unit->told)) {
            unit->first = known->first; /* the program's own in another rank */
            return;
        }
    if (!make_room(rcw_slot_count + unit->slot_count)) {
        unit->first = -1;
        fprintf(stderr, "recap: no room for the calls of a library that is loaded while the program runs: "
                        "they are not recorded\n");
        return;
    }
    int first = unit->first = rcw_slot_count;
    for (int i = 0; i < unit->slot_count; i++) {
        rcw_slot slot = unit->slots[i];
        slot.site += sites;
        slot.state += slot.state < 2 ? 0 : states - 2;
        rcw_slots[first + i] = slot;
    }
    rcw_slot_count += unit->slot_count;
    sites += unit->sites;
    states += unit->states;
    *last_unit = unit;
    last_unit = &unit->next;
    if (began)
        tell(unit);
    if (header)
        header->slots = rcw_slot_count;
    for (rcw_thread *thread = threads; thread; thread = thread->older)
        begin_rows(thread, first);
}

__attribute__((constructor(102))) static void rcw_begin(void)
{
    int saved = errno;
    folder = getenv("RCW_RAW");
    if (!folder || !*folder)
        return;
    make_room(rcw_slot_count + LATE_SLOTS);
    began = 1;
    rcw_simulated = getenv("RCW_CARD_FD") != NULL;
    const char *asked = getenv("RCW_TRACE");
    traced = rcw_simulated || (asked && *asked);
    record_bytes = rcw_simulated ? sizeof(rcw_call_record) : sizeof(rcw_short_record);
    piece_at = rcw_simulated ? offsetof(rcw_call_record, piece) : offsetof(rcw_short_record, piece);
    units_fd = create("host_units", "jsonl");
    for (const rcw_unit *unit = units; unit; unit = unit->next)
        tell(unit);
    if (begin_process()) {
        first_header = header;
        pthread_atfork(NULL, NULL, in_child);
        start_clock();
        rcw_recording = 1;
        rcw_tell_sites(site_under_way);
        rcw_begin_thread();
    }
    errno = saved;
}

/* ---- the end ---- */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum { ROUNDS = 15 };

/* What recording a call adds to the program's time, on its own clock: some rounds of empty calls, in ascending order. */
static void costs_ps_per_call(int64_t took[ROUNDS])
{
    static char records[RCW_PIECE_RECORDS * sizeof(rcw_call_record)] __attribute__((aligned(64)));
    struct {
        rcw_thread thread;
        rcw_stats_row row;
    } scratch = {.thread = {.end = records + sizeof records}};
    rcw_call call = {0, -1, -1, -1};
    for (int round = 0; round < ROUNDS; round++) {
        int64_t began = rcw_now_ps();
        scratch.thread.next = traced ? records : NULL;
        for (int i = 0; i < RCW_PIECE_RECORDS; i++) {
            rcw_start start = rcw_enter();
            rcw_go(&scratch.thread, &start, 0);
            rcw_leave(&scratch.thread, &start, 0, &call);
        }
        took[round] = (rcw_now_ps() - began) / RCW_PIECE_RECORDS;
    }
    qsort(took, ROUNDS, sizeof took[0], by_value);
}

/* How long the first thread was ready while others had the cores, as Linux tells; -1 where it does not. */
static int64_t queued_ps(void)
{
    long long ran_ns, queued_ns = 0;
    FILE *file = fopen("/proc/self/schedstat", "r");
    int known = file && fscanf(file, "%lld %lld", &ran_ns, &queued_ns) == 2;
    if (file)
        fclose(file);
    return known ? queued_ns * 1000 : -1;
}

static void write_end(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/recording.txt", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    int64_t took[ROUNDS], ended_ps = rcw_now_ps(), queued = queued_ps();
    long long taken_off = rcw_taken_off_ps;
    costs_ps_per_call(took);
    fprintf(file, "cost_ps_per_call %lld\ncost_ps_spread %lld\nlost %lld\n", (long long)took[ROUNDS / 2],
            (long long)(took[3 * ROUNDS / 4] - took[ROUNDS / 4]), (long long)rcw_lost);
    if (rcw_simulated)
        fprintf(file, "taken_off_ps %lld\n", taken_off);
    else
        fprintf(file, "time_ps %lld\n", (long long)ended_ps);
    if (!rcw_simulated && queued >= 0)
        fprintf(file, "queued_ps %lld\n", (long long)queued);
    fclose(file);
}

__attribute__((destructor(101))) static void rcw_finish(void)
{
    if (!header)
        return;
    header->ended = 1;
    pair_now();
    rcw_aside(1);
    end_pieces();
    rcw_aside(0);
    if (rcw_recording)
        write_end();
    rcw_recording = 0;
    close(stats_fd);
}
