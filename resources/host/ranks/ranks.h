/* Declarations that the parts of ranks.c share. */
#ifndef RCW_RANKS_H
#define RCW_RANKS_H
#include <mpi.h>
#include <pthread.h>

#include "../recap.h"

enum { RCW_FROM_ALL = -1 };

typedef struct {
    int64_t number, collectives;
    int size, *world; /* its ranks (of an intercommunicator: the remote ones), numbered as in MPI_COMM_WORLD */
} rcw_communicator;

/* Where a rank runs and records. `clock` names its clock; ranks with the same name read the same clock. */
typedef struct {
    char clock[192], host[MPI_MAX_PROCESSOR_NAME], folder[1024];
} rcw_place;

/* The ranks that record: their numbers in MPI_COMM_WORLD, their communicator, and this rank's number among them (`own`). */
typedef struct {
    int count, own, *rank;
    MPI_Comm comm;
    rcw_place *places;
} rcw_partners;

extern int rcw_ranks_on; /* whether messages are recorded */

/* This process's rank as text, if the launcher gives it before MPI does; otherwise NULL. */
const char *rcw_launched_rank(void);
/* Announces that this rank records. Call it before MPI_Init. */
void rcw_take_part(void);
/* Returns how many ranks record, and sets for each rank whether it records. Call it after MPI_Init; all ranks get the same result. */
int rcw_find_partners(int rank, int ranks, char *records_too);
void rcw_align(const rcw_partners *of, int clocks_file);
rcw_communicator *rcw_known(MPI_Comm comm);
int64_t rcw_bytes_of(int count, MPI_Datatype type);
int64_t rcw_next_order(void);
/* A record of the calling thread, without times. */
rcw_message_record rcw_message(int kind, const rcw_communicator *of, int peer, int tag, int64_t bytes);
int rcw_in_world(const rcw_communicator *of, int peer);
void rcw_keep(const rcw_message_record *record);
/* Records when the calling thread began. Call it before the thread's first record. */
void rcw_thread_began(void);
/* The system's own locks, for data that the recorder's threads share. */
void rcw_lock(pthread_mutex_t *mutex);
void rcw_unlock(pthread_mutex_t *mutex);
/* Records a wait of the calling thread for other threads of its rank, or an event that others wait for (RCW_WAITED and others). */
void rcw_keep_wait(int kind, int64_t order, int tag, int64_t t0, int64_t t1);
/* Begins and ends a wait of the calling thread at an address; ends the waits of others at an address. */
int64_t rcw_begin_wait(const void *what);
void rcw_end_wait(const void *what, int64_t t0);
void rcw_leave_wait(const void *what); /* without a record */
void rcw_let_go(const void *what);
/* Whether an address is in the program's own code or in the C++ standard library. */
int rcw_is_own(void *caller);
/* The same, and messages are recorded. */
int rcw_followed(void *caller);
/* The system's or another library's function, which a function of this program hides; NULL if there is none. */
void *rcw_real(const char *name);
/* Declares that function as `real_NAME`, with the type of the function here. */
#define REAL(name) \
    static __typeof__(name) *real_##name; \
    if (!real_##name) \
        *(void **)&real_##name = rcw_real(#name)
/* For a name that the program may define itself, as tinycthread defines C11's threads, or `poll`: the program's function then counts. */
#define MAY_BE_OWN __attribute__((weak))
/* Records, once, that waits of this kind are not recorded (rcw_not_followed). */
void rcw_not_followed(int what);
/* Looks for an OpenMP runtime in the program whose waits are not recorded. */
void rcw_look_for_runtimes(void);
/* Begins the record of a collective call; 0 if the call is not recorded. */
int rcw_collective(int kind, MPI_Comm comm, int root, int64_t bytes, rcw_message_record *record);
/* A copy of a communicator, for additional messages of its ranks; MPI_COMM_NULL if it is not recorded. */
MPI_Comm rcw_twin(MPI_Comm comm);
/* Keeps the record of a nonblocking collective call until its request ends. */
void rcw_begun(MPI_Request handle, rcw_message_record record);
/* Fills in a record from the status of a received message. */
void rcw_came(rcw_message_record *record, const rcw_communicator *of, const MPI_Status *status, MPI_Datatype type);
#endif
