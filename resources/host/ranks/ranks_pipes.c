/* Records the waits of a rank's threads at pipes and event counters (eventfd), at one or several of them, and which thread ended each: a part
 * of ranks.c, like ranks_locks.c. A reader waits for a writer, and a writer at a full pipe waits for a reader. If the other end is in another
 * process, the wait has no known cause and keeps its recorded length. Only pipes and counters that the program itself made are followed. If a
 * file number was closed and now belongs to another file, a call on it counts as a wait only if that file is not ready. ranks_queues.c follows
 * queues of messages. */
#define _GNU_SOURCE
#include "ranks.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

enum { FILES = 4096, SEVERAL = 256 };

/* For each file number that is an end of a pipe: the number of the pipe's read end, plus one. 0 for all other files. */
static int read_end[FILES];
static int pipes; /* whether the program made any */

/* The address that stands for both ends of a pipe; NULL if the file is not one of them. */
static const void *place(int file)
{
    int end = file >= 0 && file < FILES ? __atomic_load_n(&read_end[file], __ATOMIC_RELAXED) : 0;
    return end ? &read_end[end - 1] : NULL;
}

static void add(int file, int end)
{
    if (file >= 0)
        pipes = 1;
    if (file >= 0 && file < FILES && end < FILES)
        __atomic_store_n(&read_end[file], end + 1, __ATOMIC_RELAXED);
}

#define MAKES_PIPE(call) \
    { \
        REAL(call); \
        int result = real_##call ARGUMENTS; \
        for (int i = 0; i < 2 && !result && rcw_is_own(__builtin_return_address(0)); i++) \
            add(files[i], files[0]); \
        return result; \
    }

#define ARGUMENTS (files)
MAY_BE_OWN int pipe(int files[2]) MAKES_PIPE(pipe)
#undef ARGUMENTS
#define ARGUMENTS (files, flags)
MAY_BE_OWN int pipe2(int files[2], int flags) MAKES_PIPE(pipe2)
#undef ARGUMENTS

MAY_BE_OWN int eventfd(unsigned count, int flags)
{
    REAL(eventfd);
    int file = real_eventfd(count, flags);
    if (rcw_is_own(__builtin_return_address(0)))
        add(file, file);
    return file;
}

/* Whether a call may have to wait. poll() reports a pipe as writable if it has room for PIPE_BUF bytes; a longer write may wait. */
static int waits(int file, short events, size_t bytes)
{
    struct pollfd one = {.fd = file, .events = events};
    REAL(poll);
    return !(fcntl(file, F_GETFL) & O_NONBLOCK) && ((events == POLLOUT && bytes > PIPE_BUF) || !real_poll(&one, 1, 0));
}

/* A call that may wait for the other end until one of `events`. A write, or a read that need not wait, may let a waiting thread go on. */
#define MOVES(type, call, events, bytes) \
    { \
        REAL(call); \
        const void *what = place(file); \
        if (!what || !rcw_followed(__builtin_return_address(0))) \
            return real_##call ARGUMENTS; \
        int may_wait = waits(file, events, bytes); \
        if (!may_wait || (events) == POLLOUT) \
            rcw_let_go(what); \
        if (!may_wait) \
            return real_##call ARGUMENTS; \
        int64_t t0 = rcw_begin_wait(what); \
        type result = real_##call ARGUMENTS; \
        rcw_end_wait(what, t0); \
        return result; \
    }

#define ARGUMENTS (file, data, bytes)
MAY_BE_OWN ssize_t read(int file, void *data, size_t bytes) MOVES(ssize_t, read, POLLIN, bytes)
MAY_BE_OWN ssize_t write(int file, const void *data, size_t bytes) MOVES(ssize_t, write, POLLOUT, bytes)
#undef ARGUMENTS
#define ARGUMENTS (file, data, bytes, room)
MAY_BE_OWN ssize_t __read_chk(int file, void *data, size_t bytes, size_t room) MOVES(ssize_t, __read_chk, POLLIN, bytes)
#undef ARGUMENTS
#define ARGUMENTS (file, value)
MAY_BE_OWN int eventfd_read(int file, eventfd_t *value) MOVES(int, eventfd_read, POLLIN, sizeof *value)
MAY_BE_OWN int eventfd_write(int file, eventfd_t value) MOVES(int, eventfd_write, POLLOUT, sizeof value)
#undef ARGUMENTS

/* ---- waits at several files ----
 * The causes of such a wait are the calls of other threads meanwhile, on any of the files that are followed. */

typedef struct {
    int count;
    const void *what[SEVERAL];
} places;

static void add_place(places *all, int file)
{
    if (place(file) && all->count < SEVERAL)
        all->what[all->count++] = place(file);
}

static int64_t begin_all(const places *all)
{
    int64_t t0 = rcw_ticks();
    for (int i = 0; i < all->count; i++)
        rcw_begin_wait(all->what[i]);
    return t0;
}

static void end_all(const places *all, int64_t t0)
{
    int64_t t1 = rcw_ticks();
    for (int i = 0; i < all->count; i++) {
        rcw_leave_wait(all->what[i]);
        rcw_keep_wait(RCW_WAITED, (intptr_t)all->what[i], 0, t0, t1);
    }
}

/* A call that waits at several files, if `add` finds any that are followed, and `now`, which does not wait, returns 0. */
#define WAITS_AT_SEVERAL(call, may_wait, add, now, again) \
    { \
        REAL(call); \
        places all = {.count = 0}; \
        if (!pipes || !(may_wait) || !rcw_followed(__builtin_return_address(0))) \
            return real_##call ARGUMENTS; \
        add; \
        if (!all.count) \
            return real_##call ARGUMENTS; \
        int result = now; \
        if (result) \
            return result; \
        again; \
        int64_t t0 = begin_all(&all); \
        result = real_##call ARGUMENTS; \
        end_all(&all, t0); \
        return result; \
    }

#define OF_POLL \
    for (nfds_t i = 0; i < count; i++) \
    add_place(&all, files[i].fd)

#define ARGUMENTS (files, count, timeout_ms)
MAY_BE_OWN int poll(struct pollfd *files, nfds_t count, int timeout_ms)
    WAITS_AT_SEVERAL(poll, timeout_ms, OF_POLL, real_poll(files, count, 0), )
#undef ARGUMENTS
/* The form that programs built with -D_FORTIFY_SOURCE call. */
#define ARGUMENTS (files, count, timeout_ms, room)
MAY_BE_OWN int __poll_chk(struct pollfd *files, nfds_t count, int timeout_ms, size_t room)
    WAITS_AT_SEVERAL(__poll_chk, timeout_ms, OF_POLL, real___poll_chk(files, count, 0, room), )
#undef ARGUMENTS
static const struct timespec at_once;
#define ARGUMENTS (files, count, until, signals)
MAY_BE_OWN int ppoll(struct pollfd *files, nfds_t count, const struct timespec *until, const sigset_t *signals)
    WAITS_AT_SEVERAL(ppoll, 1, OF_POLL, real_ppoll(files, count, &at_once, signals), )
#undef ARGUMENTS

#define OF_SELECT \
    fd_set of[3]; \
    fd_set *sets[] = {reads, writes, others}; \
    for (int set = 0; set < 3; set++) { \
        if (sets[set]) \
            of[set] = *sets[set]; \
        for (int file = 0; sets[set] && file < files; file++) \
            if (FD_ISSET(file, sets[set])) \
                add_place(&all, file); \
    }
#define SELECT_AGAIN \
    for (int set = 0; set < 3; set++) \
        if (sets[set]) \
            *sets[set] = of[set]

#define ARGUMENTS (files, reads, writes, others, until)
MAY_BE_OWN int select(int files, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *until)
    WAITS_AT_SEVERAL(select, files <= FD_SETSIZE, OF_SELECT, real_select(files, reads, writes, others, &(struct timeval){0}), SELECT_AGAIN)
#undef ARGUMENTS
#define ARGUMENTS (files, reads, writes, others, until, signals)
MAY_BE_OWN int pselect(int files, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *until, const sigset_t *signals)
    WAITS_AT_SEVERAL(pselect, files <= FD_SETSIZE, OF_SELECT, real_pselect(files, reads, writes, others, &at_once, signals), SELECT_AGAIN)
#undef ARGUMENTS

static int epoll_of[FILES]; /* for each file number the epoll file that watches it, plus one */

MAY_BE_OWN int epoll_ctl(int epoll, int operation, int file, struct epoll_event *event)
{
    REAL(epoll_ctl);
    int result = real_epoll_ctl(epoll, operation, file, event);
    if (!result && place(file))
        __atomic_store_n(&epoll_of[file], operation == EPOLL_CTL_DEL ? 0 : epoll + 1, __ATOMIC_RELAXED);
    return result;
}

#define OF_EPOLL \
    for (int file = 0; file < FILES; file++) \
        if (__atomic_load_n(&epoll_of[file], __ATOMIC_RELAXED) == epoll + 1) \
    add_place(&all, file)

#define ARGUMENTS (epoll, events, most, timeout_ms)
MAY_BE_OWN int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
    WAITS_AT_SEVERAL(epoll_wait, timeout_ms, OF_EPOLL, real_epoll_wait(epoll, events, most, 0), )
#undef ARGUMENTS
#define ARGUMENTS (epoll, events, most, timeout_ms, signals)
MAY_BE_OWN int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout_ms, const sigset_t *signals)
    WAITS_AT_SEVERAL(epoll_pwait, timeout_ms, OF_EPOLL, real_epoll_pwait(epoll, events, most, 0, signals), )
#undef ARGUMENTS
