/* What the parts of ranks.c share. */
#ifndef RCW_RANKS_H
#define RCW_RANKS_H
#include <mpi.h>
#include <pthread.h>

#include "../recap.h"

enum { RCW_FROM_ALL = -1 };

typedef struct {
    int64_t number, collectives;
    int size, *world; /* ranks as MPI_COMM_WORLD numbers them, of those that messages go to */
} rcw_communicator;

/* Where a rank runs and records; `clock` is a name that ranks share which read the same one. */
typedef struct {
    char clock[192], host[MPI_MAX_PROCESSOR_NAME], folder[1024];
} rcw_place;

/* The ranks that record: theirs in MPI_COMM_WORLD, their communicator, and which of them this one is. */
typedef struct {
    int count, own, *rank;
    MPI_Comm comm;
    rcw_place *places;
} rcw_partners;

extern int rcw_ranks_on; /* whether messages are recorded */

/* The rank that a launcher names before MPI does, as text; NULL where it does not. */
const char *rcw_launched_rank(void);
/* Before MPI_Init: that this rank records. */
void rcw_take_part(void);
/* After it: how many ranks record, and of each rank whether it does. All ranks find the same. */
int rcw_find_partners(int rank, int ranks, char *records_too);
void rcw_align(const rcw_partners *of, int clocks_file);
rcw_communicator *rcw_known(MPI_Comm comm);
int64_t rcw_bytes_of(int count, MPI_Datatype type);
int64_t rcw_next_order(void);
/* A record of the calling thread's, whose times lack. */
rcw_message_record rcw_message(int kind, const rcw_communicator *of, int peer, int tag, int64_t bytes);
int rcw_in_world(const rcw_communicator *of, int peer);
void rcw_keep(const rcw_message_record *record);
/* Keeps when the calling thread began, before its first record. */
void rcw_thread_began(void);
/* The system's own, for what the recorder's threads share. */
void rcw_lock(pthread_mutex_t *mutex);
void rcw_unlock(pthread_mutex_t *mutex);
/* A wait of the calling thread for other threads of its rank, or what others wait for (RCW_WAITED and the like). */
void rcw_keep_wait(int kind, int64_t order, int tag, int64_t t0, int64_t t1);
/* What the calling thread waits for from now on, and no longer, at an address; and what others may now go on. */
int64_t rcw_begin_wait(const void *what);
void rcw_end_wait(const void *what, int64_t t0);
void rcw_leave_wait(const void *what); /* without a record */
void rcw_let_go(const void *what);
/* Whether an address is of the program's own code or the C++ standard library's; and messages are recorded. */
int rcw_is_own(void *caller);
int rcw_followed(void *caller);
/* A function of the system's or of another library, which this program's own one hides; NULL if there is none. */
void *rcw_real(const char *name);
/* That function as `real_NAME`, with the type of this program's own. */
#define REAL(name) \
    static __typeof__(name) *real_##name; \
    if (!real_##name) \
        *(void **)&real_##name = rcw_real(#name)
/* Of a name that a program may have for a function of its own, which then counts: C11's threads, as tinycthread's, or `poll`. */
#define MAY_BE_OWN __attribute__((weak))
/* Keeps once that waits of this kind are not recorded (rcw_not_followed). */
void rcw_not_followed(int what);
/* Whether the program is linked with an OpenMP that is not followed. */
void rcw_look_for_runtimes(void);
/* Begins the record of a collective call; 0 where it is not recorded. */
int rcw_collective(int kind, MPI_Comm comm, int root, int64_t bytes, rcw_message_record *record);
/* A copy of a communicator, for what its ranks do besides; MPI_COMM_NULL where nothing is recorded of it. */
MPI_Comm rcw_twin(MPI_Comm comm);
/* A collective call that is begun, and ends with its request. */
void rcw_begun(MPI_Request handle, rcw_message_record record);
/* What a status says of a message that came. */
void rcw_came(rcw_message_record *record, const rcw_communicator *of, const MPI_Status *status, MPI_Datatype type);
#endif
