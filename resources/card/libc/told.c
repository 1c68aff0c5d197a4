/* Functions that go by real time or wait for something outside the program. They do what they do anywhere; that the virtual clock
 * stands meanwhile, or that runs differ, is told with the place of the first call. */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libc.h"

#define TELLS(type, name, parameters, arguments, where_not, text) \
    type name parameters                                          \
    {                                                             \
        if (vc_self && !(where_not))                              \
            vc_note(#name ": " text, HERE);                       \
        return REAL(name) arguments;                              \
    }

/* ---- timers and signals ---- */

#define TIMER "a timer goes by real time: when it comes differs from run to run"
TELLS(int, timer_create, (clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer), (clock, event, timer),
      0, TIMER)
TELLS(int, timerfd_create, (int clock, int flags), (clock, flags), 0, TIMER)
TELLS(int, setitimer, (__itimer_which_t which, const struct itimerval *restrict value, struct itimerval *restrict old),
      (which, value, old), 0, TIMER)
TELLS(unsigned, alarm, (unsigned seconds), (seconds), 0, TIMER)

#define SIGNAL "a signal comes in real time, on whichever thread: what its handler does has no place on the virtual clock"
static int ignored(sighandler_t handler)
{
    if (handler == SIG_IGN || handler == SIG_DFL)
        return 1;
    files_outside = 1;
    return 0;
}

TELLS(sighandler_t, signal, (int number, sighandler_t handler), (number, handler), ignored(handler), SIGNAL)
TELLS(int, sigaction, (int number, const struct sigaction *restrict action, struct sigaction *restrict old),
      (number, action, old), !action || ignored(action->sa_handler), SIGNAL)

/* ---- what blocks ---- */

TELLS(int, pause, (void), (), 0, TOLD_BLOCKS)
TELLS(int, sigwait, (const sigset_t *restrict set, int *restrict number), (set, number), 0, TOLD_BLOCKS)
TELLS(int, sigsuspend, (const sigset_t *set), (set), 0, TOLD_BLOCKS)
TELLS(pid_t, wait, (int *status), (status), 0, TOLD_BLOCKS)
TELLS(pid_t, waitpid, (pid_t child, int *status, int options), (child, status, options), options & WNOHANG, TOLD_BLOCKS)
TELLS(int, system, (const char *command), (command), !command, TOLD_BLOCKS)
TELLS(int, flock, (int fd, int operation), (fd, operation), operation & (LOCK_NB | LOCK_UN), TOLD_BLOCKS)
TELLS(int, epoll_wait, (int fd, struct epoll_event *events, int most, int timeout_ms), (fd, events, most, timeout_ms),
      !timeout_ms, TOLD_BLOCKS)
TELLS(int, ppoll, (struct pollfd *files, nfds_t count, const struct timespec *time, const sigset_t *set),
      (files, count, time, set), 0, TOLD_BLOCKS)
TELLS(int, pselect, (int count, fd_set *restrict r, fd_set *restrict w, fd_set *restrict x,
      const struct timespec *restrict time, const sigset_t *restrict set), (count, r, w, x, time, set), 0, TOLD_BLOCKS)
TELLS(int, accept, (int fd, struct sockaddr *restrict from, socklen_t *restrict bytes), (fd, from, bytes), 0, TOLD_BLOCKS)
TELLS(int, connect, (int fd, const struct sockaddr *to, socklen_t bytes), (fd, to, bytes), 0, TOLD_BLOCKS)
TELLS(ssize_t, recv, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags), flags & MSG_DONTWAIT, TOLD_BLOCKS)
TELLS(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), flags & MSG_DONTWAIT, TOLD_BLOCKS)
TELLS(ssize_t, recvfrom, (int fd, void *restrict to, size_t bytes, int flags, struct sockaddr *restrict from,
      socklen_t *restrict room), (fd, to, bytes, flags, from, room), flags & MSG_DONTWAIT, TOLD_BLOCKS)

/* A file on a disk, or a device such as /dev/null, is there; a terminal, a socket or another process's pipe is waited for. */
int told_is_there(int fd)
{
    struct stat told;
    return fstat(fd, &told) || !(S_ISFIFO(told.st_mode) || S_ISSOCK(told.st_mode) || (S_ISCHR(told.st_mode) && isatty(fd)));
}

static int is_there(FILE *file)
{
    static FILE *last; /* asking takes longer than reading a line */
    if (file != last && told_is_there(fileno(file)))
        last = file;
    return file == last;
}

TELLS(ssize_t, getline, (char **restrict line, size_t *restrict room, FILE *restrict file), (line, room, file),
      is_there(file), TOLD_BLOCKS)
TELLS(char *, fgets, (char *restrict to, int most, FILE *restrict file), (to, most, file), is_there(file), TOLD_BLOCKS)
TELLS(int, fgetc, (FILE *file), (file), is_there(file), TOLD_BLOCKS)
TELLS(int, getchar, (void), (), is_there(stdin), TOLD_BLOCKS)
TELLS(size_t, fread, (void *restrict to, size_t size, size_t n, FILE *restrict file), (to, size, n, file), is_there(file),
      TOLD_BLOCKS)

/* ---- other processes ---- */

#define CHILD "the child has a clock of its own, and no card: a call of the card's ends it, and no call of it is recorded"
TELLS(pid_t, fork, (void), (), 0, CHILD)
TELLS(FILE *, popen, (const char *command, const char *type), (command, type), 0, CHILD)
TELLS(int, posix_spawn, (pid_t *restrict child, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
      const posix_spawnattr_t *restrict attr, char *const argv[], char *const environment[]),
      (child, path, actions, attr, argv, environment), 0, CHILD)

/* ---- which thread runs is the virtual clock's choice ---- */

#define PRIORITY "on virtual cores all threads have the same priority"
TELLS(int, pthread_setschedparam, (pthread_t thread, int policy, const struct sched_param *parameters),
      (thread, policy, parameters), policy == SCHED_OTHER, PRIORITY)
TELLS(int, sched_setscheduler, (pid_t process, int policy, const struct sched_param *parameters),
      (process, policy, parameters), policy == SCHED_OTHER, PRIORITY)
