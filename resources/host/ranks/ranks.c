/* Records the messages of an MPI program's ranks, for programs with `apis: [mpi]` on a real machine. It uses MPI's profiling interface
 * (MPI 3.1, chapter 14): each function here calls the MPI function of the same name (with prefix P) and records the call.
 *
 * Each process records in its own folder `rank_N` below $RCW_RAW. It sets $RCW_RAW to that folder, so that the other recorders (recap.c,
 * the counter read-out) write there too. `messages.bin` has the messages (../../card/records.h), `rank.txt` the rank's number.
 *
 * Ranks of one machine share a clock; `rank.txt` has each rank's start on it. The first rank aligns every other clock by messages in
 * MPI_Init and MPI_Finalize. Its `rank_clocks.bin` has three times of each message: sent, met by the other rank's clock, and back.
 *
 * Communicators have numbers that all their ranks know: 0 is MPI_COMM_WORLD, 1 has the ranks that record (`ranks_partners.c`), and -1 is
 * an unknown one. The recorders exchange their own messages in communicator 1 only. */
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

enum { PIECE = 4096, TAG = 1 };

int rcw_ranks_on;

static int file = -1, clocks_file = -1, rank, ranks, exchanges_messages, keyval = MPI_KEYVAL_INVALID;
static rcw_partners partners = {.comm = MPI_COMM_NULL};
static char *records_too; /* for each rank: whether it records */
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

static FILE *create_text(const char *name)
{
    int fd = create(name);
    return fd < 0 ? NULL : fdopen(fd, "w");
}

/* Makes the folder and its parent folders. */
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

const char *rcw_launched_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
    const char *known = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !known; i++)
        known = getenv(names[i]);
    return known;
}

/* Runs before recap.c's constructor (102). The launcher gives the rank before MPI does; if MPI gives another one, rank.txt has it. */
__attribute__((constructor(101))) static void choose_folder(void)
{
    const char *folder = getenv("RCW_RAW"), *known = rcw_launched_rank();
    char path[4096], host[256] = "";
    if (!folder || !*folder || getenv("RCW_CARD_FD"))
        return;
    gethostname(host, sizeof host - 1);
    int length = known ? snprintf(path, sizeof path, "%s/rank_%d", folder, atoi(known))
                       : snprintf(path, sizeof path, "%s/rank_of_%s_%d", folder, host, (int)getpid());
    if (length < (int)sizeof path && make_folders(path))
        setenv("RCW_RAW", path, 1);
}

/* Before MPI_Init, the number of ranks is unknown, so the clock counts as shared. */
int rcw_clock_is_shared(void) { return ranks != 1; }

/* Writes this rank's place to rank.txt. The first rank also writes the places of all recording ranks to places.txt, for the command that
 * collects the folders. */
static void write_places(void)
{
    rcw_place mine = {"", "", ""};
    int64_t zero, zero_ns;
    int length;
    if (!rcw_shared_clock(mine.clock, sizeof mine.clock, &zero, &zero_ns))
        snprintf(mine.clock, sizeof mine.clock, "of rank %d", rank);
    PMPI_Get_processor_name(mine.host, &length);
    snprintf(mine.folder, sizeof mine.folder, "%s", getenv("RCW_RAW"));
    FILE *text = create_text("rank.txt");
    if (text) {
        fprintf(text, "rank %d\nranks %d\nhost %s\nclock %s\nzero %lld\nzero_ns %lld\n", rank, ranks, mine.host, mine.clock,
                (long long)zero, (long long)zero_ns);
        fprintf(text, "without");
        for (int i = 0; i < ranks; i++)
            if (!records_too[i])
                fprintf(text, " %d", i);
        fprintf(text, "\n");
    }
    if (text && fclose(text))
        fprintf(stderr, "recap: cannot write rank.txt\n");
    partners.places = calloc((size_t)partners.count, sizeof *partners.places);
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, partners.places, sizeof mine, MPI_BYTE, partners.comm);
    text = partners.own == 0 ? create_text("places.txt") : NULL;
    for (int i = 0; text && i < partners.count; i++)
        fprintf(text, "%d %s:%s\n", partners.rank[i], partners.places[i].host, partners.places[i].folder);
    if (text && fclose(text))
        fprintf(stderr, "recap: cannot write places.txt\n");
}

/* ---- records ---- */

/* Adds a record to a part of the file that is mapped to memory, so that it remains however the process ends. The caller has the lock. */
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
    static __thread volatile int keeps, misses; /* whether this thread is in this function; whether a signal handler came then */
    rcw_thread_began();
    if (keeps) {
        misses = 1;
        return;
    }
    keeps = 1;
    rcw_lock(&lock);
    if (rcw_ranks_on)
        add(record);
    rcw_unlock(&lock);
    keeps = 0;
    if (misses) {
        misses = 0;
        rcw_not_followed(RCW_IN_HANDLER);
    }
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
    rcw_lock(&lock);
    if (comm != last_comm || !last_known) {
        PMPI_Comm_get_attr(comm, keyval, &one, &found);
        last_known = found ? one : new_communicator(comm, -1);
        last_comm = comm;
    }
    one = last_known;
    rcw_unlock(&lock);
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

/* Whether all ranks of a communicator record; otherwise the recorders must not exchange messages in it. */
static int all_record(const rcw_communicator *one)
{
    int all = 1;
    for (int i = 0; i < one->size && all; i++)
        all = one->world[i] >= 0 && one->world[i] < ranks && records_too[one->world[i]];
    return all;
}

/* Gives a new communicator a number, which its first rank chooses. */
static void name(MPI_Comm comm)
{
    int inter;
    if (!exchanges_messages || comm == MPI_COMM_NULL)
        return;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter || !all_record(new_communicator(comm, -1)))
        return;
    int64_t number = ((int64_t)rank + 1) << 32 | ++numbers;
    PMPI_Bcast(&number, 1, MPI_INT64_T, 0, comm);
    rcw_known(comm)->number = number;
}

MPI_Comm rcw_twin(MPI_Comm comm)
{
    MPI_Comm twin = MPI_COMM_NULL;
    int inter;
    PMPI_Comm_test_inter(comm, &inter);
    if (exchanges_messages && !inter && all_record(rcw_known(comm)))
        MPI_Comm_dup(comm, &twin);
    return twin;
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

/* ---- begin and end ---- */

/* Finds the ranks that record, joins them in a communicator and opens the records. */
static void begin(void)
{
    const char *asked = getenv("RCW_TRACE");
    int traced = asked && *asked;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!rcw_recording || rcw_simulated)
        return;
    records_too = calloc((size_t)ranks, 1);
    partners.count = rcw_find_partners(rank, ranks, records_too);
    partners.rank = malloc((size_t)ranks * sizeof *partners.rank);
    for (int i = 0, count = 0; i < ranks; i++) {
        partners.own = i == rank ? count : partners.own;
        if (records_too[i])
            partners.rank[count++] = i;
    }
    if (partners.count < ranks && partners.own == 0)
        fprintf(stderr, "recap: %d of %d ranks record nothing: their programs are not instrumented, or RCW_RAW is not set for "
                        "them (mpirun -x RCW_RAW)\n", ranks - partners.count, ranks);
    MPI_Group all, some;
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_incl(all, partners.count, partners.rank, &some);
    PMPI_Comm_create_group(MPI_COMM_WORLD, some, TAG, &partners.comm);
    PMPI_Group_free(&all);
    PMPI_Group_free(&some);
    PMPI_Allreduce(&traced, &exchanges_messages, 1, MPI_INT, MPI_MAX, partners.comm);
    write_places();
    file = traced ? create("messages.bin") : -1;
    clocks_file = partners.own == 0 ? create("rank_clocks.bin") : -1;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
    new_communicator(MPI_COMM_WORLD, 0);
    new_communicator(partners.comm, 1);
    rcw_align(&partners, clocks_file);
    rcw_ranks_on = file >= 0;
    rcw_look_for_runtimes();
}

int MPI_Init(int *argc, char ***argv)
{
    rcw_take_part();
    int result = PMPI_Init(argc, argv);
    begin();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    rcw_take_part();
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
    if (partners.comm != MPI_COMM_NULL) {
        int recorded = rcw_collective(RCW_ALL_TO_ALL, partners.comm, RCW_FROM_ALL, 0, &record);
        PMPI_Barrier(partners.comm);
        if (recorded) {
            record.t1 = rcw_ticks();
            rcw_keep(&record);
        }
        rcw_align(&partners, clocks_file);
    }
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
