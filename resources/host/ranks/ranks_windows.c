/* Windows, files and neighbourhood collectives: a part of ranks.c. Calls in which all ranks of a window or a
 * file meet are recorded with who waits for whom; the other calls only with their times. */
#include "ranks.h"

#include <stdlib.h>

/* A call without a known cause: in a replay, it takes the same time. */
#define ALONE(name, arguments, ...)                                              \
    int MPI_##name(__VA_ARGS__)                                                  \
    {                                                                            \
        rcw_message_record record = rcw_alone();                                 \
        int result = PMPI_##name arguments;                                      \
        rcw_ended(&record);                                                      \
        return result;                                                           \
    }

/* A call in which all ranks of `comm` meet; `ended` is done after it. */
#define MEETING(name, ended, arguments, ...)                                     \
    int MPI_##name(__VA_ARGS__)                                                  \
    {                                                                            \
        rcw_message_record record;                                               \
        int recorded = rcw_collective(RCW_ALL_TO_ALL, comm, RCW_FROM_ALL, 0, &record); \
        int result = PMPI_##name arguments;                                      \
        if (recorded)                                                            \
            rcw_ended(&record);                                                  \
        if (result == MPI_SUCCESS)                                               \
            ended;                                                               \
        return result;                                                           \
    }

static rcw_message_record rcw_alone(void)
{
    rcw_message_record record = {.comm = -1, .kind = RCW_ALONE, .peer = RCW_FROM_ALL, .order = rcw_next_order(),
                                 .thread = rcw_self ? rcw_self->number : 0};
    record.t0 = record.posted = rcw_ticks();
    return record;
}

static void rcw_ended(rcw_message_record *record)
{
    record->t1 = rcw_ticks();
    rcw_keep(record);
}

/* ---- windows: each has a communicator of its ranks, for the calls in which they meet ---- */

static int window_keyval = MPI_KEYVAL_INVALID;

static int forget(MPI_Win win, int key, void *value, void *more)
{
    (void)win, (void)key, (void)more;
    MPI_Comm_free(value);
    free(value);
    return MPI_SUCCESS;
}

static void opened(MPI_Win win, MPI_Comm comm)
{
    MPI_Comm twin = rcw_twin(comm), *kept;
    if (twin == MPI_COMM_NULL)
        return;
    if (window_keyval == MPI_KEYVAL_INVALID)
        PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget, &window_keyval, NULL);
    kept = malloc(sizeof *kept);
    *kept = twin;
    PMPI_Win_set_attr(win, window_keyval, kept);
}

/* Begins the record of a call in which a window's ranks meet. */
static rcw_message_record in_window(MPI_Win win)
{
    MPI_Comm *comm;
    int known = 0;
    rcw_message_record record;
    if (window_keyval != MPI_KEYVAL_INVALID)
        PMPI_Win_get_attr(win, window_keyval, &comm, &known);
    if (!known || !rcw_collective(RCW_ALL_TO_ALL, *comm, RCW_FROM_ALL, 0, &record))
        record = rcw_alone();
    return record;
}

int MPI_Win_fence(int assert, MPI_Win win)
{
    rcw_message_record record = in_window(win);
    int result = PMPI_Win_fence(assert, win);
    rcw_ended(&record);
    return result;
}

int MPI_Win_free(MPI_Win *win)
{
    rcw_message_record record = in_window(*win);
    int result = PMPI_Win_free(win);
    rcw_ended(&record);
    return result;
}

MEETING(Win_create, opened(*win, comm), (base, size, disp_unit, info, comm, win), void *base, MPI_Aint size, int disp_unit, MPI_Info
        info, MPI_Comm comm, MPI_Win *win)
MEETING(Win_allocate, opened(*win, comm), (size, disp_unit, info, comm, baseptr, win), MPI_Aint size, int disp_unit, MPI_Info info,
        MPI_Comm comm, void *baseptr, MPI_Win *win)
MEETING(Win_allocate_shared, opened(*win, comm), (size, disp_unit, info, comm, baseptr, win), MPI_Aint size, int disp_unit, MPI_Info
        info, MPI_Comm comm, void *baseptr, MPI_Win *win)
MEETING(Win_create_dynamic, opened(*win, comm), (info, comm, win), MPI_Info info, MPI_Comm comm, MPI_Win *win)
ALONE(Win_lock, (lock_type, rank, assert, win), int lock_type, int rank, int assert, MPI_Win win)
ALONE(Win_unlock, (rank, win), int rank, MPI_Win win)
ALONE(Win_lock_all, (assert, win), int assert, MPI_Win win)
ALONE(Win_unlock_all, (win), MPI_Win win)
ALONE(Win_flush, (rank, win), int rank, MPI_Win win)
ALONE(Win_flush_all, (win), MPI_Win win)
ALONE(Win_flush_local, (rank, win), int rank, MPI_Win win)
ALONE(Win_flush_local_all, (win), MPI_Win win)
ALONE(Win_start, (group, assert, win), MPI_Group group, int assert, MPI_Win win)
ALONE(Win_complete, (win), MPI_Win win)
ALONE(Win_post, (group, assert, win), MPI_Group group, int assert, MPI_Win win)
ALONE(Win_wait, (win), MPI_Win win)
ALONE(Put, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win), const void
      *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count,
      MPI_Datatype target_datatype, MPI_Win win)
ALONE(Accumulate, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win),
      const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int
      target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
ALONE(Rput, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_cout, target_datatype, win, request),
      const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int
      target_cout, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
ALONE(Raccumulate, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win,
      request), const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int
      target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
ALONE(Get, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win), void
      *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count,
      MPI_Datatype target_datatype, MPI_Win win)
ALONE(Get_accumulate, (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank,
      target_disp, target_count, target_datatype, op, win), const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
      void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
ALONE(Fetch_and_op, (origin_addr, result_addr, datatype, target_rank, target_disp, op, win), const void *origin_addr, void
      *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
ALONE(Compare_and_swap, (origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win), const void *origin_addr,
      const void *compare_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
ALONE(Rget, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request),
      void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count,
      MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
ALONE(Rget_accumulate, (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank,
      target_disp, target_count, target_datatype, op, win, request), const void *origin_addr, int origin_count, MPI_Datatype
      origin_datatype, void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int
      target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)

/* ---- files ---- */

MEETING(File_open, (void)0, (comm, filename, amode, info, fh), MPI_Comm comm, const char *filename, int amode, MPI_Info info,
        MPI_File *fh)
ALONE(File_close, (fh), MPI_File *fh)
ALONE(File_read, (fh, buf, count, datatype, status), MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
ALONE(File_write, (fh, buf, count, datatype, status), MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status
      *status)
ALONE(File_read_at, (fh, offset, buf, count, datatype, status), MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype
      datatype, MPI_Status *status)
ALONE(File_write_at, (fh, offset, buf, count, datatype, status), MPI_File fh, MPI_Offset offset, const void *buf, int count,
      MPI_Datatype datatype, MPI_Status *status)
ALONE(File_read_all, (fh, buf, count, datatype, status), MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
      *status)
ALONE(File_write_all, (fh, buf, count, datatype, status), MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status
      *status)
ALONE(File_read_at_all, (fh, offset, buf, count, datatype, status), MPI_File fh, MPI_Offset offset, void *buf, int count,
      MPI_Datatype datatype, MPI_Status *status)
ALONE(File_write_at_all, (fh, offset, buf, count, datatype, status), MPI_File fh, MPI_Offset offset, const void *buf, int count,
      MPI_Datatype datatype, MPI_Status *status)
ALONE(File_read_shared, (fh, buf, count, datatype, status), MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
      *status)
ALONE(File_write_shared, (fh, buf, count, datatype, status), MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
      MPI_Status *status)
ALONE(File_read_ordered, (fh, buf, count, datatype, status), MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
      *status)
ALONE(File_write_ordered, (fh, buf, count, datatype, status), MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
      MPI_Status *status)
ALONE(File_iread, (fh, buf, count, datatype, request), MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request
      *request)
ALONE(File_iwrite, (fh, buf, count, datatype, request), MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request
      *request)
ALONE(File_iread_at, (fh, offset, buf, count, datatype, request), MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype
      datatype, MPI_Request *request)
ALONE(File_iwrite_at, (fh, offset, buf, count, datatype, request), MPI_File fh, MPI_Offset offset, const void *buf, int count,
      MPI_Datatype datatype, MPI_Request *request)
ALONE(File_sync, (fh), MPI_File fh)
ALONE(File_set_view, (fh, disp, etype, filetype, datarep, info), MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype
      filetype, const char *datarep, MPI_Info info)
ALONE(File_set_size, (fh, size), MPI_File fh, MPI_Offset size)
ALONE(File_preallocate, (fh, size), MPI_File fh, MPI_Offset size)

/* ---- neighbours ---- */

ALONE(Neighbor_allgather, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), const void *sendbuf, int sendcount,
      MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
ALONE(Neighbor_allgatherv, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm), const void *sendbuf, int
      sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm
      comm)
ALONE(Neighbor_alltoall, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), const void *sendbuf, int sendcount,
      MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
ALONE(Neighbor_alltoallv, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), const void
      *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int
      rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
ALONE(Neighbor_alltoallw, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), const void
      *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int
      recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
