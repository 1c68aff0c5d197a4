/* Collective calls: a part of ranks.c. */
#include "ranks.h"

#define COLLECTIVE(kind, comm, root, bytes, call)                                       \
    {                                                                                   \
        rcw_message_record record;                                                      \
        int recorded = rcw_collective(kind, comm, root, bytes, &record), result = P##call;  \
        if (recorded) {                                                                 \
            record.t1 = rcw_ticks();                                                    \
            rcw_keep(&record);                                                              \
        }                                                                               \
        return result;                                                                  \
    }

int MPI_Barrier(MPI_Comm comm) COLLECTIVE(RCW_ALL_TO_ALL, comm, RCW_FROM_ALL, 0, MPI_Barrier(comm))

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
    COLLECTIVE(RCW_FROM_ROOT, comm, root, rcw_bytes_of(count, datatype), MPI_Bcast(buffer, count, datatype, root, comm))

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
    COLLECTIVE(RCW_TO_ROOT, comm, root, rcw_bytes_of(count, datatype), MPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm))

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
    COLLECTIVE(RCW_ALL_TO_ALL, comm, RCW_FROM_ALL, rcw_bytes_of(count, datatype), MPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm))

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                int root, MPI_Comm comm)
    COLLECTIVE(RCW_FROM_ROOT, comm, root, rcw_bytes_of(recvcount, recvtype),
               MPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))

int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
    COLLECTIVE(RCW_FROM_ROOT, comm, root, rcw_bytes_of(recvcount, recvtype),
               MPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm))

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
               int root, MPI_Comm comm)
    COLLECTIVE(RCW_TO_ROOT, comm, root, rcw_bytes_of(sendcount, sendtype),
               MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))

int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
    COLLECTIVE(RCW_TO_ROOT, comm, root, rcw_bytes_of(sendcount, sendtype),
               MPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm))

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  MPI_Comm comm)
    COLLECTIVE(RCW_ALL_TO_ALL, comm, RCW_FROM_ALL, rcw_bytes_of(recvcount, recvtype),
               MPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))

int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
    COLLECTIVE(RCW_ALL_TO_ALL, comm, RCW_FROM_ALL, rcw_bytes_of(sendcount, sendtype),
               MPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                 MPI_Comm comm)
    COLLECTIVE(RCW_ALL_TO_ALL, comm, RCW_FROM_ALL, rcw_bytes_of(recvcount, recvtype),
               MPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))

int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
    COLLECTIVE(RCW_ALL_TO_ALL, comm, RCW_FROM_ALL, 0,
               MPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm))
