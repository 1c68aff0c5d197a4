/* The recording runtime; recap.h says what it leaves behind. */
#define _GNU_SOURCE
#include "recap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define PAGE 4096
#define PIECE_BYTES (RCW_PIECE_RECORDS * sizeof(rcw_call_record)) /* 9 pages */

enum { MAIN_PIECES = 16, THREAD_PIECES = 4 };

int rcw_recording;
int64_t rcw_clock_floor_ps, rcw_lost, rcw_taken_off_ps;
__thread rcw_thread *rcw_self;

static int calls_fd = -1, stats_fd = -1;
static int64_t calls_end;        /* bytes of host_calls.bin given out */
static int threads_begun;
static volatile int disk_full;
static rcw_thread *threads;      /* the youngest; each knows the next older one */
static const char *folder;
static pthread_t writer;
static sem_t work_to_do;
static int has_writer, writer_to_end;
int rcw_simulated;
static rcw_stats_header *header;

/* ---- the clock, where no card library brings one ---- */

static int64_t started_ns, aside_ps; /* when the clock began, and how long it has stood since */

void rcw_set_aside(int64_t ps) { __atomic_fetch_add(&aside_ps, ps, __ATOMIC_RELAXED); }

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#if defined(__x86_64__)
static uint64_t tsc_start, ps_per_tick_q32; /* picoseconds a tick, 32 binary places */

/* Is the counter's rate constant, and does the kernel trust it? */
static int tsc_is_steady(void)
{
    unsigned a, b, c, d;
    char source[32] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t got = read(fd, source, sizeof source - 1);
        close(fd);
        if (got > 0 && strncmp(source, "tsc", 3))
            return 0;
    }
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/* The counter and the system's clock at one moment: the tightest of some tries. */
static void tsc_and_ns(uint64_t *tsc, int64_t *ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 16; i++) {
        uint64_t before = __rdtsc();
        int64_t now = monotonic_ns();
        uint64_t after = __rdtsc();
        if (after - before < best) {
            best = after - before;
            *tsc = before + best / 2;
            *ns = now;
        }
    }
}

static void calibrate(void)
{
    uint64_t tsc0, tsc1;
    int64_t ns0, ns1;
    struct timespec pause = {.tv_nsec = 20000000};
    if (!tsc_is_steady())
        return;
    tsc_and_ns(&tsc0, &ns0);
    do
        nanosleep(&pause, NULL);
    while (monotonic_ns() - ns0 < 15000000);
    tsc_and_ns(&tsc1, &ns1);
    ps_per_tick_q32 = (uint64_t)(((unsigned __int128)(ns1 - ns0) * 1000 << 32) / (tsc1 - tsc0));
    tsc_start = tsc1;
}
#else
static void calibrate(void) {}
#endif

__attribute__((weak)) int64_t rcw_now_ps(void)
{
#if defined(__x86_64__)
    if (ps_per_tick_q32)
        return (int64_t)((unsigned __int128)(__rdtsc() - tsc_start) * ps_per_tick_q32 >> 32) - aside_ps;
#endif
    return (monotonic_ns() - started_ns) * 1000 - aside_ps;
}

__attribute__((weak)) int64_t rcw_transfer_count(void) { return 0; }

__attribute__((weak)) int64_t rcw_skip_ps(void) { return 0; }

__attribute__((weak)) int rcw_thread_number(int without) { return without; }

__attribute__((weak)) void rcw_aside(int aside) { (void)aside; }

/* Where the clock is recap.c's own: make it ready, and find what two readings cost. */
static void start_clock(void)
{
    int64_t least = INT64_MAX;
    rcw_simulated = getenv("RCW_CARD_FD") != NULL;
    if (rcw_simulated)
        return;
    calibrate();
    started_ns = monotonic_ns();
    for (int i = 0; i < 1000; i++) {
        int64_t first = rcw_now_ps(), took = rcw_now_ps() - first;
        if (took < least)
            least = took;
    }
    rcw_clock_floor_ps = least > 0 ? least : 0;
}

/* ---- storage ---- */

/* Make room in the file and map it, with its pages there already. NULL when the disk is full. */
static void *grow(int fd, int64_t offset, size_t bytes)
{
    if (posix_fallocate(fd, offset, (off_t)bytes))
        return NULL;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
    return at == MAP_FAILED ? NULL : at;
}

/* Append records to the file, and clear them where they are. 0 when the disk is full: what is not written stays. */
static int append(rcw_call_record *records, int64_t count)
{
    size_t bytes = (size_t)count * sizeof *records, written = 0;
    off_t offset = __atomic_fetch_add(&calls_end, (int64_t)PIECE_BYTES, __ATOMIC_RELAXED); /* pieces begin at whole pieces */
    while (written < bytes && !disk_full) {
        ssize_t got = pwrite(calls_fd, (char *)records + written, bytes - written, offset + (off_t)written);
        if (got > 0)
            written += (size_t)got;
        else if (got == 0 || errno != EINTR)
            disk_full = 1;
    }
    for (size_t i = 0; i < written / sizeof *records; i++)
        records[i].piece = 0;
    return written == bytes;
}

static void append_full_pieces(rcw_thread *thread)
{
    int64_t full = __atomic_load_n(&thread->handed_over, __ATOMIC_ACQUIRE);
    while (thread->appended < full && append(rcw_piece(thread, thread->appended), RCW_PIECE_RECORDS))
        __atomic_store_n(&thread->appended, thread->appended + 1, __ATOMIC_RELEASE);
}

/* The writer: a thread of the runtime's own, begun when a program makes so many calls that it needs one. */
static void *write_pieces(void *unused)
{
    while (sem_wait(&work_to_do) == 0 || errno == EINTR) {
        if (__atomic_load_n(&writer_to_end, __ATOMIC_ACQUIRE))
            break;
        for (rcw_thread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); thread; thread = thread->older)
            append_full_pieces(thread);
    }
    return unused;
}

static void begin_writer(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sem_init(&work_to_do, 0, 0);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    has_writer = pthread_create(&writer, NULL, write_pieces, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wake_writer(rcw_thread *thread)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_writer);
    if (has_writer)
        sem_post(&work_to_do);
    else
        append_full_pieces(thread);
}

static int64_t waiting_pieces(rcw_thread *thread)
{
    return thread->handed_over - __atomic_load_n(&thread->appended, __ATOMIC_ACQUIRE);
}

/* Hand the thread's full piece to the writer and begin the next. 0 when none is free: the disk is full, or the writer
 * is behind and time is real. (On a simulated card's clock it costs nothing to wait for it.) */
int rcw_more_records(rcw_thread *thread)
{
    const struct timespec moment = {.tv_nsec = 50000};
    int saved = errno, room = 0;
    if (!rcw_recording || !thread->pieces)
        return 0;
    rcw_aside(1);
    while (waiting_pieces(thread) + 1 >= thread->pieces && rcw_simulated && !disk_full) {
        wake_writer(thread);
        nanosleep(&moment, NULL);
    }
    if (waiting_pieces(thread) + 1 < thread->pieces) {
        __atomic_store_n(&thread->handed_over, thread->handed_over + 1, __ATOMIC_RELEASE);
        thread->next = rcw_piece(thread, thread->handed_over);
        thread->end = thread->next + RCW_PIECE_RECORDS;
        room = 1;
    }
    if (waiting_pieces(thread) >= thread->pieces / 2 && !disk_full)
        wake_writer(thread);
    rcw_aside(0);
    errno = saved;
    return room;
}

static size_t rows_bytes(void)
{
    return ((size_t)rcw_slot_count * sizeof(rcw_stats_row) + PAGE - 1) / PAGE * PAGE;
}

/* The calling thread's buffers, numbered in the order of first calls, or as a simulated card does. NULL when there is no memory for them. */
rcw_thread *rcw_begin_thread(void)
{
    int saved = errno;
    rcw_thread *thread = calloc(1, sizeof *thread);
    if (thread) {
        thread->number = rcw_thread_number(__atomic_fetch_add(&threads_begun, 1, __ATOMIC_RELAXED));
        thread->rows = grow(stats_fd, PAGE + (int64_t)thread->number * (int64_t)rows_bytes(), rows_bytes());
        if (!thread->rows) /* a full disk: count in memory, so that the program goes on undisturbed */
            thread->rows = calloc(1, rows_bytes());
    }
    if (!thread || !thread->rows) {
        free(thread);
        rcw_recording = 0;
        errno = saved;
        return NULL;
    }
    for (int i = 0; i < rcw_slot_count; i++) {
        thread->rows[i].site = rcw_slots[i].site;
        thread->rows[i].state = rcw_slots[i].state;
        thread->rows[i].entry = rcw_slots[i].entry;
        thread->rows[i].thread = thread->number;
    }
    int pieces = thread->number ? THREAD_PIECES : MAIN_PIECES;
    size_t bytes = (size_t)pieces * PIECE_BYTES;
    thread->live = grow(calls_fd, __atomic_fetch_add(&calls_end, (int64_t)bytes, __ATOMIC_RELAXED), bytes);
    if (thread->live) {
        thread->pieces = pieces;
        thread->next = thread->live;
        thread->end = thread->live + RCW_PIECE_RECORDS;
    }
    do
        thread->older = threads;
    while (!__sync_bool_compare_and_swap(&threads, thread->older, thread));
    for (int rows = header ? header->threads : INT_MAX; rows <= thread->number;)
        if (__atomic_compare_exchange_n(&header->threads, &rows, thread->number + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            break;
    rcw_self = thread;
    errno = saved;
    return thread;
}

static void in_child(void)
{
    rcw_recording = 0;
    calls_fd = stats_fd = -1;
}

static int create(const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = length < (int)sizeof path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        fprintf(stderr, "recap: cannot write %s/%s: %s\n", folder, name, strerror(errno));
    return fd;
}

__attribute__((constructor(101))) static void rcw_begin(void)
{
    int saved = errno;
    folder = getenv("RCW_RAW");
    if (!folder || !*folder)
        return;
    calls_fd = create("host_calls.bin");
    stats_fd = create("host_stats.bin");
    if (calls_fd >= 0 && stats_fd >= 0) {
        header = grow(stats_fd, 0, PAGE);
        if (header) {
            header->slots = rcw_slot_count;
            header->thread_bytes = (int32_t)rows_bytes();
            header->magic = RCW_STATS_MAGIC;
        } else {
            fprintf(stderr, "recap: no room for records in %s\n", folder);
        }
        pthread_atfork(NULL, NULL, in_child);
        start_clock();
        rcw_recording = 1;
        rcw_begin_thread();
    }
    errno = saved;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum { ROUNDS = 15 };

/* What recording a call adds to the program's time, on its own clock: some rounds of empty calls, in ascending order. */
static void costs_ps_per_call(int64_t took[ROUNDS])
{
    static rcw_call_record records[RCW_PIECE_RECORDS];
    rcw_stats_row row = {0};
    rcw_thread scratch = {.rows = &row, .end = records + RCW_PIECE_RECORDS};
    rcw_call call = {0, -1, -1, -1};
    for (int round = 0; round < ROUNDS; round++) {
        int64_t began = rcw_now_ps();
        scratch.next = records;
        for (int i = 0; i < RCW_PIECE_RECORDS; i++) {
            rcw_start start = rcw_enter();
            rcw_go(&start);
            rcw_leave(&scratch, &start, 0, &call);
        }
        took[round] = (rcw_now_ps() - began) / RCW_PIECE_RECORDS;
    }
    qsort(took, ROUNDS, sizeof took[0], by_value);
}

static void write_end(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/recording.txt", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    int64_t took[ROUNDS], ended_ps = rcw_now_ps();
    long long taken_off = rcw_taken_off_ps;
    costs_ps_per_call(took);
    fprintf(file, "cost_ps_per_call %lld\ncost_ps_spread %lld\nlost %lld\n", (long long)took[ROUNDS / 2],
            (long long)(took[3 * ROUNDS / 4] - took[ROUNDS / 4]), (long long)rcw_lost);
    if (rcw_simulated)
        fprintf(file, "taken_off_ps %lld\n", taken_off);
    else
        fprintf(file, "time_ps %lld\n", (long long)ended_ps);
    fclose(file);
}

__attribute__((destructor(101))) static void rcw_finish(void)
{
    if (!rcw_recording)
        return;
    rcw_recording = 0;
    rcw_aside(1);
    if (has_writer) {
        __atomic_store_n(&writer_to_end, 1, __ATOMIC_RELEASE);
        sem_post(&work_to_do);
        pthread_join(writer, NULL);
    }
    for (rcw_thread *thread = threads; thread; thread = thread->older) {
        append_full_pieces(thread);
        if (thread->pieces && thread->appended == thread->handed_over) {
            rcw_call_record *piece = rcw_piece(thread, thread->handed_over);
            append(piece, thread->next - piece);
        }
    }
    rcw_aside(0);
    write_end();
    close(calls_fd);
    close(stats_fd);
}
