/* The recording runtime; recap.h says what it leaves behind. */
#define _GNU_SOURCE
#include "recap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
#define CHUNK_RECORDS 1024                                      /* a thread takes this many at a time */
#define CHUNK_BYTES (CHUNK_RECORDS * sizeof(rcw_call_record))   /* 18 pages */

int rcw_recording;
int64_t rcw_clock_floor_ps, rcw_lost;
__thread rcw_thread *rcw_self;

static int calls_fd = -1, stats_fd = -1;
static int64_t calls_end;        /* bytes of host_calls.bin given out to threads */
static int threads_begun;
static int disk_full;
static const char *folder;
static rcw_stats_header *header;

/* ---- the clock, where no card library brings one ---- */

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
    tsc_start = tsc0;
}
#else
static void calibrate(void) {}
#endif

__attribute__((weak)) int64_t rcw_now_ps(void)
{
#if defined(__x86_64__)
    if (ps_per_tick_q32)
        return (int64_t)((unsigned __int128)(__rdtsc() - tsc_start) * ps_per_tick_q32 >> 32);
#endif
    return monotonic_ns() * 1000;
}

__attribute__((weak)) int64_t rcw_transfer_count(void) { return 0; }

/* Where the clock is recap.c's own: make it ready, and find what two readings cost. */
static void start_clock(void)
{
    int64_t least = INT64_MAX;
    if (getenv("RCW_CARD_FD")) /* a simulated card's clock: reading it costs no virtual time */
        return;
    calibrate();
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

/* Give the thread the next piece of host_calls.bin. 0 when there is none to be had. */
int rcw_more_records(rcw_thread *thread)
{
    int saved = errno;
    if (thread->end)
        munmap(thread->end - CHUNK_RECORDS, CHUNK_BYTES);
    thread->next = thread->end = NULL;
    if (rcw_recording && !disk_full) {
        thread->next = grow(calls_fd, __atomic_fetch_add(&calls_end, (int64_t)CHUNK_BYTES, __ATOMIC_RELAXED), CHUNK_BYTES);
        if (thread->next)
            thread->end = thread->next + CHUNK_RECORDS;
        else
            disk_full = 1;
    }
    errno = saved;
    return thread->next != NULL;
}

static size_t rows_bytes(void)
{
    return ((size_t)rcw_slot_count * sizeof(rcw_stats_row) + PAGE - 1) / PAGE * PAGE;
}

/* The calling thread's buffers, numbered in the order of first calls. NULL when there is no memory for them. */
rcw_thread *rcw_begin_thread(void)
{
    int saved = errno;
    rcw_thread *thread = calloc(1, sizeof *thread);
    if (thread) {
        thread->number = __atomic_fetch_add(&threads_begun, 1, __ATOMIC_RELAXED);
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
    rcw_more_records(thread);
    if (header)
        __atomic_fetch_add(&header->threads, 1, __ATOMIC_RELAXED);
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

/* Cut off what no record was written to: the rest of every thread's last piece. */
static void compact(void)
{
    static rcw_call_record records[CHUNK_RECORDS];
    int64_t from = 0, to = 0;
    ssize_t got;
    while ((got = pread(calls_fd, records, sizeof records, from)) > 0) {
        int kept = 0, count = (int)(got / (ssize_t)sizeof records[0]);
        for (int i = 0; i < count; i++)
            if (records[i].reserved == 1)
                records[kept++] = records[i];
        ssize_t bytes = kept * (ssize_t)sizeof records[0];
        if (from != to || kept != count)
            if (pwrite(calls_fd, records, (size_t)bytes, to) != bytes)
                return;
        from += got;
        to += bytes;
    }
    if (ftruncate(calls_fd, to))
        fprintf(stderr, "recap: cannot cut host_calls.bin: %s\n", strerror(errno));
}

/* What recording a call adds to the program's time, on its own clock: the mean of calls of nothing at all. */
static double cost_ps_per_call(void)
{
    enum { ROUNDS = 2 };
    static rcw_call_record records[CHUNK_RECORDS];
    rcw_stats_row row = {0};
    rcw_thread scratch = {.rows = &row};
    rcw_call call = {0, -1, -1, -1};
    int64_t began = 0;
    for (int round = 0; round <= ROUNDS; round++) { /* the first warms up */
        if (round == 1)
            began = rcw_now_ps();
        scratch.next = records;
        scratch.end = records + CHUNK_RECORDS;
        for (int i = 0; i < CHUNK_RECORDS; i++) {
            rcw_start start = rcw_enter();
            rcw_leave(&scratch, &start, 0, &call);
        }
        void *piece = grow(calls_fd, calls_end, CHUNK_BYTES); /* zeros, which are cut off */
        if (piece)
            munmap(piece, CHUNK_BYTES);
        calls_end += (int64_t)CHUNK_BYTES;
    }
    return (double)(rcw_now_ps() - began) / (ROUNDS * CHUNK_RECORDS);
}

static void write_end(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/recording.txt", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fprintf(file, "cost_ps_per_call %.0f\nlost %lld\n", cost_ps_per_call(), (long long)rcw_lost);
    fclose(file);
}

__attribute__((destructor(101))) static void rcw_finish(void)
{
    if (!rcw_recording)
        return;
    rcw_recording = 0;
    write_end();
    compact();
    close(calls_fd);
    close(stats_fd);
}
