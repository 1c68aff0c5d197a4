/* Messages between the ranks of a run (processes of the host program, each with FPGAs of its own), on the virtual clock: what
 * a library such as MPI is written on. Times are LogGP's (Alexandrov et al. 1997), from the network that the project names;
 * without one a message takes no time.
 *
 * A message of m bytes that is sent at T takes its sender's processor for o. It leaves at S, which is T + o, or when the
 * sender's message before has left (its S + max(g, G m)). Its first byte is there at S + L, or when the receiver has
 * taken in the message before (likewise), and its last one G m later. Taking it then costs the receiver o. Sending is buffered: the
 * sender goes on at T + o. Messages between two ranks stay in order. A message to itself takes 2 o. */
#ifndef RCW_MESSAGES_H
#define RCW_MESSAGES_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RCW_ANY = -1 };

typedef struct rcw_receive rcw_receive;
typedef struct {
    int from, tag;
    int64_t bytes; /* as sent */
} rcw_arrival;

int rcw_rank(void);
int rcw_rank_count(void);

/* A call of the library begins: the caller's own work so far is charged; what it does from here on costs what the functions
 * below say, and no more; until it ends. `name` is how messages for people call it, and it is called from `where`. */
void rcw_library_begin(const char *name, const void *where);
void rcw_library_end(void);

/* `context` keeps messages of different kinds apart. `relays`: the network's interface passes it on, at no processor's time. */
void rcw_message_send(int to, int context, int tag, const void *data, int64_t bytes, int relays);

/* Wants a message, into `room` bytes at `to`. It is taken by rcw_message_wait alone, or by rcw_message_take, which returns 0 where
 * it is not there yet. Both free the receive. */
rcw_receive *rcw_message_receive(int from, int context, int tag, void *to, int64_t room);
void rcw_message_wait(rcw_receive *one, int relays, rcw_arrival *arrival);
int rcw_message_take(rcw_receive *one, rcw_arrival *arrival);

/* Waits until one of them is there (those that are NULL apart); its place among them, -1 where all are NULL. */
int rcw_message_any(rcw_receive *const *some, int count);

/* The number of the caller's collective call, the same in all ranks. Where another rank's is another one, the run ends. */
int rcw_collective(int root, int64_t bytes);

/* One message's o, of the caller's processor. */
void rcw_overhead(void);

/* What adding up so many bytes costs the processor (the network's reduction_per_byte_s). */
void rcw_reduced(int64_t bytes);

/* The run ends with this, and where the call under way stands. */
__attribute__((noreturn)) void rcw_library_fatal(const char *why);

#ifdef __cplusplus
}
#endif
#endif
