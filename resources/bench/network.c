/* Measures a network between MPI ranks in LogGP terms: the program that `workbench template network` builds and runs. Messages go between rank 0 and
 * rank 1; collectives between all. Each line that it prints is a name, a number of bytes and seconds: the least of REPEATS times, since
 * all else that a machine does only adds to it.
 *
 *   send      what MPI_Send of a message takes, with nothing under way (o)
 *   receive   what MPI_Recv takes of a message that is there (o), after a wait as long as ten round trips
 *   ping      half of a message's way there and back (o + G m + L + o)
 *   train     ROW messages in a row, until the answer to the last is there; one is a train of 1 (g, and G where they are long)
 *
 * After Kielmann, Bal and Verstoep, "Fast Measurement of LogP Parameters for Message Passing Platforms", 2000 (the gap is that of a saturated
 * link, the receive is delayed), and Hoefler et al., "Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks", 2007. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef REPEATS
#define REPEATS 5
#endif
#ifndef SLEEPS_LATE
#define SLEEPS_LATE 1e-3 /* by so many seconds a sleep may be too long: from then on the clock is looked at */
#endif
enum { ROW = 16, SHORT = 1, LONG = 1 << 16, LONGER = 1 << 18 };

static int rank, ranks;
static char *data, *all;

static void pass(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

static void give(int bytes, int to) { MPI_Send(data, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD); }
static void get(int bytes, int from) { MPI_Recv(data, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static double ping(int bytes)
{
    double began = MPI_Wtime();
    if (rank == 0)
        give(bytes, 1), get(bytes, 1);
    if (rank == 1)
        get(bytes, 0), give(bytes, 0);
    return (MPI_Wtime() - began) / 2;
}

static double sent(int bytes, double quiet)
{
    double took = 0;
    if (rank == 0) {
        double began = MPI_Wtime();
        give(bytes, 1);
        took = MPI_Wtime() - began;
    }
    if (rank == 1)
        get(bytes, 0);
    pass(quiet);
    return took;
}

static double received(int bytes, double quiet)
{
    double took = 0;
    if (rank == 1)
        give(bytes, 0);
    if (rank == 0) {
        pass(quiet);
        double began = MPI_Wtime();
        get(bytes, 1);
        took = MPI_Wtime() - began;
    }
    return took;
}

static double train(int bytes, int count)
{
    double began = MPI_Wtime();
    for (int i = 0; i < count && rank == 0; i++)
        give(bytes, 1);
    for (int i = 0; i < count && rank == 1; i++)
        get(bytes, 0);
    if (rank == 1)
        give(0, 0);
    if (rank == 0)
        get(0, 1);
    return MPI_Wtime() - began;
}

static int kind; /* of the collective that is measured */
static const char *const kinds[] = {"barrier", "broadcast", "scatter", "gather", "reduce", "all-gather", "all-to-all"};

static void collective(int bytes)
{
    switch (kind) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); break;
    case 1: MPI_Bcast(data, bytes, MPI_CHAR, 0, MPI_COMM_WORLD); break;
    case 2: MPI_Scatter(all, bytes, MPI_CHAR, data, bytes, MPI_CHAR, 0, MPI_COMM_WORLD); break;
    case 3: MPI_Gather(data, bytes, MPI_CHAR, all, bytes, MPI_CHAR, 0, MPI_COMM_WORLD); break;
    case 4: MPI_Reduce(data, all, bytes / 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); break;
    case 5: MPI_Allgather(data, bytes, MPI_CHAR, all, bytes, MPI_CHAR, MPI_COMM_WORLD); break;
    case 6: MPI_Alltoall(data, bytes, MPI_CHAR, all, bytes, MPI_CHAR, MPI_COMM_WORLD); break;
    }
}

static double ahead; /* of this rank's clock to rank 0's */

static double now(void) { return MPI_Wtime() - ahead; }

/* By the quickest of some messages to a rank and back: it answers in the middle of that time. */
static void compare_clocks(void)
{
    for (int other = 1; other < ranks; other++) {
        double best = 1e30;
        for (int i = 0; i < 4 * REPEATS; i++) {
            double began = MPI_Wtime(), there = began, ended;
            if (rank == 0) {
                MPI_Send(&began, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
                MPI_Recv(&there, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                ended = MPI_Wtime();
                if (ended - began < best)
                    best = ended - began, ahead = there - (began + ended) / 2;
            } else if (rank == other) {
                MPI_Recv(&began, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                there = MPI_Wtime();
                MPI_Send(&there, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
            }
        }
        if (rank == 0)
            MPI_Send(&ahead, 1, MPI_DOUBLE, other, 2, MPI_COMM_WORLD);
        if (rank == other)
            MPI_Recv(&ahead, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    ahead = rank ? ahead : 0;
}

/* All ranks begin at one moment of rank 0's clock; they are done when the last of them is. */
static double of_all(int bytes, double quiet)
{
    double at = now() + quiet, took, longest, left;
    MPI_Bcast(&at, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    while ((left = at - now()) > 0)
        if (left > SLEEPS_LATE)
            pass(left - SLEEPS_LATE);
    collective(bytes);
    took = now() - at;
    pass(quiet);
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return longest;
}

static double least(double (*measure)(int, double), int bytes, double quiet)
{
    double best = 1e30;
    for (int i = 0; i < REPEATS; i++) {
        double took = measure(bytes, quiet);
        if (took < best)
            best = took;
    }
    return best;
}

static double ping_of(int bytes, double quiet) { return (void)quiet, ping(bytes); }
static double one_of(int bytes, double quiet) { return (void)quiet, train(bytes, 1); }
static double row_of(int bytes, double quiet) { return (void)quiet, train(bytes, ROW); }

static void say(const char *name, int bytes, double seconds)
{
    if (rank == 0)
        printf("%s %d %.15g\n", name, bytes, seconds);
}

int main(int argc, char **argv)
{
    const int sizes[] = {SHORT, 1024, LONG, LONGER};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    data = calloc(LONGER, 1), all = calloc((size_t)ranks, LONGER);
    if (ranks < 2 || !data || !all) {
        fprintf(stderr, "start this program as two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    ping(SHORT);
    double quiet = 20 * least(ping_of, LONGER, 0);
    MPI_Bcast(&quiet, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("ranks %d 0\nrow %d 0\n", ranks, ROW);
    for (int i = 0; i < 4; i++) {
        int bytes = sizes[i];
        say("send", bytes, least(sent, bytes, quiet));
        say("receive", bytes, least(received, bytes, quiet));
        say("ping", bytes, least(ping_of, bytes, 0));
        say("one", bytes, least(one_of, bytes, 0));
        say("train", bytes, least(row_of, bytes, 0));
    }
    compare_clocks();
    for (kind = 0; kind < 7; kind++)
        for (int i = 1; i < 3; i++)
            say(kinds[kind], sizes[i], least(of_all, sizes[i], quiet));
    MPI_Finalize();
    return 0;
}
