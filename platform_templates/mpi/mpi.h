/* MPI on the simulated card: the calls of MPI that it has. A real machine has a header of its own. */
#ifndef RCW_MPI_H
#define RCW_MPI_H

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 3
#define MPI_SUBVERSION 1

typedef int MPI_Comm;
typedef struct rcw_mpi_group *MPI_Group;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef struct rcw_mpi_request *MPI_Request;
typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    long long rcw_bytes;
} MPI_Status;

#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_COMM_WORLD ((MPI_Comm)1)
#define MPI_COMM_SELF ((MPI_Comm)2)
#define MPI_GROUP_NULL ((MPI_Group)0)

/* A datatype is its number times 256 and its bytes. */
#define MPI_DATATYPE_NULL ((MPI_Datatype)0)
#define MPI_CHAR ((MPI_Datatype)0x101)
#define MPI_SIGNED_CHAR ((MPI_Datatype)0x201)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)0x301)
#define MPI_BYTE ((MPI_Datatype)0x401)
#define MPI_SHORT ((MPI_Datatype)0x502)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)0x602)
#define MPI_INT ((MPI_Datatype)0x704)
#define MPI_UNSIGNED ((MPI_Datatype)0x804)
#define MPI_LONG ((MPI_Datatype)(0x900 + (int)sizeof(long)))
#define MPI_UNSIGNED_LONG ((MPI_Datatype)(0xa00 + (int)sizeof(long)))
#define MPI_LONG_LONG ((MPI_Datatype)0xb08)
#define MPI_LONG_LONG_INT MPI_LONG_LONG
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)0xc08)
#define MPI_FLOAT ((MPI_Datatype)0xd04)
#define MPI_DOUBLE ((MPI_Datatype)0xe08)
#define MPI_INT8_T ((MPI_Datatype)0xf01)
#define MPI_UINT8_T ((MPI_Datatype)0x1001)
#define MPI_INT16_T ((MPI_Datatype)0x1102)
#define MPI_UINT16_T ((MPI_Datatype)0x1202)
#define MPI_INT32_T ((MPI_Datatype)0x1304)
#define MPI_UINT32_T ((MPI_Datatype)0x1404)
#define MPI_INT64_T ((MPI_Datatype)0x1508)
#define MPI_UINT64_T ((MPI_Datatype)0x1608)

#define MPI_OP_NULL ((MPI_Op)0)
#define MPI_SUM ((MPI_Op)1)
#define MPI_PROD ((MPI_Op)2)
#define MPI_MAX ((MPI_Op)3)
#define MPI_MIN ((MPI_Op)4)
#define MPI_LAND ((MPI_Op)5)
#define MPI_LOR ((MPI_Op)6)
#define MPI_BAND ((MPI_Op)7)
#define MPI_BOR ((MPI_Op)8)
#define MPI_BXOR ((MPI_Op)9)

#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_PROC_NULL (-2)
#define MPI_UNDEFINED (-32766)
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_SUCCESS 0
#define MPI_MAX_PROCESSOR_NAME 256

enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };

int MPI_Init(int *argc, char ***argv);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Initialized(int *flag);
int MPI_Finalize(void);
int MPI_Finalized(int *flag);
int MPI_Abort(MPI_Comm comm, int errorcode);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm);
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Comm_group(MPI_Comm comm, MPI_Group *group);
int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
int MPI_Group_size(MPI_Group group, int *size);
int MPI_Group_rank(MPI_Group group, int *rank);
int MPI_Group_free(MPI_Group *group);
int MPI_Get_processor_name(char *name, int *resultlen);
double MPI_Wtime(void);
double MPI_Wtick(void);
int MPI_Type_size(MPI_Datatype datatype, int *size);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count);

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status);
int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status);
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses);
int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status);
int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                 MPI_Status array_of_statuses[]);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[]);
int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status);

/* Each has a nonblocking form. */
int MPI_Barrier(MPI_Comm comm);
int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request);
int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request *request);
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request);
int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request *request);
int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request *request);
int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm);
int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, MPI_Request *request);
int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm);
int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Request *request);
int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                int root, MPI_Comm comm);
int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm, MPI_Request *request);
int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
               int root, MPI_Comm comm);
int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                int root, MPI_Comm comm, MPI_Request *request);
int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                 MPI_Comm comm);
int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                   const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);

/* What is not simulated: the compiler says so at the call. The types and constants are there, so that programs for real machines are read. */
typedef struct rcw_mpi_window *MPI_Win;
typedef struct rcw_mpi_file *MPI_File;
typedef struct rcw_mpi_info *MPI_Info;
typedef long MPI_Aint;
typedef long long MPI_Offset;
#define MPI_WIN_NULL ((MPI_Win)0)
#define MPI_FILE_NULL ((MPI_File)0)
#define MPI_INFO_NULL ((MPI_Info)0)
#define MPI_BOTTOM ((void *)0)
#define MPI_UNWEIGHTED ((int *)0)
#define MPI_REPLACE ((MPI_Op)10)
#define MPI_NO_OP ((MPI_Op)11)
enum { MPI_LOCK_SHARED = 1, MPI_LOCK_EXCLUSIVE };
enum { MPI_MODE_NOCHECK = 1, MPI_MODE_NOSTORE = 2, MPI_MODE_NOPUT = 4, MPI_MODE_NOPRECEDE = 8, MPI_MODE_NOSUCCEED = 16 };
enum { MPI_MODE_CREATE = 1, MPI_MODE_RDONLY = 2, MPI_MODE_WRONLY = 4, MPI_MODE_RDWR = 8, MPI_MODE_DELETE_ON_CLOSE = 16,
       MPI_MODE_UNIQUE_OPEN = 32, MPI_MODE_EXCL = 64, MPI_MODE_APPEND = 128, MPI_MODE_SEQUENTIAL = 256 };
enum { MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END };

#define RCW_NO_MPI(name, why) int name() __attribute__((error(#name ": the simulated card does not have this call; " why)));
#ifdef __cplusplus
#undef RCW_NO_MPI
#define RCW_NO_MPI(name, why) int name(...) __attribute__((error(#name ": the simulated card does not have this call; " why)));
#endif
#define RCW_NO_MPI_OF(name, why, ...) int name(__VA_ARGS__) __attribute__((error(#name ": the simulated card does not have this call; " why)));
#define RCW_PLAIN_COMM "use MPI_Comm_split"
RCW_NO_MPI_OF(MPI_Cart_create, RCW_PLAIN_COMM, MPI_Comm old_comm, int ndims, const int *dims, const int *periods, int reorder, MPI_Comm
              *comm_cart)
RCW_NO_MPI(MPI_Intercomm_create, RCW_PLAIN_COMM)
RCW_NO_MPI(MPI_Send_init, "use MPI_Isend")
RCW_NO_MPI(MPI_Recv_init, "use MPI_Irecv")
RCW_NO_MPI(MPI_Type_contiguous, "send plain datatypes, or MPI_BYTE")
RCW_NO_MPI(MPI_Type_vector, "send plain datatypes, or MPI_BYTE")
RCW_NO_MPI(MPI_Type_commit, "send plain datatypes, or MPI_BYTE")
RCW_NO_MPI(MPI_Op_create, "use the operations that MPI has")
RCW_NO_MPI(MPI_Alltoallw, "use MPI_Alltoallv")
RCW_NO_MPI(MPI_Ialltoallw, "use MPI_Ialltoallv")
RCW_NO_MPI_OF(MPI_Neighbor_allgather, "send messages", const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
              recvcount, MPI_Datatype recvtype, MPI_Comm comm)
RCW_NO_MPI_OF(MPI_Neighbor_alltoall, "send messages", const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
              recvcount, MPI_Datatype recvtype, MPI_Comm comm)
RCW_NO_MPI(MPI_Rsend, "use MPI_Send")
RCW_NO_MPI(MPI_Irsend, "use MPI_Isend")
RCW_NO_MPI(MPI_Bsend, "use MPI_Send")
RCW_NO_MPI(MPI_Ibsend, "use MPI_Isend")
RCW_NO_MPI(MPI_Ssend_init, "use MPI_Issend")
RCW_NO_MPI(MPI_Start, "use MPI_Isend and MPI_Irecv")
RCW_NO_MPI(MPI_Startall, "use MPI_Isend and MPI_Irecv")
RCW_NO_MPI(MPI_Testsome, "use MPI_Testany")
RCW_NO_MPI(MPI_Cancel, "receive the message")
RCW_NO_MPI(MPI_Request_free, "use MPI_Wait")
RCW_NO_MPI(MPI_Mprobe, "use MPI_Probe")
RCW_NO_MPI(MPI_Improbe, "use MPI_Iprobe")
RCW_NO_MPI(MPI_Comm_idup, "use MPI_Comm_dup")
RCW_NO_MPI(MPI_Comm_split_type, RCW_PLAIN_COMM)
RCW_NO_MPI_OF(MPI_Graph_create, RCW_PLAIN_COMM, MPI_Comm comm_old, int nnodes, const int *index, const int *edges, int reorder, MPI_Comm
              *comm_graph)
RCW_NO_MPI(MPI_Comm_spawn, "start all ranks at once")
RCW_NO_MPI(MPI_Pack, "send plain datatypes, or MPI_BYTE")
RCW_NO_MPI(MPI_Unpack, "send plain datatypes, or MPI_BYTE")
RCW_NO_MPI(MPI_Type_create_struct, "send plain datatypes, or MPI_BYTE")
RCW_NO_MPI(MPI_Type_indexed, "send plain datatypes, or MPI_BYTE")
RCW_NO_MPI_OF(MPI_Win_allocate, "send messages", MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
RCW_NO_MPI(MPI_Reduce_local, "combine them in the program")
RCW_NO_MPI_OF(MPI_Win_create, "send messages", void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
RCW_NO_MPI_OF(MPI_File_open, "use the C library's files", MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
RCW_NO_MPI_OF(MPI_Win_fence, "send messages", int assert, MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_free, "send messages", MPI_Win *win)
RCW_NO_MPI_OF(MPI_Win_allocate_shared, "send messages", MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win
              *win)
RCW_NO_MPI_OF(MPI_Win_create_dynamic, "send messages", MPI_Info info, MPI_Comm comm, MPI_Win *win)
RCW_NO_MPI_OF(MPI_Win_lock, "send messages", int lock_type, int rank, int assert, MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_unlock, "send messages", int rank, MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_lock_all, "send messages", int assert, MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_unlock_all, "send messages", MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_flush, "send messages", int rank, MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_flush_all, "send messages", MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_flush_local, "send messages", int rank, MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_flush_local_all, "send messages", MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_start, "send messages", MPI_Group group, int assert, MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_complete, "send messages", MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_post, "send messages", MPI_Group group, int assert, MPI_Win win)
RCW_NO_MPI_OF(MPI_Win_wait, "send messages", MPI_Win win)
RCW_NO_MPI_OF(MPI_Put, "send messages", const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
              target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
RCW_NO_MPI_OF(MPI_Accumulate, "send messages", const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
RCW_NO_MPI_OF(MPI_Rput, "send messages", const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_cout, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
RCW_NO_MPI_OF(MPI_Raccumulate, "send messages", const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
RCW_NO_MPI_OF(MPI_Get, "send messages", void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
              target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
RCW_NO_MPI_OF(MPI_Get_accumulate, "send messages", const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void
              *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
              MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
RCW_NO_MPI_OF(MPI_Fetch_and_op, "send messages", const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
              MPI_Aint target_disp, MPI_Op op, MPI_Win win)
RCW_NO_MPI_OF(MPI_Compare_and_swap, "send messages", const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype
              datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
RCW_NO_MPI_OF(MPI_Rget, "send messages", void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
              target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
RCW_NO_MPI_OF(MPI_Rget_accumulate, "send messages", const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void
              *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
              MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
RCW_NO_MPI_OF(MPI_File_close, "use the C library's files", MPI_File *fh)
RCW_NO_MPI_OF(MPI_File_read, "use the C library's files", MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
RCW_NO_MPI_OF(MPI_File_write, "use the C library's files", MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status
              *status)
RCW_NO_MPI_OF(MPI_File_read_at, "use the C library's files", MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
              MPI_Status *status)
RCW_NO_MPI_OF(MPI_File_write_at, "use the C library's files", MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
              datatype, MPI_Status *status)
RCW_NO_MPI_OF(MPI_File_read_all, "use the C library's files", MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
              *status)
RCW_NO_MPI_OF(MPI_File_write_all, "use the C library's files", MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status
              *status)
RCW_NO_MPI_OF(MPI_File_read_at_all, "use the C library's files", MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype
              datatype, MPI_Status *status)
RCW_NO_MPI_OF(MPI_File_write_at_all, "use the C library's files", MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
              datatype, MPI_Status *status)
RCW_NO_MPI_OF(MPI_File_read_shared, "use the C library's files", MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
              *status)
RCW_NO_MPI_OF(MPI_File_write_shared, "use the C library's files", MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
              MPI_Status *status)
RCW_NO_MPI_OF(MPI_File_read_ordered, "use the C library's files", MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
              *status)
RCW_NO_MPI_OF(MPI_File_write_ordered, "use the C library's files", MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
              MPI_Status *status)
RCW_NO_MPI_OF(MPI_File_iread, "use the C library's files", MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
RCW_NO_MPI_OF(MPI_File_iwrite, "use the C library's files", MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request
              *request)
RCW_NO_MPI_OF(MPI_File_iread_at, "use the C library's files", MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
              MPI_Request *request)
RCW_NO_MPI_OF(MPI_File_iwrite_at, "use the C library's files", MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
              datatype, MPI_Request *request)
RCW_NO_MPI_OF(MPI_File_sync, "use the C library's files", MPI_File fh)
RCW_NO_MPI_OF(MPI_File_set_view, "use the C library's files", MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
              const char *datarep, MPI_Info info)
RCW_NO_MPI_OF(MPI_File_set_size, "use the C library's files", MPI_File fh, MPI_Offset size)
RCW_NO_MPI_OF(MPI_File_preallocate, "use the C library's files", MPI_File fh, MPI_Offset size)
RCW_NO_MPI_OF(MPI_Neighbor_allgatherv, "send messages", const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const
              int *recvcounts, const int *displs, MPI_Datatype recvtype, MPI_Comm comm)
RCW_NO_MPI_OF(MPI_Neighbor_alltoallv, "send messages", const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype
              sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm)
RCW_NO_MPI_OF(MPI_Neighbor_alltoallw, "send messages", const void *sendbuf, const int *sendcounts, const MPI_Aint *sdispls, const
              MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts, const MPI_Aint *rdispls, const MPI_Datatype *recvtypes,
              MPI_Comm comm)
RCW_NO_MPI_OF(MPI_Ineighbor_allgather, "send messages", const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
              recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
RCW_NO_MPI_OF(MPI_Ineighbor_allgatherv, "send messages", const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const
              int *recvcounts, const int *displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
RCW_NO_MPI_OF(MPI_Ineighbor_alltoall, "send messages", const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
              recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
RCW_NO_MPI_OF(MPI_Ineighbor_alltoallv, "send messages", const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype
              sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request
              *request)
RCW_NO_MPI_OF(MPI_Ineighbor_alltoallw, "send messages", const void *sendbuf, const int *sendcounts, const MPI_Aint *sdispls, const
              MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts, const MPI_Aint *rdispls, const MPI_Datatype *recvtypes,
              MPI_Comm comm, MPI_Request *request)
RCW_NO_MPI_OF(MPI_Dist_graph_create, "use MPI_Comm_split", MPI_Comm comm_old, int n, const int *nodes, const int *degrees, const int
              *targets, const int *weights, MPI_Info info, int reorder, MPI_Comm * newcomm)
RCW_NO_MPI_OF(MPI_Dist_graph_create_adjacent, "use MPI_Comm_split", MPI_Comm comm_old, int indegree, const int *sources, const int
              *sourceweights, int outdegree, const int *destinations, const int *destweights, MPI_Info info, int reorder, MPI_Comm
              *comm_dist_graph)

#ifdef __cplusplus
}
#endif
#endif
