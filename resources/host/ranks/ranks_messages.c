/* Messages from one rank to another, and requests: a part of ranks.c. */
#include "ranks.h"

#define SEND(name, kind)                                                                                   \
    int MPI_##name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)   \
    {                                                                                                      \
        if (!rcw_ranks_on)                                                                                           \
            return PMPI_##name(buf, count, datatype, dest, tag, comm);                                     \
        rcw_message_record record = rcw_message(kind, rcw_known(comm), dest, tag, rcw_bytes_of(count, datatype));    \
        record.t0 = rcw_ticks();                                                                           \
        int result = PMPI_##name(buf, count, datatype, dest, tag, comm);                                   \
        record.t1 = rcw_ticks();                                                                           \
        rcw_keep(&record);                                                                                     \
        return result;                                                                                     \
    }

SEND(Send, RCW_SENT)
SEND(Ssend, RCW_SENT_TO_RECEIVER)
SEND(Rsend, RCW_SENT)
SEND(Bsend, RCW_SENT_BUFFERED)

/* Fills in a record from the status of a received message. */
void rcw_came(rcw_message_record *record, const rcw_communicator *of, const MPI_Status *status, MPI_Datatype type)
{
    int count;
    PMPI_Get_count(status, type, &count);
    record->bytes = count == MPI_UNDEFINED ? 0 : rcw_bytes_of(count, type);
    record->peer = rcw_in_world(of, status->MPI_SOURCE);
    record->tag = status->MPI_TAG;
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (!rcw_ranks_on)
        return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
    MPI_Status own;
    rcw_communicator *of = rcw_known(comm);
    rcw_message_record record = rcw_message(RCW_RECEIVED, of, source, tag, 0);
    record.t0 = record.posted = rcw_ticks();
    int result = PMPI_Recv(buf, count, datatype, source, tag, comm, &own);
    record.t1 = rcw_ticks();
    rcw_came(&record, of, &own, datatype);
    rcw_keep(&record);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return result;
}

static int sendrecv(rcw_communicator *of, rcw_message_record sent, int source, int recvtag, MPI_Datatype type, MPI_Status *status,
                    int64_t t0, int result, int64_t order)
{
    rcw_message_record got = rcw_message(RCW_RECEIVED, of, source, recvtag, 0);
    sent.t0 = sent.t1 = got.t0 = got.posted = t0;
    got.order = order;
    got.t1 = rcw_ticks();
    rcw_came(&got, of, status, type);
    rcw_keep(&sent);
    rcw_keep(&got);
    return result;
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    if (!rcw_ranks_on)
        return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
    MPI_Status own;
    rcw_communicator *of = rcw_known(comm);
    rcw_message_record sent = rcw_message(RCW_SENT_BUFFERED, of, dest, sendtag, rcw_bytes_of(sendcount, sendtype));
    int64_t order = rcw_next_order(), t0 = rcw_ticks();
    int result = PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, &own);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return sendrecv(of, sent, source, recvtag, recvtype, &own, t0, result, order);
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
    if (!rcw_ranks_on)
        return PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
    MPI_Status own;
    rcw_communicator *of = rcw_known(comm);
    rcw_message_record sent = rcw_message(RCW_SENT_BUFFERED, of, dest, sendtag, rcw_bytes_of(count, datatype));
    int64_t order = rcw_next_order(), t0 = rcw_ticks();
    int result = PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, &own);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return sendrecv(of, sent, source, recvtag, datatype, &own, t0, result, order);
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (!rcw_ranks_on)
        return PMPI_Probe(source, tag, comm, status);
    MPI_Status own;
    rcw_communicator *of = rcw_known(comm);
    rcw_message_record record = rcw_message(RCW_PROBED, of, source, tag, 0);
    record.t0 = record.posted = rcw_ticks();
    int result = PMPI_Probe(source, tag, comm, &own);
    record.t1 = rcw_ticks();
    rcw_came(&record, of, &own, MPI_BYTE);
    rcw_keep(&record);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return result;
}
