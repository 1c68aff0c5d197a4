/* Messages between the ranks of a run (processes of the host program, each with FPGAs of its own), on the virtual clock: what
 * a library such as MPI is written on. Times are LogGP's (Alexandrov et al. 1997), from the network that the project names;
 * without one a message takes no time.
 *
 * A message of m bytes that is sent at T takes its sender's processor for o. It leaves at S, which is T + o, or when the
 * sender's message before has left (its S + max(g, G m)). Its first byte is there at S + L, or when the receiver has
 * taken in the message before (likewise), and its last one G m later. Taking it then costs the receiver o. Sending is buffered: the
 * sender goes on at T + o. A synchronous send ends when its receiver has asked for the message and knows that it comes, and word of
 * that is back, L later; so does a standard one of more bytes than the network's `eager_bytes`. Messages between two ranks stay in
 * order. A message to itself takes 2 o. */
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

/* A synchronous one: what is returned comes when it ends, and is waited for as a message is. */
rcw_receive *rcw_message_send_waiting(int to, int context, int tag, const void *data, int64_t bytes);
int rcw_is_eager(int64_t bytes);

/* Waits for a message that could be received, or only looks for one (0: there is none), and leaves it there. */
int rcw_message_probe(int from, int context, int tag, int waits, rcw_arrival *arrival);

/* Wants a message, into `room` bytes at `to`. It is taken by rcw_message_wait alone, or by rcw_message_take, which returns 0 where
 * it is not there yet. Both free the receive. */
rcw_receive *rcw_message_receive(int from, int context, int tag, void *to, int64_t room);
void rcw_message_wait(rcw_receive *one, int relays, rcw_arrival *arrival);
int rcw_message_take(rcw_receive *one, rcw_arrival *arrival);
int rcw_message_there(rcw_receive *one); /* whether it would be taken */

/* Waits until one of them is there (those that are NULL apart); its place among them, -1 where all are NULL. */
int rcw_message_any(rcw_receive *const *some, int count);

/* The caller's collective call in a communicator of so many ranks, which the library numbers by `context`. Where another rank's
 * call of this number is another one, the run ends. */
void rcw_collective(int context, int number, int ranks, int root, int64_t bytes);

/* A number for a communicator that is made of another one by that one's collective call of a number: the same in all ranks
 * that give the same `color`. */
int rcw_context(int parent, int number, int color);

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
