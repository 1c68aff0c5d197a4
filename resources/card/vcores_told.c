/* What is told of the threads: messages that end the run, notes, and what each thread's time was. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "real.h"
#include "vcores.h"
#include "wbcard.h"

int vc_failed;
int (*vc_owner)(const vthread *waiting);
void (*vc_at_fatal)(void);
static char first_notes[VC_NOTES], *notes = first_notes;

/* ---- messages ---- */

void vc_fatal(const char *message)
{
    vc_freeze();
    fflush(stdout);
    if (vc_failed) { /* while the program was being ended with another message */
        if (vc_at_fatal)
            vc_at_fatal();
        REAL(_exit)(WBCARD_EXIT_FAILED);
    }
    vc_failed = 1;
    fprintf(stderr, "simulated card: %s\n", message);
    REAL(exit)(WBCARD_EXIT_FAILED);
    __builtin_unreachable();
}

extern const char __ehdr_start[], etext[];

/* Where the machine code begins that `at` is in, if that is the program's, or a rank's copy of it; NULL: it is another's. */
static const char *base_of(const char *at)
{
    Dl_info in;
    if (at >= __ehdr_start && at < etext)
        return __ehdr_start;
    return vc_set.ranks > 1 && at && dladdr(at, &in) && strstr(in.dli_fname, "/host.rank") ? in.dli_fbase : NULL;
}

static int in_program(const char *at) { return base_of(at) != NULL; }

int vc_write_place(char *to, size_t room, const void *where)
{
    const char *base = base_of(where);
    return snprintf(to, room, " (at %s+0x%lx)", base && base != __ehdr_start ? "rank" : "host",
                    (unsigned long)((const char *)where - (base ? base : __ehdr_start)));
}

/* Where the program calls a library that calls from `where`. */
static const char *place(const char *where)
{
    void *calls[64];
    int count = in_program(where) ? 0 : backtrace(calls, 64), i = 0;
    while (i < count && calls[i] != where)
        i++;
    while (i < count && !in_program(calls[i]))
        i++;
    return i < count ? calls[i] : where;
}

void vc_note(const char *text, const void *where)
{
    size_t used = strlen(notes);
    const char *at = where;
    if (strstr(notes, text) || used + strlen(text) + 40 > VC_NOTES)
        return;
    used += (size_t)sprintf(notes + used, "%s", text);
    if (at && in_program(at = place(at)))
        used += (size_t)vc_write_place(notes + used, 40, at);
    strcpy(notes + used, "\n");
}

void vc_keep_notes(char *at)
{
    strcpy(at, notes);
    notes = at;
}

static int describe(char *to, size_t room, const vthread *thread)
{
    static const char *const what[] = {
        "to sleep", "for a mutex", "for a condition", "for a thread to end", "for a semaphore", "for a read-write lock",
        "at a barrier", "for what is done once", "for an atomic value (a futex)", "for a spin lock", "to read from a pipe",
        "for the card", "for an interrupt", "for a message", "for an atomic or volatile variable to change"};
    char who[64], owner[64] = "";
    int number = vc_owner ? vc_owner(thread) : -1;
    if (vc_set.ranks > 1 && thread->number < vc_set.ranks)
        snprintf(who, sizeof who, "rank %d", thread->number);
    else
        snprintf(who, sizeof who, thread->number ? "thread %d" : "the main thread", thread->number);
    if (*thread->name)
        snprintf(who + strlen(who), sizeof who - strlen(who), " (%s)", thread->name);
    if (number == 0)
        snprintf(owner, sizeof owner, ", which the main thread has,");
    else if (number > 0)
        snprintf(owner, sizeof owner, ", which thread %d has,", number);
    int used = snprintf(to, room, "%s waits %s%s since %lld.%06lld us", who,
                        thread->what == VC_MESSAGE && thread->about ? thread->about : what[thread->what], owner,
                        (long long)(thread->since_ps / 1000000), (long long)(thread->since_ps % 1000000));
    return used + vc_write_place(to + used, room - (size_t)used, thread->where);
}

void vc_stuck(void)
{
    char text[3500];
    int used = snprintf(text, sizeof text, "no thread of the host can go on: ");
    for (const vthread *t = vc_threads; t && used < (int)sizeof text - 300; t = t->next)
        if (!t->background && (t->state == VC_BLOCKED || t->spin_ps)) {
            used += describe(text + used, sizeof text - (size_t)used, t);
            used += snprintf(text + used, sizeof text - (size_t)used, "; ");
        }
    text[used - 2] = 0;
    vc_fatal(text);
}

void vc_check_ring(const void *mutex, int owner, const void *where)
{
    char text[3500];
    int used = snprintf(text, sizeof text, "threads wait for one another's mutexes: ");
    vthread *first = vc_self, *t = vc_find(owner);
    first->what = VC_MUTEX, first->object = mutex, first->where = where, first->since_ps = first->began_ps;
    while (t && t != first && t->state == VC_BLOCKED && t->what == VC_MUTEX && t->event_ps == VC_NEVER)
        t = vc_find(vc_owner(t));
    if (t != first)
        return;
    do {
        used += describe(text + used, sizeof text - (size_t)used, t);
        used += snprintf(text + used, sizeof text - (size_t)used, "; ");
        t = vc_find(vc_owner(t));
    } while (t != first && used < (int)sizeof text - 300);
    text[used - 2] = 0;
    vc_fatal(text);
}

/* ---- the threads' times ---- */

typedef struct { /* what became of the threads that have ended */
    int number, rank;
    int64_t begin_ps, end_ps, work_ps, waited_ps, queued_ps, *core_ps;
    char name[sizeof(((vthread *)0)->name)];
} span;
static span *spans;
static int span_count, span_room;

void vc_remember(vthread *t, int64_t end_ps)
{
    vc_last_call(t);
    if (span_count == span_room) {
        int room = span_room ? 2 * span_room : 16;
        span *more = realloc(spans, (size_t)room * sizeof *more);
        if (!more)
            return;
        spans = more, span_room = room;
    }
    if (t->core >= 0 && t->core_ps)
        t->core_ps[t->core % vc_set.cores] += end_ps - t->got_ps;
    spans[span_count] = (span){t->number, t->rank, t->begin_ps, end_ps, t->work_ps, t->waited_ps, t->queued_ps, t->core_ps, ""};
    strcpy(spans[span_count++].name, t->name);
    t->core_ps = NULL;
}

void vc_write_threads(const char *path)
{
    vc_settle();
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    for (const span *s = spans; s < spans + span_count; s++) {
        fprintf(file, "%d %lld %lld %lld %lld %lld", s->number, (long long)s->begin_ps, (long long)s->end_ps,
                (long long)s->work_ps, (long long)s->waited_ps, (long long)s->queued_ps);
        for (int core = 0; s->core_ps && core < vc_set.cores; core++)
            fprintf(file, " %lld", (long long)s->core_ps[core]);
        fputc('\n', file);
    }
    fclose(file);
}

void vc_write_names(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    for (const span *s = spans; s < spans + span_count; s++)
        if (*s->name)
            fprintf(file, "%d %s\n", s->number, s->name);
    fclose(file);
}

void vc_write_ranks(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    for (const span *s = spans; s < spans + span_count; s++)
        fprintf(file, "%d %d\n", s->number, s->rank);
    fclose(file);
}
