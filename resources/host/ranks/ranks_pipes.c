/* Records the waits of a rank's threads at pipes and event counters (eventfd), and which thread ended each: a part of ranks.c, like
 * ranks_locks.c. A reader waits for a writer, and a writer at a full pipe waits for a reader. If the other end is in another process, the
 * wait has no known cause and keeps its recorded length. Only pipes and counters that the program itself made are followed. If a file
 * number was closed and now belongs to another file, a call on it counts as a wait only if that file is not ready.
 *
 * Waits by select, ppoll and epoll, at message queues and at System V semaphores are not followed. The run then says so
 * (RCW_NOT_FOLLOWED). */
#define _GNU_SOURCE
#include "ranks.h"

#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <unistd.h>

enum { FILES = 4096 };

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

/* The causes of this wait are the writes of other threads meanwhile. */
static int poll_all(struct pollfd *files, nfds_t count, int timeout_ms)
{
    REAL(poll);
    int known = 0, result;
    for (nfds_t i = 0; i < count && timeout_ms; i++)
        known += place(files[i].fd) != NULL;
    if (!known || (result = real_poll(files, count, 0)))
        return known ? result : real_poll(files, count, timeout_ms);
    int64_t t0 = rcw_ticks();
    for (nfds_t i = 0; i < count; i++)
        if (place(files[i].fd))
            rcw_begin_wait(place(files[i].fd));
    result = real_poll(files, count, timeout_ms);
    int64_t t1 = rcw_ticks();
    for (nfds_t i = 0; i < count; i++)
        if (place(files[i].fd)) {
            rcw_leave_wait(place(files[i].fd));
            rcw_keep_wait(RCW_WAITED, (intptr_t)place(files[i].fd), 0, t0, t1);
        }
    return result;
}

MAY_BE_OWN int poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    REAL(poll);
    return rcw_followed(__builtin_return_address(0)) ? poll_all(files, count, timeout_ms) : real_poll(files, count, timeout_ms);
}

/* The form that programs built with -D_FORTIFY_SOURCE call. */
MAY_BE_OWN int __poll_chk(struct pollfd *files, nfds_t count, int timeout_ms, size_t room)
{
    REAL(__poll_chk);
    return count * sizeof *files <= room && rcw_followed(__builtin_return_address(0)) ? poll_all(files, count, timeout_ms)
                                                                                     : real___poll_chk(files, count, timeout_ms, room);
}

/* ---- what is not followed ---- */

#define NOT_FOLLOWED(call, what, may_be_for_threads) \
    { \
        REAL(call); \
        if ((may_be_for_threads) && rcw_followed(__builtin_return_address(0))) \
            rcw_not_followed(what); \
        return real_##call ARGUMENTS; \
    }

#define ARGUMENTS (files, reads, writes, others, until)
MAY_BE_OWN int select(int files, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *until)
    NOT_FOLLOWED(select, RCW_SEVERAL_FILES, files && pipes)
#undef ARGUMENTS
#define ARGUMENTS (files, reads, writes, others, until, signals)
MAY_BE_OWN int pselect(int files, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *until, const sigset_t *signals)
    NOT_FOLLOWED(pselect, RCW_SEVERAL_FILES, files && pipes)
#undef ARGUMENTS
#define ARGUMENTS (files, count, until, signals)
MAY_BE_OWN int ppoll(struct pollfd *files, nfds_t count, const struct timespec *until, const sigset_t *signals)
    NOT_FOLLOWED(ppoll, RCW_SEVERAL_FILES, count && pipes)
#undef ARGUMENTS
#define ARGUMENTS (files, events, most, timeout_ms)
MAY_BE_OWN int epoll_wait(int files, struct epoll_event *events, int most, int timeout_ms)
    NOT_FOLLOWED(epoll_wait, RCW_SEVERAL_FILES, timeout_ms && pipes)
#undef ARGUMENTS
#define ARGUMENTS (files, events, most, timeout_ms, signals)
MAY_BE_OWN int epoll_pwait(int files, struct epoll_event *events, int most, int timeout_ms, const sigset_t *signals)
    NOT_FOLLOWED(epoll_pwait, RCW_SEVERAL_FILES, timeout_ms && pipes)
#undef ARGUMENTS
#define ARGUMENTS (queue, message, bytes, type, flags)
MAY_BE_OWN ssize_t msgrcv(int queue, void *message, size_t bytes, long type, int flags)
    NOT_FOLLOWED(msgrcv, RCW_QUEUES, !(flags & IPC_NOWAIT))
#undef ARGUMENTS
#define ARGUMENTS (queue, message, bytes, priority)
MAY_BE_OWN ssize_t mq_receive(mqd_t queue, char *message, size_t bytes, unsigned *priority) NOT_FOLLOWED(mq_receive, RCW_QUEUES, 1)
#undef ARGUMENTS
#define ARGUMENTS (semaphores, operations, count)
MAY_BE_OWN int semop(int semaphores, struct sembuf *operations, size_t count) NOT_FOLLOWED(semop, RCW_QUEUES, 1)
#undef ARGUMENTS
