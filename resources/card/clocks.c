/* What a program reads of time and processors, what it sleeps and what it prints, on the virtual clock: the C library's
 * functions, defined in the program. Threads that are not on the virtual clock get the C library's. */
#define _GNU_SOURCE
#include "clocks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <threads.h>
#include <unistd.h>

#include "host_time.h"
#include "real.h"

#define HERE __builtin_return_address(0)
#define EPOCH_S INT64_C(1293840000) /* CLOCK_REALTIME at the program's start: 2011-01-01 00:00 UTC */
#define PS_PER_S INT64_C(1000000000000)

/* ---- clocks ---- */

static int64_t sum_ps(int64_t s, int64_t ns, int64_t base_ps)
{
    __int128 ps = (__int128)s * PS_PER_S + (__int128)ns * 1000 + base_ps;
    return ps < 0 ? 0 : ps > VC_LATEST_PS ? VC_LATEST_PS : (int64_t)ps;
}

int64_t clocks_time_ps(clockid_t clock, const struct timespec *time)
{
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI)
        return sum_ps(time->tv_sec - EPOCH_S, time->tv_nsec, 0);
    return sum_ps(time->tv_sec, time->tv_nsec, 0);
}

int64_t clocks_after_ps(const struct timespec *span) { return sum_ps(span->tv_sec, span->tv_nsec, vc_now()); }

static struct timespec of_clock(clockid_t clock)
{
    int64_t ps = vc_point();
    int64_t base_s = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ? EPOCH_S : 0;
    if (clock == CLOCK_PROCESS_CPUTIME_ID)
        ps = host_time_total_ps();
    else if (clock == CLOCK_THREAD_CPUTIME_ID)
        ps = vc_self->work_ps;
    return (struct timespec){base_s + ps / PS_PER_S, ps % PS_PER_S / 1000};
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!vc_self || clock < 0) /* of another process */
        return REAL(clock_gettime)(clock, time);
    *time = of_clock(clock);
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    if (!vc_self)
        return REAL(gettimeofday)(time, zone);
    struct timespec now = of_clock(CLOCK_REALTIME);
    *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *to)
{
    if (!vc_self)
        return REAL(time)(to);
    time_t now = of_clock(CLOCK_REALTIME).tv_sec;
    if (to)
        *to = now;
    return now;
}

clock_t clock(void)
{
    if (!vc_self)
        return REAL(clock)();
    vc_point();
    return host_time_total_ps() / (PS_PER_S / CLOCKS_PER_SEC);
}

int timespec_get(struct timespec *time, int base)
{
    if (!vc_self)
        return REAL(timespec_get)(time, base);
    *time = of_clock(CLOCK_REALTIME);
    return base;
}

/* ---- sleeps ---- */

static void sleep_until(int64_t ps, const void *where)
{
    vc_point();
    if (ps > vc_now())
        sync_wait(VC_SLEEP, NULL, ps, where);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    if (!vc_self)
        return REAL(clock_nanosleep)(clock, flags, time, left);
    struct timespec asked = *time; /* `left` may be the same object */
    vc_point();
    sleep_until(flags & TIMER_ABSTIME ? clocks_time_ps(clock, &asked) : clocks_after_ps(&asked), HERE);
    if (left)
        *left = (struct timespec){0, 0};
    return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!vc_self)
        return REAL(nanosleep)(time, left);
    return clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

int thrd_sleep(const struct timespec *time, struct timespec *left) { return nanosleep(time, left); }

unsigned sleep(unsigned seconds)
{
    if (!vc_self)
        return REAL(sleep)(seconds);
    vc_point();
    sleep_until(sum_ps(seconds, 0, vc_now()), HERE);
    return 0;
}

int usleep(useconds_t microseconds)
{
    if (!vc_self)
        return REAL(usleep)(microseconds);
    vc_point();
    sleep_until(sum_ps(0, (int64_t)microseconds * 1000, vc_now()), HERE);
    return 0;
}

int poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    if (!vc_self || count)
        return REAL(poll)(files, count, timeout_ms);
    vc_point();
    sleep_until(timeout_ms < 0 ? VC_LATEST_PS : sum_ps(0, timeout_ms * INT64_C(1000000), vc_now()), HERE);
    return 0;
}

int select(int count, fd_set *restrict r, fd_set *restrict w, fd_set *restrict x, struct timeval *restrict time)
{
    if (!vc_self || count || !time)
        return REAL(select)(count, r, w, x, time);
    vc_point();
    sleep_until(sum_ps(time->tv_sec, time->tv_usec * 1000, vc_now()), HERE);
    return 0;
}

/* ---- processors ---- */

long sysconf(int name)
{
    if (vc_self && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
        return vc_set.cores;
    return REAL(sysconf)(name);
}

int get_nprocs(void) { return vc_self ? vc_set.cores : REAL(get_nprocs)(); }
int get_nprocs_conf(void) { return vc_self ? vc_set.cores : REAL(get_nprocs_conf)(); }
int sched_getcpu(void) { return vc_self ? vc_self->core : REAL(sched_getcpu)(); }

static int all_cores(size_t bytes, cpu_set_t *set)
{
    CPU_ZERO_S(bytes, set);
    for (int i = 0; i < vc_set.cores; i++)
        CPU_SET_S((size_t)i, bytes, set);
    return 0;
}

static int stays_unbound(void)
{
    vc_note("the program binds threads to processors: on virtual cores a thread takes its last core, or one that is free");
    return 0;
}

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set)
{
    return vc_self ? all_cores(bytes, set) : REAL(sched_getaffinity)(process, bytes, set);
}

int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *set)
{
    return vc_self ? stays_unbound() : REAL(sched_setaffinity)(process, bytes, set);
}

int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t *set)
{
    return vc_self ? all_cores(bytes, set) : REAL(pthread_getaffinity_np)(thread, bytes, set);
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set)
{
    return vc_self ? stays_unbound() : REAL(pthread_setaffinity_np)(thread, bytes, set);
}

/* ---- timers, which would go by real time ---- */

static void real_timer(void)
{
    if (vc_self)
        vc_note("the program sets a timer that goes by real time: when it comes differs from run to run");
}

int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
    real_timer();
    return REAL(timer_create)(clock, event, timer);
}

int timerfd_create(int clock, int flags)
{
    real_timer();
    return REAL(timerfd_create)(clock, flags);
}

int setitimer(__itimer_which_t which, const struct itimerval *restrict value, struct itimerval *restrict old)
{
    real_timer();
    return REAL(setitimer)(which, value, old);
}

unsigned alarm(unsigned seconds)
{
    real_timer();
    return REAL(alarm)(seconds);
}

/* Output comes in the order of virtual time. */
static void output(void)
{
    if (vc_self && vc_count() > 1)
        vc_point();
}

/* ---- pipes between threads; other files' reads really block, and the clock stands meanwhile ---- */

#define MAX_FD 1024
static unsigned char is_pipe[MAX_FD];
static const char pipes; /* what all who wait at a pipe wait for */
static int has_children;

static int at_pipe(int fd) { return vc_self && fd >= 0 && fd < MAX_FD && is_pipe[fd]; }

static void wait_for_pipe(int fd, short event, const void *where)
{
    struct pollfd file = {fd, event, 0};
    vc_call();
    while (vc_count() > 1 && !REAL(poll)(&file, 1, 0))
        sync_wait(VC_PIPE, &pipes, VC_NEVER, where);
}

/* Nothing goes on on the clock: a child of the program's may be writing. */
static int from_outside(void)
{
    struct timespec moment = {0, 1000000};
    if (!has_children)
        return 0;
    REAL(nanosleep)(&moment, NULL);
    return vc_wake(&pipes, INT_MAX) > 0;
}

static void now_has_children(void) { has_children = 1; }

static void note_pipe(const int fds[2])
{
    for (int i = 0; i < 2; i++)
        if (vc_self && fds[i] < MAX_FD)
            is_pipe[fds[i]] = 1;
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
    if (at_pipe(fd))
        wait_for_pipe(fd, POLLIN, HERE);
    ssize_t got = REAL(read)(fd, to, bytes);
    if (at_pipe(fd))
        vc_wake(&pipes, INT_MAX);
    return got;
}

ssize_t write(int fd, const void *from, size_t bytes)
{
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
        vc_call();
    int error = REAL(close)(fd);
    if (was_pipe) {
        is_pipe[fd] = 0;
        vc_wake(&pipes, INT_MAX);
    }
    return error;
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
    if (vc_self && !vc_failed)
        vc_point();
    REAL(exit)(code);
    __builtin_unreachable();
}

void _exit(int code)
{
    if (vc_self && !vc_failed)
        vc_point();
    REAL(_exit)(code);
    __builtin_unreachable();
}

/* main returns through `exit`, so that what happens before its end on the clock has happened (linked with --wrap=main). */
int __real_main(int argc, char **argv, char **environment);
int __wrap_main(int argc, char **argv, char **environment);
int __wrap_main(int argc, char **argv, char **environment) { exit(__real_main(argc, argv, environment)); }

void clocks_start(void)
{
    vc_outside = from_outside;
    pthread_atfork(NULL, now_has_children, NULL);
}
