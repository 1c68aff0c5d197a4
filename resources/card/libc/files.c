/* Pipes between threads on the virtual clock, and output in the order of virtual time; the program's end. Reads of other files
 * really block, and the clock stands meanwhile. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libc.h"

/* Output comes in the order of virtual time. */
static void output(void)
{
    if (vc_self && vc_live > 1)
        vc_point();
}

/* ---- pipes between threads ---- */

#define MAX_FD 1024
static unsigned char kind_of[MAX_FD];
enum { UNKNOWN, PIPE, THERE };
static const char pipes; /* what all who wait at a pipe wait for */
int files_outside;

static int at_pipe(int fd) { return vc_self && fd >= 0 && fd < MAX_FD && kind_of[fd] == PIPE; }

static void wait_for_pipe(int fd, short event, const void *where)
{
    struct pollfd file = {fd, event, 0};
    vc_call(SYNC_PIPE, &pipes, 0);
    while (vc_live > 1 && !REAL(poll)(&file, 1, 0))
        threads_wait(VC_PIPE, &pipes, VC_NEVER, where);
}

/* Nothing goes on on the clock: a child of the program's may be writing, or a signal come. */
static int from_outside(void)
{
    struct timespec moment = {0, 1000000};
    if (!files_outside)
        return 0;
    REAL(nanosleep)(&moment, NULL);
    int may = vc_wake(&pipes, INT_MAX) > 0;
    for (const vthread *t = vc_threads; t; t = t->next)
        may |= t->spin_ps != 0;
    vc_changes++; /* what is spun for, too */
    return may;
}

static void now_has_children(void) { files_outside = 1; }

static void note_pipe(const int fds[2])
{
    for (int i = 0; i < 2; i++)
        if (vc_self && fds[i] < MAX_FD)
            kind_of[fds[i]] = PIPE;
}

int pipe(int fds[2])
{
    int error = REAL(pipe)(fds);
    if (!error)
        note_pipe(fds);
    return error;
}

int pipe2(int fds[2], int flags)
{
    int error = REAL(pipe2)(fds, flags);
    if (!error && !(flags & O_NONBLOCK))
        note_pipe(fds);
    return error;
}

ssize_t read(int fd, void *to, size_t bytes)
{
    if (devices_have(fd))
        return devices_read(fd, to, bytes);
    if (at_pipe(fd))
        wait_for_pipe(fd, POLLIN, HERE);
    else if (vc_self && fd >= 0 && fd < MAX_FD && kind_of[fd] == UNKNOWN) {
        if (told_is_there(fd))
            kind_of[fd] = THERE;
        else
            vc_note("read: " TOLD_BLOCKS, HERE);
    }
    ssize_t got = REAL(read)(fd, to, bytes);
    if (at_pipe(fd))
        vc_wake(&pipes, INT_MAX);
    return got;
}

ssize_t write(int fd, const void *from, size_t bytes)
{
    if (devices_have(fd))
        return devices_write(fd, from, bytes);
    if (at_pipe(fd))
        wait_for_pipe(fd, POLLOUT, HERE);
    else
        output();
    ssize_t put = REAL(write)(fd, from, bytes);
    if (at_pipe(fd))
        vc_wake(&pipes, INT_MAX);
    return put;
}

int close(int fd)
{
    int was_pipe = at_pipe(fd);
    if (was_pipe)
        vc_call(SYNC_PIPE, &pipes, 0);
    if (devices_have(fd))
        devices_close(fd);
    int error = REAL(close)(fd);
    if (fd >= 0 && fd < MAX_FD)
        kind_of[fd] = UNKNOWN;
    if (was_pipe)
        vc_wake(&pipes, INT_MAX);
    return error;
}

/* ---- waiting for files, which is sleeping where there are none ---- */

int poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    int ready = vc_self ? devices_poll(files, count) : 0;
    if (ready)
        return ready;
    if (vc_self && count && timeout_ms)
        vc_note("poll: " TOLD_BLOCKS, HERE);
    if (!vc_self || count)
        return REAL(poll)(files, count, timeout_ms);
    return clocks_sleep_ns(timeout_ms < 0 ? VC_LATEST_PS / 1000 : timeout_ms * INT64_C(1000000), HERE);
}

int select(int count, fd_set *restrict r, fd_set *restrict w, fd_set *restrict x, struct timeval *restrict time)
{
    if (vc_self && count && (!time || time->tv_sec || time->tv_usec))
        vc_note("select: " TOLD_BLOCKS, HERE);
    if (!vc_self || count || !time)
        return REAL(select)(count, r, w, x, time);
    return clocks_sleep_ns(time->tv_sec * INT64_C(1000000000) + time->tv_usec * 1000, HERE);
}

/* ---- output ---- */

#define OUTPUT(type, name, parameters, arguments) \
    type name parameters                          \
    {                                             \
        output();                                 \
        return REAL(name) arguments;              \
    }
OUTPUT(int, puts, (const char *text), (text))
OUTPUT(int, fputs, (const char *restrict text, FILE *restrict file), (text, file))
OUTPUT(int, fputc, (int c, FILE *file), (c, file))
#undef putc
OUTPUT(int, putc, (int c, FILE *file), (c, file))
#undef putchar
OUTPUT(int, putchar, (int c), (c))
OUTPUT(size_t, fwrite, (const void *restrict at, size_t size, size_t n, FILE *restrict file), (at, size, n, file))
OUTPUT(int, fflush, (FILE *file), (file))
OUTPUT(ssize_t, writev, (int fd, const struct iovec *parts, int n), (fd, parts, n))
OUTPUT(int, vprintf, (const char *restrict format, va_list more), (format, more))
OUTPUT(int, vfprintf, (FILE *restrict file, const char *restrict format, va_list more), (file, format, more))
OUTPUT(int, vdprintf, (int fd, const char *restrict format, va_list more), (fd, format, more))

int __vprintf_chk(int flag, const char *format, va_list more);
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list more);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
OUTPUT(int, __vprintf_chk, (int flag, const char *format, va_list more), (flag, format, more))
OUTPUT(int, __vfprintf_chk, (FILE *file, int flag, const char *format, va_list more), (file, flag, format, more))

#define FORMATTED(name, named, parameters, last, arguments) \
    int name parameters                                     \
    {                                                       \
        va_list more;                                       \
        output();                                           \
        va_start(more, last);                               \
        int printed = REAL(named) arguments;                \
        va_end(more);                                       \
        return printed;                                     \
    }
FORMATTED(printf, vprintf, (const char *restrict format, ...), format, (format, more))
FORMATTED(fprintf, vfprintf, (FILE *restrict file, const char *restrict format, ...), format, (file, format, more))
FORMATTED(dprintf, vdprintf, (int fd, const char *restrict format, ...), format, (fd, format, more))
FORMATTED(__printf_chk, __vprintf_chk, (int flag, const char *format, ...), format, (flag, format, more))
FORMATTED(__fprintf_chk, __vfprintf_chk, (FILE *file, int flag, const char *format, ...), format,
          (file, flag, format, more))

/* ---- the end ---- */

void exit(int code)
{
    if (vc_self && !vc_failed) {
        vc_point();
        ranks_leave(code);
    }
    REAL(exit)(code);
    __builtin_unreachable();
}

void _exit(int code)
{
    if (vc_self && !vc_failed) {
        vc_point();
        ranks_leave(code);
    }
    REAL(_exit)(code);
    __builtin_unreachable();
}

/* main returns through `exit`, so that what happens before its end on the clock has happened (linked with --wrap=main). */
int __real_main(int argc, char **argv, char **environment);
int __wrap_main(int argc, char **argv, char **environment);
int __wrap_main(int argc, char **argv, char **environment)
{
    ranks_start(argc, argv, environment);
    exit(__real_main(argc, argv, environment));
}

void files_start(void)
{
    vc_outside = from_outside;
    pthread_atfork(NULL, now_has_children, NULL);
}
