/* Calls recorded one by one: a thread's pieces, and the agent, a thread of the runtime's own that empties them. A part of
 * recap.c. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAIN_PIECES = 16, THREAD_PIECES = 4, LAST_PIECE = 0x7fffff, SHORT_NUMBERS = 1 << 16 };

static int calls_fd = -1, long_calls_fd = -1;
static size_t record_bytes, piece_at; /* of a record, and where in it `piece` is */
static int64_t calls_end; /* bytes of host_calls.bin given out */
static volatile int disk_full;
static pthread_t agent;
static sem_t work_to_do;
static int has_agent, agent_to_end;

static size_t piece_bytes(void) { return RCW_PIECE_RECORDS * record_bytes; } /* 8 pages, or 4 */

/* Append records to the file, and clear them where they are. 0 when the disk is full: what is not written stays. */
static int append(char *records, size_t bytes)
{
    size_t written = 0;
    off_t offset = __atomic_fetch_add(&calls_end, (int64_t)piece_bytes(), __ATOMIC_RELAXED); /* pieces begin at whole pieces */
    while (written < bytes && !disk_full) {
        ssize_t got = pwrite(calls_fd, records + written, bytes - written, offset + (off_t)written);
        if (got > 0)
            written += (size_t)got;
        else if (got == 0 || errno != EINTR)
            disk_full = 1;
    }
    for (size_t at = piece_at; at < written; at += record_bytes)
        *(int32_t *)(void *)(records + at) = 0;
    return written == bytes;
}

static char *piece_of(const rcw_thread *thread, int64_t number)
{
    return thread->live + (size_t)(number % thread->pieces) * piece_bytes();
}

static void append_full_pieces(rcw_thread *thread)
{
    int64_t full = __atomic_load_n(&thread->handed_over, __ATOMIC_ACQUIRE);
    while (thread->appended < full && append(piece_of(thread, thread->appended), piece_bytes()))
        __atomic_store_n(&thread->appended, thread->appended + 1, __ATOMIC_RELEASE);
}

/* The agent begins when a program makes so many calls that it needs one. */
static void *write_pieces(void *unused)
{
    while (sem_wait(&work_to_do) == 0 || errno == EINTR) {
        if (__atomic_load_n(&agent_to_end, __ATOMIC_ACQUIRE))
            break;
        for (rcw_thread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); thread; thread = thread->older)
            append_full_pieces(thread);
    }
    return unused;
}

static void begin_agent(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sem_init(&work_to_do, 0, 0);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    has_agent = pthread_create(&agent, NULL, write_pieces, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wake_agent(rcw_thread *thread)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_agent);
    if (has_agent)
        sem_post(&work_to_do);
    else
        append_full_pieces(thread);
}

static int64_t waiting_pieces(rcw_thread *thread)
{
    return thread->handed_over - __atomic_load_n(&thread->appended, __ATOMIC_ACQUIRE);
}

/* Hand the thread's full piece to the agent and begin the next. 0 when none is free: the disk is full, or the agent
 * is behind and time is real. (On a simulated card's clock it costs nothing to wait for it.) */
static int more_records(rcw_thread *thread)
{
    const struct timespec moment = {.tv_nsec = 50000};
    int saved = errno, room = 0;
    if (header->ended || !thread->pieces)
        return 0;
    rcw_aside(1);
    while (waiting_pieces(thread) + 1 >= thread->pieces && rcw_simulated && !disk_full) {
        wake_agent(thread);
        nanosleep(&moment, NULL);
    }
    if (waiting_pieces(thread) + 1 < thread->pieces) {
        __atomic_store_n(&thread->handed_over, thread->handed_over + 1, __ATOMIC_RELEASE);
        thread->piece = (int32_t)(thread->handed_over % LAST_PIECE) + 1;
        thread->next = piece_of(thread, thread->handed_over);
        thread->end = thread->next + piece_bytes();
        room = 1;
    }
    if (waiting_pieces(thread) >= thread->pieces / 2 && !disk_full)
        wake_agent(thread);
    rcw_aside(0);
    errno = saved;
    return room;
}

void rcw_record(rcw_thread *thread, int slot, int64_t t0, int64_t t1, int64_t first_transfer, rcw_call call)
{
    int64_t transfers = rcw_transfer_count() - first_transfer;
    rcw_call_record whole = {
        .t0 = t0, .t1 = t1, .bytes = call.bytes, .address = call.address,
        .first_transfer = transfers ? first_transfer : -1, .transfers = (int)transfers,
        .slot = slot, .thread = thread->number, .fpga = call.fpga, .piece = thread->piece};
    int fits = rcw_fits(t1 - t0, &call);
    if ((__builtin_expect(thread->next == thread->end, 0) && !more_records(thread))
        || (!rcw_simulated && !fits && write(long_calls_fd, &whole, sizeof whole) != sizeof whole)) {
        rcw_row(thread, slot)->lost++;
        __atomic_fetch_add(&rcw_lost, 1, __ATOMIC_RELAXED);
    } else if (rcw_simulated) {
        whole.piece = 0;
        memcpy(thread->next, &whole, sizeof whole);
        __atomic_signal_fence(__ATOMIC_RELEASE);
        *(volatile int32_t *)(void *)(thread->next + piece_at) = thread->piece;
        thread->next += sizeof whole;
    } else {
        rcw_write(thread, slot, t0, fits ? (uint32_t)(t1 - t0) : RCW_LONG, &call);
    }
}

static void begin_pieces(rcw_thread *thread)
{
    static char none[1];
    int pieces = thread->number ? THREAD_PIECES : MAIN_PIECES;
    size_t bytes = (size_t)pieces * piece_bytes();
    thread->live = grow(calls_fd, __atomic_fetch_add(&calls_end, (int64_t)bytes, __ATOMIC_RELAXED), bytes);
    if (thread->live && (rcw_simulated || (thread->number < SHORT_NUMBERS && slots_room <= SHORT_NUMBERS)))
        thread->pieces = pieces, thread->piece = 1;
    thread->next = thread->live ? thread->live : none;
    thread->end = thread->live ? thread->live + piece_bytes() : none;
}

/* The agent ends, and all that is left is appended. A thread that goes on has no room any more. */
static void end_pieces(void)
{
    if (has_agent) {
        __atomic_store_n(&agent_to_end, 1, __ATOMIC_RELEASE);
        sem_post(&work_to_do);
        pthread_join(agent, NULL);
    }
    for (rcw_thread *thread = threads; thread; thread = thread->older) {
        append_full_pieces(thread);
        if (thread->pieces && thread->appended == thread->handed_over) {
            char *piece = piece_of(thread, thread->handed_over);
            append(piece, (size_t)(thread->next - piece));
            thread->next = thread->end;
        }
    }
    close(calls_fd);
}

/* In a forked child, whose calls are only counted. */
static void forget_pieces(void)
{
    calls_fd = -1;
    calls_end = has_agent = 0;
}
