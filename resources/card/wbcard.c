/* The simulated card's client library. The timing rules are in README.md; the card process is card.cpp. */
#define _GNU_SOURCE
#include "wbcard.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host_time.h"
#include "messages.h"
#include "real.h"
#include "vcores.h"
#include "wb.h"
#include "wb_rules.h"

#define MAX_UNENDED 256
#define MAX_AWAITED 1024
#define NOT_YET 1
#define MOST_IN_A_ROW 1000000 /* calls that cannot be answered otherwise than by 0 */
#define MOST_BYTES (INT64_C(1) << 30) /* what a card process keeps of one transfer */

typedef struct {
    int64_t free_ps;
    int unended; /* the ticket of the transfer of which the end is not known, or 0 */
} bus_t;

struct wbcard {
    int open, moved;
    int64_t async_end_ps; /* when the last asynchronous send is done */
};

/* A transfer of which the card alone knows the end. */
typedef struct {
    rcw_transfer_record entry;
    wbcard_t *card;
    const wb_table *table;
} unended_t;

static struct wbcard cards[WB_MAX_CARDS];
static bus_t buses[WB_MAX_CARDS][WB_MAX_TABLES]; /* of each rank's host */
static unended_t unended[MAX_UNENDED]; /* asynchronous sends */
static int unended_count;
static rcw_awaited awaited[MAX_AWAITED]; /* vc_card_awaited of them */
int64_t wb_transfer_count;

static __thread int64_t own_transfers, own_mark_ps, own_end_ps; /* the thread's transfers; its work and time when its last
                                                                 * API call returned */
static __thread int64_t got_bytes;

int64_t rcw_now_ps(void) { return vc_self ? vc_point() : 0; }

int64_t rcw_transfer_count(void) { return own_transfers; }

int rcw_thread_number(int without) { return vc_self ? vc_self->number : without; }

void rcw_note(const char *text) { vc_note(text, NULL); }

void rcw_aside(int aside)
{
    static __thread vthread *self;
    static __thread int within;
    if (aside && !within++) {
        if (vc_self)
            vc_charge();
        self = vc_self;
        vc_self = NULL;
    } else if (!aside && !--within) {
        vc_self = self;
        host_time_forget();
    }
}

void rcw_background(void)
{
    if (vc_self)
        vc_self->background = 1;
}

/* ---- calls ---- */

/* The caller's time, when all that comes before it on the clock has happened. */
int64_t wb_begin(void)
{
    if (!vc_self) {
        fprintf(stderr, "simulated card: called by a forked child, or by a thread that is not the host program's own\n");
        REAL(_exit)(WBCARD_EXIT_FAILED);
    }
    return vc_point();
}

void wb_end(void)
{
    own_mark_ps = vc_self->work_ps;
    own_end_ps = vc_now();
    host_time_forget();
}

int64_t wb_last_end_ps(void) { return own_end_ps; }

static int number_of(const wbcard_t *card) { return (int)(card - cards); }

static bus_t *bus_of(const wbcard_t *card, const wb_table *table)
{
    return &buses[number_of(card) / wbcard_count()][table->resource];
}

static int usable(const wbcard_t *card) { return card >= cards && card < cards + wb_cards && card->open; }

static void wait_until(int64_t time_ps, int holds_core, const void *where)
{
    if (time_ps <= vc_now())
        return;
    if (holds_core)
        vc_hold(time_ps);
    else
        vc_block(VC_CARD, buses, time_ps, where);
}

void wb_wait_until(int64_t time_ps, const void *where) { wait_until(time_ps, 0, where); }

/* ---- waiting for what the card does ---- */

/* What wakes a thread: a transfer's end by its ticket, an interrupt by its card. */
static const void *object_of(int card, int ticket)
{
    return ticket ? (const void *)(intptr_t)ticket : (const void *)&cards[card];
}

static void await_card(int card, int ticket, int64_t since_ps, vc_what what, int holds_core, const void *where)
{
    int known = 0;
    for (int i = 0; i < vc_card_awaited; i++)
        known |= awaited[i].card == card && awaited[i].ticket == ticket;
    if (!known && vc_card_awaited == MAX_AWAITED)
        vc_fatal("more threads wait for the card than can be simulated");
    if (!known)
        awaited[vc_card_awaited++] = (rcw_awaited){card, ticket, since_ps};
    if (holds_core)
        vc_spin(object_of(card, ticket), where);
    else
        vc_block(what, object_of(card, ticket), VC_NEVER, where);
}

int64_t wb_run_card(int64_t until_ps, const void **object)
{
    rcw_request request = {.kind = RCW_WAIT, .until_ps = until_ps,
                           .bytes = (int64_t)((size_t)vc_card_awaited * sizeof awaited[0])};
    rcw_reply reply;
    wb_send(&request, sizeof request);
    wb_send(awaited, (size_t)request.bytes);
    wb_receive_reply(&reply, NULL, 0);
    if (reply.time_ps < 0)
        return VC_NEVER;
    rcw_awaited *came = &awaited[reply.which];
    *object = object_of(came->card, came->ticket);
    vc_card_awaited--;
    memmove(came, came + 1, (size_t)(awaited + vc_card_awaited - came) * sizeof *came);
    return reply.time_ps;
}

/* ---- the card ---- */

wbcard_t *wbcard_open(int card)
{
    if (wb_link < 0) {
        fprintf(stderr, "simulated card: there is none: start this program with `workbench run`\n");
        return NULL;
    }
    int mine = wbcard_count();
    if (card < 0 || card >= mine) {
        fprintf(stderr, mine > 1 ? "simulated card: there is no card %d, only cards 0 to %d\n"
                                     : "simulated card: there is no card %d, only card %d\n", card, mine - 1);
        return NULL;
    }
    card += rcw_rank() * mine;
    rcw_request request = {.kind = RCW_OPEN, .card = card, .now_ps = wb_begin()};
    rcw_reply reply;
    wb_send(&request, sizeof request);
    wb_receive_reply(&reply, NULL, 0);
    cards[card].open++;
    wb_end();
    return &cards[card];
}

static int ticket_of(const rcw_transfer_record *entry) { return (int)entry->number + 1; }

/* Ask for a transfer's end, and what it brought. NOT_YET where others may call before it, -1 where the design answered
 * with an error. */
static int ask_end(unended_t *one, void *to)
{
    rcw_transfer_record *entry = &one->entry;
    int64_t now = vc_now(), others = vc_others_ps();
    rcw_request request = {.kind = RCW_COLLECT, .card = number_of(one->card), .ticket = ticket_of(entry),
                           .port = one->table->port, .now_ps = now, .until_ps = others < now ? now : others};
    rcw_reply reply;
    bus_t *bus = bus_of(one->card, one->table);
    wb_send(&request, sizeof request);
    wb_receive_reply(&reply, to, to ? entry->bytes : 0);
    if (reply.time_ps < 0)
        return NOT_YET;
    entry->grant_ps = reply.start_ps;
    entry->end_ps = reply.time_ps;
    entry->port_first_ps = reply.first_ps;
    entry->port_last_ps = reply.last_ps;
    if (to)
        entry->bytes = reply.bytes;
    if (bus->unended == ticket_of(entry)) {
        bus->unended = 0;
        bus->free_ps = entry->end_ps;
    }
    return reply.status == RCW_ERROR ? -1 : 0;
}

/* A card's first asynchronous send of which the end is not known, any card's without one; -1: there is none. */
static int first_unended(const wbcard_t *card)
{
    for (int i = 0; i < unended_count; i++)
        if (!card || unended[i].card == card)
            return i;
    return -1;
}

/* Ask for the end of one of them; where that is not known yet, wait for it first, and ask again. */
static int end_send(int i, const void *where)
{
    unended_t one = unended[i];
    int status = ask_end(&one, NULL);
    if (status == NOT_YET) { /* meanwhile another thread may ask for it as well */
        await_card(number_of(one.card), ticket_of(&one.entry), vc_now(), VC_CARD, 0, where);
        return 0;
    }
    unended_count--;
    memmove(&unended[i], &unended[i + 1], (size_t)(unended_count - i) * sizeof unended[0]);
    wb_record(&one.entry);
    if (one.card->async_end_ps < one.entry.end_ps)
        one.card->async_end_ps = one.entry.end_ps;
    wb_send_ended(ticket_of(&one.entry), one.entry.end_ps);
    return status;
}

/* Ask for the ends of the asynchronous sends. -1 where the design answered one with an error. */
static int end_sends(const wbcard_t *of, const void *where)
{
    int failed = 0;
    for (int i; (i = first_unended(of)) >= 0;)
        failed |= end_send(i, where);
    return failed;
}

void wb_end_send(int ticket, const void *where)
{
    for (int i = 0; i < unended_count;)
        if (ticket_of(&unended[i].entry) == ticket)
            end_send(i, where), i = 0;
        else
            i++;
}

void wb_record_unended(void)
{
    for (int i = 0; i < unended_count; i++)
        wb_record(&unended[i].entry);
}

void rcw_polls(int64_t done)
{
    wb_begin();
    rcw_request request = {.kind = RCW_POLLS, .now_ps = vc_now(), .address = done};
    wb_send(&request, sizeof request);
    wb_end();
}

void rcw_waits(int64_t since_ps) { vc_waits(since_ps); }

int wbcard_count(void) { return wb_cards / vc_set.ranks; }

int wbcard_nothing(const char *name)
{
    static const char *last;
    static int64_t in_a_row, transfers;
    if (last != name || transfers != wb_transfer_count)
        in_a_row = 0;
    last = name;
    transfers = wb_transfer_count;
    if (++in_a_row == MOST_IN_A_ROW) {
        char message[320];
        snprintf(message, sizeof message, "%s was called %d times in a row and always answered 0: its entry in the platform "
                 "template is of a kind that asks the design nothing. If it reads from the board, give it the kind receive "
                 "and an address", name, MOST_IN_A_ROW);
        vc_fatal(message);
    }
    return 0;
}

void wbcard_close(wbcard_t *card)
{
    if (!usable(card))
        return;
    wb_other_call();
    wb_begin();
    vc_does(SYNC_CARD, NULL, -1);
    end_sends(card, HERE);
    wait_until(card->async_end_ps, 0, HERE);
    rcw_request request = {.kind = RCW_CLOSE, .card = number_of(card), .now_ps = vc_now()};
    wb_send(&request, sizeof request);
    card->open--;
    wb_end();
}

int wbcard_configure(wbcard_t *card, const char *table, const char *file)
{
    if (!usable(card) || !file)
        return -1;
    wb_begin();
    if (card->moved)
        vc_fatal("the card was configured after transfers had been made; configuring it anew is not simulated");
    int number = table ? wb_find_table(table) : -1;
    vc_does(SYNC_CARD, NULL, -1);
    if (number >= 0)
        wait_until(vc_now() + wb_ruled_ps(wb_table_ps(&wb_tables[number], 1)), 0, HERE);
    wb_end();
    return 0;
}

/* ---- transfers ---- */

static const wb_table *need_table(const char *name)
{
    int number = wb_find_table(name);
    if (number < 0) {
        char message[256];
        snprintf(message, sizeof message, "the platform has no transfer table '%s'", name);
        vc_fatal(message);
    }
    return &wb_tables[number];
}

/* A transfer that no run could end is told at the call, before anything is moved. */
static void check_size(const wb_table *table, int64_t address, int64_t bytes, int64_t duration)
{
    char message[320];
    int64_t cycles = rcw_cycles_before(&wb_ports[table->port].clock, duration);
    if (bytes > MOST_BYTES)
        snprintf(message, sizeof message, "a transfer of %lld bytes at address 0x%llx (table '%s') is more than the %lld that "
                 "the simulated card moves in one call: is the size right?",
                 (long long)bytes, (unsigned long long)address, table->name, (long long)MOST_BYTES);
    else if (wb_cycle_limit && cycles > wb_cycle_limit)
        snprintf(message, sizeof message, "a transfer of %lld bytes at address 0x%llx (table '%s') would last %lld cycles, "
                 "more than simulation.cycle_limit (%lld): is the size right?",
                 (long long)bytes, (unsigned long long)address, table->name, (long long)cycles, (long long)wb_cycle_limit);
    else
        return;
    vc_fatal(message);
}

static void begin_record(rcw_transfer_record *entry, wbcard_t *card, int kind, rcw_sync_kind does)
{
    *entry = (rcw_transfer_record){
        .number = wb_transfer_count++, .kind = kind, .table = -1, .address = -1, .call_ps = vc_now(), .grant_ps = vc_now(),
        .port_first_ps = -1, .port_last_ps = -1, .host_ps = vc_self->work_ps - own_mark_ps, .thread = vc_self->number,
        .card = (int16_t)number_of(card)};
    vc_does(does, NULL, own_transfers);
    own_transfers++;
    card->moved = 1;
}

int wb_transfer(const wb_call *call, wb_way *way, const void *from, void *to)
{
    const wb_table *table = way->table;
    const wb_port *port = &wb_ports[table->port];
    wbcard_t *card = call->card;
    const void *where = call->where;
    int64_t address = call->address, bytes = call->bytes;
    int kind = call->kind, async = call->async, overlaps = table->overlaps || way->beside;
    int holds_core = table->holds_core && !way->beside;
    unended_t one = {.card = card, .table = table};
    rcw_transfer_record *entry = &one.entry;
    int64_t now = wb_begin();
    bus_t *bus = bus_of(card, table);
    int after = overlaps ? 0 : bus->unended, packet = kind == RCW_RECEIVE && port->packets;
    int asked = kind == RCW_RECEIVE || port->answers || after, status = 0;
    int64_t start = overlaps || after || bus->free_ps < now ? now : bus->free_ps;
    int64_t duration = way->duration_ps, done = start + duration, words = bytes / port->word_bytes;
    int64_t others = vc_others_ps();
    check_size(table, address, bytes, duration);
    begin_record(entry, card, kind == RCW_SEND ? 0 : 1, holds_core ? SYNC_CARD_HELD : SYNC_CARD);
    entry->table = (int)(table - wb_tables);
    entry->address = address;
    entry->bytes = bytes;
    entry->grant_ps = start;
    entry->end_ps = done;
    const rcw_clock *clock = &port->clock;
    entry->port_first_ps = rcw_cycle_start(clock, rcw_cycles_before(clock, start + duration / words) - 1);
    entry->port_last_ps = rcw_cycle_start(clock, rcw_cycles_before(clock, done) - 1);
    /* The card may go on to this thread's next call, but not past another's. */
    int64_t until = async || others < now ? now : others < done ? others : done;
    rcw_request request = {.kind = kind, .card = number_of(card), .ticket = ticket_of(entry), .port = table->port,
                           .collected = asked, .after = after, .now_ps = now, .start_ps = start, .duration_ps = duration,
                           .until_ps = until, .address = address, .bytes = bytes, .change_until_ps = way->until_ps,
                           .unwanted = way->unwanted, .known = way->known};
    way->ticket = request.ticket;
    way->end_ps = asked ? -1 : done;
    if (!overlaps) {
        bus->free_ps = done;
        bus->unended = asked ? request.ticket : 0;
    }
    if (kind == RCW_SEND) {
        wb_send(&request, sizeof request);
        wb_send(from, (size_t)bytes);
    } else {
        wb_submit(&request);
    }
    if (asked && async) {
        unended[unended_count++] = one;
        if (unended_count == MAX_UNENDED)
            end_sends(NULL, where);
        wb_end();
        return 0;
    }
    if (!async)
        wait_until(packet ? start + duration / words : done, holds_core, where);
    if (asked) {
        while ((status = ask_end(&one, to)) == NOT_YET)
            await_card(request.card, request.ticket, vc_now(), VC_CARD, holds_core, where);
        done = entry->end_ps;
        wait_until(done, holds_core, where);
    }
    if (to)
        got_bytes = entry->bytes;
    if (to && !status && entry->bytes <= (int64_t)sizeof entry->value) {
        entry->value_bytes = (int16_t)entry->bytes;
        memcpy(&entry->value, to, (size_t)entry->bytes);
    }
    wb_record(entry);
    if (async && done > card->async_end_ps)
        card->async_end_ps = done;
    wb_end();
    return status;
}

static int transfer(wbcard_t *card, int kind, int async, const char *name, const void *from, void *to, int64_t address,
                    int64_t bytes, const void *where)
{
    const wb_table *table = usable(card) ? need_table(name) : NULL;
    got_bytes = 0;
    if (!table || bytes < 0 || bytes % wb_ports[table->port].word_bytes || address < 0 || (bytes && !from && !to))
        return -1;
    if (!bytes)
        return 0;
    wb_call call = {card, kind, async, table, address, bytes, where};
    if (!wb_rule_count)
        return wb_transfer(&call, &(wb_way){.table = table, .duration_ps = wb_table_ps(table, bytes)}, from, to);
    int status = wb_call_by_rules(&call, from, to);
    if (to && !wb_ports[table->port].packets)
        got_bytes = bytes;
    return status;
}

int wbcard_send(wbcard_t *card, const char *table, const void *data, int64_t address, int64_t bytes)
{
    return transfer(card, RCW_SEND, 0, table, data, NULL, address, bytes, HERE);
}

int wbcard_send_async(wbcard_t *card, const char *table, const void *data, int64_t address, int64_t bytes)
{
    return transfer(card, RCW_SEND, 1, table, data, NULL, address, bytes, HERE);
}

int wbcard_receive(wbcard_t *card, const char *table, void *data, int64_t address, int64_t bytes)
{
    return transfer(card, RCW_RECEIVE, 0, table, NULL, data, address, bytes, HERE);
}

int64_t wbcard_got(void) { return got_bytes; }

int wbcard_wait(wbcard_t *card)
{
    rcw_transfer_record entry;
    if (!usable(card))
        return -1;
    wb_other_call();
    wb_begin();
    begin_record(&entry, card, 2, SYNC_CARD);
    int failed = end_sends(card, HERE);
    wait_until(card->async_end_ps, 0, HERE);
    entry.end_ps = card->async_end_ps > entry.call_ps ? card->async_end_ps : entry.call_ps;
    wb_record(&entry);
    wb_end();
    return failed;
}

int wbcard_wait_irq(wbcard_t *card)
{
    rcw_transfer_record entry;
    if (!usable(card))
        return -1;
    wb_other_call();
    int64_t now = wb_begin();
    begin_record(&entry, card, 2, SYNC_INTERRUPT);
    await_card(number_of(card), 0, now, VC_INTERRUPT, 0, HERE);
    entry.end_ps = vc_self->woken_ps; /* it may get its core later */
    wb_record(&entry);
    wb_end();
    return 0;
}
