/* Ranks: processes of the host program that MPI starts. Each is a copy of the program's own machine code and data, loaded
 * beside the others (host.rank1.so and so on, beside the executable, which is rank 0), with threads, cores and cards of its own. What
 * the C library keeps for a process (random numbers, strtok's place) each has for itself. */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../wbcard.h"
#include "libc.h"

typedef int main_function(int, char **, char **);

typedef struct {
    vthread *thread;
    main_function *main;
    int argc;
    char **argv, **environment;
} start;

static main_function *load(int rank)
{
    char path[PATH_MAX], program[PATH_MAX - 32];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = 0;
    snprintf(path, sizeof path, "%s.rank%d.so", program, rank);
    rcw_aside(1); /* what runs before main takes no time, and has no card */
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    rcw_aside(0);
    main_function *found = loaded ? (main_function *)dlsym(loaded, "main") : NULL;
    if (!found)
        vc_fatal(dlerror());
    return found;
}

static char **copy(int argc, char **argv)
{
    char **own = calloc((size_t)argc + 1, sizeof *own);
    for (int i = 0; own && i < argc; i++)
        own[i] = strdup(argv[i]);
    return own;
}

static void *begin(void *argument)
{
    start one = *(start *)argument;
    free(argument);
    threads_begin();
    vc_begin(one.thread);
    exit(one.main(one.argc, one.argv, one.environment));
}

void ranks_start(int argc, char **argv, char **environment)
{
    for (int rank = 1; vc_self && rank < vc_set.ranks; rank++) {
        start *one = malloc(sizeof *one);
        vthread *thread = vc_new_rank(rank);
        if (!one || !thread)
            vc_fatal("there is no memory for another rank");
        *one = (start){thread, load(rank), argc, copy(argc, argv), environment};
        if (REAL(pthread_create)(&thread->real, NULL, begin, one))
            vc_fatal("the system cannot start a thread for another rank");
    }
}

void ranks_leave(int code)
{
    if (vc_set.ranks == 1)
        return;
    if (code) {
        fflush(stdout);
        fprintf(stderr, "rank %d of %d ended with exit code %d, and all others with it\n", vc_self->rank, vc_set.ranks, code);
        return;
    }
    vc_end_rank();
    if (vc_live == 1)
        return;
    if (vc_before_others)
        vc_before_others();
    vc_end();
    for (;;)
        REAL(pause)();
}

/* ---- what the C library keeps for a process ---- */

typedef struct {
    int begun;
    struct random_data random;
    char room[128]; /* as the C library's own */
    struct drand48_data drand48;
    char *strtok;
} library_state;

static library_state *state(void)
{
    static library_state states[VC_MOST_CORES];
    library_state *own = &states[vc_self->rank];
    if (!own->begun++)
        initstate_r(1, own->room, sizeof own->room, &own->random);
    return own;
}

static int of_ranks(void) { return vc_self && vc_set.ranks > 1; }

#define OF_RANK(type, name, parameters, arguments, does) \
    type name parameters                                 \
    {                                                    \
        if (!of_ranks())                                 \
            return REAL(name) arguments;                 \
        return does;                                     \
    }

static long random_of(library_state *own)
{
    int32_t value;
    random_r(&own->random, &value);
    return value;
}

static double drand48_of(library_state *own)
{
    double value;
    drand48_r(&own->drand48, &value);
    return value;
}

static long long48_of(int function(struct drand48_data *, long *))
{
    long value;
    function(&state()->drand48, &value);
    return value;
}

OF_RANK(int, rand, (void), (), (int)random_of(state()))
OF_RANK(long, random, (void), (), random_of(state()))
OF_RANK(void, srand, (unsigned seed), (seed), (void)srandom_r(seed, &state()->random))
OF_RANK(void, srandom, (unsigned seed), (seed), (void)srandom_r(seed, &state()->random))
OF_RANK(double, drand48, (void), (), drand48_of(state()))
OF_RANK(long, lrand48, (void), (), long48_of(lrand48_r))
OF_RANK(long, mrand48, (void), (), long48_of(mrand48_r))
OF_RANK(void, srand48, (long seed), (seed), (void)srand48_r(seed, &state()->drand48))
OF_RANK(char *, strtok, (char *restrict text, const char *restrict ends), (text, ends),
        strtok_r(text, ends, &state()->strtok))
