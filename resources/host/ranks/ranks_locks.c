/* For which threads of its rank a thread waits at locks, conditions, semaphores and barriers: a part of ranks.c. Each wait is recorded,
 * and whoever lets go what others wait for; that nobody waits for costs a look at a counter. Only the program's own calls, and those of
 * the C++ standard library for it, are looked at: MPI's library has locks of its own. */
#define _GNU_SOURCE
#include "ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { PLACES = 1024 };

/* How many threads wait for something of this hash. */
static int waiting[PLACES];

typedef struct {
    uintptr_t first, last;
} range;

static range own_code[16];
static int ranges;

static int add_code(struct dl_phdr_info *of, size_t size, void *more)
{
    (void)size, (void)more;
    if (*of->dlpi_name && !strstr(of->dlpi_name, "libstdc++") && !strstr(of->dlpi_name, "libc++"))
        return 0;
    for (int i = 0; i < of->dlpi_phnum && ranges < (int)(sizeof own_code / sizeof own_code[0]); i++)
        if (of->dlpi_phdr[i].p_type == PT_LOAD && of->dlpi_phdr[i].p_flags & PF_X) {
            uintptr_t first = of->dlpi_addr + of->dlpi_phdr[i].p_vaddr;
            own_code[ranges++] = (range){first, first + of->dlpi_phdr[i].p_memsz};
        }
    return 0;
}

__attribute__((constructor(101))) static void find_code(void) { dl_iterate_phdr(add_code, NULL); }

static int followed(void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    for (int i = 0; rcw_ranks_on && i < ranges; i++)
        if (at >= own_code[i].first && at < own_code[i].last)
            return 1;
    return 0;
}

/* Conditions have older versions, which dlsym may find. */
static void *real(const char *name)
{
    void *found = strncmp(name, "pthread_cond_", 13) ? NULL : dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found ? found : dlsym(RTLD_NEXT, name);
}

/* A function of the system's by its name, and the type of this one's. */
#define REAL(name) \
    static __typeof__(name) *real_##name; \
    if (!real_##name) \
        *(void **)&real_##name = real(#name)

static int *place(const void *what) { return &waiting[((uintptr_t)what >> 4) % PLACES]; }

static int64_t begin_wait(const void *what)
{
    __atomic_add_fetch(place(what), 1, __ATOMIC_SEQ_CST);
    return rcw_ticks();
}

static void keep(int kind, const void *what, int64_t t0, int64_t t1)
{
    if (!rcw_self && !rcw_begin_thread())
        return;
    rcw_message_record record = {.comm = -1, .kind = kind, .peer = -1, .order = (int64_t)(uintptr_t)what, .t0 = t0, .posted = t0, .t1 = t1,
                                 .thread = rcw_self->number};
    rcw_keep(&record);
}

/* `then` is what the thread has waited for after that. */
static void end_wait(const void *what, const void *then, int64_t t0)
{
    int64_t t1 = rcw_ticks();
    int saved = errno;
    for (int i = 0; i < (then ? 2 : 1); i++) {
        __atomic_sub_fetch(place(i ? then : what), 1, __ATOMIC_SEQ_CST);
        keep(RCW_WAITED, i ? then : what, t0, t1);
    }
    errno = saved;
}

void rcw_lock(pthread_mutex_t *mutex)
{
    REAL(pthread_mutex_lock);
    real_pthread_mutex_lock(mutex);
}

void rcw_unlock(pthread_mutex_t *mutex)
{
    REAL(pthread_mutex_unlock);
    real_pthread_mutex_unlock(mutex);
}

static void let_go(const void *what)
{
    if (__atomic_load_n(place(what), __ATOMIC_SEQ_CST) <= 0)
        return;
    int64_t now = rcw_ticks();
    int saved = errno;
    keep(RCW_LET_GO, what, now, now);
    errno = saved;
}

/* A call that waits for `what` unless `first` says at once that it need not. */
#define WAITS(call, what, first) \
    { \
        REAL(call); \
        if (!followed(__builtin_return_address(0))) \
            return real_##call ARGUMENTS; \
        int result = first; \
        if (result != EBUSY) \
            return result; \
        int64_t t0 = begin_wait(what); \
        result = real_##call ARGUMENTS; \
        end_wait(what, NULL, t0); \
        return result; \
    }

/* A call that lets the mutex go, waits for the condition, and then for the mutex. */
#define WAITS_FOR_BOTH(call) \
    { \
        REAL(call); \
        if (!followed(__builtin_return_address(0))) \
            return real_##call ARGUMENTS; \
        let_go(mutex); \
        begin_wait(mutex); \
        int64_t t0 = begin_wait(condition); \
        int result = real_##call ARGUMENTS; \
        end_wait(condition, mutex, t0); \
        return result; \
    }

#define ARGUMENTS (mutex)
int pthread_mutex_lock(pthread_mutex_t *mutex) WAITS(pthread_mutex_lock, mutex, pthread_mutex_trylock(mutex))
#undef ARGUMENTS
#define ARGUMENTS (mutex, until)
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
    WAITS(pthread_mutex_timedlock, mutex, pthread_mutex_trylock(mutex))
#undef ARGUMENTS
#define ARGUMENTS (lock)
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) WAITS(pthread_rwlock_rdlock, lock, pthread_rwlock_tryrdlock(lock))
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) WAITS(pthread_rwlock_wrlock, lock, pthread_rwlock_trywrlock(lock))
#undef ARGUMENTS
#define ARGUMENTS (semaphore)
int sem_wait(sem_t *semaphore) WAITS(sem_wait, semaphore, sem_trywait(semaphore) ? EBUSY : 0)
#undef ARGUMENTS
#define ARGUMENTS (condition, mutex)
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) WAITS_FOR_BOTH(pthread_cond_wait)
#undef ARGUMENTS
#define ARGUMENTS (condition, mutex, until)
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
    WAITS_FOR_BOTH(pthread_cond_timedwait)
#undef ARGUMENTS
#define ARGUMENTS (condition, mutex, clock, until)
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
    WAITS_FOR_BOTH(pthread_cond_clockwait)
#undef ARGUMENTS

/* A call by which others may go on: whoever waits finds it before they do. */
#define LETS_GO(call, what) \
    { \
        REAL(call); \
        if (followed(__builtin_return_address(0))) \
            let_go(what); \
        return real_##call(what); \
    }

int pthread_mutex_unlock(pthread_mutex_t *mutex) LETS_GO(pthread_mutex_unlock, mutex)
int pthread_rwlock_unlock(pthread_rwlock_t *lock) LETS_GO(pthread_rwlock_unlock, lock)
int pthread_cond_signal(pthread_cond_t *condition) LETS_GO(pthread_cond_signal, condition)
int pthread_cond_broadcast(pthread_cond_t *condition) LETS_GO(pthread_cond_broadcast, condition)
int sem_post(sem_t *semaphore) LETS_GO(sem_post, semaphore)

/* The last that comes lets all others go. */
int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    REAL(pthread_barrier_wait);
    if (!followed(__builtin_return_address(0)))
        return real_pthread_barrier_wait(barrier);
    let_go(barrier);
    int64_t t0 = begin_wait(barrier);
    int result = real_pthread_barrier_wait(barrier);
    end_wait(barrier, NULL, t0);
    return result;
}
