/* What the parts of the card's client library share: the platform as it is configured, the link, the records. */
#ifndef WB_H
#define WB_H
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "link.h"
#include "records.h"

#define WB_MAX_TABLES 64
#define WB_MAX_POINTS 256
#define WB_MAX_PORTS 64
#define WB_MAX_CARDS 64

/* ---- the platform (wb_config.c) ---- */

typedef struct {
    char name[128];
    int resource;
    int overlaps;
    int holds_core;
    int port;
    int points;
    int64_t bytes[WB_MAX_POINTS];
    int64_t ps[WB_MAX_POINTS];
} wb_table;

typedef struct {
    int64_t word_bytes;
    rcw_clock clock;
    int64_t address_step; /* from one word to the next; 0 where there are no addresses */
    int answers; /* a transfer may last longer than its table says */
    int packets; /* a receive may end earlier, with the design's packet */
} wb_port;

extern wb_table wb_tables[WB_MAX_TABLES];
extern int wb_table_count, wb_cards;
extern wb_port wb_ports[WB_MAX_PORTS];
extern int64_t wb_cycle_limit;

void wb_read_config(const char *path);
int wb_find_table(const char *name); /* -1 where there is none */
int64_t wb_table_ps(const wb_table *table, int64_t bytes);

/* ---- the link to the card process (wb_link.c) ---- */

extern int wb_link; /* -1: there is none */

void wb_send(const void *data, size_t bytes);
/* A request that has to be answered before the host goes on goes with the message that asks for the answer. */
void wb_submit(const rcw_request *request);
/* `most` bytes have room at `data`. */
void wb_receive_reply(rcw_reply *reply, void *data, int64_t most);
/* The last message; its answer to `message`, empty where all is well. */
void wb_say_goodbye(int64_t now_ps, char *message, size_t room);

/* ---- the run's records (wb_run.c) ---- */

extern int64_t wb_transfer_count;

void wb_record(const rcw_transfer_record *transfer);
void wb_flush_records(void);

/* ---- the API (wbcard.c), for what rules make of calls (wb_rules.c) ---- */

typedef struct {
    struct wbcard *card;
    int kind, async; /* RCW_SEND or RCW_RECEIVE */
    const wb_table *table;
    int64_t address, bytes;
    const void *where;
} wb_call;

/* How a call's transfer is made; `ticket` and `end_ps` (-1: not known) are what a transfer that was made says. */
typedef struct {
    const wb_table *table;
    int64_t duration_ps;
    int beside;        /* neither waits for its bus nor occupies it, nor holds its core */
    int64_t until_ps;  /* not before this, if its answer does not change: from `unwanted`, where that is `known`; 0: at once */
    uint64_t unwanted;
    int known;
    int ticket;
    int64_t end_ps;
} wb_way;

int64_t wb_begin(void); /* of what takes time on the clock; the caller's time */
void wb_end(void);
int64_t wb_last_end_ps(void); /* when the thread's call before ended */
int wb_transfer(const wb_call *call, wb_way *way, const void *from, void *to);
void wb_wait_until(int64_t time_ps, const void *where);
void wb_end_send(int ticket, const void *where); /* an asynchronous one, of which the end is not known */

/* ---- the API (wbcard.c), for who begins and ends the run ---- */

/* Somebody waits for what the card does: run it to the time, or to what is waited for if that comes first. When that was,
 * or VC_NEVER; `object` is then what it was. */
int64_t wb_run_card(int64_t until_ps, const void **object);
void wb_record_unended(void);
#endif
