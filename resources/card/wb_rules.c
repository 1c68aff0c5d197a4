/* What rules make of the host's calls; README.md, "Under other rules", says what each does. */
#define _GNU_SOURCE
#include "wb_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_time.h"
#include "vcores.h"

#define MOST_RULES 64
#define MOST_SITES 8192
#define HEARS_CYCLES 16
#define PARTS INT64_C(1000000000) /* of a factor */

typedef enum { UNITE, SPLIT, TABLE, SCALE, ASYNCHRONOUS, INTERRUPT, POLL_DELAY, KINDS } rule_kind;
static const char *const names[KINDS] = {"unite", "split", "table", "scale", "asynchronous", "interrupt", "poll_delay"};

typedef struct {
    int ticket;
    int64_t end_ps; /* -1: not known yet */
} under_way;

typedef struct {
    rule_kind kind;
    int64_t numbers[3];
    unsigned char sites[MOST_SITES / 8];
    int64_t used;      /* calls */
    int64_t scattered; /* united calls of addresses that do not follow one another */
    int64_t unasked;   /* reads that were made ahead, and that nobody asked for */
    under_way *sends;  /* asynchronous: the oldest first */
    int send_count;
} rule;

typedef struct {
    int64_t address, bytes;
} piece;

/* What a thread holds back, or has read ahead: calls of one rule, `given` bytes of which it has been given. */
typedef struct {
    rule *by[KINDS];
    wb_call call;
    char *data;
    piece *pieces;
    int64_t bytes, given;
    int piece_count, calls;
} group;

static rule rules[MOST_RULES];
int wb_rule_count;
static __thread group held;
static __thread rule *row_rule; /* calls of which rule that unites the thread's last calls were, and how many */
static __thread int64_t row_calls;
static __thread rule *poll_rule; /* the rule that delays its last call */
static __thread struct {
    rule *by;
    wbcard_t *card;
    const wb_table *table;
    int64_t address, bytes;
    uint64_t value;
} polled; /* its last call, where that was a poll by a rule */

static void before_others(void);
static int no_site(void) { return -1; }
static int (*site_of_call)(void) = no_site;
void rcw_tell_sites(int (*site)(void)) { site_of_call = site; }

/* ---- the configuration ---- */

void wb_read_rule(const char *line)
{
    char kind[32];
    long long numbers[3] = {0, 0, 0};
    int site, thread;
    if (sscanf(line, "rule_site %d", &site) == 1) {
        if (!wb_rule_count || site < 0 || site >= MOST_SITES)
            vc_fatal("the program has more calls than rules can name");
        rules[wb_rule_count - 1].sites[site / 8] |= (unsigned char)(1 << site % 8);
        return;
    }
    if (sscanf(line, "rule host %d %lld", &thread, &numbers[0]) == 2) {
        host_time_scale(thread, numbers[0]);
        return;
    }
    if (sscanf(line, "rule %31s %lld %lld %lld", kind, &numbers[0], &numbers[1], &numbers[2]) < 1)
        return;
    if (wb_rule_count == MOST_RULES)
        vc_fatal("the run has more rules than the card can keep");
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(kind, names[i]))
            rules[wb_rule_count++] = (rule){.kind = (rule_kind)i, .numbers = {numbers[0], numbers[1], numbers[2]}};
    vc_before_others = before_others;
}

void wb_write_rules(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    for (int i = 0; i < wb_rule_count; i++)
        fprintf(file, "%s %lld %lld %lld\n", names[rules[i].kind], (long long)rules[i].used,
                (long long)rules[i].scattered, (long long)rules[i].unasked);
    fclose(file);
}

/* ---- one transfer ---- */

static void *room_for(void *data, int64_t bytes)
{
    void *more = realloc(data, (size_t)bytes);
    if (!more)
        vc_fatal("no memory is left for calls that are held back");
    return more;
}

static int64_t scaled(const rule *scale, int64_t ps)
{
    return scale ? (int64_t)((__int128)ps * scale->numbers[0] / PARTS) : ps;
}

/* Wait until the rule allows one more asynchronous send. */
static void await_room(rule *asynchronous, const void *where)
{
    under_way *oldest = asynchronous->sends;
    if (!oldest)
        oldest = asynchronous->sends = room_for(NULL, asynchronous->numbers[0] * (int64_t)sizeof *oldest);
    while (asynchronous->send_count == asynchronous->numbers[0]) {
        under_way first = *oldest;
        if (first.end_ps < 0)
            wb_end_send(first.ticket, where);
        wb_wait_until(oldest->end_ps, where);
        if (asynchronous->send_count && oldest->ticket == first.ticket) /* no other thread was here before */
            memmove(oldest, oldest + 1, (size_t)--asynchronous->send_count * sizeof *oldest);
    }
}

static int transfer(rule *const by[], const wb_call *call, wb_way *way, const void *from, void *to)
{
    wb_call one = *call;
    rule *asynchronous = call->kind == RCW_SEND ? by[ASYNCHRONOUS] : NULL;
    if (asynchronous) {
        await_room(asynchronous, call->where);
        one.async = 1;
    }
    host_time_forget();
    int status = wb_transfer(&one, way, from, to);
    if (asynchronous)
        asynchronous->sends[asynchronous->send_count++] = (under_way){way->ticket, way->end_ps};
    return status;
}

void wb_send_ended(int ticket, int64_t end_ps)
{
    for (int i = 0; i < wb_rule_count; i++)
        for (int k = 0; k < rules[i].send_count; k++)
            if (rules[i].sends[k].ticket == ticket)
                rules[i].sends[k].end_ps = end_ps;
}

/* Bytes in pieces, each at its address, in the time of one transfer of all. */
static int move(rule *const by[], const wb_call *call, const piece *pieces, int count, char *data, int64_t bytes)
{
    wb_way way = {.table = by[TABLE] ? &wb_tables[by[TABLE]->numbers[0]] : call->table,
                  .beside = by[SCALE] && !by[SCALE]->numbers[0]};
    int64_t all_ps = scaled(by[SCALE], wb_table_ps(way.table, bytes)), at = 0;
    int status = 0;
    for (int i = 0; i < count; i++) {
        wb_call one = *call;
        char *here = data + at;
        int64_t from_ps = (int64_t)((__int128)all_ps * at / bytes);
        one.address = pieces[i].address, one.bytes = pieces[i].bytes;
        at += one.bytes;
        way.duration_ps = (int64_t)((__int128)all_ps * at / bytes) - from_ps;
        status |= transfer(by, &one, &way, call->kind == RCW_SEND ? here : NULL, call->kind == RCW_SEND ? NULL : here);
    }
    return status;
}

static int64_t after(const wb_call *call, int64_t address, int64_t bytes)
{
    const wb_port *port = &wb_ports[call->table->port];
    return address + bytes / port->word_bytes * port->address_step;
}

static int split(rule *const by[], const wb_call *call, char *data)
{
    int64_t word = wb_ports[call->table->port].word_bytes, words = call->bytes / word, parts = by[SPLIT]->numbers[0];
    int status = 0;
    for (int64_t i = 0; i < parts; i++) {
        int64_t first = (int64_t)((__int128)words * i / parts) * word, end = (int64_t)((__int128)words * (i + 1) / parts) * word;
        piece part = {after(call, call->address, first), end - first};
        if (part.bytes)
            status |= move(by, call, &part, 1, data + first, part.bytes);
    }
    return status;
}

/* ---- several calls in one ---- */

static void add_piece(int64_t address, int64_t bytes)
{
    piece *last = held.piece_count ? &held.pieces[held.piece_count - 1] : NULL;
    if (last && after(&held.call, last->address, last->bytes) == address) {
        last->bytes += bytes;
    } else {
        held.pieces = room_for(held.pieces, (held.piece_count + 1) * (int64_t)sizeof *last);
        held.pieces[held.piece_count++] = (piece){address, bytes};
    }
    held.bytes += bytes;
    held.calls++;
}

static void empty(void)
{
    held.bytes = held.given = 0;
    held.piece_count = held.calls = 0;
}

/* What is held back is sent; what was read ahead is forgotten. */
static int let_go(void)
{
    int status = 0;
    if (held.calls && held.call.kind == RCW_SEND) {
        held.by[UNITE]->scattered += held.piece_count > 1;
        status = move(held.by, &held.call, held.pieces, held.piece_count, held.data, held.bytes);
    } else if (held.bytes > held.given) {
        held.by[UNITE]->unasked += (held.bytes - held.given) / held.call.bytes;
    }
    empty();
    return status;
}

/* Whether a call joins those that are held back, or is one of those that were read ahead. */
static int joins(rule *const by[], const wb_call *call)
{
    if (!held.calls || held.by[UNITE] != by[UNITE] || held.call.kind != call->kind || held.call.card != call->card ||
        held.call.table != call->table || held.call.async != call->async)
        return 0;
    if (call->kind == RCW_SEND)
        return 1;
    return held.call.bytes == call->bytes && held.given < held.bytes &&
           held.call.address + held.given / call->bytes * by[UNITE]->numbers[2] == call->address;
}

static void begin_group(rule *const by[], const wb_call *call)
{
    memcpy(held.by, by, sizeof held.by);
    held.call = *call;
}

static int unite(rule *const by[], const wb_call *call, const void *from, void *to)
{
    int64_t count = by[UNITE]->numbers[0], row = by[UNITE]->numbers[1], left;
    int status = 0;
    if (row_rule != by[UNITE] || (row && row_calls == row))
        row_calls = 0;
    row_rule = by[UNITE];
    left = row ? row - row_calls : count;
    row_calls++;
    if (!joins(by, call))
        status = let_go();
    if (call->kind == RCW_SEND) {
        if (!held.calls)
            begin_group(by, call);
        held.data = room_for(held.data, held.bytes + call->bytes);
        memcpy(held.data + held.bytes, from, (size_t)call->bytes);
        add_piece(call->address, call->bytes);
        if (held.calls == count || (row && row_calls == row))
            status |= let_go();
    } else {
        if (!held.calls) {
            begin_group(by, call);
            int64_t calls = count < left ? count : left;
            for (int64_t i = 0; i < calls; i++)
                add_piece(call->address + i * by[UNITE]->numbers[2], call->bytes);
            held.data = room_for(held.data, held.bytes);
            by[UNITE]->scattered += held.piece_count > 1;
            status |= move(held.by, &held.call, held.pieces, held.piece_count, held.data, held.bytes);
        }
        memcpy(to, held.data + held.given, (size_t)call->bytes);
        held.given += call->bytes;
        if (held.given == held.bytes)
            empty();
    }
    wb_end();
    return status;
}

/* ---- polls ---- */

/* A poll that finds what the one before it found returns as soon as that changes. The first of a row looks for some cycles,
 * since the design may not have heard yet of what the host did last. */
static int poll(rule *const by[], const wb_call *call, void *to)
{
    const wb_table *table = by[TABLE] ? &wb_tables[by[TABLE]->numbers[0]] : call->table;
    const rcw_clock *clock = &wb_ports[table->port].clock;
    int again = polled.by == by[INTERRUPT] && polled.card == call->card && polled.table == call->table &&
                polled.address == call->address && polled.bytes == call->bytes;
    int64_t heard_ps = rcw_cycle_start(clock, rcw_cycles_before(clock, wb_last_end_ps()) + HEARS_CYCLES);
    wb_way way = {.table = table, .beside = 1, .unwanted = polled.value, .known = again,
                  .until_ps = again ? vc_now() + wb_table_ps(table, call->bytes) : heard_ps};
    host_time_forget();
    int status = wb_transfer(call, &way, NULL, to);
    polled.by = by[INTERRUPT], polled.card = call->card, polled.table = call->table;
    polled.address = call->address, polled.bytes = call->bytes;
    polled.value = 0;
    memcpy(&polled.value, to, call->bytes < 8 ? (size_t)call->bytes : 8);
    return status;
}

static void delay(const rule *by, const void *where)
{
    if (poll_rule != by && by->numbers[0])
        vc_block(VC_SLEEP, NULL, vc_now() + by->numbers[0], where);
    poll_rule = (rule *)by;
}

/* ---- calls ---- */

/* The rules of the call that the thread is within. */
static void find(rule *by[])
{
    int site = site_of_call();
    memset(by, 0, KINDS * sizeof by[0]);
    if (site < 0 || site >= MOST_SITES)
        return;
    for (int i = 0; i < wb_rule_count; i++)
        if (rules[i].sites[site / 8] >> site % 8 & 1) {
            by[rules[i].kind] = &rules[i];
            rules[i].used++;
        }
}

int wb_call_by_rules(const wb_call *call, const void *from, void *to)
{
    rule *by[KINDS];
    wb_begin();
    find(by);
    int one_of_packets = call->kind == RCW_RECEIVE && wb_ports[call->table->port].packets;
    if (by[UNITE] && !one_of_packets) {
        poll_rule = polled.by = NULL;
        return unite(by, call, from, to);
    }
    let_go();
    row_rule = NULL;
    if (by[POLL_DELAY])
        delay(by[POLL_DELAY], call->where);
    else
        poll_rule = NULL;
    if (by[INTERRUPT] && call->kind == RCW_RECEIVE)
        return poll(by, call, to);
    polled.by = NULL;
    char *data = to ? to : (char *)from;
    if (by[SPLIT])
        return split(by, call, data);
    piece whole = {call->address, call->bytes};
    return move(by, call, &whole, 1, data, call->bytes);
}

/* What the thread does next lets others go on, or it ends: they may wait for what it holds back. */
static void before_others(void)
{
    if (held.calls && held.call.kind == RCW_SEND) {
        wb_begin();
        let_go();
    }
}

void wb_other_call(void)
{
    if (held.calls) {
        wb_begin();
        let_go();
    }
    row_rule = poll_rule = polled.by = NULL;
}

int64_t wb_ruled_ps(int64_t duration_ps)
{
    rule *by[KINDS];
    find(by);
    return scaled(by[SCALE], duration_ps);
}
