/* What the parts of ranks.c share. */
#ifndef RCW_RANKS_H
#define RCW_RANKS_H
#include <mpi.h>

#include "../recap.h"

enum { RCW_FROM_ALL = -1 };

typedef struct {
    int64_t number, collectives;
    int size, *world; /* ranks as MPI_COMM_WORLD numbers them, of those that messages go to */
} rcw_communicator;

extern int rcw_ranks_on; /* whether messages are recorded */

rcw_communicator *rcw_known(MPI_Comm comm);
int64_t rcw_bytes_of(int count, MPI_Datatype type);
int64_t rcw_next_order(void);
/* A record of the calling thread's, whose times lack. */
rcw_message_record rcw_message(int kind, const rcw_communicator *of, int peer, int tag, int64_t bytes);
int rcw_in_world(const rcw_communicator *of, int peer);
void rcw_keep(const rcw_message_record *record);
/* Begins the record of a collective call; 0 where it is not recorded. */
int rcw_collective(int kind, MPI_Comm comm, int root, int64_t bytes, rcw_message_record *record);
/* A collective call that is begun, and ends with its request. */
void rcw_begun(MPI_Request handle, rcw_message_record record);
/* What a status says of a message that came. */
void rcw_came(rcw_message_record *record, const rcw_communicator *of, const MPI_Status *status, MPI_Datatype type);
#endif
