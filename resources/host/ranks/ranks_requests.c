/* Messages that begin in one call and end in another: a part of ranks.c. */
#include "ranks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct open_request {
    struct open_request *next;
    MPI_Request handle;
    rcw_message_record record;
    rcw_communicator *of;
    MPI_Datatype type;
    int persistent, active;
} open_request;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static open_request *requests[256];

static open_request **at_handle(MPI_Request handle)
{
    uint64_t key = 0;
    memcpy(&key, &handle, sizeof handle < sizeof key ? sizeof handle : sizeof key);
    open_request **at = &requests[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static void open_one(MPI_Request handle, rcw_message_record record, rcw_communicator *of, MPI_Datatype type, int persistent)
{
    open_request *one = malloc(sizeof *one);
    rcw_lock(&lock);
    open_request **at = at_handle(handle);
    while (*at) { /* a request that was never waited for, and whose handle is used again */
        open_request *old = *at;
        *at = old->next;
        free(old);
        at = at_handle(handle);
    }
    *one = (open_request){NULL, handle, record, of, type, persistent, !persistent};
    *at = one;
    rcw_unlock(&lock);
}

/* Records that a send or receive ended in a call from t0 to now. `handle` is its request before the call. */
static void done(MPI_Request handle, const MPI_Status *status, int64_t t0, int64_t t1)
{
    int cancelled = 0;
    if (!rcw_ranks_on || handle == MPI_REQUEST_NULL)
        return;
    rcw_lock(&lock);
    open_request **at = at_handle(handle), *one = *at;
    if (one && one->active) {
        rcw_message_record record = one->record;
        record.t0 = t0;
        record.t1 = t1;
        record.thread = rcw_self ? rcw_self->number : 0;
        if (record.kind == RCW_RECEIVED) {
            PMPI_Test_cancelled(status, &cancelled);
            rcw_came(&record, one->of, status, one->type);
        } else if (record.kind < RCW_ALL_TO_ALL) {
            record.kind = RCW_SEND_DONE;
        }
        if (one->persistent) {
            one->active = 0;
        } else {
            *at = one->next;
            free(one);
        }
        if (!cancelled && rcw_ranks_on)
            rcw_keep(&record);
    }
    rcw_unlock(&lock);
}

/* Keeps a send or receive that has started and ends in a later call. */
static void begun(MPI_Request handle, rcw_message_record record, rcw_communicator *of, MPI_Datatype type, int64_t t0)
{
    record.t0 = record.posted = t0;
    record.t1 = rcw_ticks();
    if (record.kind != RCW_RECEIVED)
        rcw_keep(&record);
    open_one(handle, record, of, type, 0);
}

void rcw_begun(MPI_Request handle, rcw_message_record record)
{
    open_one(handle, record, NULL, MPI_DATATYPE_NULL, 0);
}

#define ISEND(name, kind)                                                                                                    \
    int MPI_##name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) \
    {                                                                                                                        \
        if (!rcw_ranks_on)                                                                                                             \
            return PMPI_##name(buf, count, datatype, dest, tag, comm, request);                                              \
        rcw_communicator *of = rcw_known(comm);                                                                                      \
        rcw_message_record record = rcw_message(kind, of, dest, tag, rcw_bytes_of(count, datatype));                               \
        int64_t t0 = rcw_ticks();                                                                                            \
        int result = PMPI_##name(buf, count, datatype, dest, tag, comm, request);                                            \
        begun(*request, record, of, datatype, t0);                                                                           \
        return result;                                                                                                       \
    }

ISEND(Isend, RCW_SENT_BUFFERED)
ISEND(Issend, RCW_SENT_BUFFERED)
ISEND(Irsend, RCW_SENT_BUFFERED)
ISEND(Ibsend, RCW_SENT_BUFFERED)

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (!rcw_ranks_on)
        return PMPI_Irecv(buf, count, datatype, source, tag, comm, request);
    rcw_communicator *of = rcw_known(comm);
    rcw_message_record record = rcw_message(RCW_RECEIVED, of, source, tag, 0);
    int64_t t0 = rcw_ticks();
    int result = PMPI_Irecv(buf, count, datatype, source, tag, comm, request);
    begun(*request, record, of, datatype, t0);
    return result;
}

#define PERSISTENT(name, constant, kind)                                                                                 \
    int MPI_##name(constant void *buf, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm,               \
                   MPI_Request *request)                                                                                 \
    {                                                                                                                    \
        int result = PMPI_##name(buf, count, datatype, peer, tag, comm, request);                                        \
        if (rcw_ranks_on) {                                                                                                        \
            rcw_communicator *of = rcw_known(comm);                                                                              \
            open_one(*request, rcw_message(kind, of, peer, tag, rcw_bytes_of(count, datatype)), of, datatype, 1);              \
        }                                                                                                                \
        return result;                                                                                                   \
    }

PERSISTENT(Send_init, const, RCW_SENT_BUFFERED)
PERSISTENT(Ssend_init, const, RCW_SENT_BUFFERED)
PERSISTENT(Recv_init, , RCW_RECEIVED)

static void starts(MPI_Request handle)
{
    if (!rcw_ranks_on)
        return;
    rcw_lock(&lock);
    open_request *one = *at_handle(handle);
    if (one) {
        one->active = 1;
        one->record.order = rcw_next_order();
        one->record.t0 = one->record.t1 = one->record.posted = rcw_ticks();
        one->record.thread = rcw_self ? rcw_self->number : 0;
        if (one->record.kind != RCW_RECEIVED)
            rcw_keep(&one->record);
    }
    rcw_unlock(&lock);
}

int MPI_Start(MPI_Request *request)
{
    starts(*request);
    return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request array_of_requests[])
{
    for (int i = 0; i < count; i++)
        starts(array_of_requests[i]);
    return PMPI_Startall(count, array_of_requests);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Request before = *request;
    MPI_Status own;
    int64_t t0 = rcw_ticks();
    int result = PMPI_Wait(request, &own);
    done(before, &own, t0, rcw_ticks());
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return result;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Request before = *request;
    MPI_Status own;
    int64_t t0 = rcw_ticks();
    int result = PMPI_Test(request, flag, &own);
    if (*flag) {
        done(before, &own, t0, rcw_ticks());
        if (status != MPI_STATUS_IGNORE)
            *status = own;
    }
    return result;
}

/* The handles before a call, and statuses for all of them. */
typedef struct {
    MPI_Request *before;
    MPI_Status *statuses;
    int64_t t0;
} several;

static several begin_several(int count, const MPI_Request *handles)
{
    several all = {malloc((size_t)(count + 1) * sizeof *all.before), malloc((size_t)(count + 1) * sizeof *all.statuses), 0};
    for (int i = 0; i < count; i++)
        all.before[i] = handles[i];
    all.t0 = rcw_ticks();
    return all;
}

/* Records that the requests `which` have ended (NULL: all); their statuses are in the same order. */
static void end_several(several all, int count, const int *which, MPI_Status *statuses)
{
    int64_t t1 = rcw_ticks();
    for (int i = 0; i < count; i++)
        done(all.before[which ? which[i] : i], &all.statuses[i], all.t0, t1);
    if (statuses != MPI_STATUSES_IGNORE && count > 0)
        memcpy(statuses, all.statuses, (size_t)count * sizeof *statuses);
    free(all.before);
    free(all.statuses);
}

int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    several all = begin_several(count, array_of_requests);
    int result = PMPI_Waitall(count, array_of_requests, all.statuses);
    end_several(all, count, NULL, array_of_statuses);
    return result;
}

int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses)
{
    several all = begin_several(count, array_of_requests);
    int result = PMPI_Testall(count, array_of_requests, flag, all.statuses);
    end_several(all, *flag ? count : 0, NULL, array_of_statuses);
    return result;
}

int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
    several all = begin_several(count, array_of_requests);
    int result = PMPI_Waitany(count, array_of_requests, index, all.statuses);
    if (status != MPI_STATUS_IGNORE)
        *status = all.statuses[0];
    end_several(all, *index != MPI_UNDEFINED, index, MPI_STATUSES_IGNORE);
    return result;
}

int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status)
{
    several all = begin_several(count, array_of_requests);
    int result = PMPI_Testany(count, array_of_requests, index, flag, all.statuses);
    if (*flag && status != MPI_STATUS_IGNORE)
        *status = all.statuses[0];
    end_several(all, *flag && *index != MPI_UNDEFINED, index, MPI_STATUSES_IGNORE);
    return result;
}

int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status array_of_statuses[])
{
    several all = begin_several(incount, array_of_requests);
    int result = PMPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, all.statuses);
    end_several(all, *outcount == MPI_UNDEFINED ? 0 : *outcount, array_of_indices, array_of_statuses);
    return result;
}

int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status array_of_statuses[])
{
    several all = begin_several(incount, array_of_requests);
    int result = PMPI_Testsome(incount, array_of_requests, outcount, array_of_indices, all.statuses);
    end_several(all, *outcount == MPI_UNDEFINED ? 0 : *outcount, array_of_indices, array_of_statuses);
    return result;
}
