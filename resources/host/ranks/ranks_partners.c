/* Finds the ranks of a program that record: a part of ranks.c. Programs without instrumentation may run beside an instrumented one
 * (`mpirun a : b`); they do not answer the recorder's messages. So each recording rank creates a file `takes_part` in its folder before
 * MPI_Init. After MPI_Init, in which all ranks meet, it looks for the files of the others. Each rank locks its file as long as it lives,
 * so files of earlier runs have no lock.
 *
 * A shared file system (NFS) may show a file late, so a rank looks for missing files for a while. If files are still missing, and the
 * machines may not share the folder, all ranks are asked by MPI. If not all answer in time, the program ends: a collective call
 * cannot be cancelled once it has started. */
#define _GNU_SOURCE
#include "ranks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_S = 20, ASLEEP_US = 100, LATE_S = 2, LOOKS_AGAIN_US = 20000 };

static char host[256];
static int marked; /* this rank's file exists, and the launcher gave its number */

void rcw_take_part(void)
{
    char path[4096];
    const char *folder = getenv("RCW_RAW");
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    gethostname(host, sizeof host - 1);
    if (!rcw_recording || rcw_simulated || !rcw_launched_rank() || snprintf(path, sizeof path, "%s/takes_part", folder) >= (int)sizeof path)
        return;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); /* stays open to keep the lock */
    marked = fd >= 0 && write(fd, host, strlen(host)) == (ssize_t)strlen(host) && !fsync(fd);
    if (fd >= 0)
        fcntl(fd, F_SETLK, &whole); /* without locks in the file system, files of earlier runs count too */
}

/* Whether a rank's file says that it records. Sets `elsewhere` if it records on another machine. */
static int takes_part(const char *records, int other, int *elsewhere)
{
    char path[4096], of[sizeof host] = "";
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (snprintf(path, sizeof path, "%s/rank_%d/takes_part", records, other) >= (int)sizeof path)
        return 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int lives = fcntl(fd, F_GETLK, &whole) || whole.l_type != F_UNLCK;
    if (lives && read(fd, of, sizeof of - 1) > 0 && strcmp(of, host))
        *elsewhere = 1;
    close(fd);
    return lives;
}

/* Whether the launcher started all ranks on this machine. */
static int all_are_here(int ranks)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i])) == ranks;
    return 0;
}

/* How many ranks record, by the files that are visible now. */
static int look(const char *records, int rank, int ranks, char *records_too, int *elsewhere)
{
    int found = 0;
    DIR *folder = opendir(records); /* makes NFS read the folder's list again */
    while (folder && readdir(folder))
        ;
    if (folder)
        closedir(folder);
    for (int other = 0; other < ranks; other++)
        found += records_too[other] = (char)(records_too[other] || other == rank || takes_part(records, other, elsewhere));
    return found;
}

/* Whether all ranks record, asked by MPI. */
static int all_answer(int rank)
{
    int mine = 1, all = 0, here = 0;
    MPI_Request request;
    double began = MPI_Wtime();
    PMPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    while (!here && MPI_Wtime() - began < ANSWER_S) {
        PMPI_Test(&request, &here, MPI_STATUS_IGNORE);
        usleep(here ? 0 : ASLEEP_US);
    }
    if (here)
        return 1;
    fprintf(stderr, "recap: rank %d ends the program: some ranks do not record, or their machines do not share $RCW_RAW. "
                    "Set RCW_RAW for all ranks (mpirun -x RCW_RAW), instrument all programs, or set it to a "
                    "folder that all machines share.\n", rank);
    PMPI_Abort(MPI_COMM_WORLD, 1);
    return 0;
}

int rcw_find_partners(int rank, int ranks, char *records_too)
{
    char records[4096];
    int found = 0, elsewhere = 0;
    snprintf(records, sizeof records, "%s", getenv("RCW_RAW"));
    char *end = strrchr(records, '/');
    if (end)
        *end = 0;
    double began = MPI_Wtime();
    while (marked && (found = look(records, rank, ranks, records_too, &elsewhere)) < ranks && !all_are_here(ranks)) {
        if (MPI_Wtime() - began > LATE_S)
            break;
        usleep(LOOKS_AGAIN_US);
    }
    if (found == ranks || (marked && (elsewhere || all_are_here(ranks))))
        return found;
    if (!all_answer(rank))
        return 0;
    memset(records_too, 1, (size_t)ranks);
    return ranks;
}
