/* MPI on the simulated card's messages between ranks (messages.h). Collectives go by the algorithms that RATSS' equations price:
 * binomial trees for scatter, gather, broadcast and reduce, Bruck's exchange for an all-gather, pairwise exchange for an all-to-all,
 * dissemination for a barrier. In a scatter and a gather the network's interface passes on what is another rank's, at no
 * processor's time (Eq. 19 counts 2 o in all: the root's, and that of who gets its part). An all-reduce is a reduce and a broadcast. */
#include "mpi.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "wbcard.h"

enum { PLAIN, COLLECTIVE }; /* contexts of messages */

struct rcw_mpi_request {
    rcw_receive *receive; /* NULL: a send, which is done, or a receive from MPI_PROC_NULL */
};

static int begun, finalized;

static void fail(const char *why) { rcw_library_fatal(why); }

static void begin(const char *name, const void *where)
{
    rcw_library_begin(name, where);
    if (!begun || finalized)
        fail(begun ? "it comes after MPI_Finalize" : "MPI_Init has to come before it");
}

#define BEGIN begin(__func__, __builtin_return_address(0))

static int end(void)
{
    rcw_library_end();
    return MPI_SUCCESS;
}

static void check_comm(MPI_Comm comm)
{
    if (comm != MPI_COMM_WORLD)
        fail("on the simulated card MPI_COMM_WORLD is the one communicator");
}

static int64_t bytes_of(int count, MPI_Datatype type)
{
    if (count < 0)
        fail("the count is negative");
    if (type <= 0 || type > MPI_UINT64_T || !(type & 0xff))
        fail("this is no datatype");
    return (int64_t)count * (type & 0xff);
}

static void check_rank(int rank)
{
    char why[120];
    int count = rcw_rank_count();
    if (rank >= 0 && rank < count)
        return;
    snprintf(why, sizeof why, "there is no rank %d, only ranks 0 to %d", rank, count - 1);
    fail(why);
}

static void check_tag(int tag)
{
    if (tag < 0)
        fail("a tag may not be negative");
}

/* ---- begin, end, and what is asked ---- */

int MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    rcw_library_begin(__func__, __builtin_return_address(0));
    if (begun++)
        fail("it was called before");
    return end();
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    rcw_library_begin(__func__, __builtin_return_address(0));
    if (begun++)
        fail("it was called before");
    *provided = required < MPI_THREAD_FUNNELED ? required : MPI_THREAD_FUNNELED;
    return end();
}

int MPI_Initialized(int *flag) { return *flag = !!begun, MPI_SUCCESS; }
int MPI_Finalized(int *flag) { return *flag = finalized, MPI_SUCCESS; }
double MPI_Wtime(void) { return (double)rcw_now_ps() * 1e-12; }
double MPI_Wtick(void) { return 1e-12; }

int MPI_Abort(MPI_Comm comm, int errorcode)
{
    (void)comm;
    exit(errorcode ? errorcode : 1);
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    BEGIN;
    check_comm(comm);
    *rank = rcw_rank();
    return end();
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    BEGIN;
    check_comm(comm);
    *size = rcw_rank_count();
    return end();
}

int MPI_Get_processor_name(char *name, int *resultlen)
{
    *resultlen = snprintf(name, MPI_MAX_PROCESSOR_NAME, "node%d", rcw_rank());
    return MPI_SUCCESS;
}

int MPI_Type_size(MPI_Datatype datatype, int *size) { return *size = datatype & 0xff, MPI_SUCCESS; }

int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    int size = datatype & 0xff;
    *count = size && status->rcw_bytes % size == 0 ? (int)(status->rcw_bytes / size) : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* ---- from one to another ---- */

static void send_to(const void *buf, int64_t bytes, int dest, int tag)
{
    if (dest == MPI_PROC_NULL)
        return;
    check_rank(dest);
    check_tag(tag);
    rcw_message_send(dest, PLAIN, tag, buf, bytes, 0);
}

static MPI_Request receive_from(void *buf, int64_t bytes, int source, int tag)
{
    MPI_Request request = calloc(1, sizeof *request);
    if (!request)
        fail("there is no memory for its request");
    if (source == MPI_PROC_NULL)
        return request;
    if (source != MPI_ANY_SOURCE)
        check_rank(source);
    if (tag != MPI_ANY_TAG)
        check_tag(tag);
    request->receive = rcw_message_receive(source, PLAIN, tag, buf, bytes);
    return request;
}

static void set_status(MPI_Status *status, const rcw_arrival *arrival)
{
    if (status)
        *status = (MPI_Status){arrival->from, arrival->tag, MPI_SUCCESS, arrival->bytes};
}

static const rcw_arrival nothing = {MPI_PROC_NULL, MPI_ANY_TAG, 0};

static void wait_for(MPI_Request *request, MPI_Status *status)
{
    rcw_arrival arrival = nothing;
    if (*request && (*request)->receive)
        rcw_message_wait((*request)->receive, 0, &arrival);
    set_status(status, &arrival);
    free(*request);
    *request = MPI_REQUEST_NULL;
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    BEGIN;
    check_comm(comm);
    send_to(buf, bytes_of(count, datatype), dest, tag);
    return end();
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    BEGIN;
    check_comm(comm);
    MPI_Request request = receive_from(buf, bytes_of(count, datatype), source, tag);
    wait_for(&request, status);
    return end();
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    BEGIN;
    check_comm(comm);
    send_to(buf, bytes_of(count, datatype), dest, tag);
    *request = calloc(1, sizeof **request);
    return end();
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    BEGIN;
    check_comm(comm);
    *request = receive_from(buf, bytes_of(count, datatype), source, tag);
    return end();
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    BEGIN;
    check_comm(comm);
    MPI_Request request = receive_from(recvbuf, bytes_of(recvcount, recvtype), source, recvtag);
    send_to(sendbuf, bytes_of(sendcount, sendtype), dest, sendtag);
    wait_for(&request, status);
    return end();
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    BEGIN;
    wait_for(request, status);
    return end();
}

int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    BEGIN;
    for (int i = 0; i < count; i++)
        wait_for(&array_of_requests[i], array_of_statuses ? &array_of_statuses[i] : NULL);
    return end();
}

int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
    BEGIN;
    rcw_receive *some[count > 0 ? count : 1];
    *index = MPI_UNDEFINED;
    for (int i = count - 1; i >= 0; i--) {
        some[i] = array_of_requests[i] ? array_of_requests[i]->receive : NULL;
        if (array_of_requests[i] && !some[i])
            *index = i;
    }
    if (*index == MPI_UNDEFINED && count > 0) {
        int first = rcw_message_any(some, count);
        *index = first < 0 ? MPI_UNDEFINED : first;
    }
    if (*index != MPI_UNDEFINED)
        wait_for(&array_of_requests[*index], status);
    return end();
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    BEGIN;
    rcw_arrival arrival = nothing;
    *flag = !*request || !(*request)->receive || rcw_message_take((*request)->receive, &arrival);
    if (*flag) {
        set_status(status, &arrival);
        free(*request);
        *request = MPI_REQUEST_NULL;
    }
    return end();
}

/* ---- collectives ---- */

static int collective; /* the number of the one that is under way: its messages' tag */

static void start(MPI_Comm comm, int root, int64_t bytes)
{
    check_comm(comm);
    if (root >= 0)
        check_rank(root);
    collective = rcw_collective(root, bytes);
}

static void give(int to, const void *data, int64_t bytes, int relays)
{
    rcw_message_send(to, COLLECTIVE, collective, data, bytes, relays);
}

static void get(int from, void *to, int64_t bytes, int relays)
{
    rcw_message_wait(rcw_message_receive(from, COLLECTIVE, collective, to, bytes), relays, NULL);
}

static void *room(int64_t bytes)
{
    void *at = malloc(bytes ? (size_t)bytes : 1);
    if (!at)
        fail("there is no memory for it");
    return at;
}

static int least(int a, int b) { return a < b ? a : b; }

/* Dissemination: signal the 1st, 2nd, 4th ... rank after this one, and wait for those before it. */
static void barrier(void)
{
    int me = rcw_rank(), count = rcw_rank_count();
    for (int step = 1; step < count; step *= 2) {
        give((me + step) % count, NULL, 0, 0);
        get((me - step + count) % count, NULL, 0, 0);
    }
}

int MPI_Barrier(MPI_Comm comm)
{
    BEGIN;
    start(comm, -1, 0);
    barrier();
    return end();
}

int MPI_Finalize(void)
{
    BEGIN;
    start(MPI_COMM_WORLD, -1, 0);
    barrier();
    finalized = 1;
    return end();
}

static void broadcast(void *buffer, int64_t bytes, int root)
{
    int count = rcw_rank_count(), me = (rcw_rank() - root + count) % count, step = 1;
    while (step < count && !(me & step))
        step *= 2;
    if (me)
        get((me - step + root) % count, buffer, bytes, 0);
    for (step /= 2; step; step /= 2)
        if (me + step < count)
            give((me + step + root) % count, buffer, bytes, 0);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    BEGIN;
    int64_t bytes = bytes_of(count, datatype);
    start(comm, root, bytes);
    broadcast(buffer, bytes, root);
    return end();
}

#define COMBINE(type)                                                                                    \
    for (int i = 0; i < count; i++) {                                                                    \
        type a = ((const type *)more)[i], *b = (type *)all + i;                                          \
        *b = op == MPI_SUM ? *b + a : op == MPI_PROD ? *b * a : op == MPI_MAX ? (a > *b ? a : *b)        \
           : op == MPI_MIN ? (a < *b ? a : *b) : op == MPI_LAND ? (type)(*b && a) : (type)(*b || a);     \
    }                                                                                                    \
    break;
#define COMBINE_BITS(type)                                                                               \
    if (op >= MPI_BAND) {                                                                                \
        for (int i = 0; i < count; i++) {                                                                \
            type a = ((const type *)more)[i], *b = (type *)all + i;                                      \
            *b = (type)(op == MPI_BAND ? *b & a : op == MPI_BOR ? *b | a : *b ^ a);                      \
        }                                                                                                \
        break;                                                                                           \
    }                                                                                                    \
    COMBINE(type)

static void combine(void *all, const void *more, int count, MPI_Datatype type, MPI_Op op)
{
    if (op < MPI_SUM || op > MPI_BXOR)
        fail("this is no operation");
    if (op >= MPI_BAND && (type == MPI_FLOAT || type == MPI_DOUBLE))
        fail("this operation is not for numbers with a fraction");
    switch (type) {
    case MPI_CHAR: case MPI_SIGNED_CHAR: case MPI_INT8_T: COMBINE_BITS(int8_t)
    case MPI_UNSIGNED_CHAR: case MPI_UINT8_T: case MPI_BYTE: COMBINE_BITS(uint8_t)
    case MPI_SHORT: case MPI_INT16_T: COMBINE_BITS(int16_t)
    case MPI_UNSIGNED_SHORT: case MPI_UINT16_T: COMBINE_BITS(uint16_t)
    case MPI_INT: case MPI_INT32_T: COMBINE_BITS(int32_t)
    case MPI_UNSIGNED: case MPI_UINT32_T: COMBINE_BITS(uint32_t)
    case MPI_LONG: COMBINE_BITS(long)
    case MPI_LONG_LONG: case MPI_INT64_T: COMBINE_BITS(int64_t)
    case MPI_UNSIGNED_LONG: COMBINE_BITS(unsigned long)
    case MPI_UNSIGNED_LONG_LONG: case MPI_UINT64_T: COMBINE_BITS(uint64_t)
    case MPI_FLOAT: COMBINE(float)
    case MPI_DOUBLE: COMBINE(double)
    default: fail("this datatype cannot be reduced");
    }
    rcw_reduced((int64_t)count * (type & 0xff));
}

/* Into `all`, which holds this rank's own. */
static void reduce(void *all, int count, MPI_Datatype type, MPI_Op op, int root)
{
    int ranks = rcw_rank_count(), me = (rcw_rank() - root + ranks) % ranks;
    int64_t bytes = bytes_of(count, type);
    void *more = room(bytes);
    for (int step = 1; step < ranks; step *= 2) {
        if (me & step) {
            give((me - step + root) % ranks, all, bytes, 0);
            break;
        }
        if (me + step < ranks) {
            get((me + step + root) % ranks, more, bytes, 0);
            combine(all, more, count, type, op);
        }
    }
    free(more);
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    BEGIN;
    int64_t bytes = bytes_of(count, datatype);
    start(comm, root, bytes);
    int is_root = rcw_rank() == root;
    void *all = is_root ? recvbuf : room(bytes);
    if (sendbuf != MPI_IN_PLACE)
        memmove(all, sendbuf, (size_t)bytes);
    reduce(all, count, datatype, op, root);
    if (!is_root)
        free(all);
    return end();
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    BEGIN;
    int64_t bytes = bytes_of(count, datatype);
    start(comm, -1, bytes);
    if (sendbuf != MPI_IN_PLACE)
        memmove(recvbuf, sendbuf, (size_t)bytes);
    reduce(recvbuf, count, datatype, op, 0);
    broadcast(recvbuf, bytes, 0);
    return end();
}

/* In a scatter and a gather the ranks are numbered from the root on. The rank of an odd number 2^n q has a tree of 2^n of them, itself
 * the first, whose parts pass through it. */

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    BEGIN;
    int count = rcw_rank_count(), is_root = rcw_rank() == root, me = (rcw_rank() - root + count) % count, step = 1;
    int64_t part = is_root ? bytes_of(sendcount, sendtype) : bytes_of(recvcount, recvtype);
    start(comm, root, part);
    while (step < count && !(me & step))
        step *= 2;
    char *parts = room(part * least(step, count - me));
    for (int i = 0; is_root && i < count; i++)
        memcpy(parts + part * i, (const char *)sendbuf + part * ((i + root) % count), (size_t)part);
    if (!is_root)
        get((me - step + root) % count, parts, part * least(step, count - me), 1);
    int relays = !is_root; /* the root's first message costs it o */
    for (step /= 2; step; step /= 2)
        if (me + step < count) {
            give((me + step + root) % count, parts + part * step, part * least(step, count - me - step), relays);
            relays = 1;
        }
    if (recvbuf != MPI_IN_PLACE)
        memcpy(recvbuf, parts, (size_t)part);
    if (!is_root)
        rcw_overhead();
    free(parts);
    return end();
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    BEGIN;
    int count = rcw_rank_count(), is_root = rcw_rank() == root, me = (rcw_rank() - root + count) % count, step = 1;
    int64_t part = is_root ? bytes_of(recvcount, recvtype) : bytes_of(sendcount, sendtype);
    start(comm, root, part);
    char *parts = room(part * (count - me));
    memcpy(parts, sendbuf == MPI_IN_PLACE ? (const char *)recvbuf + part * root : sendbuf, (size_t)part);
    if (!is_root)
        rcw_overhead();
    for (; step < count && !(me & step); step *= 2)
        if (me + step < count)
            get((me + step + root) % count, parts + part * step, part * least(step, count - me - step), 1);
    if (!is_root)
        give((me - step + root) % count, parts, part * least(step, count - me), 1);
    else
        rcw_overhead();
    for (int i = 0; is_root && i < count; i++)
        memcpy((char *)recvbuf + part * ((i + root) % count), parts + part * i, (size_t)part);
    free(parts);
    return end();
}

/* Bruck's: each round a rank has twice as many parts, in order from its own on. */
int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    BEGIN;
    int count = rcw_rank_count(), me = rcw_rank();
    int64_t part = bytes_of(recvcount, recvtype);
    if (sendbuf != MPI_IN_PLACE && bytes_of(sendcount, sendtype) != part)
        fail("it sends and receives different sizes");
    start(comm, -1, part);
    char *parts = room(part * count);
    memcpy(parts, sendbuf == MPI_IN_PLACE ? (const char *)recvbuf + part * me : sendbuf, (size_t)part);
    for (int have = 1; have < count; have *= 2) {
        int64_t bytes = part * least(have, count - have);
        give((me - have + count) % count, parts, bytes, 0);
        get((me + have) % count, parts + part * have, bytes, 0);
    }
    for (int i = 0; i < count; i++)
        memcpy((char *)recvbuf + part * ((me + i) % count), parts + part * i, (size_t)part);
    free(parts);
    return end();
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
    BEGIN;
    int count = rcw_rank_count(), me = rcw_rank();
    int64_t part = bytes_of(recvcount, recvtype);
    if (sendbuf == MPI_IN_PLACE || bytes_of(sendcount, sendtype) != part)
        fail("it has to send as much as it receives, and not in place");
    start(comm, -1, part);
    memcpy((char *)recvbuf + part * me, (const char *)sendbuf + part * me, (size_t)part);
    for (int round = 1; round < count; round++) {
        int to = (me + round) % count, from = (me - round + count) % count;
        give(to, (const char *)sendbuf + part * to, part, 0);
        get(from, (char *)recvbuf + part * from, part, 0);
    }
    return end();
}
