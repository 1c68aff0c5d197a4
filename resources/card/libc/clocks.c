/* What a program reads of time and processors, and what it sleeps, on the virtual clock. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

#include "../host_time.h"
#include "libc.h"

#define EPOCH_S INT64_C(1293840000) /* CLOCK_REALTIME at the program's start: 2011-01-01 00:00 UTC */
#define PS_PER_S INT64_C(1000000000000)

/* ---- clocks ---- */

static int64_t sum_ps(int64_t s, int64_t ns, int64_t base_ps)
{
    __int128 ps = (__int128)s * PS_PER_S + (__int128)ns * 1000 + base_ps;
    return ps < 0 ? 0 : ps > VC_LATEST_PS ? VC_LATEST_PS : (int64_t)ps;
}

static int64_t epoch_s(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ? EPOCH_S : 0;
}

int64_t clocks_time_ps(clockid_t clock, const struct timespec *time)
{
    return sum_ps(time->tv_sec - epoch_s(clock), time->tv_nsec, 0);
}

int64_t clocks_after_ps(const struct timespec *span) { return sum_ps(span->tv_sec, span->tv_nsec, vc_now()); }

static struct timespec of_clock(clockid_t clock)
{
    int64_t ps = vc_point();
    if (clock == CLOCK_PROCESS_CPUTIME_ID)
        ps = host_time_total_ps();
    else if (clock == CLOCK_THREAD_CPUTIME_ID)
        ps = vc_self->work_ps;
    return (struct timespec){epoch_s(clock) + ps / PS_PER_S, ps % PS_PER_S / 1000};
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

ON_CLOCK(clock_t, clock, (void), (), (vc_point(), host_time_total_ps() / (PS_PER_S / CLOCKS_PER_SEC)))
ON_CLOCK(int, timespec_get, (struct timespec *time, int base), (time, base), (*time = of_clock(CLOCK_REALTIME), base))

/* ---- sleeps ---- */

static int sleep_until(int64_t ps, const void *where)
{
    if (ps > vc_now())
        threads_wait(VC_SLEEP, NULL, ps, where);
    return 0;
}

static int sleep_for(int64_t s, int64_t ns, const void *where)
{
    vc_point();
    return sleep_until(sum_ps(s, ns, vc_now()), where);
}

int clocks_sleep_ns(int64_t ns, const void *where) { return sleep_for(0, ns, where); }

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

ON_CLOCK(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left),
         clock_nanosleep(CLOCK_MONOTONIC, 0, time, left))
ON_CLOCK(unsigned, sleep, (unsigned seconds), (seconds), (unsigned)sleep_for(seconds, 0, HERE))
ON_CLOCK(int, usleep, (useconds_t us), (us), sleep_for(0, (int64_t)us * 1000, HERE))
int thrd_sleep(const struct timespec *time, struct timespec *left) { return nanosleep(time, left); }

/* ---- processors ---- */

static int cores_of(const vthread *thread, size_t bytes, cpu_set_t *set)
{
    CPU_ZERO_S(bytes, set);
    for (int i = 0; i < vc_set.cores; i++)
        if (!thread || thread->pin < 0 || thread->pin == thread->rank * vc_set.cores + i)
            CPU_SET_S((size_t)i, bytes, set);
    return 0;
}

/* A thread may bind itself to one core, or to all. */
static int bind_to(const vthread *thread, size_t bytes, const cpu_set_t *set, const void *where)
{
    int count = 0, last = -1;
    for (int i = 0; i < vc_set.cores; i++)
        if (CPU_ISSET_S((size_t)i, bytes, set))
            count++, last = i;
    if (!count)
        return EINVAL;
    if (thread == vc_self && (count == 1 || count == vc_set.cores))
        vc_pin(count == 1 ? last : -1);
    else
        vc_note("the program binds a thread to some processors, or another thread than the one that asks: on virtual cores a "
                "thread can bind itself to one, or to all",
                where);
    return 0;
}

static int failed_with(int error)
{
    if (!error)
        return 0;
    errno = error;
    return -1;
}

long sysconf(int name)
{
    if (vc_self && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
        return vc_set.cores;
    return REAL(sysconf)(name);
}

ON_CLOCK(int, get_nprocs, (void), (), vc_set.cores)
ON_CLOCK(int, get_nprocs_conf, (void), (), vc_set.cores)
ON_CLOCK(int, sched_getcpu, (void), (), vc_core())
ON_CLOCK(int, sched_getaffinity, (pid_t process, size_t bytes, cpu_set_t *set), (process, bytes, set),
         cores_of(process ? NULL : vc_self, bytes, set))
ON_CLOCK(int, sched_setaffinity, (pid_t process, size_t bytes, const cpu_set_t *set), (process, bytes, set),
         failed_with(bind_to(process ? NULL : vc_self, bytes, set, HERE)))
ON_CLOCK(int, pthread_getaffinity_np, (pthread_t thread, size_t bytes, cpu_set_t *set), (thread, bytes, set),
         cores_of(vc_by_real(thread), bytes, set))
ON_CLOCK(int, pthread_setaffinity_np, (pthread_t thread, size_t bytes, const cpu_set_t *set), (thread, bytes, set),
         bind_to(vc_by_real(thread), bytes, set, HERE))
