/* Measures how the ranks' clocks differ, by messages between the first recording rank and a rank of each other clock: part of ranks.c. */
#include "ranks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ROUNDS = 50, LEAST_ROUNDS = 10, TAG = 1, ASLEEP_US = 100 };

static const double enough_s = 0.02; /* limit for the rounds with one rank, after LEAST_ROUNDS */

/* Whether a rank is the first one of its clock, and so is aligned. Rank 0 needs no alignment. */
static int is_aligned_with(const rcw_partners *of, int other)
{
    for (int i = 0; i < other; i++)
        if (!strcmp(of->places[i].clock, of->places[other].clock))
            return 0;
    return other > 0;
}

/* Exchanges messages with another rank. Each message of the first rank says whether it is the last one. */
static void align_with(const rcw_partners *of, int other, int clocks_file)
{
    double began = MPI_Wtime();
    for (int round = 1, last = 0; !last; round++) {
        rcw_rank_clock_record record = {0, 0, 0, of->rank[other], round};
        if (of->own == 0) {
            last = round == MOST_ROUNDS || (round >= LEAST_ROUNDS && MPI_Wtime() - began > enough_s);
            record.t_p1 = rcw_ticks();
            PMPI_Send(&last, 1, MPI_INT, other, TAG, of->comm);
            PMPI_Recv(&record.met, 1, MPI_INT64_T, other, TAG, of->comm, MPI_STATUS_IGNORE);
            record.t_p3 = rcw_ticks();
            if (clocks_file >= 0 && write(clocks_file, &record, sizeof record) != sizeof record)
                fprintf(stderr, "recap: cannot write rank_clocks.bin\n");
        } else {
            PMPI_Recv(&last, 1, MPI_INT, 0, TAG, of->comm, MPI_STATUS_IGNORE);
            record.met = rcw_ticks();
            PMPI_Send(&record.met, 1, MPI_INT64_T, 0, TAG, of->comm);
        }
    }
}

/* The other ranks sleep until the first rank begins with them, and until it has finished with all. So the two ranks that exchange messages
 * have a core each, even if there are more ranks than cores. */
void rcw_align(const rcw_partners *of, int clocks_file)
{
    int goes_on = 0;
    for (int other = 1; of->own == 0 && other < of->count; other++)
        if (is_aligned_with(of, other)) {
            PMPI_Send(&goes_on, 1, MPI_INT, other, TAG, of->comm);
            align_with(of, other, clocks_file);
        }
    goes_on = of->own == 0;
    for (int other = 1; of->own == 0 && other < of->count; other++)
        PMPI_Send(&goes_on, 1, MPI_INT, other, TAG, of->comm);
    while (!goes_on) {
        for (int came = 0; !came;) {
            PMPI_Iprobe(0, TAG, of->comm, &came, MPI_STATUS_IGNORE);
            if (!came)
                usleep(ASLEEP_US);
        }
        PMPI_Recv(&goes_on, 1, MPI_INT, 0, TAG, of->comm, MPI_STATUS_IGNORE);
        if (!goes_on)
            align_with(of, of->own, clocks_file);
    }
}
