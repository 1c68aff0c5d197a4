/* The C library's functions that a program on virtual cores gets instead. Their objects are weakened: a program may have
 * functions of its own by these names. Each file here takes what is told by the others. */
#ifndef RCW_LIBC_H
#define RCW_LIBC_H
#include <poll.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "../real.h"
#include "../vcores.h"

/* In the main thread, before the program. */
void libc_start(void);

/* clocks.c: a time of one of the program's clocks, and a span from now on, as picoseconds on the virtual clock. */
int64_t clocks_time_ps(clockid_t clock, const struct timespec *time);
int64_t clocks_after_ps(const struct timespec *span);
int clocks_sleep_ns(int64_t ns, const void *where); /* 0 */

/* threads.c: a call at which a thread may be cancelled (vc_block's result), and the cancelling itself. */
vc_result threads_wait(vc_what what, const void *object, int64_t until_ps, const void *where);
void threads_act_on_cancel(void);
void threads_begin(void); /* the first thing that a thread does: it ends on the virtual clock too */

/* locks.c: the number of the thread that has what another waits for, or -1. */
int locks_owner(const vthread *waiting);
void locks_refuse_shared(const char *what);

/* ranks.c: the other ranks begin, in rank 0's main thread before main; the caller's rank ends, with the run where it is the last
 * one or its exit code is not 0 (it returns then). */
void ranks_start(int argc, char **argv, char **environment);
void ranks_leave(int code);

/* told.c: of what really blocks, and whether a file is such */
#define TOLD_BLOCKS "it waits in real time, in which the virtual clock and all other threads stand"
int told_is_there(int fd);

/* devices.c: files that the API serves; only for those that it has */
int devices_have(int fd);
ssize_t devices_read(int fd, void *to, size_t bytes);
ssize_t devices_write(int fd, const void *from, size_t bytes);
void devices_close(int fd);
int devices_poll(struct pollfd *files, nfds_t count); /* how many are ready, be there other files or not */

/* files.c: something outside the clock, a child or a signal's handler, may let a thread go on */
extern int files_outside;
void files_start(void);
#endif
