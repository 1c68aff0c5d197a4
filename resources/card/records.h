/* Records that the host runtime and the card write, and the workbench reads (workbench/api/records.py).
 * Little endian, packed by construction (no padding), appended to files in the folder named by $RCW_RAW.
 * Times are picoseconds on the virtual clock, where nothing else is said; -1 where there is none. Whoever changes a struct
 * raises its file's version in FORMATS there: each run says in formats.json which versions its records are of. */
#ifndef RCW_RECORDS_H
#define RCW_RECORDS_H
#include <stdint.h>

/* host_calls.bin on a simulated card: one per instrumented API call, by the host runtime (recap.c) */
typedef struct {
    int64_t t0, t1;         /* in ticks, which the header of host_stats.bin scales: picoseconds on a simulated card's clock */
    int64_t bytes;          /* -1: not a transfer */
    int64_t address;        /* -1: none */
    int64_t first_transfer; /* the first of the thread's transfers inside this call, counted from 0; -1: none */
    int32_t transfers;      /* how many */
    int32_t slot;           /* the row of host_stats.bin that counts it, which has its site, state and entry */
    int32_t thread;         /* in order of creation (without a simulated card: of first call), main 0 */
    int32_t fpga;
    int32_t piece;          /* in a whole record the number, from 1, of the thread's 512 records that it is one of; else 0 */
    int32_t reserved;
} rcw_call_record;          /* 64 bytes */

/* host_calls.bin elsewhere (record_bytes in the header of host_stats.bin). Of a call that took or moved more than fits, the
 * whole rcw_call_record is in host_long_calls.bin, with the same t0 and thread. */
typedef struct {
    int64_t t0, address;
    uint32_t took;         /* t1 - t0; RCW_LONG where the call did not fit */
    int32_t bytes;
    uint16_t slot, thread; /* what has higher numbers is lost, and counted so */
    int32_t piece;         /* as above, times 256, and in the lowest 8 bits the FPGA, -128 to 127 */
} rcw_short_record;        /* 32 bytes */

#define RCW_LONG UINT32_MAX

/* transfers.bin: one per transfer on the card's link, by the card's client library (wbcard.c) */
typedef struct {
    int64_t number;      /* counts from 0, in order of call_ps; they are written as they end */
    int32_t kind;        /* 0 send, 1 receive, 2 wait */
    int32_t table;       /* number of the transfer table in card_config, -1: none */
    int64_t address;
    int64_t bytes;
    int64_t call_ps;     /* when the host asked */
    int64_t grant_ps;    /* when the link was free */
    int64_t end_ps;      /* when it was done; of a wait, when what it was for came */
    int64_t port_first_ps, port_last_ps; /* first and last word at the FPGA's port */
    int64_t host_ps;     /* the thread's own time since its previous API call returned */
    int32_t thread;      /* in order of creation, main 0 */
    int16_t card;
    int16_t value_bytes; /* of a receive of up to 8 bytes: how many; else 0 */
    uint64_t value;      /* what it brought, as it lies in memory */
} rcw_transfer_record;   /* 96 bytes */

/* host_waits.bin: one per stretch in which a thread waited outside the card's calls, by the card's client library */
typedef struct {
    int32_t thread;
    int32_t for_a_core;  /* 1: it was ready, and others had the cores; 0: for another thread, or for a time */
    int64_t t0_ps, t1_ps;
} rcw_wait_record;       /* 24 bytes */

/* host_syncs.bin: one per call of a thread's that another thread's may depend on, each thread's in order, by the card's client
 * library. Empty where a run without a trace has over a million of them. */
typedef struct {
    int64_t t0_ps;       /* when it took effect */
    int64_t t1_ps;       /* when the thread went on: then, or after it had waited */
    int64_t woken_ps;    /* when what it waited for came, before waking up and waiting for a core; -1: it did not wait */
    int64_t own_ps;      /* the thread's own time on a core from the end of its record before to t0 */
    uint64_t object;     /* its address; 0: none */
    int64_t argument;    /* rcw_sync_kind says what */
    int32_t thread;
    int32_t by_thread, by_record; /* whose record, by number among that thread's, is the call that woke it; -1: none */
    int16_t kind;        /* rcw_sync_kind */
    int16_t result;      /* rcw_sync_result */
} rcw_sync_record;       /* 64 bytes */

/* workbench/model/run.py says them in words. What follows a colon is the argument. */
typedef enum {
    SYNC_NONE,
    SYNC_OTHER,          /* it costs what such calls do, and no more */
    SYNC_LOCK, SYNC_UNLOCK,
    SYNC_WAIT,           /* for a condition: the mutex's address */
    SYNC_SIGNAL, SYNC_BROADCAST,
    SYNC_LOCK_READING, SYNC_LOCK_WRITING, SYNC_UNLOCK_BOTH,
    SYNC_LOCK_SPINNING, SYNC_UNLOCK_SPINNING,
    SYNC_BARRIER,        /* how many meet */
    SYNC_TAKE, SYNC_POST, /* a semaphore: its value before */
    SYNC_ONCE, SYNC_ONCE_DONE, /* done: 1, given up: 0 */
    SYNC_FUTEX_WAIT, SYNC_FUTEX_WAKE, /* how many at most */
    SYNC_CREATE, SYNC_JOIN, SYNC_CANCEL, /* the other thread's number */
    SYNC_END, SYNC_EXIT,  /* of the thread, of the program */
    SYNC_SLEEP, SYNC_YIELD,
    SYNC_BIND,           /* the core, -1: all */
    SYNC_PIPE,           /* how often it waited */
    SYNC_CARD, SYNC_CARD_HELD, /* a transfer, or a wait for one, that frees or holds its core: its number among the thread's,
                                * -1: none */
    SYNC_INTERRUPT,      /* likewise */
    SYNC_SEND_MESSAGE,   /* to another rank: what it costs the sender's processor, ps */
    SYNC_AWAIT_MESSAGE   /* likewise the receiver's; it is woken when the message is there, and that may be before */
} rcw_sync_kind;

typedef enum { SYNC_DONE, SYNC_TIMED_OUT, SYNC_REFUSED, SYNC_CANCELLED, SYNC_NOT_OVER } rcw_sync_result;

/* taps.bin (traced runs): one per change of a block's state, by the card, in order of cycle */
typedef struct {
    int64_t cycle;       /* counts from 0 at the end of reset */
    int32_t block;
    int32_t state;
} rcw_tap_record;        /* 16 bytes */

/* stream_card.bin (traced runs of streaming applications): one per push or pop of a queue in the FPGA, and per change of
 * whether its writer waits for room or its reader for an element; by the card, in order of cycle */
typedef struct {
    int64_t cycle;
    int32_t edge;        /* in the application */
    int32_t event;       /* 0 push, 1 pop, 2 the writer waits or no longer does, 3 the reader */
    uint64_t bits;       /* the element pushed, as wide as it is; 1 or 0 for who waits */
} rcw_queue_record;     /* 24 bytes */

/* triples.bin (on a real machine; of FPGA N but the first triples_N.bin): a message to its first clock, stamped by both, by the
 * read-out (rcw_board.c) */
typedef struct {
    int64_t t_p1_ps;     /* the host's, before it was sent */
    int64_t cycle;       /* the monitors' count when it was there */
    int64_t t_p3_ps;     /* the host's, when its answer was back */
} rcw_triple_record;     /* 24 bytes */

/* messages.bin (of each rank of an MPI program on a real machine): one per message sent or received and per collective, as its call
 * ends, by host/ranks. `kind` 0 is room that was not used. Times are in ticks, as those of host_calls.bin elsewhere. */
typedef struct {
    int64_t t0, t1;      /* the call: of what it begins or, of a receive or RCW_SEND_DONE, where it ends */
    int64_t posted;      /* when the message was asked for, or a send was begun that ends in another call */
    int64_t bytes;
    int64_t comm;        /* the communicator's number, the same in all its ranks; -1: not known */
    int64_t order;       /* counts what the process sends and asks for; of a collective, those of the communicator */
    int32_t kind;        /* rcw_message_kind */
    int32_t peer;        /* the other rank, as MPI_COMM_WORLD numbers it, or the root; -1: all, RCW_NO_RANK: none; of a scan this
                          * rank's place in the communicator */
    int32_t tag;         /* of a collective how many ranks take part; of a team's meeting its number */
    int32_t thread;
} rcw_message_record;    /* 64 bytes */

#define RCW_NO_RANK (-2)

typedef enum {
    RCW_NOT_USED,
    RCW_SENT,             /* ends when its memory may be used again, which may be when the receiver asked for it */
    RCW_SENT_TO_RECEIVER, /* ends when the receiver asked for it, or later */
    RCW_SENT_BUFFERED,    /* ends whoever receives */
    RCW_SEND_DONE,        /* the end of a send that was begun in another call */
    RCW_RECEIVED,
    RCW_PROBED,
    RCW_ALL_TO_ALL, RCW_FROM_ROOT, RCW_TO_ROOT, RCW_FROM_LOWER, /* collectives; the end of one that was begun in another call */
    RCW_ALONE, /* a call of which it is not known for whom it waits */
    RCW_THREAD_STARTED, RCW_THREAD_BEGUN, RCW_THREAD_OVER, RCW_THREAD_JOINED, /* `order` is the number of the thread that was started */
    RCW_WAITED, RCW_LET_GO, /* for another thread, at a lock or the like, whose address is the `order`; what others waited for */
    RCW_WAITED_FOR_ALL,     /* for all other threads that let the same go: its `order` is an OpenMP team, its `tag` counts its meetings */
    RCW_NOT_FOLLOWED        /* threads wait for each other in ways that are not recorded: `order` is an rcw_unfollowed */
} rcw_message_kind;

/* As UNFOLLOWED in workbench/run/rank_messages.py. */
typedef enum { RCW_TASKS, RCW_DOACROSS, RCW_CANCELLED, RCW_OFFLOADED, RCW_OTHER_OPENMP, RCW_IN_HANDLER } rcw_unfollowed;

/* rank_clocks.bin (of rank 0): a message to another rank and back, in ticks: when it left, when it met the other's clock, when
 * the answer was there; by host/ranks */
typedef struct {
    int64_t t_p1, met, t_p3;
    int32_t rank;
    int32_t round;       /* counts from 1, in MPI_Init and again in MPI_Finalize */
} rcw_rank_clock_record; /* 32 bytes */

/* dwell.bin: how often a block's state lasted 2^log2_cycles to 2^(log2_cycles+1)-1 cycles, by the card at its end.
 * The stay that the end cut short is counted as it stands, so that a block's cycles add up to the run's. */
typedef struct {
    int32_t block;
    int32_t state;
    int32_t log2_cycles;
    int32_t reserved;
    int64_t count;
    int64_t cycles;      /* their sum */
} rcw_dwell_record;      /* 32 bytes */

/* transitions.bin: how often a block went from one state to another, by the card at its end */
typedef struct {
    int32_t block;
    int32_t from_state;
    int32_t to_state;
    int32_t reserved;
    int64_t count;
} rcw_transition_record; /* 24 bytes */

/* firsts.bin: in which cycle a block's state was there first, by the card at its end */
typedef struct {
    int32_t block;
    int32_t state;
    int64_t cycle;
} rcw_first_record;      /* 16 bytes */

/* streams.bin: one per stream, by the card at its end; all in cycles of the stream's clock, out of reset */
typedef struct {
    int32_t stream;
    int32_t reserved;
    int64_t cycles;
    int64_t transfers;   /* valid and ready */
    int64_t valid;
    int64_t ready;
} rcw_stream_record;     /* 40 bytes */

/* stream_transfers.bin (traced runs): one per transfer of a stream that does not follow the one before at once, and one for
 * those that do; by the card, each stream's in order */
typedef struct {
    uint32_t since;      /* cycles of its clock since its transfer before; of the first one, since the cycle before cycle 0 */
    int16_t early;       /* for how many of them it had been offered before it would be taken; below 0: it would have been
                            taken for so many before it was offered */
    uint16_t stream;
} rcw_stream_transfer_record; /* 8 bytes */

/* In the record before one whose numbers do not fit: `since` is what its `early` is, as an int32_t, or how many times 2^32 is to
 * be added to its `since`. */
#define RCW_EARLY_FOLLOWS INT16_MIN
#define RCW_SINCE_FOLLOWS (INT16_MIN + 1)
/* So many more transfers in the cycles right after the one before (`since` 1, `early` 0). */
#define RCW_AS_MANY_MORE (INT16_MIN + 2)

/* stream_waits.bin: how long a stream stalled while another held it, through logic alone */
typedef struct {
    int32_t stream;
    int32_t wait;        /* index of the stream's waits */
    int64_t cycles;
} rcw_stream_wait_record; /* 16 bytes */

/* occupancy.bin: how many cycles a FIFO held so many words */
typedef struct {
    int32_t fifo;
    int32_t words;
    int64_t cycles;
} rcw_occupancy_record;  /* 16 bytes */

/* memory_ports.bin: one per port of the design's into the card's memory, card after card; cycles of its clock, out of reset */
typedef struct {
    int64_t reads, writes;               /* bursts */
    int64_t read_bytes, written_bytes;
    int64_t moving, waiting, held, idle; /* see MasterCounts in ports/memory_bank.h */
    int64_t latency_cycles;              /* from each request to its last answer */
    int64_t row_hits, row_opened, row_conflicts;
    int64_t bus_ps;                      /* in which it had a bus of the memory's */
} rcw_memory_port_record; /* 104 bytes */
#endif
