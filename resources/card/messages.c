/* Messages between ranks; messages.h has their times. */
#define _GNU_SOURCE
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host_time.h"
#include "network.h"
#include "real.h"
#include "vcores.h"
#include "wbcard.h"

enum { ANSWER = -1 }; /* context: a synchronous send's receiver has asked for it */

wb_network_times wb_network = {.eager_bytes = -1};

typedef struct message {
    struct message *next;
    int from, context, tag, by_thread, by_call;
    int64_t bytes, gap_ps;       /* how long it keeps its receiver's interface from the next one */
    int64_t first_ps, last_ps;   /* when its first and last byte are there */
    int64_t arrives_ps, free_ps; /* without waiting for others: its first byte; when the next one may come in */
    struct rcw_receive *claimed_by;
    struct rcw_receive *answer; /* of a synchronous send: what its sender waits for, until it is given */
    char data[];
} message;

struct rcw_receive {
    struct rcw_receive *next;
    int from, context, tag;
    void *to;
    int64_t room;
    int looks; /* it leaves the message there */
    message *came, *coming; /* `coming`: what it gets of those that are under way, as far as they are known */
};

typedef struct waiter {
    struct waiter *next;
    vthread *thread;
    rcw_receive *const *some;
    int count;
} waiter;

typedef struct {
    int64_t out_free_ps, in_free_ps;
    message *messages;   /* not taken yet, in the order in which they arrive */
    rcw_receive *wanted; /* in the order in which they were asked for */
    waiter *waiters;
} rank_state;

typedef struct meeting {
    struct meeting *next;
    int context, number, first_rank, came, root;
    const char *name;
    int64_t bytes;
} meeting;

static rank_state states[VC_MOST_CORES];
static meeting *meetings;
static __thread const char *call_name;
static __thread const void *call_where;
static __thread char about[160];

int rcw_rank(void) { return vc_self ? vc_self->rank : 0; }

int rcw_rank_count(void) { return vc_set.ranks; }

/* ---- calls ---- */

void rcw_library_begin(const char *name, const void *where)
{
    if (!vc_self) {
        fprintf(stderr, "simulated card: %s: called by a forked child, or before main\n", name);
        REAL(_exit)(WBCARD_EXIT_FAILED);
    }
    call_name = name;
    call_where = where;
    if (vc_before_others && vc_live > 1)
        vc_before_others();
    vc_point();
}

void rcw_library_end(void) { host_time_forget(); }

void rcw_library_fatal(const char *why)
{
    char text[512];
    int used = snprintf(text, sizeof text, "rank %d, %s: %s", rcw_rank(), call_name, why);
    vc_write_place(text + used, sizeof text - (size_t)used, call_where);
    vc_fatal(text);
}

/* What the library itself does takes no time. */
static int64_t point(void)
{
    host_time_forget();
    return vc_point();
}

static void costs(int64_t ps) { vc_self->left_ps += ps; }

/* The same after a call that is recorded, with whose cost it is. */
static void costs_more(int64_t ps)
{
    rcw_sync_record *call = &vc_self->call;
    costs(ps);
    *(call->kind == SYNC_SEND_MESSAGE || call->kind == SYNC_AWAIT_MESSAGE ? &call->argument : &vc_self->own_ps) += ps;
}

/* ---- what is under way to a rank ---- */

static int fits(const rcw_receive *one, const message *m)
{
    return one->context == m->context && (one->from == RCW_ANY || one->from == m->from) &&
           (one->tag == RCW_ANY || one->tag == m->tag);
}

/* When each message is there that has not begun to come in, one after the other. */
static void come_in(rank_state *state, int64_t now_ps)
{
    int64_t free_ps = state->in_free_ps;
    for (message *m = state->messages; m; m = m->next) {
        if (m->arrives_ps >= now_ps && &states[m->from] != state) {
            m->first_ps = m->arrives_ps > free_ps ? m->arrives_ps : free_ps;
            m->last_ps = m->first_ps + wb_network_bytes_ps(m->from, (int)(state - states), m->bytes);
            m->free_ps = m->first_ps + m->gap_ps;
        }
        if (m->free_ps > free_ps)
            free_ps = m->free_ps;
    }
}

/* Who asked first gets what arrived first, of what has arrived. */
static void match(rank_state *state, int64_t now_ps)
{
    for (message *m = state->messages; m; m = m->next)
        if (!m->claimed_by && m->arrives_ps <= now_ps)
            for (rcw_receive *one = state->wanted; one; one = one->next)
                if (!one->came && fits(one, m)) {
                    one->came = m, m->claimed_by = one;
                    break;
                }
}

/* What each receive gets if nothing else is sent. */
static void foresee(rank_state *state)
{
    for (rcw_receive *one = state->wanted; one; one = one->next)
        one->coming = one->came;
    for (message *m = state->messages; m; m = m->next)
        if (!m->claimed_by)
            for (rcw_receive *one = state->wanted; one; one = one->next)
                if (!one->coming && fits(one, m)) {
                    one->coming = m;
                    break;
                }
}

static int64_t due_ps(rcw_receive *const *some, int count)
{
    int64_t first_ps = VC_NEVER;
    for (int i = 0; i < count; i++)
        if (some[i] && some[i]->coming && some[i]->coming->last_ps < first_ps)
            first_ps = some[i]->coming->last_ps;
    return first_ps;
}

static message *new_message(int context, int tag, int64_t bytes)
{
    message *m = malloc(sizeof *m + (size_t)bytes);
    if (!m)
        rcw_library_fatal("there is no memory for its message");
    *m = (message){.from = vc_self->rank, .context = context, .tag = tag, .bytes = bytes, .by_thread = vc_self->number,
                   .by_call = vc_self->calls - 1};
    return m;
}

/* Behind those that arrive before it. */
static void put(rank_state *state, message *m)
{
    message **at = &state->messages;
    while (*at && (*at)->arrives_ps <= m->arrives_ps)
        at = &(*at)->next;
    m->next = *at;
    *at = m;
}

static void tell_waiters(rank_state *state, int64_t now_ps)
{
    match(state, now_ps);
    foresee(state);
    for (waiter *one = state->waiters; one; one = one->next)
        vc_due(one->thread, due_ps(one->some, one->count));
}

static int64_t longer(int64_t a_ps, int64_t b_ps) { return a_ps > b_ps ? a_ps : b_ps; }

static message *send(int to, int context, int tag, const void *data, int64_t bytes, int relays, rcw_receive *answer)
{
    int64_t now_ps = point();
    vthread *self = vc_self;
    rank_state *own = &states[self->rank], *other = &states[to];
    int64_t cost_ps = relays ? 0 : wb_network.overhead_ps[self->rank], leaves_ps = now_ps + cost_ps;
    vc_does(SYNC_SEND_MESSAGE, NULL, cost_ps);
    message *m = new_message(context, tag, bytes);
    m->arrives_ps = leaves_ps;
    m->answer = answer;
    if (bytes)
        memcpy(m->data, data, (size_t)bytes);
    if (to != self->rank) {
        int64_t all_ps = wb_network_bytes_ps(self->rank, to, bytes);
        m->gap_ps = longer(all_ps, wb_network.gap_ps[to]);
        if (own->out_free_ps > leaves_ps)
            leaves_ps = own->out_free_ps;
        own->out_free_ps = leaves_ps + longer(all_ps, wb_network.gap_ps[self->rank]);
        m->arrives_ps = leaves_ps + wb_network.latency_ps[self->rank][to];
    }
    put(other, m);
    if (to != self->rank)
        come_in(other, now_ps);
    else
        m->first_ps = m->last_ps = m->free_ps = m->arrives_ps;
    costs(cost_ps);
    tell_waiters(other, now_ps);
    return m;
}

void rcw_message_send(int to, int context, int tag, const void *data, int64_t bytes, int relays)
{
    send(to, context, tag, data, bytes, relays, NULL);
    host_time_forget();
}

static rcw_receive *want(int from, int context, int tag, void *to, int64_t room)
{
    rcw_receive *one = calloc(1, sizeof *one), **last = &states[vc_self->rank].wanted;
    if (!one)
        rcw_library_fatal("there is no memory for its receive");
    *one = (rcw_receive){.from = from, .context = context, .tag = tag, .to = to, .room = room};
    while (*last)
        last = &(*last)->next;
    *last = one;
    return one;
}

/* The receive that a message gets, or will get, of those that were asked for, knows of it: its sender hears that L later. Who
 * asks after the message arrived is whom the sender waited for; else it waited for the message's own way. */
static void answer(message *m, rcw_receive *by, int to_rank, int64_t now_ps, int late)
{
    rcw_receive *sender = m->answer;
    if (!sender || by->looks)
        return;
    m->answer = NULL;
    m->claimed_by = by, by->came = m;
    if (late)
        vc_does(SYNC_SEND_MESSAGE, NULL, 0);
    message *back = new_message(ANSWER, 0, 0);
    if (!late)
        back->by_thread = m->by_thread, back->by_call = m->by_call;
    back->arrives_ps = (m->arrives_ps > now_ps ? m->arrives_ps : now_ps);
    if (m->from != to_rank)
        back->arrives_ps += wb_network.latency_ps[to_rank][m->from];
    back->first_ps = back->last_ps = back->free_ps = back->arrives_ps;
    back->claimed_by = sender, sender->came = back;
    put(&states[m->from], back);
    tell_waiters(&states[m->from], now_ps);
}

/* Of synchronous sends to a rank that are under way, those whose receive is known. */
static void answer_all(int rank, int64_t now_ps, int late)
{
    rank_state *state = &states[rank];
    match(state, now_ps);
    foresee(state);
    for (message *m = state->messages; m; m = m->next)
        for (rcw_receive *one = state->wanted; m->answer && one; one = one->next)
            if (m->claimed_by == one || (!m->claimed_by && one->coming == m))
                answer(m, one, rank, now_ps, late && m->arrives_ps <= now_ps);
}

rcw_receive *rcw_message_send_waiting(int to, int context, int tag, const void *data, int64_t bytes)
{
    point();
    rcw_receive *back = want(to, ANSWER, tag, NULL, 0);
    send(to, context, tag, data, bytes, 0, back);
    answer_all(to, vc_now(), 0);
    host_time_forget();
    return back;
}

int rcw_is_eager(int64_t bytes) { return wb_network.eager_bytes < 0 || bytes <= wb_network.eager_bytes; }

rcw_receive *rcw_message_receive(int from, int context, int tag, void *to, int64_t room)
{
    int64_t now_ps = point();
    rank_state *state = &states[vc_self->rank];
    match(state, now_ps);
    rcw_receive *one = want(from, context, tag, to, room);
    answer_all(vc_self->rank, now_ps, 1);
    host_time_forget();
    return one;
}

static int is_there(const rcw_receive *one, int64_t now_ps)
{
    return one && one->came && one->came->last_ps <= now_ps;
}

static int first_there(rcw_receive *const *some, int count, int64_t now_ps)
{
    int first = -1;
    match(&states[vc_self->rank], now_ps);
    for (int i = 0; i < count; i++)
        if (is_there(some[i], now_ps) && (first < 0 || some[i]->came->last_ps < some[first]->came->last_ps))
            first = i;
    return first;
}

static void say_what_for(const rcw_receive *one)
{
    char from[32] = "any rank";
    if (one->from != RCW_ANY)
        snprintf(from, sizeof from, "rank %d", one->from);
    if (one->context == ANSWER)
        snprintf(about, sizeof about, "in %s for %s to receive its message", call_name, from);
    else
        snprintf(about, sizeof about, "in %s for a message from %s", call_name, from);
    if ((one->context == ANSWER || !(one->context & 1)) && one->tag != RCW_ANY)
        snprintf(about + strlen(about), sizeof about - strlen(about), " with tag %d", one->tag);
    vc_self->about = about;
}

int rcw_message_any(rcw_receive *const *some, int count)
{
    rank_state *state = &states[vc_self->rank];
    int64_t now_ps = point();
    int first, any = -1;
    for (int i = count - 1; i >= 0; i--)
        any = some[i] ? i : any;
    if (any < 0)
        return -1;
    vc_does(SYNC_AWAIT_MESSAGE, NULL, 0);
    while ((first = first_there(some, count, now_ps)) < 0) {
        waiter mine = {state->waiters, vc_self, some, count}, **at = &state->waiters;
        state->waiters = &mine;
        foresee(state);
        say_what_for(some[any]);
        vc_block(VC_MESSAGE, &mine, due_ps(some, count), call_where);
        while (*at != &mine)
            at = &(*at)->next;
        *at = mine.next;
        now_ps = vc_now();
    }
    const message *m = some[first]->came;
    vc_self->call.woken_ps = m->last_ps; /* be it before or after the call */
    vc_self->call.by_thread = m->by_thread;
    vc_self->call.by_record = m->by_call;
    host_time_forget();
    return first;
}

static void forget(rank_state *state, rcw_receive *one)
{
    rcw_receive **wanted = &state->wanted;
    message **at = &state->messages, *m = one->came;
    while (*wanted != one)
        wanted = &(*wanted)->next;
    *wanted = one->next;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    if (m->free_ps > state->in_free_ps)
        state->in_free_ps = m->free_ps;
    free(m);
    free(one);
}

static void take(rcw_receive *one, int relays, rcw_arrival *arrival)
{
    const message *m = one->came;
    int64_t cost_ps = relays || one->context == ANSWER ? 0 : wb_network.overhead_ps[vc_self->rank];
    char why[160];
    if (m->bytes > one->room) {
        snprintf(why, sizeof why, "a message of %lld bytes from rank %d is longer than the %lld that it has room for",
                 (long long)m->bytes, m->from, (long long)one->room);
        rcw_library_fatal(why);
    }
    if (m->bytes)
        memcpy(one->to, m->data, (size_t)m->bytes);
    if (arrival)
        *arrival = (rcw_arrival){m->from, m->tag, m->bytes};
    vc_self->call.argument = cost_ps;
    costs(cost_ps);
    forget(&states[vc_self->rank], one);
    host_time_forget();
}

void rcw_message_wait(rcw_receive *one, int relays, rcw_arrival *arrival)
{
    rcw_message_any(&one, 1);
    take(one, relays, arrival);
}

int rcw_message_there(rcw_receive *one) { return first_there(&one, 1, point()) >= 0; }

int rcw_message_take(rcw_receive *one, rcw_arrival *arrival)
{
    if (first_there(&one, 1, point()) < 0)
        return 0;
    rcw_message_wait(one, 0, arrival);
    return 1;
}

int rcw_message_probe(int from, int context, int tag, int waits, rcw_arrival *arrival)
{
    rank_state *state = &states[vc_self->rank];
    rcw_receive *one, **at = &state->wanted;
    point();
    one = want(from, context, tag, NULL, 0);
    one->looks = 1;
    if (waits)
        rcw_message_any(&one, 1);
    int there = first_there(&one, 1, vc_now()) >= 0;
    message *m = one->came;
    if (there)
        *arrival = (rcw_arrival){m->from, m->tag, m->bytes};
    if (m)
        m->claimed_by = NULL;
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    free(one);
    host_time_forget();
    return there;
}

/* ---- collectives ---- */

typedef struct context {
    struct context *next;
    int parent, number, color, own;
} context;

int rcw_context(int parent, int number, int color)
{
    static context *contexts;
    static int count;
    for (context *one = contexts; one; one = one->next)
        if (one->parent == parent && one->number == number && one->color == color)
            return one->own;
    context *one = malloc(sizeof *one);
    if (!one)
        rcw_library_fatal("there is no memory for it");
    *one = (context){contexts, parent, number, color, ++count};
    contexts = one;
    return one->own;
}

void rcw_overhead(void)
{
    point();
    costs_more(rcw_rank_count() > 1 ? wb_network.overhead_ps[vc_self->rank] : 0);
    host_time_forget();
}

void rcw_reduced(int64_t bytes)
{
    point();
    costs_more(wb_network_reduced_ps(bytes));
    host_time_forget();
}

static void check(const meeting *one, int root, int64_t bytes)
{
    char why[240];
    if (strcmp(one->name, call_name))
        snprintf(why, sizeof why, "it is this rank's collective call number %d, and that of rank %d is %s: all ranks have to "
                 "call the same ones in the same order", one->number, one->first_rank, one->name);
    else if (one->root != root)
        snprintf(why, sizeof why, "the root is %d here, and %d in rank %d", root, one->root, one->first_rank);
    else if (one->bytes != bytes)
        snprintf(why, sizeof why, "it moves %lld bytes here, and %lld in rank %d", (long long)bytes, (long long)one->bytes,
                 one->first_rank);
    else
        return;
    rcw_library_fatal(why);
}

void rcw_collective(int context, int number, int ranks, int root, int64_t bytes)
{
    point();
    meeting **at = &meetings;
    while (*at && ((*at)->context != context || (*at)->number != number))
        at = &(*at)->next;
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at)
            rcw_library_fatal("there is no memory for it");
        **at = (meeting){.context = context, .number = number, .first_rank = vc_self->rank, .root = root, .name = call_name,
                         .bytes = bytes};
    }
    meeting *one = *at;
    check(one, root, bytes);
    if (++one->came == ranks) {
        *at = one->next;
        free(one);
    }
    host_time_forget();
}
