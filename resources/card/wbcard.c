/* The simulated card's client library. The timing rules are in README.md; the card process is card.cpp. */
#define _GNU_SOURCE
#include "wbcard.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "link.h"
#include "records.h"

#define MAX_TABLES 64
#define MAX_POINTS 256
#define BUFFERED_RECORDS 1024
#define MOST_BYTES (INT64_C(1) << 30) /* what a card process keeps of one transfer */
#define SHORT_NS 20000 /* who loses the processor loses it for longer */

typedef struct {
    char name[128];
    int resource;
    int overlaps;
    int points;
    int64_t bytes[MAX_POINTS];
    int64_t ps[MAX_POINTS];
} table_t;

struct wbcard {
    int open;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct wbcard the_card;
static int link_fd = -1, transfers_fd = -1;
static int failed;
static pid_t this_process;
static int64_t period_num = 1, period_den = 1; /* a cycle is period_num / period_den picoseconds */
static int64_t word_bytes = 4, read_delay;
static int64_t cycle_limit;
static int deterministic;
static int64_t basic_block_ps;
static double host_factor = 1.0;
static int64_t cpu_cost_ps, wall_cost_ps; /* what one reading of a clock adds to it: the mean of many */
static int64_t skip_tail_ps;              /* what rcw_skip_ps takes after its own reading, likewise */
static table_t tables[MAX_TABLES];
static int table_count;
static int64_t resource_free_ps[MAX_TABLES];
static int64_t card_ps;       /* how far the card has been told to run */
static int64_t async_end_ps;  /* when the last asynchronous send is done */
static int64_t latest_ps;     /* the latest time that any thread has reached: where a new thread starts */
static int64_t total_host_ps;
static int64_t transfer_count;
static rcw_transfer_record buffered[BUFFERED_RECORDS];
static int buffered_count;

static __thread uint64_t blocks_run; /* basic blocks of the user's sources, counted by gcc's own calls */
static __thread int known_thread;
static __thread int64_t thread_ps;   /* this thread's time when it last left the library */
static __thread uint64_t blocks_mark; /* blocks_run, or the clocks, at that moment */
static __thread int64_t cpu_mark_ns, wall_mark_ns, wall_last_ns, charged_ps, owed_ps;
static __thread int64_t own_ps;      /* host time since the last API call returned */

void __sanitizer_cov_trace_pc(void) { blocks_run++; }

static void fatal(const char *message)
{
    fflush(stdout);
    fprintf(stderr, "simulated card: %s\n", message);
    failed = 1;
    exit(WBCARD_EXIT_FAILED);
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
static int64_t wall_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

/* What is done before this is the library's own, and costs nothing. */
static void forget(void)
{
    blocks_mark = blocks_run;
    if (!deterministic) {
        charged_ps = 0;
        cpu_mark_ns = cpu_ns();
        wall_mark_ns = wall_last_ns = wall_ns();
    }
}

/* The thread's CPU time since this was last asked, or since the mark, in picoseconds. Reading the CPU clock is a system
 * call that takes longer than much of what is to be measured; reading the wall clock is not. So the wall clock tells the
 * time of a short stretch, and of any in which the thread ran all the while, which the CPU clock knows. Clocks go in steps:
 * what a stretch comes to less than nothing is taken off the next, so that sums are right. */
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
    owed_ps = ps < 0 ? ps : 0;
    return ps < 0 ? 0 : ps;
}

/* Charge what the host's own code did since the last mark to this thread's time, and mark this moment. */
static void charge(void)
{
    int64_t cost;
    if (!known_thread) {
        thread_ps = latest_ps;
        known_thread = 1;
        wall_mark_ns = wall_last_ns = INT64_MIN / 2; /* longer than any CPU time: count all of that */
    }
    if (deterministic)
        cost = (int64_t)(blocks_run - blocks_mark) * basic_block_ps;
    else
        cost = llround((double)stretch_ps() * host_factor);
    blocks_mark = blocks_run;
    thread_ps += cost;
    own_ps += cost;
    __atomic_fetch_add(&total_host_ps, cost, __ATOMIC_RELAXED);
}

int64_t rcw_now_ps(void)
{
    charge();
    return thread_ps;
}

int64_t rcw_skip_ps(void)
{
    if (deterministic || !known_thread) /* only the user's sources are counted then */
        return 0;
    int64_t skipped_ps = llround((double)stretch_ps() * host_factor);
    owed_ps -= skip_tail_ps;
    return skipped_ps;
}

int64_t rcw_transfer_count(void) { return __atomic_load_n(&transfer_count, __ATOMIC_RELAXED); }

/* ---- the link to the card process ---- */

static int receive_exactly(void *data, size_t bytes)
{
    char *at = data;
    while (bytes) {
        ssize_t got = recv(link_fd, at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        at += got;
        bytes -= (size_t)got;
    }
    return 0;
}

static void receive_reply(rcw_reply *reply, void *data, int64_t bytes)
{
    if (receive_exactly(reply, sizeof *reply))
        fatal("the card process ended without a word; see its log in the run folder");
    if (reply->status != RCW_OK) {
        char message[2048] = "";
        int64_t length = reply->bytes < 2047 ? reply->bytes : 2047;
        receive_exactly(message, (size_t)length);
        fatal(message);
    }
    if (reply->bytes != bytes || receive_exactly(data, (size_t)bytes))
        fatal("the card process ended in the middle of a reply");
}

static void send_exactly(const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes) {
        ssize_t sent = send(link_fd, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) { /* the card is gone: what it said last is still to be read */
            rcw_reply reply;
            receive_reply(&reply, NULL, 0);
            fatal("the card process ended");
        }
        at += sent;
        bytes -= (size_t)sent;
    }
}

/* ---- records ---- */

static void write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes) {
        ssize_t written = write(fd, at, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            char message[256];
            snprintf(message, sizeof message, "cannot write the run's records: %s", strerror(errno));
            fatal(message);
        }
        at += written;
        bytes -= (size_t)written;
    }
}

static void flush_records(void)
{
    int count = buffered_count;
    buffered_count = 0;
    if (transfers_fd >= 0 && count)
        write_all(transfers_fd, buffered, (size_t)count * sizeof buffered[0]);
}

static void record(const rcw_transfer_record *transfer)
{
    buffered[buffered_count++] = *transfer;
    if (buffered_count == BUFFERED_RECORDS)
        flush_records();
}

/* ---- time ---- */

static int64_t cycles_before(int64_t ps) { return (int64_t)((__int128)ps * period_den / period_num); }
static int64_t cycle_start(int64_t cycle)
{
    return (int64_t)(((__int128)cycle * period_num + period_den - 1) / period_den);
}

/* How long a transfer lasts: linear between neighbouring sizes, the first time below the first size, the last rate
 * above the last one; whole picoseconds, rounded down. workbench/model/transfer_time.py says the same. */
static int64_t table_ps(const table_t *table, int64_t bytes)
{
    int last = table->points - 1;
    if (bytes <= table->bytes[0])
        return table->ps[0];
    if (bytes >= table->bytes[last])
        return (int64_t)((__int128)table->ps[last] * bytes / table->bytes[last]);
    int i = 0;
    while (bytes > table->bytes[i + 1])
        i++;
    __int128 low = (__int128)table->ps[i] * (table->bytes[i + 1] - bytes);
    __int128 high = (__int128)table->ps[i + 1] * (bytes - table->bytes[i]);
    return (int64_t)((low + high) / (table->bytes[i + 1] - table->bytes[i]));
}

static int find_table(const char *name)
{
    for (int i = 0; i < table_count; i++)
        if (!strcmp(tables[i].name, name))
            return i;
    return -1;
}

static int need_table(const char *name)
{
    int number = find_table(name);
    if (number < 0) {
        char message[256];
        snprintf(message, sizeof message, "the platform has no transfer table '%s'", name);
        fatal(message);
    }
    return number;
}

/* ---- start and end ---- */

static void read_config(const char *path)
{
    char line[512];
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(line, sizeof line, "cannot read %.300s: %s", path, strerror(errno));
        fatal(line);
    }
    while (fgets(line, sizeof line, file)) {
        table_t *table = &tables[table_count];
        long long a, b;
        int resource, overlaps, name_at = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "period_ps %lld %lld", &a, &b) == 2)
            period_num = a, period_den = b;
        else if (sscanf(line, "word_bytes %lld", &a) == 1)
            word_bytes = a;
        else if (sscanf(line, "read_delay_cycles %lld", &a) == 1)
            read_delay = a;
        else if (sscanf(line, "cycle_limit %lld", &a) == 1)
            cycle_limit = a;
        else if (sscanf(line, "deterministic %lld", &a) == 1)
            deterministic = (int)a;
        else if (sscanf(line, "basic_block_ps %lld", &a) == 1)
            basic_block_ps = a;
        else if (sscanf(line, "host_factor %lf", &host_factor) == 1)
            continue;
        else if (sscanf(line, "table %d %d %n", &resource, &overlaps, &name_at) == 2 && name_at) {
            if (table_count == MAX_TABLES || resource < 0 || resource >= MAX_TABLES)
                fatal("the platform has too many transfer tables");
            snprintf(table->name, sizeof table->name, "%s", line + name_at);
            table->resource = resource;
            table->overlaps = overlaps;
            table_count++;
        } else if (sscanf(line, "point %lld %lld", &a, &b) == 2 && table_count) {
            table = &tables[table_count - 1];
            if (table->points == MAX_POINTS)
                fatal("a transfer table has too many points");
            table->bytes[table->points] = a;
            table->ps[table->points++] = b;
        }
    }
    fclose(file);
}

static void write_end(void)
{
    const char *raw = getenv("RCW_RAW");
    char path[4096];
    if (!raw)
        return;
    snprintf(path, sizeof path, "%s/host_end.txt", raw);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fprintf(file, "time_ps %lld\nhost_ps %lld\ntransfers %lld\n", (long long)thread_ps, (long long)total_host_ps,
            (long long)transfer_count);
    fclose(file);
}

static void at_end(void)
{
    if (getpid() != this_process) /* a child of the host's own */
        return;
    charge();
    if (latest_ps > thread_ps)
        thread_ps = latest_ps;
    if (!failed) {
        rcw_request bye = {.kind = RCW_BYE, .now_ps = thread_ps};
        rcw_reply reply;
        flush_records();
        send_exactly(&bye, sizeof bye);
        if (!receive_exactly(&reply, sizeof reply) && reply.status != RCW_OK) {
            char message[2048] = "";
            receive_exactly(message, (size_t)(reply.bytes < 2047 ? reply.bytes : 2047));
            fflush(stdout);
            fprintf(stderr, "simulated card: %s\n", message);
            _exit(WBCARD_EXIT_FAILED);
        }
    } else {
        flush_records();
    }
    write_end();
    forget();
}

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

/* The mean of many measurements, without those in which something else ran. */
static int64_t mean_ps(int64_t (*measure)(int64_t (*)(void)), int64_t (*clock)(void))
{
    enum { MANY = 1001 };
    static int64_t took[MANY];
    int64_t sum = 0;
    int count = 0;
    for (int i = 0; i < MANY; i++)
        took[i] = measure(clock);
    qsort(took, MANY, sizeof took[0], compare);
    while (count < MANY && took[count] <= 2 * took[MANY / 2] + 20000)
        sum += took[count++];
    return sum / count;
}

__attribute__((constructor)) static void at_start(void)
{
    const char *fd = getenv("RCW_CARD_FD"), *config = getenv("RCW_CONFIG"), *raw = getenv("RCW_RAW");
    if (!fd || !config)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever supervises the run is gone: end too */
    link_fd = atoi(fd);
    fcntl(link_fd, F_SETFD, FD_CLOEXEC); /* a child of the host must not keep the card alive */
    read_config(config);
    if (raw) {
        char path[4096];
        snprintf(path, sizeof path, "%s/transfers.bin", raw);
        transfers_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (transfers_fd < 0) {
            snprintf(path, sizeof path, "cannot write %.2000s/transfers.bin: %s", raw, strerror(errno));
            fatal(path);
        }
    }
    this_process = getpid();
    atexit(at_end);
    known_thread = 1;
    if (!deterministic) {
        cpu_cost_ps = mean_ps(after_reading_ps, cpu_ns);
        wall_cost_ps = mean_ps(after_reading_ps, wall_ns);
        forget();
        skip_tail_ps = mean_ps(after_skipping_ps, wall_ns);
        owed_ps = 0;
    }
    forget();
}

/* ---- the API ---- */

/* Take the lock with this thread's time brought up to date, and not before what the card has already been told. */
static void begin(void)
{
    charge();
    pthread_mutex_lock(&lock);
    if (thread_ps < card_ps)
        thread_ps = card_ps;
}

static void end(int64_t time_ps)
{
    if (time_ps > thread_ps)
        thread_ps = time_ps;
    if (thread_ps > latest_ps)
        latest_ps = thread_ps;
    own_ps = 0;
    pthread_mutex_unlock(&lock);
    forget();
}

static int usable(const wbcard_t *card) { return card == &the_card && the_card.open; }

wbcard_t *wbcard_open(int card)
{
    if (link_fd < 0) {
        fprintf(stderr, "simulated card: there is none: start this program with `workbench run`\n");
        return NULL;
    }
    if (card != 0) {
        fprintf(stderr, "simulated card: there is no card %d, only card 0\n", card);
        return NULL;
    }
    begin();
    rcw_request request = {.kind = RCW_OPEN, .now_ps = thread_ps};
    rcw_reply reply;
    send_exactly(&request, sizeof request);
    receive_reply(&reply, NULL, 0);
    the_card.open++;
    end(thread_ps);
    return &the_card;
}

void wbcard_close(wbcard_t *card)
{
    if (!usable(card))
        return;
    begin();
    int64_t until = async_end_ps > thread_ps ? async_end_ps : thread_ps;
    rcw_request request = {.kind = RCW_CLOSE, .now_ps = until};
    send_exactly(&request, sizeof request);
    card_ps = until;
    the_card.open--;
    end(until);
}

int wbcard_configure(wbcard_t *card, const char *table, const char *file)
{
    if (!usable(card) || !file)
        return -1;
    begin();
    if (transfer_count)
        fatal("the card was configured after transfers had been made; configuring it anew is not simulated");
    int number = table ? find_table(table) : -1;
    end(number < 0 ? thread_ps : thread_ps + table_ps(&tables[number], 1));
    return 0;
}

/* A transfer that no run could end is told at the call, before anything is moved. */
static void check_size(const table_t *table, int64_t address, int64_t bytes, int64_t duration)
{
    char message[320];
    if (bytes > MOST_BYTES)
        snprintf(message, sizeof message, "a transfer of %lld bytes at address 0x%llx (table '%s') is more than the %lld that "
                 "the simulated card moves in one call: is the size right?",
                 (long long)bytes, (unsigned long long)address, table->name, (long long)MOST_BYTES);
    else if (cycle_limit && cycles_before(duration) > cycle_limit)
        snprintf(message, sizeof message, "a transfer of %lld bytes at address 0x%llx (table '%s') would last %lld cycles, "
                 "more than simulation.cycle_limit (%lld): is the size right?",
                 (long long)bytes, (unsigned long long)address, table->name, (long long)cycles_before(duration),
                 (long long)cycle_limit);
    else
        return;
    fatal(message);
}

static int transfer(wbcard_t *card, int kind, int async, const char *name, const void *from, void *to, int64_t address,
                    int64_t bytes)
{
    if (!usable(card) || bytes < 0 || bytes % word_bytes || address < 0 || (bytes && !from && !to))
        return -1;
    if (!bytes)
        return 0;
    begin();
    int number = need_table(name);
    const table_t *table = &tables[number];
    int64_t *free_ps = &resource_free_ps[table->resource];
    int64_t start = table->overlaps || *free_ps < thread_ps ? thread_ps : *free_ps;
    int64_t duration = table_ps(table, bytes), done = start + duration, words = bytes / word_bytes;
    int64_t window = duration;
    check_size(table, address, bytes, duration);
    if (kind == RCW_RECEIVE && read_delay > 1)
        window -= cycle_start(read_delay - 1);
    if (!table->overlaps)
        *free_ps = done;
    rcw_request request = {.kind = kind, .now_ps = thread_ps, .start_ps = start, .duration_ps = window,
                           .until_ps = async ? thread_ps : done, .address = address, .bytes = bytes};
    rcw_transfer_record entry = {
        .number = transfer_count, .kind = kind == RCW_SEND ? 0 : 1, .table = number, .address = address,
        .bytes = bytes, .call_ps = thread_ps, .grant_ps = start, .host_ps = own_ps};
    int64_t first = cycles_before(start + window / words) - 1, last = cycles_before(start + window) - 1;
    send_exactly(&request, sizeof request);
    if (kind == RCW_SEND) {
        send_exactly(from, (size_t)bytes);
    } else {
        rcw_reply reply;
        receive_reply(&reply, to, bytes);
        first = reply.first_cycle;
        last = reply.last_cycle;
        if (reply.time_ps > done)
            done = reply.time_ps;
    }
    entry.end_ps = done;
    entry.port_first_ps = cycle_start(first);
    entry.port_last_ps = cycle_start(last);
    __atomic_fetch_add(&transfer_count, 1, __ATOMIC_RELAXED);
    record(&entry);
    if (async) {
        if (done > async_end_ps)
            async_end_ps = done;
        done = thread_ps;
    }
    card_ps = done;
    end(done);
    return 0;
}

int wbcard_send(wbcard_t *card, const char *table, const void *data, int64_t address, int64_t bytes)
{
    return transfer(card, RCW_SEND, 0, table, data, NULL, address, bytes);
}

int wbcard_send_async(wbcard_t *card, const char *table, const void *data, int64_t address, int64_t bytes)
{
    return transfer(card, RCW_SEND, 1, table, data, NULL, address, bytes);
}

int wbcard_receive(wbcard_t *card, const char *table, void *data, int64_t address, int64_t bytes)
{
    return transfer(card, RCW_RECEIVE, 0, table, NULL, data, address, bytes);
}

static void record_wait(int64_t done)
{
    rcw_transfer_record entry = {
        .number = transfer_count, .kind = 2, .table = -1, .address = -1, .bytes = 0, .call_ps = thread_ps,
        .grant_ps = thread_ps, .end_ps = done, .port_first_ps = -1, .port_last_ps = -1, .host_ps = own_ps};
    __atomic_fetch_add(&transfer_count, 1, __ATOMIC_RELAXED);
    record(&entry);
}

int wbcard_wait(wbcard_t *card)
{
    if (!usable(card))
        return -1;
    begin();
    int64_t done = async_end_ps > thread_ps ? async_end_ps : thread_ps;
    record_wait(done);
    end(done);
    return 0;
}

int wbcard_wait_irq(wbcard_t *card)
{
    if (!usable(card))
        return -1;
    begin();
    rcw_request request = {.kind = RCW_WAIT_IRQ, .now_ps = thread_ps};
    rcw_reply reply;
    send_exactly(&request, sizeof request);
    receive_reply(&reply, NULL, 0);
    int64_t done = reply.time_ps > thread_ps ? reply.time_ps : thread_ps;
    record_wait(done);
    card_ps = done;
    end(done);
    return 0;
}
