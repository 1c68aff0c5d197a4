/* Virtual cores: which thread of the host goes on, and when, on the virtual clock. No card in here.
 *
 * One real thread runs at a time. Its code between two calls is executed at once and charged when the next call is
 * reached (vc_point): that puts the call at a time t, and it takes effect in the order of (t, thread number) among all
 * threads' calls. README.md, "Threads", has the rules. Times are picoseconds on the virtual clock. */
#ifndef RCW_VCORES_H
#define RCW_VCORES_H
#include <pthread.h>
#include <stdint.h>

#include "records.h"

#define VC_NEVER INT64_MAX
#define VC_LATEST_PS (INT64_MAX / 2) /* where the clock stops: 53 days */

typedef struct {
    int ranks;         /* processes of the host program, each of which has cores of its own */
    int cores;         /* of each rank */
    int64_t slice_ps;  /* how long a thread keeps its core while others queue */
    int64_t call_ps;   /* of each synchronising call */
    int64_t wake_ps;   /* from what wakes a thread to its being ready */
    int64_t switch_ps; /* when a core changes its thread */
    int skips_spins;   /* spins.c */
} vc_settings;
extern vc_settings vc_set;

typedef enum {
    VC_SLEEP, VC_MUTEX, VC_CONDITION, VC_JOIN, VC_SEMAPHORE, VC_RWLOCK, VC_BARRIER, VC_ONCE, VC_FUTEX, VC_SPIN, VC_PIPE,
    VC_CARD, VC_INTERRUPT, VC_MESSAGE, VC_POLL
} vc_what;
typedef enum { VC_READY, VC_RUNNING, VC_BLOCKED, VC_WAKING, VC_ENDED } vc_state;
typedef enum { VC_WOKEN, VC_TIMED_OUT, VC_CANCELLED } vc_result;

typedef struct vthread {
    int number;              /* in order of creation, main 0; the main thread of each rank has the rank's number */
    int rank;                /* whose process it is in */
    vc_state state;
    int core, last_core;     /* -1: none */
    int pin;                 /* the only core that it takes; -1: any */
    char name[16];           /* what the program calls it (pthread_setname_np) */
    int64_t got_ps;          /* running: since when it has its core; its slices count from here */
    int64_t began_ps;        /* running: from when `left_ps` counts */
    int64_t left_ps;         /* work on a core before its next call takes effect */
    int64_t until_ps;        /* running: nor does it before this time */
    int64_t event_ps;        /* blocked: the time-out; waking: when it is ready */
    uint64_t order;          /* blocked, waking: who came first */
    int64_t since_ps;        /* blocked: since when */
    vc_what what;            /* blocked: for what, on which object, called from where */
    const void *object, *where;
    const char *about;       /* VC_MESSAGE: whose, in words */
    vc_result result;        /* why it goes on */
    int64_t begin_ps, work_ps, waited_ps, queued_ps, queued_since_ps;
    int64_t waits_ps;        /* since when (and one ps) all that it does is waiting, as the program says; 0: it is not */
    int waits_end;           /* that ends with its next call */
    rcw_sync_record call;    /* the last that is recorded, how many there were, and the time on a core since it took effect */
    int calls;
    int64_t own_ps;
    int64_t woken_ps;        /* what it waited for came then, */
    int by_thread, by_call;  /* with a thread's call by number; -1: none */
    int64_t *core_ps;        /* how long it had each core */
    int polls;               /* accesses to atomics that changed nothing, since it got its core and last did something else */
    char *stack_top;
    struct spin *spin;       /* spins.c: its loop; how long a round lasts (0: it is not known to spin), as of which changes */
    int64_t spin_ps, spin_work_ps;
    uint64_t spin_changes;
    int spins_at_one_point;  /* a round has one access */
    int background;          /* that it wakes at times keeps no run going */
    int may_not_be_cancelled, cancelled, detached;
    int turn;                /* futex: 1 when it is this thread's turn */
    pthread_t real;
    struct vthread *next, *queue;
} vthread;

/* The calling thread, or NULL where it is none of the host program's threads on the virtual clock. */
extern __thread vthread *vc_self;
extern int vc_failed; /* the run has ended with a message */
extern int vc_live;   /* threads that have not ended */
extern uint64_t vc_changes; /* of memory, and of who waits for a core, as far as they are seen */

/* The calling thread is the first, at time 0. */
void vc_start(void);

/* The caller's code so far is charged; returns its time, when everything earlier has taken effect. */
int64_t vc_point(void);

/* The same before an access to one variable: what it changes counts in `vc_changes`. */
void vc_access(void);

/* The caller's code so far is charged, without waiting. */
void vc_charge(void);

/* A synchronising call: a point that costs `call_ps` after it. */
void vc_call(rcw_sync_kind kind, const void *object, int64_t argument);

/* What the calling thread does at the point where it is, to be recorded (vcores_calls.c); that it is not done; and what its
 * argument is, known later. */
void vc_does(rcw_sync_kind kind, const void *object, int64_t argument);
void vc_refused(void);
void vc_argument(int64_t argument);
extern void (*vc_synced)(const rcw_sync_record *call); /* NULL: nobody records them */

/* The caller's time as it is, without charging or waiting. */
int64_t vc_now(void);

/* To be called at a point. vc_block gives up the core until the object wakes it or the time comes; vc_hold keeps it. */
vc_result vc_block(vc_what what, const void *object, int64_t until_ps, const void *where);
void vc_hold(int64_t until_ps);
void vc_spin(const void *object, const void *where); /* holds its core until the object wakes it */
void vc_yield(void);
void vc_pin(int core); /* the caller runs on that core of its rank's alone; -1: on any */
int vc_core(void);     /* the caller's, among its rank's */

/* A thread that waits goes on at this time, or VC_NEVER: not before it is woken. */
void vc_due(vthread *thread, int64_t at_ps);

/* Wake the longest waiters on an object, `most` of them; how many there were. */
int vc_wake(const void *object, int most);
void vc_wake_thread(vthread *thread, vc_result result);

/* No other thread's call takes effect before this time. */
int64_t vc_others_ps(void);

/* A thread that is about to exist: not ready before vc_ready. vc_begin is the first thing that it does itself. */
vthread *vc_new(void);
void vc_ready(vthread *thread);
vthread *vc_new_rank(int rank); /* its main thread, which is ready at once */
void vc_discard(vthread *thread);
void vc_begin(vthread *thread);
void vc_end_rank(void); /* all threads of the caller's rank but itself are on the clock no more */
void vc_end(void);    /* the caller is on the clock no more, and others go on */
void vc_freeze(void); /* nobody else goes on any more */

vthread *vc_find(int number);
vthread *vc_by_real(pthread_t real);

/* With `vc_card_awaited` things of the card's that threads wait for: run it to the time, or to the first of them if that
 * comes before. When it came, and the object that wakes those threads; VC_NEVER where none did. */
extern int vc_card_awaited;
extern int64_t (*vc_card)(int64_t until_ps, const void **object);

/* Nothing can happen on the clock: whether something outside the program (a pipe) let a thread go on. */
extern int (*vc_outside)(void);

/* A thread waited for another, or for the time, or was ready and had no core. */
extern void (*vc_waited)(int number, int for_a_core, int64_t from_ps, int64_t to_ps);

/* The calling thread is about to let others go on by a synchronising call, or ends. */
extern void (*vc_before_others)(void);

/* The running thread's number, for who watches the process from outside. */
extern volatile int64_t *vc_running;

/* Who has an object that a thread waits for; -1 where that is nobody, or not known. */
extern int (*vc_owner)(const vthread *waiting);

/* Ends the run with a message for people. */
__attribute__((noreturn)) void vc_fatal(const char *message);
extern void (*vc_at_fatal)(void);

/* A ring of threads each of which waits for the next: names it and ends the run. */
void vc_check_ring(const void *mutex, int owner, const void *where);

/* Something that the run cannot stand for, told once, with the place in the program that a call from `where` (or NULL) comes
 * from: a note of the run's. */
void vc_note(const char *text, const void *where);

/* " (at host+0x12)" of the program, " (at rank+0x12)" of a rank's copy of it: how messages tell a place. */
int vc_write_place(char *to, size_t room, const void *where);

/* Keep them in this room of VC_NOTES bytes, all 0, from now on. */
enum { VC_NOTES = 8192 };
void vc_keep_notes(char *at);

/* What each thread's time was, a line each: number, begin, end, work, waited, queued, and how long it had each core. */
void vc_write_threads(const char *path);
void vc_write_names(const char *path); /* of those threads that the program gave one */
void vc_write_ranks(const char *path); /* of each thread */

/* ---- between vcores.c and vcores_*.c ---- */

#define VC_MOST_CORES 1024
extern int64_t vc_clock_ps;
vthread *vc_next_on(int core);         /* who of those that are ready gets that core next; NULL: nobody */
void vc_get_core(vthread *thread, int core);
void vc_give_up_core(vthread *thread); /* to whom it goes next */
void vc_leave_queue(vthread *thread);
void vc_place(vthread *thread);        /* its own core, or its last one if that is free, or the lowest free one; else the queue */
void vc_move(vthread *thread);         /* to a core that it takes */
void vc_end_slice(vthread *thread);    /* to the queue's tail, with the work that is left */
void vc_waits_for(vc_what what);       /* the caller's call that is recorded waits from here on, and goes on */
void vc_went_on(vc_what what, rcw_sync_result result);
void vc_is_woken(vthread *thread, const vthread *by);
void vc_last_call(vthread *thread);    /* record it, be it over or not */
void vc_count_wait(vthread *thread, int for_a_core, int64_t since_ps); /* up to now */

/* From `since_ps` to its first call after -1 all that the calling thread does is waiting, such as the calls that a wait is
 * made of. */
void vc_waits(int64_t since_ps);
void vc_end_wait(vthread *thread);

/* Lets happen what comes before the calling thread's next call; returns when that takes effect. NULL: there is none. */
void vc_go_on(vthread *self);
void vc_await_turn(vthread *self);

extern vthread *vc_threads; /* by number */
void vc_stuck(void);        /* no thread can go on */
void vc_remember(vthread *thread, int64_t end_ps);
void vc_settle(void);       /* remembers all that have not ended, as they stand */
#endif
