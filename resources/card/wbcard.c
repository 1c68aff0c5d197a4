/* The simulated card's client library. The timing rules are in README.md; the card process is card.cpp. */
#define _GNU_SOURCE
#include "wbcard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host_time.h"
#include "libc/libc.h"
#include "link.h"
#include "real.h"
#include "records.h"
#include "vcores.h"

#define MAX_TABLES 64
#define MAX_POINTS 256
#define MAX_PORTS 64
#define MAX_UNENDED 256
#define BUFFERED_RECORDS 1024
#define MOST_BYTES (INT64_C(1) << 30) /* what a card process keeps of one transfer */

typedef struct {
    char name[128];
    int resource;
    int overlaps;
    int holds_core;
    int port;
    int points;
    int64_t bytes[MAX_POINTS];
    int64_t ps[MAX_POINTS];
} table_t;

typedef struct {
    int64_t word_bytes, period_num, period_den;
    int answers; /* a transfer may last longer than its table says */
} port_t;

typedef struct {
    int64_t free_ps;
    int unended; /* the ticket of the transfer of which the end is not known, or 0 */
} bus_t;

/* An asynchronous send of which the card alone knows the end. */
typedef struct {
    rcw_transfer_record entry;
    int port;
    bus_t *bus;
} unended_t;

struct wbcard {
    int open;
};

static struct wbcard the_card;
static int link_fd = -1, transfers_fd = -1, waits_fd = -1;
static pid_t this_process;
static port_t ports[MAX_PORTS];
static int port_count;
static int64_t cycle_limit;
static table_t tables[MAX_TABLES];
static int table_count;
static bus_t buses[MAX_TABLES];
static unended_t unended[MAX_UNENDED];
static int unended_count;
static int64_t async_end_ps; /* when the last asynchronous send is done */
static int64_t irq_since_ps = -1; /* since when the first of those waits that wait for the interrupt */
static int64_t transfer_count;
static rcw_transfer_record buffered[BUFFERED_RECORDS];
static int buffered_count;
static rcw_wait_record waits[BUFFERED_RECORDS];
static int wait_count;
static rcw_request unsent; /* a receive that is submitted: it goes with the next message */

static __thread int64_t own_transfers, own_mark_ps; /* the thread's transfers; its work when its last API call returned */

static void fatal(const char *message) { vc_fatal(message); }

int64_t rcw_now_ps(void) { return vc_self ? vc_point() : 0; }

int64_t rcw_transfer_count(void) { return own_transfers; }

int rcw_thread_number(int without) { return vc_self ? vc_self->number : without; }

void rcw_aside(int aside)
{
    static __thread vthread *self;
    if (aside)
        self = vc_self;
    vc_self = aside ? NULL : self;
}

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
    if (reply->status == RCW_FAILED) {
        char message[2048] = "";
        int64_t length = reply->bytes < 2047 ? reply->bytes : 2047;
        receive_exactly(message, (size_t)length);
        fatal(message);
    }
    if (reply->bytes != bytes || receive_exactly(data, (size_t)bytes))
        fatal("the card process ended in the middle of a reply");
}

static void send_now(const void *data, size_t bytes)
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

static void send_exactly(const void *data, size_t bytes)
{
    struct { rcw_request first; char rest[sizeof(rcw_request)]; } both;
    if (unsent.kind) {
        size_t more = bytes <= sizeof both.rest ? bytes : 0; /* small ones go in one message */
        both.first = unsent;
        unsent.kind = 0;
        memcpy(both.rest, data, more);
        send_now(&both, sizeof both.first + more);
        if (more)
            return;
    }
    send_now(data, bytes);
}

/* A request that has to be answered before the host goes on goes with the message that asks for the answer. */
static void submit(const rcw_request *request)
{
    send_exactly("", 0);
    unsent = *request;
}

/* ---- records ---- */

static void write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes) {
        ssize_t written = REAL(write)(fd, at, bytes);
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
    int count = buffered_count, waited = wait_count;
    buffered_count = wait_count = 0;
    if (transfers_fd >= 0 && count)
        write_all(transfers_fd, buffered, (size_t)count * sizeof buffered[0]);
    if (waits_fd >= 0 && waited)
        write_all(waits_fd, waits, (size_t)waited * sizeof waits[0]);
}

static void record_thread_wait(int number, int for_a_core, int64_t from_ps, int64_t to_ps)
{
    waits[wait_count++] = (rcw_wait_record){number, for_a_core, from_ps, to_ps};
    if (wait_count == BUFFERED_RECORDS)
        flush_records();
}

static void record(const rcw_transfer_record *transfer)
{
    buffered[buffered_count++] = *transfer;
    if (buffered_count == BUFFERED_RECORDS)
        flush_records();
}

/* ---- time ---- */

static int64_t cycles_before(const port_t *port, int64_t ps)
{
    return (int64_t)((__int128)ps * port->period_den / port->period_num);
}
static int64_t cycle_start(const port_t *port, int64_t cycle)
{
    return (int64_t)(((__int128)cycle * port->period_num + port->period_den - 1) / port->period_den);
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
        long long a, b, c;
        int resource, overlaps, name_at = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "port %lld %lld %lld %d", &a, &b, &c, &overlaps) == 4) {
            if (port_count == MAX_PORTS)
                fatal("the platform has too many ports");
            ports[port_count++] = (port_t){.word_bytes = a, .period_num = b, .period_den = c, .answers = overlaps};
        } else if (sscanf(line, "through %lld", &a) == 1 && table_count)
            tables[table_count - 1].port = (int)a;
        else if (sscanf(line, "cycle_limit %lld", &a) == 1)
            cycle_limit = a;
        else if (sscanf(line, "deterministic %lld", &a) == 1)
            host_time.deterministic = (int)a;
        else if (sscanf(line, "basic_block_ps %lld", &a) == 1)
            host_time.basic_block_ps = a;
        else if (sscanf(line, "host_factor %lf", &host_time.factor) == 1)
            continue;
        else if (sscanf(line, "cores %lld", &a) == 1)
            vc_set.cores = (int)a;
        else if (sscanf(line, "slice_ps %lld", &a) == 1)
            vc_set.slice_ps = a;
        else if (sscanf(line, "call_ps %lld", &a) == 1)
            vc_set.call_ps = a;
        else if (sscanf(line, "wake_ps %lld", &a) == 1)
            vc_set.wake_ps = a;
        else if (sscanf(line, "switch_ps %lld", &a) == 1)
            vc_set.switch_ps = a;
        else if (sscanf(line, "holds_core %lld", &a) == 1 && table_count)
            tables[table_count - 1].holds_core = (int)a;
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

static void write_threads(void)
{
    const char *raw = getenv("RCW_RAW");
    char path[4096];
    if (!raw)
        return;
    snprintf(path, sizeof path, "%s/host_threads.txt", raw);
    vc_write_threads(path);
}

static void write_end(void)
{
    const char *raw = getenv("RCW_RAW");
    char path[4096];
    if (!raw)
        return;
    snprintf(path, sizeof path, "%s/host_end.txt", raw);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "time_ps %lld\nhost_ps %lld\ntransfers %lld\n", (long long)vc_now(),
                (long long)host_time_total_ps(), (long long)transfer_count);
        fclose(file);
    }
    snprintf(path, sizeof path, "%s/host_notes.txt", raw);
    if (*vc_notes() && (file = fopen(path, "w"))) {
        fputs(vc_notes(), file);
        fclose(file);
    }
}

static void at_end(void)
{
    if (getpid() != this_process) /* a child of the host's own */
        return;
    if (vc_self && !vc_failed)
        vc_point();
    vc_freeze();
    write_threads();
    for (int i = 0; i < unended_count; i++) /* nobody waited for them: as the table has it */
        record(&unended[i].entry);
    flush_records();
    if (!vc_failed) {
        rcw_request bye = {.kind = RCW_BYE, .now_ps = vc_now()};
        rcw_reply reply;
        send_exactly(&bye, sizeof bye);
        if (!receive_exactly(&reply, sizeof reply) && reply.status != RCW_OK) {
            char message[2048] = "";
            receive_exactly(message, (size_t)(reply.bytes < 2047 ? reply.bytes : 2047));
            fflush(stdout);
            fprintf(stderr, "simulated card: %s\n", message);
            REAL(_exit)(WBCARD_EXIT_FAILED);
        }
    }
    write_end();
    host_time_forget();
}

/* With address randomisation, what depends on an address (a hash of a thread's id) differs from run to run. */
static void fix_addresses(char **argv, char **environment)
{
    int before = personality(0xffffffff);
    if (before == -1 || before & ADDR_NO_RANDOMIZE)
        return;
    if (personality((unsigned long)before | ADDR_NO_RANDOMIZE) != -1 && personality(0xffffffff) & ADDR_NO_RANDOMIZE)
        execve("/proc/self/exe", argv, environment);
    vc_note("the addresses of the host program's memory could not be fixed: where it depends on them, runs differ");
}

static int64_t run_to_interrupt(int64_t until_ps);

static int create(const char *raw, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", raw, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        snprintf(path, sizeof path, "cannot write %.2000s/%s: %s", raw, name, strerror(errno));
        fatal(path);
    }
    return fd;
}

/* host_progress.bin: the number of the thread that runs, for the workbench to look at meanwhile. */
static void show_progress(const char *raw)
{
    int fd = create(raw, "host_progress.bin");
    void *at = posix_fallocate(fd, 0, sizeof *vc_running)
                   ? MAP_FAILED : mmap(NULL, sizeof *vc_running, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED)
        vc_running = at;
}

__attribute__((constructor)) static void at_start(int argc, char **argv, char **environment)
{
    (void)argc;
    const char *fd = getenv("RCW_CARD_FD"), *config = getenv("RCW_CONFIG"), *raw = getenv("RCW_RAW");
    if (!fd || !config)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever supervises the run is gone: end too */
    link_fd = atoi(fd);
    read_config(config);
    if (raw) {
        transfers_fd = create(raw, "transfers.bin");
        waits_fd = create(raw, "host_waits.bin");
        show_progress(raw);
    }
    if (host_time.deterministic)
        fix_addresses(argv, environment);
    fcntl(link_fd, F_SETFD, FD_CLOEXEC); /* a child of the host must not keep the card alive */
    this_process = getpid();
    vc_interrupt = run_to_interrupt;
    vc_at_fatal = at_end;
    vc_waited = record_thread_wait;
    atexit(at_end);
    host_time_calibrate();
    vc_start();
    libc_start();
    host_time_forget();
}

/* ---- the API ---- */

/* The caller's time, when all that comes before it on the clock has happened. */
static int64_t begin(void)
{
    if (!vc_self) {
        fprintf(stderr, "simulated card: called by a process or thread that is not the host program's own\n");
        REAL(_exit)(WBCARD_EXIT_FAILED);
    }
    return vc_point();
}

static void end(void)
{
    own_mark_ps = vc_self->work_ps;
    host_time_forget();
}

static void wait_until(int64_t time_ps, int holds_core, const void *where)
{
    if (time_ps <= vc_now())
        return;
    if (holds_core)
        vc_hold(time_ps);
    else
        vc_block(VC_CARD, &the_card, time_ps, where);
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
    rcw_request request = {.kind = RCW_OPEN, .now_ps = begin()};
    rcw_reply reply;
    send_exactly(&request, sizeof request);
    receive_reply(&reply, NULL, 0);
    the_card.open++;
    end();
    return &the_card;
}

/* Ask when a transfer ended, at the earliest as its record says, and what it brought. -1 where the design answered with an
 * error. */
static int collect(rcw_transfer_record *entry, int port, void *to, int64_t bytes)
{
    rcw_request request = {.kind = RCW_COLLECT, .ticket = (int32_t)entry->number + 1, .port = port,
                           .now_ps = vc_now(), .until_ps = vc_now()};
    rcw_reply reply;
    send_exactly(&request, sizeof request);
    receive_reply(&reply, to, bytes);
    entry->grant_ps = reply.start_ps;
    entry->end_ps = reply.time_ps;
    entry->port_first_ps = reply.first_ps;
    entry->port_last_ps = reply.last_ps;
    return reply.status == RCW_ERROR ? -1 : 0;
}

/* Ask for the ends of all asynchronous sends. -1 where the design answered one with an error. */
static int end_sends(void)
{
    int failed = 0;
    for (int i = 0; i < unended_count; i++) {
        unended_t *one = &unended[i];
        failed |= collect(&one->entry, one->port, NULL, 0);
        record(&one->entry);
        if (one->entry.end_ps > async_end_ps)
            async_end_ps = one->entry.end_ps;
        if (one->bus->free_ps < one->entry.end_ps)
            one->bus->free_ps = one->entry.end_ps;
        if (one->bus->unended == one->entry.number + 1)
            one->bus->unended = 0;
    }
    unended_count = 0;
    return failed;
}

void wbcard_close(wbcard_t *card)
{
    if (!usable(card))
        return;
    begin();
    end_sends();
    wait_until(async_end_ps, 0, HERE);
    rcw_request request = {.kind = RCW_CLOSE, .now_ps = vc_now()};
    send_exactly(&request, sizeof request);
    the_card.open--;
    end();
}

int wbcard_configure(wbcard_t *card, const char *table, const char *file)
{
    if (!usable(card) || !file)
        return -1;
    begin();
    if (transfer_count)
        fatal("the card was configured after transfers had been made; configuring it anew is not simulated");
    int number = table ? find_table(table) : -1;
    if (number >= 0)
        wait_until(vc_now() + table_ps(&tables[number], 1), 0, HERE);
    end();
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
    else if (cycle_limit && cycles_before(&ports[table->port], duration) > cycle_limit)
        snprintf(message, sizeof message, "a transfer of %lld bytes at address 0x%llx (table '%s') would last %lld cycles, "
                 "more than simulation.cycle_limit (%lld): is the size right?",
                 (long long)bytes, (unsigned long long)address, table->name, (long long)cycles_before(&ports[table->port], duration),
                 (long long)cycle_limit);
    else
        return;
    fatal(message);
}

static void begin_record(rcw_transfer_record *entry, int kind)
{
    *entry = (rcw_transfer_record){
        .number = transfer_count++, .kind = kind, .table = -1, .address = -1, .call_ps = vc_now(), .grant_ps = vc_now(),
        .port_first_ps = -1, .port_last_ps = -1, .host_ps = vc_self->work_ps - own_mark_ps, .thread = vc_self->number};
    own_transfers++;
}

static int transfer(wbcard_t *card, int kind, int async, const char *name, const void *from, void *to, int64_t address,
                    int64_t bytes, const void *where)
{
    rcw_transfer_record entry;
    int number = usable(card) ? need_table(name) : 0;
    const table_t *table = &tables[number];
    const port_t *port = &ports[table->port];
    if (!usable(card) || bytes < 0 || bytes % port->word_bytes || address < 0 || (bytes && !from && !to))
        return -1;
    if (!bytes)
        return 0;
    int64_t now = begin();
    bus_t *bus = &buses[table->resource];
    int64_t start = table->overlaps || bus->free_ps < now ? now : bus->free_ps;
    int64_t duration = table_ps(table, bytes), done = start + duration, words = bytes / port->word_bytes;
    int64_t others = vc_others_ps();
    int after = table->overlaps ? 0 : bus->unended, asked = kind == RCW_RECEIVE || port->answers || after, failed = 0;
    check_size(table, address, bytes, duration);
    begin_record(&entry, kind == RCW_SEND ? 0 : 1);
    entry.table = number;
    entry.address = address;
    entry.bytes = bytes;
    entry.grant_ps = start;
    entry.end_ps = done;
    entry.port_first_ps = cycle_start(port, cycles_before(port, start + duration / words) - 1);
    entry.port_last_ps = cycle_start(port, cycles_before(port, done) - 1);
    /* The card may go on to this thread's next call, but not past another's. */
    int64_t until = async || others < now ? now : others < done ? others : done;
    rcw_request request = {.kind = kind, .ticket = (int32_t)entry.number + 1, .port = table->port, .collected = asked,
                           .after = after, .now_ps = now, .start_ps = start, .duration_ps = duration, .until_ps = until,
                           .address = address, .bytes = bytes};
    if (!table->overlaps) {
        bus->free_ps = done;
        bus->unended = asked && async ? request.ticket : 0;
    }
    if (kind == RCW_SEND) {
        send_exactly(&request, sizeof request);
        send_exactly(from, (size_t)bytes);
    } else {
        submit(&request);
    }
    if (asked && async) {
        unended_t *one = &unended[unended_count++];
        one->entry = entry;
        one->port = table->port;
        one->bus = bus;
        if (unended_count == MAX_UNENDED)
            end_sends();
        end();
        return 0;
    }
    if (!async)
        wait_until(done, table->holds_core, where);
    if (asked) {
        failed = collect(&entry, table->port, to, kind == RCW_SEND ? 0 : bytes);
        done = entry.end_ps;
        if (!table->overlaps && bus->free_ps < done)
            bus->free_ps = done;
        wait_until(done, table->holds_core, where);
    }
    record(&entry);
    if (async && done > async_end_ps)
        async_end_ps = done;
    end();
    return failed;
}

int wbcard_send(wbcard_t *card, const char *table, const void *data, int64_t address, int64_t bytes)
{
    return transfer(card, RCW_SEND, 0, table, data, NULL, address, bytes, HERE);
}

int wbcard_send_async(wbcard_t *card, const char *table, const void *data, int64_t address, int64_t bytes)
{
    return transfer(card, RCW_SEND, 1, table, data, NULL, address, bytes, HERE);
}

int wbcard_receive(wbcard_t *card, const char *table, void *data, int64_t address, int64_t bytes)
{
    return transfer(card, RCW_RECEIVE, 0, table, NULL, data, address, bytes, HERE);
}

int wbcard_wait(wbcard_t *card)
{
    rcw_transfer_record entry;
    if (!usable(card))
        return -1;
    begin();
    begin_record(&entry, 2);
    int failed = end_sends();
    wait_until(async_end_ps, 0, HERE);
    entry.end_ps = vc_now();
    record(&entry);
    end();
    return failed;
}

/* The scheduler's: somebody waits for the interrupt, and until `until_ps` the host does nothing. */
static int64_t run_to_interrupt(int64_t until_ps)
{
    rcw_request request = {.kind = RCW_WAIT_IRQ, .now_ps = irq_since_ps, .until_ps = until_ps};
    rcw_reply reply;
    send_exactly(&request, sizeof request);
    receive_reply(&reply, NULL, 0);
    if (reply.time_ps >= 0)
        irq_since_ps = -1;
    return reply.time_ps < 0 ? VC_NEVER : reply.time_ps;
}

int wbcard_wait_irq(wbcard_t *card)
{
    rcw_transfer_record entry;
    if (!usable(card))
        return -1;
    int64_t now = begin();
    begin_record(&entry, 2);
    if (irq_since_ps < 0)
        irq_since_ps = now;
    vc_block(VC_INTERRUPT, &the_card, VC_NEVER, HERE);
    entry.end_ps = vc_now();
    record(&entry);
    end();
    return 0;
}
