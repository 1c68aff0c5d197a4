/* What the ranks of an MPI program exchange, for programs with `apis: [mpi]` on a real machine. It stands between the program and its
 * MPI by MPI's own profiling interface (MPI 3.1, chapter 14): each function here does what the one of its name does, and records it.
 *
 * Each process records in a folder of its own below $RCW_RAW, `rank_N`, of which it makes $RCW_RAW, so that all others who record
 * (recap.c, the read-out of counters) follow. There `messages.bin` has the messages (../../card/records.h) and `rank.txt` which rank it is.
 * Ranks that read one clock, as those of one machine do, need no more than when each began by it (`rank.txt`). Of each other clock the
 * first rank is aligned by messages in MPI_Init and MPI_Finalize: `rank_clocks.bin` of rank 0 has when each left it, met the other
 * rank's clock and was back. Communicators get numbers that all their ranks know: 0 is MPI_COMM_WORLD, -1 is one of which nothing is known. */
#define _GNU_SOURCE
#include "ranks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ROUNDS = 50, LEAST_ROUNDS = 10, PIECE = 4096, TAG = 1, ASLEEP_US = 100 };

static const double enough_s = 0.02; /* for the rounds with one rank, where they take long */

int rcw_ranks_on;

static int file = -1, clocks_file = -1, rank, ranks, is_aligned, keyval = MPI_KEYVAL_INVALID;
static int64_t orders, numbers;
static rcw_message_record *piece;
static int in_piece, pieces;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm last_comm = MPI_COMM_NULL;
static rcw_communicator *last_known;

/* ---- where a process records ---- */

static int create(const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", getenv("RCW_RAW"), name);
    int fd = length < (int)sizeof path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        fprintf(stderr, "recap: cannot write %s/%s\n", getenv("RCW_RAW"), name);
    return fd;
}

/* The folder and those that it is in. */
static int make_folders(const char *path)
{
    char part[4096];
    snprintf(part, sizeof part, "%s", path);
    for (char *at = part + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        mkdir(part, 0777);
    }
    return !mkdir(part, 0777) || !access(part, W_OK);
}

/* Before recap.c begins (102). A launcher tells the rank before MPI does; where it is another one, rank.txt counts. */
__attribute__((constructor(101))) static void choose_folder(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
    const char *folder = getenv("RCW_RAW"), *known = NULL;
    char path[4096], host[256] = "";
    if (!folder || !*folder || getenv("RCW_CARD_FD"))
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !known; i++)
        known = getenv(names[i]);
    gethostname(host, sizeof host - 1);
    int length = known ? snprintf(path, sizeof path, "%s/rank_%d", folder, atoi(known))
                       : snprintf(path, sizeof path, "%s/rank_of_%s_%d", folder, host, (int)getpid());
    if (length < (int)sizeof path && make_folders(path))
        setenv("RCW_RAW", path, 1);
}

/* Before MPI says how many there are, there may be others. */
int rcw_clock_is_shared(void) { return ranks != 1; }

/* Where a rank runs and records; `clock` is a name that ranks share which read the same one. */
typedef struct {
    char clock[192], host[MPI_MAX_PROCESSOR_NAME], folder[1024];
} place;

static place *places; /* of each rank */

/* This rank's own, in rank.txt; those of all in rank 0's places.txt, for whoever brings the folders together. */
static void write_places(void)
{
    place own = {"", "", ""};
    int64_t zero, zero_ns;
    int length;
    if (!rcw_shared_clock(own.clock, sizeof own.clock, &zero, &zero_ns))
        snprintf(own.clock, sizeof own.clock, "of rank %d", rank);
    PMPI_Get_processor_name(own.host, &length);
    snprintf(own.folder, sizeof own.folder, "%s", getenv("RCW_RAW"));
    int fd = create("rank.txt");
    if (fd >= 0 && dprintf(fd, "rank %d\nranks %d\nhost %s\nclock %s\nzero %lld\nzero_ns %lld\n", rank, ranks, own.host,
                           own.clock, (long long)zero, (long long)zero_ns) < 0)
        fprintf(stderr, "recap: cannot write which rank this is\n");
    close(fd);
    places = calloc((size_t)ranks, sizeof *places);
    PMPI_Allgather(&own, sizeof own, MPI_BYTE, places, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    fd = rank == 0 ? create("places.txt") : -1;
    for (int i = 0; fd >= 0 && i < ranks; i++)
        if (dprintf(fd, "%d %s:%s\n", i, places[i].host, places[i].folder) < 0)
            fprintf(stderr, "recap: cannot write where the ranks are\n");
    close(fd);
}

/* ---- records ---- */

/* In memory that is a part of the file, so that whatever ends the process leaves it. The caller has the lock. */
static void add(const rcw_message_record *record)
{
    if (!piece || in_piece == PIECE) {
        const size_t bytes = PIECE * sizeof *piece;
        off_t at = (off_t)(pieces * bytes);
        if (piece)
            munmap(piece, bytes);
        piece = posix_fallocate(file, at, (off_t)bytes)
                    ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, at);
        in_piece = 0;
        pieces++;
        if (piece == MAP_FAILED) {
            piece = NULL;
            rcw_ranks_on = 0;
            fprintf(stderr, "recap: no room for the messages of rank %d: further ones are not recorded\n", rank);
            return;
        }
    }
    piece[in_piece++] = *record;
}

void rcw_keep(const rcw_message_record *record)
{
    pthread_mutex_lock(&lock);
    if (rcw_ranks_on)
        add(record);
    pthread_mutex_unlock(&lock);
}

int64_t rcw_next_order(void) { return __atomic_fetch_add(&orders, 1, __ATOMIC_RELAXED); }

/* ---- communicators ---- */

static rcw_communicator *new_communicator(MPI_Comm comm, int64_t number)
{
    MPI_Group mine, all;
    int inter, size;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_group(comm, &mine);
    else
        PMPI_Comm_group(comm, &mine);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_size(mine, &size);
    rcw_communicator *one = calloc(1, sizeof *one);
    int *own = malloc((size_t)size * sizeof *own);
    one->number = inter ? -1 : number;
    one->size = size;
    one->world = malloc((size_t)size * sizeof *one->world);
    for (int i = 0; i < size; i++)
        own[i] = i;
    PMPI_Group_translate_ranks(mine, size, own, all, one->world);
    free(own);
    PMPI_Group_free(&mine);
    PMPI_Group_free(&all);
    PMPI_Comm_set_attr(comm, keyval, one);
    return one;
}

rcw_communicator *rcw_known(MPI_Comm comm)
{
    int found;
    rcw_communicator *one;
    pthread_mutex_lock(&lock);
    if (comm != last_comm || !last_known) {
        PMPI_Comm_get_attr(comm, keyval, &one, &found);
        last_known = found ? one : new_communicator(comm, -1);
        last_comm = comm;
    }
    one = last_known;
    pthread_mutex_unlock(&lock);
    return one;
}

static int forget(MPI_Comm comm, int key, void *value, void *more)
{
    rcw_communicator *one = value;
    (void)comm, (void)key, (void)more;
    last_known = NULL;
    free(one->world);
    free(one);
    return MPI_SUCCESS;
}

/* Its first rank chooses the number of a new communicator. */
static void name(MPI_Comm comm)
{
    int own, inter;
    if (!rcw_ranks_on || comm == MPI_COMM_NULL)
        return;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        return;
    int64_t number = ((int64_t)rank + 1) << 32 | ++numbers;
    PMPI_Bcast(&number, 1, MPI_INT64_T, 0, comm);
    PMPI_Comm_rank(comm, &own);
    new_communicator(comm, number);
}

int rcw_in_world(const rcw_communicator *of, int peer)
{
    return peer >= 0 && peer < of->size ? of->world[peer] : peer == MPI_PROC_NULL ? RCW_NO_RANK : RCW_FROM_ALL;
}

int64_t rcw_bytes_of(int count, MPI_Datatype type)
{
    int size = 0;
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_size(type, &size);
    return (int64_t)count * size;
}

rcw_message_record rcw_message(int kind, const rcw_communicator *of, int peer, int tag, int64_t bytes)
{
    return (rcw_message_record){.bytes = bytes, .comm = of->number, .order = rcw_next_order(), .kind = kind, .tag = tag,
                                .peer = rcw_in_world(of, peer), .thread = rcw_self ? rcw_self->number : 0};
}

/* ---- the ranks' clocks ---- */

/* Of ranks that read one clock, the first: rank 0's is known. */
static int is_aligned_with(int other)
{
    for (int i = 0; i < other; i++)
        if (!strcmp(places[i].clock, places[other].clock))
            return 0;
    return other > 0;
}

/* Rank 0 says with each message whether it is the last one. */
static void align_with(int other, MPI_Comm own)
{
    double began = MPI_Wtime();
    for (int round = 1, last = 0; !last; round++) {
        rcw_rank_clock_record record = {0, 0, 0, other, round};
        if (rank == 0) {
            last = round == MOST_ROUNDS || (round >= LEAST_ROUNDS && MPI_Wtime() - began > enough_s);
            record.t_p1 = rcw_ticks();
            PMPI_Send(&last, 1, MPI_INT, other, TAG, own);
            PMPI_Recv(&record.met, 1, MPI_INT64_T, other, TAG, own, MPI_STATUS_IGNORE);
            record.t_p3 = rcw_ticks();
            if (clocks_file >= 0 && write(clocks_file, &record, sizeof record) != sizeof record)
                fprintf(stderr, "recap: cannot write how the ranks' clocks differ\n");
        } else {
            PMPI_Recv(&last, 1, MPI_INT, 0, TAG, own, MPI_STATUS_IGNORE);
            record.met = rcw_ticks();
            PMPI_Send(&record.met, 1, MPI_INT64_T, 0, TAG, own);
        }
    }
}

/* Ranks wait asleep for rank 0 to begin with them and to have ended with all: where there are more of them than cores, the two that
 * exchange messages have a core each. */
static void align(void)
{
    MPI_Comm own;
    int goes_on = 0;
    PMPI_Comm_dup(MPI_COMM_WORLD, &own);
    for (int other = 1; rank == 0 && other < ranks; other++)
        if (is_aligned_with(other)) {
            PMPI_Send(&goes_on, 1, MPI_INT, other, TAG, own);
            align_with(other, own);
        }
    goes_on = rank == 0;
    for (int other = 1; rank == 0 && other < ranks; other++)
        PMPI_Send(&goes_on, 1, MPI_INT, other, TAG, own);
    while (!goes_on) {
        for (int came = 0; !came;) {
            PMPI_Iprobe(0, TAG, own, &came, MPI_STATUS_IGNORE);
            if (!came)
                usleep(ASLEEP_US);
        }
        PMPI_Recv(&goes_on, 1, MPI_INT, 0, TAG, own, MPI_STATUS_IGNORE);
        if (!goes_on)
            align_with(rank, own);
    }
    PMPI_Comm_free(&own);
}

static void begin(void)
{
    int mine = rcw_recording && !rcw_simulated, all;
    const char *asked = getenv("RCW_TRACE");
    int traced = asked && *asked;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (mine && !all)
        fprintf(stderr, "recap: rank %d records no messages, as others record nothing: $RCW_RAW has to be set for all ranks "
                        "(mpirun -x RCW_RAW)\n", rank);
    if (!all)
        return;
    write_places();
    file = traced ? create("messages.bin") : -1;
    clocks_file = rank == 0 ? create("rank_clocks.bin") : -1;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
    new_communicator(MPI_COMM_WORLD, 0);
    align();
    is_aligned = 1;
    rcw_ranks_on = file >= 0;
}

int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    begin();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int result = PMPI_Init_thread(argc, argv, required, provided);
    begin();
    return result;
}

int rcw_collective(int kind, MPI_Comm comm, int root, int64_t bytes, rcw_message_record *record)
{
    int inter = 1, place = root;
    if (!rcw_ranks_on)
        return 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        return 0;
    rcw_communicator *of = rcw_known(comm);
    *record = rcw_message(kind, of, kind == RCW_ALL_TO_ALL ? RCW_FROM_ALL : root, of->size, bytes);
    if (kind == RCW_FROM_LOWER) {
        PMPI_Comm_rank(comm, &place);
        record->peer = place;
    }
    record->order = of->collectives++;
    record->t0 = record->posted = rcw_ticks();
    return 1;
}

int MPI_Finalize(void)
{
    rcw_message_record record;
    if (rcw_collective(RCW_ALL_TO_ALL, MPI_COMM_WORLD, RCW_FROM_ALL, 0, &record)) {
        PMPI_Barrier(MPI_COMM_WORLD);
        record.t1 = rcw_ticks();
        rcw_keep(&record);
    }
    if (is_aligned)
        align();
    if (piece && ftruncate(file, (off_t)(((int64_t)(pieces - 1) * PIECE + in_piece) * (int64_t)sizeof *piece)))
        fprintf(stderr, "recap: cannot shorten the messages' file\n");
    rcw_ranks_on = 0;
    return PMPI_Finalize();
}

#define NEW_COMM(call) \
    {                                  \
        int result = P##call;          \
        if (result == MPI_SUCCESS)     \
            name(*newcomm);            \
        return result;                 \
    }

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm) NEW_COMM(MPI_Comm_dup(comm, newcomm))
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm) NEW_COMM(MPI_Comm_dup_with_info(comm, info, newcomm))
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm) NEW_COMM(MPI_Comm_split(comm, color, key, newcomm))
int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
    NEW_COMM(MPI_Comm_split_type(comm, split_type, key, info, newcomm))
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm) NEW_COMM(MPI_Comm_create(comm, group, newcomm))
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
    NEW_COMM(MPI_Comm_create_group(comm, group, tag, newcomm))
int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *newcomm)
    NEW_COMM(MPI_Cart_create(comm, ndims, dims, periods, reorder, newcomm))
int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm) NEW_COMM(MPI_Cart_sub(comm, remain_dims, newcomm))
