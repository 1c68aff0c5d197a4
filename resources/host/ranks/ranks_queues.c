/* Records the waits of a rank's threads at queues of messages and at System V semaphores, and which thread ended each: a part of ranks.c, like
 * ranks_pipes.c. A receiver waits for a sender, and a sender at a full queue waits for a receiver. If the other side is in another process,
 * the wait has no known cause and keeps its recorded length, as has a wait for a semaphore's value to be 0. */
#define _GNU_SOURCE
#include "ranks.h"

#include <errno.h>
#include <mqueue.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>

/* Addresses that no variable has stand for what threads wait for. */
enum { A_MESSAGE = 1, ROOM, A_POSIX_MESSAGE, POSIX_ROOM, A_SEMAPHORE };

static const void *place(int64_t id, int what) { return (const void *)(intptr_t)((id << 8) + what); }

/* Several descriptors may be of one queue. */
static const void *place_of(mqd_t queue, int what)
{
    struct stat of;
    return place(fstat(queue, &of) ? -1 : (int64_t)of.st_ino, what);
}

/* A call that waits for `what` if `first`, which does not wait, fails with the error `in_vain`. It may let go threads that wait for `gives`. */
#define TRIES(type, call, what, gives, first, in_vain) \
    { \
        REAL(call); \
        if (!rcw_followed(__builtin_return_address(0))) \
            return real_##call ARGUMENTS; \
        if (gives) \
            rcw_let_go(gives); \
        type result = first; \
        if (result >= 0 || errno != (in_vain)) \
            return result; \
        int64_t t0 = rcw_begin_wait(what); \
        result = real_##call ARGUMENTS; \
        rcw_end_wait(what, t0); \
        return result; \
    }

#define ARGUMENTS (queue, message, bytes, type, flags)
MAY_BE_OWN ssize_t msgrcv(int queue, void *message, size_t bytes, long type, int flags)
    TRIES(ssize_t, msgrcv, place(queue, A_MESSAGE), place(queue, ROOM), real_msgrcv(queue, message, bytes, type, flags | IPC_NOWAIT),
          flags & IPC_NOWAIT ? 0 : ENOMSG)
#undef ARGUMENTS
#define ARGUMENTS (queue, message, bytes, flags)
MAY_BE_OWN int msgsnd(int queue, const void *message, size_t bytes, int flags)
    TRIES(int, msgsnd, place(queue, ROOM), place(queue, A_MESSAGE), real_msgsnd(queue, message, bytes, flags | IPC_NOWAIT),
          flags & IPC_NOWAIT ? 0 : EAGAIN)
#undef ARGUMENTS

static const struct timespec past; /* what would wait until then fails at once, with ETIMEDOUT */

static ssize_t receive_at_once(mqd_t queue, char *message, size_t bytes, unsigned *priority)
{
    REAL(mq_timedreceive);
    return real_mq_timedreceive(queue, message, bytes, priority, &past);
}

static int send_at_once(mqd_t queue, const char *message, size_t bytes, unsigned priority)
{
    REAL(mq_timedsend);
    return real_mq_timedsend(queue, message, bytes, priority, &past);
}

#define RECEIVES(call) \
    TRIES(ssize_t, call, place_of(queue, A_POSIX_MESSAGE), place_of(queue, POSIX_ROOM), receive_at_once(queue, message, bytes, priority), \
          ETIMEDOUT)
#define SENDS(call) \
    TRIES(int, call, place_of(queue, POSIX_ROOM), place_of(queue, A_POSIX_MESSAGE), send_at_once(queue, message, bytes, priority), ETIMEDOUT)

#define ARGUMENTS (queue, message, bytes, priority)
MAY_BE_OWN ssize_t mq_receive(mqd_t queue, char *message, size_t bytes, unsigned *priority) RECEIVES(mq_receive)
MAY_BE_OWN int mq_send(mqd_t queue, const char *message, size_t bytes, unsigned priority) SENDS(mq_send)
#undef ARGUMENTS
#define ARGUMENTS (queue, message, bytes, priority, until)
MAY_BE_OWN ssize_t mq_timedreceive(mqd_t queue, char *message, size_t bytes, unsigned *priority, const struct timespec *until)
    RECEIVES(mq_timedreceive)
MAY_BE_OWN int mq_timedsend(mqd_t queue, const char *message, size_t bytes, unsigned priority, const struct timespec *until)
    SENDS(mq_timedsend)
#undef ARGUMENTS

enum { MOST_OPERATIONS = 512 }; /* more fail on Linux */

/* Tries the operations. Fails with EAGAIN where they would wait. */
static int operate_at_once(int set, const struct sembuf *operations, size_t count)
{
    struct sembuf at_once[MOST_OPERATIONS];
    REAL(semop);
    if (count > MOST_OPERATIONS)
        return real_semop(set, (struct sembuf *)operations, count);
    memcpy(at_once, operations, count * sizeof *operations);
    for (size_t i = 0; i < count; i++)
        at_once[i].sem_flg |= IPC_NOWAIT;
    return real_semop(set, at_once, count);
}

/* The place of the set's semaphores if an operation adds to one of them. */
static const void *added_to(int set, const struct sembuf *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operations[i].sem_op > 0)
            return place(set, A_SEMAPHORE);
    return NULL;
}

#define OPERATES(call) \
    TRIES(int, call, place(set, A_SEMAPHORE), added_to(set, operations, count), operate_at_once(set, operations, count), EAGAIN)

#define ARGUMENTS (set, operations, count)
MAY_BE_OWN int semop(int set, struct sembuf *operations, size_t count) OPERATES(semop)
#undef ARGUMENTS
#define ARGUMENTS (set, operations, count, until)
MAY_BE_OWN int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *until) OPERATES(semtimedop)
#undef ARGUMENTS
