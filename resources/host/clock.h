/* The recording runtime's own clock, where no card library brings one: a part of recap.c. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { FIRST_PAIR_TICKS = 1 << 20 };

int rcw_by_counter;
int64_t rcw_aside_ticks, rcw_floor_ticks, rcw_pair_at = INT64_MAX;

static int64_t started_ns, started_tick, aside_ps; /* when the clock began, and how long it has stood since */

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((weak)) int64_t rcw_now_ps(void) { return (monotonic_ns() - started_ns) * 1000 - aside_ps; }

#if defined(__x86_64__)
/* Is the counter's rate constant, and does the kernel trust it? RCW_CLOCK=system says that it is not to be used. */
static int counter_is_steady(void)
{
    unsigned a, b, c, d;
    char source[32] = "";
    const char *asked = getenv("RCW_CLOCK");
    if (asked && !strcmp(asked, "system"))
        return 0;
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
static void read_both(int64_t *tick, int64_t *ns)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < 16; i++) {
        int64_t before = (int64_t)__builtin_ia32_rdtsc(), now = monotonic_ns();
        int64_t between = (int64_t)__builtin_ia32_rdtsc() - before;
        if (between < best) {
            best = between;
            *tick = before + between / 2;
            *ns = now;
        }
    }
}
#endif

/* What a tick is, by all the time since the start: asked for whenever that has doubled, and at the end. `now` is a tick. */
void rcw_pair(int64_t now)
{
#if defined(__x86_64__)
    int64_t at = __atomic_load_n(&rcw_pair_at, __ATOMIC_RELAXED), tick, ns;
    int64_t next = started_tick + 2 * (now - started_tick) + FIRST_PAIR_TICKS;
    if (now < at || !__atomic_compare_exchange_n(&rcw_pair_at, &at, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    read_both(&tick, &ns);
    if (header && ns > started_ns)
        header->ps_per_tick = (double)(ns - started_ns) * 1000 / (double)(tick - started_tick);
#else
    (void)now;
#endif
}

static void pair_now(void)
{
    if (rcw_by_counter) {
        rcw_pair_at = 0;
        rcw_pair(rcw_ticks());
    }
}

void rcw_set_aside(int64_t ps)
{
    __atomic_fetch_add(&aside_ps, ps, __ATOMIC_RELAXED);
    if (rcw_by_counter && header) {
        pair_now();
        __atomic_fetch_add(&rcw_aside_ticks, (int64_t)((double)ps / header->ps_per_tick), __ATOMIC_RELAXED);
    }
}

/* Make it ready, and find what two readings cost. */
static void start_clock(void)
{
    int64_t least = INT64_MAX;
    header->ps_per_tick = 1;
    if (rcw_simulated)
        return;
    started_ns = monotonic_ns();
#if defined(__x86_64__)
    if ((rcw_by_counter = counter_is_steady())) {
        read_both(&started_tick, &started_ns);
        header->zero = started_tick;
        header->ps_per_tick = 0;
        rcw_pair_at = started_tick;
    }
#endif
    for (int i = 0; i < 1000; i++) {
        int64_t first = rcw_ticks(), took = rcw_ticks() - first;
        if (took < least)
            least = took;
    }
    rcw_floor_ticks = least > 0 ? least : 0;
    pair_now();
}

static int read_text(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, room - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    return got > 0;
}

/* Processes of one kernel read one counter; its other clock is one in each time namespace. */
int rcw_shared_clock(char *name, size_t room, int64_t *zero_ticks, int64_t *zero_ns)
{
    char boot[64], space[64];
    ssize_t length = readlink("/proc/self/ns/time", space, sizeof space - 1);
    space[length > 0 ? length : 0] = 0;
    *zero_ns = started_ns;
    *zero_ticks = rcw_by_counter ? started_tick : started_ns * 1000;
    if (!read_text("/proc/sys/kernel/random/boot_id", boot, sizeof boot))
        return 0;
    snprintf(name, room, rcw_by_counter ? "counter %s" : "system %s %s", boot, space);
    return 1;
}
