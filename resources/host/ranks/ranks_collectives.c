/* Collective calls, each with its nonblocking form, which ends with a request: a part of ranks.c. */
#include "ranks.h"

#define UNPACKED(...) __VA_ARGS__
#define COLLECTIVE(name, nonblocking, kind, root, bytes, arguments, ...)                     \
    int MPI_##name(__VA_ARGS__)                                                              \
    {                                                                                        \
        rcw_message_record record;                                                           \
        int recorded = rcw_collective(RCW_##kind, comm, root, bytes, &record);               \
        int result = PMPI_##name(UNPACKED arguments);                                        \
        if (recorded) {                                                                      \
            record.t1 = rcw_ticks();                                                         \
            rcw_keep(&record);                                                               \
        }                                                                                    \
        return result;                                                                       \
    }                                                                                        \
    int MPI_##nonblocking(__VA_ARGS__, MPI_Request *request)                                 \
    {                                                                                        \
        rcw_message_record record;                                                           \
        int recorded = rcw_collective(RCW_##kind, comm, root, bytes, &record);               \
        int result = PMPI_##nonblocking(UNPACKED arguments, request);                        \
        if (recorded)                                                                        \
            rcw_begun(*request, record);                                                     \
        return result;                                                                       \
    }

COLLECTIVE(Barrier, Ibarrier, ALL_TO_ALL, 0, 0, (comm), MPI_Comm comm)
COLLECTIVE(Bcast, Ibcast, FROM_ROOT, root, rcw_bytes_of(count, datatype), (buffer, count, datatype, root, comm),
           void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
COLLECTIVE(Reduce, Ireduce, TO_ROOT, root, rcw_bytes_of(count, datatype), (sendbuf, recvbuf, count, datatype, op, root,
           comm), const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
COLLECTIVE(Allreduce, Iallreduce, ALL_TO_ALL, 0, rcw_bytes_of(count, datatype), (sendbuf, recvbuf, count, datatype, op,
           comm), const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
COLLECTIVE(Scan, Iscan, FROM_LOWER, 0, rcw_bytes_of(count, datatype), (sendbuf, recvbuf, count, datatype, op, comm),
           const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
COLLECTIVE(Exscan, Iexscan, FROM_LOWER, 0, rcw_bytes_of(count, datatype), (sendbuf, recvbuf, count, datatype, op, comm),
           const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
COLLECTIVE(Reduce_scatter, Ireduce_scatter, ALL_TO_ALL, 0, 0, (sendbuf, recvbuf, recvcounts, datatype, op, comm),
           const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, ALL_TO_ALL, 0, rcw_bytes_of(recvcount, datatype), (sendbuf, recvbuf,
           recvcount, datatype, op, comm), const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype,
           MPI_Op op, MPI_Comm comm)
COLLECTIVE(Scatter, Iscatter, FROM_ROOT, root, rcw_bytes_of(recvcount, recvtype), (sendbuf, sendcount, sendtype, recvbuf,
           recvcount, recvtype, root, comm), const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
COLLECTIVE(Scatterv, Iscatterv, FROM_ROOT, root, rcw_bytes_of(recvcount, recvtype), (sendbuf, sendcounts, displs, sendtype,
           recvbuf, recvcount, recvtype, root, comm), const void *sendbuf, const int sendcounts[], const int displs[],
           MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
COLLECTIVE(Gather, Igather, TO_ROOT, root, rcw_bytes_of(sendcount, sendtype), (sendbuf, sendcount, sendtype, recvbuf,
           recvcount, recvtype, root, comm), const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
COLLECTIVE(Gatherv, Igatherv, TO_ROOT, root, rcw_bytes_of(sendcount, sendtype), (sendbuf, sendcount, sendtype, recvbuf,
           recvcounts, displs, recvtype, root, comm), const void *sendbuf, int sendcount, MPI_Datatype sendtype,
           void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
COLLECTIVE(Allgather, Iallgather, ALL_TO_ALL, 0, rcw_bytes_of(recvcount, recvtype), (sendbuf, sendcount, sendtype, recvbuf,
           recvcount, recvtype, comm), const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
           int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
COLLECTIVE(Allgatherv, Iallgatherv, ALL_TO_ALL, 0, rcw_bytes_of(sendcount, sendtype), (sendbuf, sendcount, sendtype, recvbuf,
           recvcounts, displs, recvtype, comm), const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
           const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
COLLECTIVE(Alltoall, Ialltoall, ALL_TO_ALL, 0, rcw_bytes_of(recvcount, recvtype), (sendbuf, sendcount, sendtype, recvbuf,
           recvcount, recvtype, comm), const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
           int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
COLLECTIVE(Alltoallv, Ialltoallv, ALL_TO_ALL, 0, 0, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
           recvtype, comm), const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
           void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
COLLECTIVE(Alltoallw, Ialltoallw, ALL_TO_ALL, 0, 0, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
           recvtypes, comm), const void *sendbuf, const int sendcounts[], const int sdispls[],
           const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
           const MPI_Datatype recvtypes[], MPI_Comm comm)
