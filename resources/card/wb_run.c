/* The run's begin and end in the host program, and its records. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "host_time.h"
#include "libc/libc.h"
#include "real.h"
#include "vcores.h"
#include "wb.h"
#include "wb_rules.h"
#include "wbcard.h"

#define BUFFERED_RECORDS 1024
#define MOST_SYNCS (1 << 20) /* of a run without a trace: 64 MiB */

static int transfers_fd = -1, waits_fd = -1, syncs_fd = -1;
static pid_t this_process;
static rcw_transfer_record buffered[BUFFERED_RECORDS];
static int buffered_count;
static rcw_wait_record waits[BUFFERED_RECORDS];
static int wait_count;
static rcw_sync_record syncs[BUFFERED_RECORDS];
static int sync_count;
static int64_t syncs_left = INT64_MAX;

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
            vc_fatal(message);
        }
        at += written;
        bytes -= (size_t)written;
    }
}

void wb_flush_records(void)
{
    int count = buffered_count, waited = wait_count, synced = sync_count;
    buffered_count = wait_count = sync_count = 0;
    if (transfers_fd >= 0 && count)
        write_all(transfers_fd, buffered, (size_t)count * sizeof buffered[0]);
    if (waits_fd >= 0 && waited)
        write_all(waits_fd, waits, (size_t)waited * sizeof waits[0]);
    if (syncs_fd >= 0 && synced)
        write_all(syncs_fd, syncs, (size_t)synced * sizeof syncs[0]);
}

static void record_thread_wait(int number, int for_a_core, int64_t from_ps, int64_t to_ps)
{
    waits[wait_count++] = (rcw_wait_record){number, for_a_core, from_ps, to_ps};
    if (wait_count == BUFFERED_RECORDS)
        wb_flush_records();
}

static void record_sync(const rcw_sync_record *call)
{
    if (!syncs_left--) { /* a part of them is of no use */
        vc_synced = NULL;
        sync_count = 0;
        if (ftruncate(syncs_fd, 0))
            vc_fatal("cannot shorten the run's records");
        return;
    }
    syncs[sync_count++] = *call;
    if (sync_count == BUFFERED_RECORDS)
        wb_flush_records();
}

void wb_record(const rcw_transfer_record *transfer)
{
    buffered[buffered_count++] = *transfer;
    if (buffered_count == BUFFERED_RECORDS)
        wb_flush_records();
}

static void write_threads(void)
{
    const char *raw = getenv("RCW_RAW");
    char path[4096];
    if (!raw)
        return;
    snprintf(path, sizeof path, "%s/host_threads.txt", raw);
    vc_write_threads(path);
    snprintf(path, sizeof path, "%s/host_names.txt", raw);
    vc_write_names(path);
    if (vc_set.ranks > 1) {
        snprintf(path, sizeof path, "%s/host_ranks.txt", raw);
        vc_write_ranks(path);
    }
}

static void write_end(void)
{
    const char *raw = getenv("RCW_RAW");
    char path[4096];
    if (!raw)
        return;
    if (wb_rule_count) {
        snprintf(path, sizeof path, "%s/host_rules.txt", raw);
        wb_write_rules(path);
    }
    snprintf(path, sizeof path, "%s/host_end.txt", raw);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "time_ps %lld\nhost_ps %lld\ntransfers %lld\n", (long long)vc_now(),
                (long long)host_time_total_ps(), (long long)wb_transfer_count);
        fclose(file);
    }
}

static void at_end(void)
{
    if (getpid() != this_process) /* a child of the host's own */
        return;
    if (vc_self && !vc_failed) {
        wb_other_call();
        vc_point(), vc_does(SYNC_EXIT, NULL, 0);
    }
    vc_freeze();
    write_threads();
    wb_record_unended(); /* nobody waited for them: as the table has it */
    wb_flush_records();
    if (!vc_failed) {
        char message[2048];
        wb_say_goodbye(vc_now(), message, sizeof message);
        if (*message) {
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
    vc_note("the addresses of the host program's memory could not be fixed: where it depends on them, runs differ",
            NULL);
}

static int create(const char *raw, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", raw, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        snprintf(path, sizeof path, "cannot write %.2000s/%s: %s", raw, name, strerror(errno));
        vc_fatal(path);
    }
    return fd;
}

/* A file in memory, which stays however the program ends. NULL where there is no room for it. */
static void *mapped(const char *raw, const char *name, size_t bytes)
{
    int fd = create(raw, name);
    void *at = posix_fallocate(fd, 0, (off_t)bytes)
                   ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

/* host_progress.bin: the number of the thread that runs, for the workbench to look at meanwhile. host_notes.txt: what is
 * to be told, and after it zeros. */
static void show_progress(const char *raw)
{
    void *running = mapped(raw, "host_progress.bin", sizeof *vc_running), *notes = mapped(raw, "host_notes.txt", VC_NOTES);
    if (running)
        vc_running = running;
    if (notes)
        vc_keep_notes(notes);
}

__attribute__((constructor)) static void at_start(int argc, char **argv, char **environment)
{
    (void)argc;
    const char *fd = getenv("RCW_CARD_FD"), *config = getenv("RCW_CONFIG"), *raw = getenv("RCW_RAW");
    const char *traced = getenv("RCW_TRACE");
    if (!fd || !config)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever supervises the run is gone: end too */
    wb_link = atoi(fd);
    wb_read_config(config);
    if (raw) {
        transfers_fd = create(raw, "transfers.bin");
        waits_fd = create(raw, "host_waits.bin");
        syncs_fd = create(raw, "host_syncs.bin");
        vc_synced = record_sync;
        if (!traced || !*traced)
            syncs_left = MOST_SYNCS;
        show_progress(raw);
    }
    if (host_time.deterministic)
        fix_addresses(argv, environment);
    fcntl(wb_link, F_SETFD, FD_CLOEXEC); /* a child of the host must not keep the card alive */
    this_process = getpid();
    vc_card = wb_run_card;
    vc_at_fatal = at_end;
    vc_waited = record_thread_wait;
    atexit(at_end);
    host_time_calibrate();
    vc_start();
    libc_start();
    host_time_forget();
}

