/* MPI on the simulated card's messages between ranks (messages.h). Collectives go by the algorithms that RATSS' equations price:
 * binomial trees for scatter, gather, broadcast and reduce, Bruck's exchange for an all-gather, pairwise exchange for an all-to-all
 * and a reduce-scatter, dissemination for a barrier, recursive doubling for a scan; with a count for each rank a root's messages one
 * after the other, and a ring for an all-gather. In a scatter and a gather the network's interface passes on what is another rank's, at no
 * processor's time (Eq. 19 counts 2 o in all: the root's, and that of who gets its part). An all-reduce is a reduce and a broadcast. */
#include "mpi.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "wbcard.h"

enum { PLAIN, COLLECTIVE }; /* a communicator's two contexts of messages: twice its number, and one more */

typedef struct collective collective;

struct rcw_mpi_request {
    rcw_receive *receive; /* what ends it; NULL: a send, which is done, or a receive from MPI_PROC_NULL */
    collective *all;      /* or this; NULL once it is over */
    const struct communicator *of;
    int sends;
};

struct rcw_mpi_group {
    int size, *world; /* ranks as MPI_COMM_WORLD numbers them */
};

typedef struct communicator {
    int number, me, collectives; /* of the collective call that is under way: its messages' tag */
    struct rcw_mpi_group of;
} communicator;

static int begun, finalized;

static void fail(const char *why) { rcw_library_fatal(why); }

static void go_on(void);

static void begin(const char *name, const void *where)
{
    rcw_library_begin(name, where);
    if (!begun || finalized)
        fail(begun ? "it comes after MPI_Finalize" : "MPI_Init has to come before it");
    go_on();
}

#define BEGIN begin(__func__, __builtin_return_address(0))

static int end(void)
{
    rcw_library_end();
    return MPI_SUCCESS;
}

static communicator **known; /* by handle, from MPI_COMM_WORLD on */
static int known_count;

static void *room(int64_t bytes)
{
    void *at = malloc(bytes ? (size_t)bytes : 1);
    if (!at)
        fail("there is no memory for it");
    return at;
}

static struct rcw_mpi_group copy_of(const struct rcw_mpi_group *group)
{
    struct rcw_mpi_group copy = {group->size, room(group->size * (int64_t)sizeof *copy.world)};
    memcpy(copy.world, group->world, (size_t)group->size * sizeof *copy.world);
    return copy;
}

static int place_in(const struct rcw_mpi_group *group, int world)
{
    for (int i = 0; i < group->size; i++)
        if (group->world[i] == world)
            return i;
    return MPI_UNDEFINED;
}

static MPI_Comm new_comm(int number, struct rcw_mpi_group group)
{
    communicator *one = room(sizeof *one), **more = realloc(known, (size_t)(known_count + 1) * sizeof *known);
    if (!more)
        fail("there is no memory for it");
    *one = (communicator){number, place_in(&group, rcw_rank()), 0, group};
    known = more;
    known[known_count++] = one;
    return known_count;
}

/* MPI_COMM_WORLD has the number 0; each rank's MPI_COMM_SELF one that no other has. */
static void first_comms(void)
{
    int self = rcw_rank(), count = rcw_rank_count();
    struct rcw_mpi_group all = {count, room(count * (int64_t)sizeof *all.world)}, own = {1, &self};
    for (int i = 0; i < count; i++)
        all.world[i] = i;
    new_comm(0, all);
    new_comm(rcw_context(0, -1, self), copy_of(&own));
}

static communicator *comm_of(MPI_Comm comm)
{
    if (comm <= 0 || comm > known_count || !known[comm - 1])
        fail(comm == MPI_COMM_NULL ? "MPI_COMM_NULL is no communicator" : "this is no communicator, or it was freed");
    return known[comm - 1];
}

static int64_t bytes_of(int count, MPI_Datatype type)
{
    if (count < 0)
        fail("the count is negative");
    if (type <= 0 || type > MPI_UINT64_T || !(type & 0xff))
        fail("this is no datatype");
    return (int64_t)count * (type & 0xff);
}

static void check_rank(const communicator *of, int rank)
{
    char why[160];
    if (rank >= 0 && rank < of->of.size)
        return;
    snprintf(why, sizeof why, "there is no rank %d%s, only ranks 0 to %d", rank, of->number ? " in this communicator" : "",
             of->of.size - 1);
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
    first_comms();
    return end();
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    rcw_library_begin(__func__, __builtin_return_address(0));
    if (begun++)
        fail("it was called before");
    first_comms();
    *provided = required;
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
    *rank = comm_of(comm)->me;
    return end();
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    BEGIN;
    *size = comm_of(comm)->of.size;
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

/* ---- what a collective call does ---- */

/* A collective call is a list of steps, in their order; a nonblocking one takes those that it can whenever its rank calls MPI, as
 * MPI's libraries do that have no thread of their own for it. */
typedef struct {
    enum { GIVE, GET, COMBINE, COPY, OVERHEAD } does;
    int peer, relays; /* peer: of MPI_COMM_WORLD */
    void *to;
    const void *from;
    int64_t bytes;
    int count;
    MPI_Datatype type;
    MPI_Op op;
} step;

struct collective {
    collective *next; /* of those that are not over */
    pthread_t owner;  /* who began it, in whose calls it goes on */
    const communicator *of;
    int number, at, count, rooms_count;
    step *steps;
    void **rooms;
    rcw_receive *awaited; /* of the step that it is at */
    MPI_Request request;  /* of a nonblocking one, until it is over */
};

static collective *all_open;
static __thread collective *under_way; /* whose steps are told */

static collective *own_of(collective *from)
{
    while (from && !pthread_equal(from->owner, pthread_self()))
        from = from->next;
    return from;
}

static void combine(void *all, const void *more, int count, MPI_Datatype type, MPI_Op op);

static void *more_of(void *list, int count, size_t size)
{
    list = count & (count - 1) ? list : realloc(list, 2 * (size_t)(count ? count : 1) * size);
    if (!list)
        fail("there is no memory for it");
    return list;
}

static void close_collective(collective *one)
{
    collective **at = &all_open;
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    if (one->request)
        one->request->all = NULL;
    for (int i = 0; i < one->rooms_count; i++)
        free(one->rooms[i]);
    free(one->rooms);
    free(one->steps);
    free(one);
}

static void wait_message(rcw_receive *one, int relays, rcw_arrival *arrival, const collective *own);

/* Whether it is over; where it `waits` it is. */
static int run(collective *one, int waits)
{
    for (; one->at < one->count; one->at++) {
        const step *s = &one->steps[one->at];
        int context = 2 * one->of->number + COLLECTIVE;
        switch (s->does) {
        case GIVE: rcw_message_send(s->peer, context, one->number, s->from, s->bytes, s->relays); break;
        case COPY: memmove(s->to, s->from, (size_t)s->bytes); break;
        case COMBINE: combine(s->to, s->from, s->count, s->type, s->op); break;
        case OVERHEAD: rcw_overhead(); break;
        case GET:
            if (!one->awaited)
                one->awaited = rcw_message_receive(s->peer, context, one->number, s->to, s->bytes);
            if (waits)
                wait_message(one->awaited, s->relays, NULL, one);
            else if (rcw_message_there(one->awaited))
                rcw_message_wait(one->awaited, s->relays, NULL);
            else
                return 0;
            one->awaited = NULL;
        }
    }
    close_collective(one);
    return 1;
}

static void go_on(void)
{
    for (collective *one = own_of(all_open), *next; one; one = next) {
        next = own_of(one->next);
        run(one, 0);
    }
}

/* Waits for one of some messages (as rcw_message_any) or for one that lets another collective call go on: then -1. */
static int wait_any(rcw_receive *const *some, int count, const collective *own)
{
    int open = 0;
    for (collective *one = own_of(all_open); one; one = own_of(one->next))
        open++;
    rcw_receive *all[count + open + 1];
    collective *of[open + 1];
    for (int i = 0; i < count; i++)
        all[i] = some[i];
    open = 0;
    for (collective *one = own_of(all_open); one; one = own_of(one->next))
        if (one != own && one->awaited)
            of[open] = one, all[count + open++] = one->awaited;
    int first = rcw_message_any(all, count + open);
    if (first < count)
        return first;
    run(of[first - count], 0);
    return -1;
}

static int has_others(const collective *own)
{
    const collective *first = own_of(all_open);
    return first && (first != own || own_of(first->next));
}

static void wait_message(rcw_receive *one, int relays, rcw_arrival *arrival, const collective *own)
{
    while (has_others(own) && wait_any(&one, 1, own) < 0)
        ;
    rcw_message_wait(one, relays, arrival);
}

/* ---- from one to another ---- */

static rcw_receive *send_to(const communicator *of, const void *buf, int64_t bytes, int dest, int tag, int synchronous)
{
    if (dest == MPI_PROC_NULL)
        return NULL;
    check_rank(of, dest);
    check_tag(tag);
    if (synchronous || !rcw_is_eager(bytes))
        return rcw_message_send_waiting(of->of.world[dest], 2 * of->number + PLAIN, tag, buf, bytes);
    rcw_message_send(of->of.world[dest], 2 * of->number + PLAIN, tag, buf, bytes, 0);
    return NULL;
}

static MPI_Request request_of(const communicator *of, rcw_receive *receive, int sends)
{
    MPI_Request request = calloc(1, sizeof *request);
    if (!request)
        fail("there is no memory for its request");
    *request = (struct rcw_mpi_request){receive, NULL, of, sends};
    return request;
}

static void check_source(const communicator *of, int source, int tag)
{
    if (source != MPI_ANY_SOURCE)
        check_rank(of, source);
    if (tag != MPI_ANY_TAG)
        check_tag(tag);
}

static MPI_Request receive_from(const communicator *of, void *buf, int64_t bytes, int source, int tag)
{
    if (source == MPI_PROC_NULL)
        return request_of(of, NULL, 0);
    check_source(of, source, tag);
    int from = source == MPI_ANY_SOURCE ? RCW_ANY : of->of.world[source];
    return request_of(of, rcw_message_receive(from, 2 * of->number + PLAIN, tag, buf, bytes), 0);
}

static void set_status(MPI_Status *status, const communicator *of, const rcw_arrival *arrival)
{
    if (status)
        *status = (MPI_Status){of ? place_in(&of->of, arrival->from) : arrival->from, arrival->tag, MPI_SUCCESS, arrival->bytes};
}

static const rcw_arrival nothing = {MPI_PROC_NULL, MPI_ANY_TAG, 0};

static void done(MPI_Request *request, MPI_Status *status, const rcw_arrival *arrival)
{
    int came = *request && (*request)->receive && !(*request)->sends; /* of a collective call it says nothing */
    set_status(status, came ? (*request)->of : NULL, came ? arrival : &nothing);
    free(*request);
    *request = MPI_REQUEST_NULL;
}

static void wait_for(MPI_Request *request, MPI_Status *status)
{
    rcw_arrival arrival = nothing;
    if (*request && (*request)->receive)
        wait_message((*request)->receive, 0, &arrival, NULL);
    if (*request && (*request)->all)
        run((*request)->all, 1);
    done(request, status, &arrival);
}

/* Whether it is done; then it is over. */
static int test(MPI_Request *request, MPI_Status *status)
{
    rcw_arrival arrival = nothing;
    if (*request && (*request)->all && !run((*request)->all, 0))
        return 0;
    if (*request && (*request)->receive && !rcw_message_take((*request)->receive, &arrival))
        return 0;
    done(request, status, &arrival);
    return 1;
}

static int blocking_send(const void *buf, int64_t bytes, int dest, int tag, MPI_Comm comm, int synchronous)
{
    rcw_receive *until = send_to(comm_of(comm), buf, bytes, dest, tag, synchronous);
    if (until)
        rcw_message_wait(until, 0, NULL);
    return end();
}

static int begun_send(const void *buf, int64_t bytes, int dest, int tag, MPI_Comm comm, int synchronous, MPI_Request *request)
{
    const communicator *of = comm_of(comm);
    *request = request_of(of, send_to(of, buf, bytes, dest, tag, synchronous), 1);
    return end();
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    BEGIN;
    return blocking_send(buf, bytes_of(count, datatype), dest, tag, comm, 0);
}

int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    BEGIN;
    return blocking_send(buf, bytes_of(count, datatype), dest, tag, comm, 1);
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    BEGIN;
    MPI_Request request = receive_from(comm_of(comm), buf, bytes_of(count, datatype), source, tag);
    wait_for(&request, status);
    return end();
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    BEGIN;
    return begun_send(buf, bytes_of(count, datatype), dest, tag, comm, 0, request);
}

int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    BEGIN;
    return begun_send(buf, bytes_of(count, datatype), dest, tag, comm, 1, request);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    BEGIN;
    *request = receive_from(comm_of(comm), buf, bytes_of(count, datatype), source, tag);
    return end();
}

static int exchange(const communicator *of, const void *sendbuf, int64_t sends, int dest, int sendtag, void *recvbuf,
                    int64_t receives, int source, int recvtag, MPI_Status *status)
{
    MPI_Request request = receive_from(of, recvbuf, receives, source, recvtag);
    rcw_receive *until = send_to(of, sendbuf, sends, dest, sendtag, 0);
    wait_for(&request, status);
    if (until)
        rcw_message_wait(until, 0, NULL);
    return end();
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    BEGIN;
    return exchange(comm_of(comm), sendbuf, bytes_of(sendcount, sendtype), dest, sendtag, recvbuf,
                    bytes_of(recvcount, recvtype), source, recvtag, status);
}

/* (A message has its data by the time that its send returns: the buffer may be received into.) */
int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
    BEGIN;
    int64_t bytes = bytes_of(count, datatype);
    return exchange(comm_of(comm), buf, bytes, dest, sendtag, buf, bytes, source, recvtag, status);
}

static int probe(int source, int tag, MPI_Comm comm, int waits, MPI_Status *status)
{
    const communicator *of = comm_of(comm);
    rcw_arrival arrival = nothing;
    if (source == MPI_PROC_NULL) {
        set_status(status, NULL, &nothing);
        return 1;
    }
    check_source(of, source, tag);
    int from = source == MPI_ANY_SOURCE ? RCW_ANY : of->of.world[source];
    int there = rcw_message_probe(from, 2 * of->number + PLAIN, tag, waits, &arrival);
    if (there)
        set_status(status, of, &arrival);
    return there;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    BEGIN;
    probe(source, tag, comm, 1, status);
    return end();
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    BEGIN;
    *flag = probe(source, tag, comm, 0, status);
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

/* Waits until one of them is done: its place, MPI_UNDEFINED where all are MPI_REQUEST_NULL. */
static int first_done(int count, const MPI_Request *requests)
{
    rcw_receive *some[count > 0 ? count : 1];
    for (;;) {
        int open = 0, first;
        for (int i = 0; i < count; i++) {
            collective *all = requests[i] ? requests[i]->all : NULL;
            some[i] = all && !run(all, 0) ? all->awaited : requests[i] ? requests[i]->receive : NULL;
            if (requests[i] && !some[i])
                return i;
            open += requests[i] != NULL;
        }
        if (!open)
            return MPI_UNDEFINED;
        if ((first = wait_any(some, count, NULL)) >= 0 && !requests[first]->all)
            return first;
    }
}

int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
    BEGIN;
    *index = first_done(count, array_of_requests);
    if (*index != MPI_UNDEFINED)
        wait_for(&array_of_requests[*index], status);
    return end();
}

int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                 MPI_Status array_of_statuses[])
{
    BEGIN;
    *outcount = MPI_UNDEFINED;
    if (first_done(incount, array_of_requests) != MPI_UNDEFINED) {
        *outcount = 0;
        for (int i = 0; i < incount; i++)
            if (array_of_requests[i] && test(&array_of_requests[i], array_of_statuses ? &array_of_statuses[*outcount] : NULL))
                array_of_indices[(*outcount)++] = i;
    }
    return end();
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    BEGIN;
    *flag = test(request, status);
    return end();
}

int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[])
{
    BEGIN;
    *flag = 1;
    for (int i = 0; i < count; i++)
        if (array_of_requests[i] && ((array_of_requests[i]->all && !run(array_of_requests[i]->all, 0)) ||
                                     (array_of_requests[i]->receive && !rcw_message_there(array_of_requests[i]->receive))))
            *flag = 0;
    for (int i = 0; *flag && i < count; i++)
        wait_for(&array_of_requests[i], array_of_statuses ? &array_of_statuses[i] : NULL);
    return end();
}

int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status)
{
    BEGIN;
    int open = 0;
    *index = MPI_UNDEFINED;
    for (int i = 0; i < count && *index == MPI_UNDEFINED; i++)
        if (array_of_requests[i] && ++open && test(&array_of_requests[i], status))
            *index = i;
    *flag = *index != MPI_UNDEFINED || !open;
    return end();
}

/* ---- collectives ---- */

/* The steps of a call in a communicator are told from here on. */
static void start(MPI_Comm comm, int root, int64_t bytes)
{
    communicator *of = comm_of(comm);
    if (root >= 0)
        check_rank(of, root);
    int number = ++of->collectives;
    rcw_collective(of->number, number, of->of.size, root, bytes);
    under_way = room(sizeof *under_way);
    *under_way = (collective){.next = all_open, .owner = pthread_self(), .of = of, .number = number};
    all_open = under_way;
}

static int complete(void)
{
    run(under_way, 1);
    return end();
}

static int begun_collective(MPI_Request *request)
{
    *request = request_of(under_way->of, NULL, 0);
    under_way->request = *request;
    (*request)->all = under_way;
    run(under_way, 0);
    return end();
}

static int my_rank(void) { return under_way->of->me; }
static int rank_count(void) { return under_way->of->of.size; }

/* Room until the call is over. */
static void *scratch(int64_t bytes)
{
    void *at = room(bytes);
    under_way->rooms = more_of(under_way->rooms, under_way->rooms_count, sizeof *under_way->rooms);
    return under_way->rooms[under_way->rooms_count++] = at;
}

static void add(step one)
{
    under_way->steps = more_of(under_way->steps, under_way->count, sizeof *under_way->steps);
    under_way->steps[under_way->count++] = one;
}

static void give(int to, const void *data, int64_t bytes, int relays)
{
    add((step){.does = GIVE, .peer = under_way->of->of.world[to], .from = data, .bytes = bytes, .relays = relays});
}

static void get(int from, void *to, int64_t bytes, int relays)
{
    add((step){.does = GET, .peer = under_way->of->of.world[from], .to = to, .bytes = bytes, .relays = relays});
}

static void copy(void *to, const void *from, int64_t bytes) { add((step){.does = COPY, .to = to, .from = from, .bytes = bytes}); }

static void combines(void *all, const void *more, int count, MPI_Datatype type, MPI_Op op)
{
    add((step){.does = COMBINE, .to = all, .from = more, .count = count, .type = type, .op = op});
}

static void overhead(void) { add((step){.does = OVERHEAD}); }

/* A call, its nonblocking form, and how their steps are told. */
#define COLLECTIVE_CALL(name, nonblocking, arguments, ...) \
    static void tell_##name(__VA_ARGS__);                  \
    int MPI_##name(__VA_ARGS__)                            \
    {                                                      \
        BEGIN;                                             \
        tell_##name arguments;                             \
        return complete();                                 \
    }                                                      \
    int MPI_##nonblocking(__VA_ARGS__, MPI_Request *request) \
    {                                                      \
        BEGIN;                                             \
        tell_##name arguments;                             \
        return begun_collective(request);                  \
    }                                                      \
    static void tell_##name(__VA_ARGS__)

static int least(int a, int b) { return a < b ? a : b; }

/* Dissemination: signal the 1st, 2nd, 4th ... rank after this one, and wait for those before it. */
static void barrier(void)
{
    int me = my_rank(), count = rank_count();
    for (int step = 1; step < count; step *= 2) {
        give((me + step) % count, NULL, 0, 0);
        get((me - step + count) % count, NULL, 0, 0);
    }
}

COLLECTIVE_CALL(Barrier, Ibarrier, (comm), MPI_Comm comm)
{
    start(comm, -1, 0);
    barrier();
}

int MPI_Finalize(void)
{
    BEGIN;
    start(MPI_COMM_WORLD, -1, 0);
    barrier();
    run(under_way, 1);
    finalized = 1;
    return end();
}

static void broadcast(void *buffer, int64_t bytes, int root)
{
    int count = rank_count(), me = (my_rank() - root + count) % count, step = 1;
    while (step < count && !(me & step))
        step *= 2;
    if (me)
        get((me - step + root) % count, buffer, bytes, 0);
    for (step /= 2; step; step /= 2)
        if (me + step < count)
            give((me + step + root) % count, buffer, bytes, 0);
}

COLLECTIVE_CALL(Bcast, Ibcast, (buffer, count, datatype, root, comm), void *buffer, int count, MPI_Datatype datatype, int root,
                MPI_Comm comm)
{
    int64_t bytes = bytes_of(count, datatype);
    start(comm, root, bytes);
    broadcast(buffer, bytes, root);
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
    int ranks = rank_count(), me = (my_rank() - root + ranks) % ranks;
    int64_t bytes = bytes_of(count, type);
    void *more = scratch(bytes);
    for (int step = 1; step < ranks; step *= 2) {
        if (me & step) {
            give((me - step + root) % ranks, all, bytes, 0);
            break;
        }
        if (me + step < ranks) {
            get((me + step + root) % ranks, more, bytes, 0);
            combines(all, more, count, type, op);
        }
    }
}

COLLECTIVE_CALL(Reduce, Ireduce, (sendbuf, recvbuf, count, datatype, op, root, comm), const void *sendbuf, void *recvbuf,
                int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    int64_t bytes = bytes_of(count, datatype);
    start(comm, root, bytes);
    void *all = my_rank() == root ? recvbuf : scratch(bytes);
    if (sendbuf != MPI_IN_PLACE)
        memmove(all, sendbuf, (size_t)bytes);
    reduce(all, count, datatype, op, root);
}

COLLECTIVE_CALL(Allreduce, Iallreduce, (sendbuf, recvbuf, count, datatype, op, comm), const void *sendbuf, void *recvbuf,
                int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    int64_t bytes = bytes_of(count, datatype);
    start(comm, -1, bytes);
    if (sendbuf != MPI_IN_PLACE)
        memmove(recvbuf, sendbuf, (size_t)bytes);
    reduce(recvbuf, count, datatype, op, 0);
    broadcast(recvbuf, bytes, 0);
}

/* `all` becomes the sum of what this rank and those before it have. `before`: that of those before it alone, NULL where it is not
 * wanted. */
static void scan(void *all, void *before, int count, MPI_Datatype type, MPI_Op op)
{
    int me = my_rank(), ranks = rank_count();
    int64_t bytes = bytes_of(count, type);
    void *more = scratch(bytes);
    for (int step = 1; step < ranks; step *= 2) {
        if (me + step < ranks)
            give(me + step, all, bytes, 0);
        if (me - step < 0)
            continue;
        get(me - step, more, bytes, 0);
        if (before && step == 1)
            copy(before, more, bytes);
        else if (before)
            combines(before, more, count, type, op);
        combines(all, more, count, type, op);
    }
}

COLLECTIVE_CALL(Scan, Iscan, (sendbuf, recvbuf, count, datatype, op, comm), const void *sendbuf, void *recvbuf, int count,
                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    int64_t bytes = bytes_of(count, datatype);
    start(comm, -1, bytes);
    if (sendbuf != MPI_IN_PLACE)
        memmove(recvbuf, sendbuf, (size_t)bytes);
    scan(recvbuf, NULL, count, datatype, op);
}

COLLECTIVE_CALL(Exscan, Iexscan, (sendbuf, recvbuf, count, datatype, op, comm), const void *sendbuf, void *recvbuf, int count,
                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    int64_t bytes = bytes_of(count, datatype);
    start(comm, -1, bytes);
    void *all = scratch(bytes);
    memcpy(all, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, (size_t)bytes);
    scan(all, recvbuf, count, datatype, op);
}

/* Each rank sends the others their parts, and adds up what comes for its own. */
static void reduce_scatter(const char *parts, void *own, const int *counts, MPI_Datatype type, MPI_Op op)
{
    int me = my_rank(), ranks = rank_count();
    int64_t at[ranks + 1];
    at[0] = 0;
    for (int i = 0; i < ranks; i++)
        at[i + 1] = at[i] + bytes_of(counts[i], type);
    char *all = scratch(at[me + 1] - at[me]), *more = scratch(at[me + 1] - at[me]);
    memcpy(all, parts + at[me], (size_t)(at[me + 1] - at[me]));
    for (int round = 1; round < ranks; round++) {
        int to = (me + round) % ranks, from = (me - round + ranks) % ranks;
        give(to, parts + at[to], at[to + 1] - at[to], 0);
        get(from, more, at[me + 1] - at[me], 0);
        combines(all, more, counts[me], type, op);
    }
    copy(own, all, at[me + 1] - at[me]);
}

COLLECTIVE_CALL(Reduce_scatter, Ireduce_scatter, (sendbuf, recvbuf, recvcounts, datatype, op, comm), const void *sendbuf,
                void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    int64_t bytes = 0;
    for (int i = 0; i < comm_of(comm)->of.size; i++)
        bytes += bytes_of(recvcounts[i], datatype);
    start(comm, -1, bytes);
    reduce_scatter(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, recvbuf, recvcounts, datatype, op);
}

COLLECTIVE_CALL(Reduce_scatter_block, Ireduce_scatter_block, (sendbuf, recvbuf, recvcount, datatype, op, comm),
                const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    start(comm, -1, bytes_of(recvcount, datatype));
    int ranks = rank_count(), counts[ranks];
    for (int i = 0; i < ranks; i++)
        counts[i] = recvcount;
    reduce_scatter(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, recvbuf, counts, datatype, op);
}

/* In a scatter and a gather the ranks are numbered from the root on. The rank of an odd number 2^n q has a tree of 2^n of them, itself
 * the first, whose parts pass through it. */

COLLECTIVE_CALL(Scatter, Iscatter, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                int root, MPI_Comm comm)
{
    int is_root = comm_of(comm)->me == root;
    int64_t part = is_root ? bytes_of(sendcount, sendtype) : bytes_of(recvcount, recvtype);
    start(comm, root, part);
    int count = rank_count(), me = (my_rank() - root + count) % count, step = 1;
    while (step < count && !(me & step))
        step *= 2;
    char *parts = scratch(part * least(step, count - me));
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
        copy(recvbuf, parts, part);
    if (!is_root)
        overhead();
}

COLLECTIVE_CALL(Gather, Igather, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), const void *sendbuf,
                int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                MPI_Comm comm)
{
    int is_root = comm_of(comm)->me == root;
    int64_t part = is_root ? bytes_of(recvcount, recvtype) : bytes_of(sendcount, sendtype);
    start(comm, root, part);
    int count = rank_count(), me = (my_rank() - root + count) % count, step = 1;
    char *parts = scratch(part * (count - me));
    memcpy(parts, sendbuf == MPI_IN_PLACE ? (const char *)recvbuf + part * root : sendbuf, (size_t)part);
    if (!is_root)
        overhead();
    for (; step < count && !(me & step); step *= 2)
        if (me + step < count)
            get((me + step + root) % count, parts + part * step, part * least(step, count - me - step), 1);
    if (!is_root)
        give((me - step + root) % count, parts, part * least(step, count - me), 1);
    else if (count > 1)
        overhead();
    for (int i = 0; is_root && i < count; i++)
        copy((char *)recvbuf + part * ((i + root) % count), parts + part * i, part);
}

/* With a count for each rank the root sends to, or receives from, one after the other, as MPI's libraries do. */

static int64_t place_of(const int *displs, int rank, MPI_Datatype type) { return displs[rank] * bytes_of(1, type); }

COLLECTIVE_CALL(Scatterv, Iscatterv, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
                const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    start(comm, root, 0);
    if (my_rank() != root) {
        get(root, recvbuf, bytes_of(recvcount, recvtype), 0);
        return;
    }
    for (int i = 0; i < rank_count(); i++) {
        const char *part = (const char *)sendbuf + place_of(displs, i, sendtype);
        if (i != root)
            give(i, part, bytes_of(sendcounts[i], sendtype), 0);
        else if (recvbuf != MPI_IN_PLACE)
            memcpy(recvbuf, part, (size_t)bytes_of(sendcounts[i], sendtype));
    }
}

COLLECTIVE_CALL(Gatherv, Igatherv, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
                const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    start(comm, root, 0);
    if (my_rank() != root) {
        give(root, sendbuf, bytes_of(sendcount, sendtype), 0);
        return;
    }
    for (int i = 0; i < rank_count(); i++) {
        char *part = (char *)recvbuf + place_of(displs, i, recvtype);
        if (i != root)
            get(i, part, bytes_of(recvcounts[i], recvtype), 0);
        else if (sendbuf != MPI_IN_PLACE)
            memcpy(part, sendbuf, (size_t)bytes_of(sendcount, sendtype));
    }
}

/* Bruck's: each round a rank has twice as many parts, in order from its own on. `all` has the rank's own in its place. */
static void all_gather(char *all, int64_t part)
{
    int count = rank_count(), me = my_rank();
    char *parts = scratch(part * count);
    memcpy(parts, all + part * me, (size_t)part);
    for (int have = 1; have < count; have *= 2) {
        int64_t bytes = part * least(have, count - have);
        give((me - have + count) % count, parts, bytes, 0);
        get((me + have) % count, parts + part * have, bytes, 0);
    }
    for (int i = 0; i < count; i++)
        copy(all + part * ((me + i) % count), parts + part * i, part);
}

COLLECTIVE_CALL(Allgather, Iallgather, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), const void *sendbuf,
                int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int64_t part = bytes_of(recvcount, recvtype);
    if (sendbuf != MPI_IN_PLACE && bytes_of(sendcount, sendtype) != part)
        fail("it sends and receives different sizes");
    start(comm, -1, part);
    if (sendbuf != MPI_IN_PLACE)
        memmove((char *)recvbuf + part * my_rank(), sendbuf, (size_t)part);
    all_gather(recvbuf, part);
}

/* In a ring: each rank hands on to the next one what came from the one before. */
COLLECTIVE_CALL(Allgatherv, Iallgatherv, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    int64_t bytes = 0;
    const communicator *of = comm_of(comm);
    for (int i = 0; i < of->of.size; i++)
        bytes += bytes_of(recvcounts[i], recvtype);
    if (sendbuf != MPI_IN_PLACE && bytes_of(sendcount, sendtype) != bytes_of(recvcounts[of->me], recvtype))
        fail("it sends and receives different sizes");
    start(comm, -1, bytes);
    int count = rank_count(), me = my_rank();
    char *all = recvbuf;
    if (sendbuf != MPI_IN_PLACE)
        memmove(all + place_of(displs, me, recvtype), sendbuf, (size_t)bytes_of(sendcount, sendtype));
    for (int round = 0; round < count - 1; round++) {
        int gives = (me - round + count) % count, gets = (me - round - 1 + count) % count;
        give((me + 1) % count, all + place_of(displs, gives, recvtype), bytes_of(recvcounts[gives], recvtype), 0);
        get((me - 1 + count) % count, all + place_of(displs, gets, recvtype), bytes_of(recvcounts[gets], recvtype), 0);
    }
}

COLLECTIVE_CALL(Alltoall, Ialltoall, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), const void *sendbuf,
                int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int64_t part = bytes_of(recvcount, recvtype);
    if (sendbuf == MPI_IN_PLACE || bytes_of(sendcount, sendtype) != part)
        fail("it has to send as much as it receives, and not in place");
    start(comm, -1, part);
    int count = rank_count(), me = my_rank();
    memcpy((char *)recvbuf + part * me, (const char *)sendbuf + part * me, (size_t)part);
    for (int round = 1; round < count; round++) {
        int to = (me + round) % count, from = (me - round + count) % count;
        give(to, (const char *)sendbuf + part * to, part, 0);
        get(from, (char *)recvbuf + part * from, part, 0);
    }
}

COLLECTIVE_CALL(Alltoallv, Ialltoallv, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
                const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    if (sendbuf == MPI_IN_PLACE)
        fail("it may not be in place");
    start(comm, -1, 0);
    int count = rank_count(), me = my_rank();
    const char *parts = sendbuf;
    char *all = recvbuf;
    memcpy(all + place_of(rdispls, me, recvtype), parts + place_of(sdispls, me, sendtype), (size_t)bytes_of(sendcounts[me], sendtype));
    for (int round = 1; round < count; round++) {
        int to = (me + round) % count, from = (me - round + count) % count;
        give(to, parts + place_of(sdispls, to, sendtype), bytes_of(sendcounts[to], sendtype), 0);
        get(from, all + place_of(rdispls, from, recvtype), bytes_of(recvcounts[from], recvtype), 0);
    }
}

/* ---- communicators and groups ---- */

typedef struct {
    int color, key, rank; /* in the communicator that is split */
} part_of_split;

static int by_key(const void *a, const void *b)
{
    const part_of_split *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->rank - y->rank;
}

/* All know the colors and keys of all by an all-gather. */
static MPI_Comm split(int color, int key)
{
    const communicator *of = under_way->of;
    int count = rank_count(), own = 0, number = under_way->number;
    part_of_split *parts = room(count * (int64_t)sizeof *parts);
    parts[my_rank()] = (part_of_split){color, key, my_rank()};
    all_gather((char *)parts, sizeof *parts);
    run(under_way, 1);
    MPI_Comm made = MPI_COMM_NULL;
    if (color != MPI_UNDEFINED) {
        qsort(parts, (size_t)count, sizeof *parts, by_key);
        struct rcw_mpi_group group = {0, room(count * (int64_t)sizeof *group.world)};
        for (int i = 0; i < count; i++)
            if (parts[i].color == color)
                group.world[own++] = of->of.world[parts[i].rank];
        group.size = own;
        made = new_comm(rcw_context(of->number, number, color), group);
    }
    free(parts);
    return made;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    BEGIN;
    if (color < 0 && color != MPI_UNDEFINED)
        fail("a color may not be negative, only MPI_UNDEFINED");
    start(comm, -1, sizeof(part_of_split));
    *newcomm = split(color, key);
    return end();
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    BEGIN;
    start(comm, -1, sizeof(part_of_split));
    *newcomm = split(0, my_rank());
    return end();
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    BEGIN;
    if (!group)
        fail("MPI_GROUP_NULL is no group");
    start(comm, -1, sizeof(part_of_split));
    int place = place_in(group, rcw_rank());
    *newcomm = split(place < 0 ? MPI_UNDEFINED : 0, place);
    return end();
}

int MPI_Comm_free(MPI_Comm *comm)
{
    BEGIN;
    comm_of(*comm);
    if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF)
        fail("this communicator is always there");
    known[*comm - 1] = NULL; /* requests may know it still */
    *comm = MPI_COMM_NULL;
    return end();
}

static MPI_Group new_group(int size)
{
    MPI_Group group = room(sizeof *group);
    *group = (struct rcw_mpi_group){size, room(size * (int64_t)sizeof *group->world)};
    return group;
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    BEGIN;
    *group = room(sizeof **group);
    **group = copy_of(&comm_of(comm)->of);
    return end();
}

static void check_group(MPI_Group group, int n, const int *ranks)
{
    char why[120];
    if (!group)
        fail("MPI_GROUP_NULL is no group");
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= group->size) {
            snprintf(why, sizeof why, "there is no rank %d in this group, only ranks 0 to %d", ranks[i], group->size - 1);
            fail(why);
        }
}

int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    BEGIN;
    check_group(group, n, ranks);
    *newgroup = new_group(n);
    for (int i = 0; i < n; i++)
        (*newgroup)->world[i] = group->world[ranks[i]];
    return end();
}

int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    BEGIN;
    check_group(group, n, ranks);
    *newgroup = new_group(group->size);
    (*newgroup)->size = 0;
    for (int i = 0; i < group->size; i++) {
        int out = 0;
        for (int k = 0; k < n; k++)
            out |= ranks[k] == i;
        if (!out)
            (*newgroup)->world[(*newgroup)->size++] = group->world[i];
    }
    return end();
}

int MPI_Group_size(MPI_Group group, int *size)
{
    BEGIN;
    check_group(group, 0, NULL);
    *size = group->size;
    return end();
}

int MPI_Group_rank(MPI_Group group, int *rank)
{
    BEGIN;
    check_group(group, 0, NULL);
    *rank = place_in(group, rcw_rank());
    return end();
}

int MPI_Group_free(MPI_Group *group)
{
    BEGIN;
    check_group(*group, 0, NULL);
    free((*group)->world);
    free(*group);
    *group = MPI_GROUP_NULL;
    return end();
}
