/* Messages between the host's client library (wb_link.c) and the card process (card.cpp), over one stream socket.
 * A request is followed by `bytes` of payload when it is a send or a wait; a reply by `bytes` of payload.
 * Sends, receives, polls and closes have no reply: the card works on them while the host goes on. What a receive got is asked
 * for by a collect. Requests come in the order of their times. Native byte order, no padding. */
#ifndef RCW_LINK_H
#define RCW_LINK_H
#include <stdint.h>

enum { RCW_OPEN = 1, RCW_SEND, RCW_RECEIVE, RCW_COLLECT, RCW_WAIT, RCW_POLLS, RCW_CLOSE, RCW_BYE };
enum { RCW_OK = 0, RCW_FAILED = 1, RCW_ERROR = 2 };

typedef struct {
    int32_t kind;
    int32_t card;        /* all but wait, polls and bye: which one */
    int32_t ticket;      /* send, receive, collect: which one */
    int32_t port;        /* send, receive, collect: through which */
    int32_t collected;   /* send: its end will be asked for */
    int32_t after;       /* send, receive: it starts when the one with this ticket has ended; 0: when `start_ps` says */
    int64_t now_ps;      /* the host's time at the call: the card may run up to here */
    int64_t start_ps;    /* send, receive: when the transfer has its link */
    int64_t duration_ps; /* send, receive: how long it lasts */
    int64_t until_ps;    /* the host does nothing to the card before this time */
    int64_t address;     /* polls: what changes with all that the host does but to poll */
    int64_t bytes;
    int64_t change_until_ps; /* receive: it is made again and again until its answer changes, and to this time at most */
    uint64_t unwanted;       /* ... from this in its first 8 bytes, where that is `known`, or from what it is first */
    int64_t known;
} rcw_request;

/* The payload of a wait: what the host's threads wait for. */
typedef struct {
    int32_t card;
    int32_t ticket;      /* the end of this transfer; 0: the interrupt */
    int64_t since_ps;
} rcw_awaited;

typedef struct {
    int32_t status;      /* RCW_FAILED: the payload is a message for people; RCW_ERROR: the design answered with an error */
    int32_t which;       /* wait: the number of what came, of the payload's */
    int64_t time_ps;     /* collect: when the transfer ended; wait: when that came; -1: not until then */
    int64_t start_ps;    /* collect: when it had its link */
    int64_t first_ps;    /* collect: the starts of the cycles in which the first and the last word were at the port */
    int64_t last_ps;
    int64_t bytes;
} rcw_reply;
#endif
