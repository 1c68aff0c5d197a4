/* Records for which threads of its rank a thread waits: a part of ranks.c. Each function here replaces the system's function of the same
 * name: it calls that function, and records who waited (RCW_WAITED) and who ended such a wait (RCW_LET_GO), both with their common address.
 * It follows locks, conditions, semaphores, barriers and calls that run once, of pthread and of C11, whose functions in the C library do
 * not call pthread's. It also follows futexes called through syscall(), as C++20's std::atomic::wait, std::counting_semaphore, std::latch
 * and std::barrier do. ranks_openmp.c follows OpenMP, ranks_pipes.c pipes, ranks_queues.c messages.
 *
 * A call that could end a wait is not recorded if no thread waits: a counter shows this. Only calls by the program itself and by the C++
 * standard library are followed, since MPI's library has its own locks. */
#define _GNU_SOURCE
#include "ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

enum { PLACES = 1024 };

/* How many threads wait at addresses with this hash. */
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

int rcw_is_own(void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    for (int i = 0; i < ranges; i++)
        if (at >= own_code[i].first && at < own_code[i].last)
            return 1;
    return 0;
}

int rcw_followed(void *caller) { return rcw_ranks_on && rcw_is_own(caller); }

/* Looks up the newest version, since conditions and OpenMP's locks have older ones that dlsym may find. */
void *rcw_real(const char *name)
{
    const char *version = !strncmp(name, "pthread_cond_", 13) ? "GLIBC_2.3.2" : !strncmp(name, "omp_", 4) ? "OMP_3.0" : NULL;
    void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
    return found ? found : dlsym(RTLD_NEXT, name);
}

static int *place(const void *what) { return &waiting[((uintptr_t)what >> 4) % PLACES]; }

int64_t rcw_begin_wait(const void *what)
{
    __atomic_add_fetch(place(what), 1, __ATOMIC_SEQ_CST);
    return rcw_ticks();
}

void rcw_keep_wait(int kind, int64_t order, int tag, int64_t t0, int64_t t1)
{
    int saved = errno;
    if (rcw_ranks_on && (rcw_self || rcw_begin_thread())) {
        rcw_message_record record = {.comm = -1, .kind = kind, .peer = RCW_FROM_ALL, .order = order, .tag = tag, .t0 = t0, .posted = t0,
                                     .t1 = t1, .thread = rcw_self->number};
        rcw_keep(&record);
    }
    errno = saved;
}

void rcw_leave_wait(const void *what) { __atomic_sub_fetch(place(what), 1, __ATOMIC_SEQ_CST); }

void rcw_end_wait(const void *what, int64_t t0)
{
    int64_t t1 = rcw_ticks();
    rcw_leave_wait(what);
    rcw_keep_wait(RCW_WAITED, (intptr_t)what, 0, t0, t1);
}

void rcw_let_go(const void *what)
{
    if (__atomic_load_n(place(what), __ATOMIC_SEQ_CST) <= 0)
        return;
    int64_t now = rcw_ticks();
    rcw_keep_wait(RCW_LET_GO, (intptr_t)what, 0, now, now);
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

/* A call that waits for `what` if `first` returns EBUSY. */
#define WAITS(call, what, first) \
    { \
        REAL(call); \
        if (!rcw_followed(__builtin_return_address(0))) \
            return real_##call ARGUMENTS; \
        int result = first; \
        if (result != EBUSY) \
            return result; \
        int64_t t0 = rcw_begin_wait((const void *)what); \
        result = real_##call ARGUMENTS; \
        rcw_end_wait((const void *)what, t0); \
        return result; \
    }

/* A call that releases the mutex, waits for the condition, and then for the mutex. */
#define WAITS_FOR_BOTH(call) \
    { \
        REAL(call); \
        if (!rcw_followed(__builtin_return_address(0))) \
            return real_##call ARGUMENTS; \
        rcw_let_go(mutex); \
        rcw_begin_wait(mutex); \
        int64_t t0 = rcw_begin_wait(condition); \
        int result = real_##call ARGUMENTS; \
        int64_t t1 = rcw_ticks(); \
        for (int i = 0; i < 2; i++) { \
            const void *what = i ? (const void *)mutex : (const void *)condition; \
            rcw_leave_wait(what); \
            rcw_keep_wait(RCW_WAITED, (intptr_t)what, 0, t0, t1); \
        } \
        return result; \
    }

/* C11's mutexes and conditions are pthread's to the C library. Before glibc 2.28 it had none, and no header of theirs. */
int mtx_trylock(void *mutex);

static int try_c11(void *mutex)
{
    enum { THRD_BUSY = 1 };
    REAL(mtx_trylock);
    int result = real_mtx_trylock(mutex);
    return result == THRD_BUSY ? EBUSY : result;
}

#define ARGUMENTS (mutex)
int pthread_mutex_lock(pthread_mutex_t *mutex) WAITS(pthread_mutex_lock, mutex, pthread_mutex_trylock(mutex))
MAY_BE_OWN int mtx_lock(void *mutex) WAITS(mtx_lock, mutex, try_c11(mutex))
#undef ARGUMENTS
#define ARGUMENTS (mutex, until)
MAY_BE_OWN int mtx_timedlock(void *mutex, const struct timespec *until) WAITS(mtx_timedlock, mutex, try_c11(mutex))
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
    WAITS(pthread_mutex_timedlock, mutex, pthread_mutex_trylock(mutex))
int pthread_rwlock_timedrdlock(pthread_rwlock_t *mutex, const struct timespec *until)
    WAITS(pthread_rwlock_timedrdlock, mutex, pthread_rwlock_tryrdlock(mutex))
int pthread_rwlock_timedwrlock(pthread_rwlock_t *mutex, const struct timespec *until)
    WAITS(pthread_rwlock_timedwrlock, mutex, pthread_rwlock_trywrlock(mutex))
#undef ARGUMENTS
#define ARGUMENTS (mutex, clock, until)
int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
    WAITS(pthread_mutex_clocklock, mutex, pthread_mutex_trylock(mutex))
int pthread_rwlock_clockrdlock(pthread_rwlock_t *mutex, clockid_t clock, const struct timespec *until)
    WAITS(pthread_rwlock_clockrdlock, mutex, pthread_rwlock_tryrdlock(mutex))
int pthread_rwlock_clockwrlock(pthread_rwlock_t *mutex, clockid_t clock, const struct timespec *until)
    WAITS(pthread_rwlock_clockwrlock, mutex, pthread_rwlock_trywrlock(mutex))
#undef ARGUMENTS
#define ARGUMENTS (lock)
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) WAITS(pthread_rwlock_rdlock, lock, pthread_rwlock_tryrdlock(lock))
int pthread_spin_lock(pthread_spinlock_t *lock) WAITS(pthread_spin_lock, lock, pthread_spin_trylock(lock))
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) WAITS(pthread_rwlock_wrlock, lock, pthread_rwlock_trywrlock(lock))
#undef ARGUMENTS
#define ARGUMENTS (semaphore)
int sem_wait(sem_t *semaphore) WAITS(sem_wait, semaphore, sem_trywait(semaphore) ? EBUSY : 0)
#undef ARGUMENTS
#define ARGUMENTS (semaphore, until)
int sem_timedwait(sem_t *semaphore, const struct timespec *until) WAITS(sem_timedwait, semaphore, sem_trywait(semaphore) ? EBUSY : 0)
#undef ARGUMENTS
#define ARGUMENTS (semaphore, clock, until)
int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
    WAITS(sem_clockwait, semaphore, sem_trywait(semaphore) ? EBUSY : 0)
#undef ARGUMENTS
#define ARGUMENTS (condition, mutex)
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) WAITS_FOR_BOTH(pthread_cond_wait)
MAY_BE_OWN int cnd_wait(void *condition, void *mutex) WAITS_FOR_BOTH(cnd_wait)
#undef ARGUMENTS
#define ARGUMENTS (condition, mutex, until)
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
    WAITS_FOR_BOTH(pthread_cond_timedwait)
MAY_BE_OWN int cnd_timedwait(void *condition, void *mutex, const struct timespec *until) WAITS_FOR_BOTH(cnd_timedwait)
#undef ARGUMENTS
#define ARGUMENTS (condition, mutex, clock, until)
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
    WAITS_FOR_BOTH(pthread_cond_clockwait)
#undef ARGUMENTS

/* A call that ends waits of others: it is recorded before they continue. */
#define LETS_GO(call, what) \
    { \
        REAL(call); \
        if (rcw_followed(__builtin_return_address(0))) \
            rcw_let_go((const void *)what); \
        return real_##call(what); \
    }

int pthread_mutex_unlock(pthread_mutex_t *mutex) LETS_GO(pthread_mutex_unlock, mutex)
int pthread_rwlock_unlock(pthread_rwlock_t *lock) LETS_GO(pthread_rwlock_unlock, lock)
int pthread_cond_signal(pthread_cond_t *condition) LETS_GO(pthread_cond_signal, condition)
int pthread_cond_broadcast(pthread_cond_t *condition) LETS_GO(pthread_cond_broadcast, condition)
int sem_post(sem_t *semaphore) LETS_GO(sem_post, semaphore)
int pthread_spin_unlock(pthread_spinlock_t *lock) LETS_GO(pthread_spin_unlock, lock)
MAY_BE_OWN int mtx_unlock(void *mutex) LETS_GO(mtx_unlock, mutex)
MAY_BE_OWN int cnd_signal(void *condition) LETS_GO(cnd_signal, condition)
MAY_BE_OWN int cnd_broadcast(void *condition) LETS_GO(cnd_broadcast, condition)

/* The last thread that arrives ends the waits of all others. */
int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    REAL(pthread_barrier_wait);
    if (!rcw_followed(__builtin_return_address(0)))
        return real_pthread_barrier_wait(barrier);
    rcw_let_go(barrier);
    int64_t t0 = rcw_begin_wait(barrier);
    int result = real_pthread_barrier_wait(barrier);
    rcw_end_wait(barrier, t0);
    return result;
}

/* ---- what runs once: whoever comes meanwhile waits for its end ---- */

/* What the calling thread runs if no other one has. */
static __thread struct {
    void (*run)(void);
    const void *flag;
} once;

static void run_once(void)
{
    const void *flag = once.flag; /* `run` may come here too */
    once.run();
    rcw_let_go(flag);
}

/* When a wait for another thread begins that runs it; 0 if none does. The C library has 1 in a flag meanwhile, and 2 when it is done. */
static int64_t begin_once(const int *flag, void (*run)(void))
{
    once.flag = flag;
    once.run = run;
    return (__atomic_load_n(flag, __ATOMIC_ACQUIRE) & 3) == 1 ? rcw_begin_wait(flag) : 0;
}

int pthread_once(pthread_once_t *flag, void (*run)(void))
{
    REAL(pthread_once);
    if (!rcw_followed(__builtin_return_address(0)))
        return real_pthread_once(flag, run);
    int64_t t0 = begin_once(flag, run);
    int result = real_pthread_once(flag, run_once);
    if (t0)
        rcw_end_wait(flag, t0);
    return result;
}

MAY_BE_OWN void call_once(void *flag, void (*run)(void))
{
    REAL(call_once);
    if (!rcw_followed(__builtin_return_address(0))) {
        real_call_once(flag, run);
        return;
    }
    int64_t t0 = begin_once(flag, run);
    real_call_once(flag, run_once);
    if (t0)
        rcw_end_wait(flag, t0);
}

/* ---- futexes ---- */

/* Calls other than futexes are not recorded. No system call has more than six arguments. */
long syscall(long number, ...)
{
    REAL(syscall);
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    const void *word = (const void *)a[0];
    int operation = number == SYS_futex && rcw_followed(__builtin_return_address(0)) ? (int)a[1] & FUTEX_CMD_MASK : -1;
    if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET)
        rcw_let_go(word);
    if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)
        return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    int64_t t0 = rcw_begin_wait(word);
    long result = real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    rcw_end_wait(word, t0);
    return result;
}
