/* A thread spins where a round of its loop changes nothing: at the same access it has the same registers and the same stack as a
 * round before, it wrote nothing else, and nobody else did anything meanwhile. Then each further round is the same, until
 * something changes, and lasts as long: the scheduler takes it to the next event in one step (vcores.c). What is seen of
 * writes is the user's own sources' (atomics.c), bit-fields apart. */
#define _GNU_SOURCE
#include "spins.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host_time.h"

enum { FEW_LOOKS = 8, MOST_POINTS = 16, MOST_STACK = 1 << 16 };

struct spin {
    const void *where; /* the access at which the state was copied, or NULL */
    const char *low;   /* the stack's end then */
    int known;         /* it was found spinning before */
    int looks;         /* in a row, in which nothing changed */
    int points;        /* other accesses, since the last from `where` */
    uint64_t changes;
    int64_t at_ps, work_ps, since_ps;
    char stack[MOST_STACK];
};

/* All registers that the caller's function had are on the stack from `low` on. */
static void compare(struct spin *s, const char *low, size_t bytes, const void *where)
{
    vthread *self = vc_self;
    if (s->where && (s->where != where || s->low != low) && ++s->points <= MOST_POINTS)
        return;
    vc_charge();
    if (s->where == where && s->low == low && !memcmp(s->stack, low, bytes) && vc_now() > s->at_ps) {
        self->spin_ps = vc_now() - s->at_ps;
        self->spin_work_ps = self->work_ps - s->work_ps;
        self->spin_changes = vc_changes;
        self->spins_at_one_point = !s->points;
        self->what = VC_POLL, self->where = where, self->since_ps = s->since_ps;
        s->known = 1;
    } else {
        memcpy(s->stack, low, bytes);
        s->where = where, s->low = low, s->since_ps = vc_now();
        s->known = 0;
    }
    s->points = 0;
    s->at_ps = vc_now();
    s->work_ps = self->work_ps;
}

void spin_look(const void *where)
{
    jmp_buf registers;
    vthread *self = vc_self;
    struct spin *s = self->spin;
    ptrdiff_t bytes = self->stack_top - (char *)&registers;
    if (!host_time.deterministic || !vc_set.skips_spins || vc_live < 2 || bytes < 0 || bytes > MOST_STACK)
        return;
    if (!s) {
        s = self->spin = malloc(sizeof *s);
        if (!s)
            return;
        memset(s, 0, offsetof(struct spin, stack));
    }
    if (s->changes != vc_changes) { /* what is known to spin is looked at at once */
        s->changes = vc_changes;
        s->where = NULL;
        s->looks = s->known ? FEW_LOOKS : 0;
    }
    if (++s->looks <= FEW_LOOKS)
        return;
    memset(registers, 0, sizeof registers);
    if (!_setjmp(registers))
        compare(s, (const char *)&registers, (size_t)bytes, where);
}

void spin_passed(void)
{
    if (vc_self->spin)
        vc_self->spin->points++;
}

void spin_forget(vthread *thread)
{
    free(thread->spin);
    thread->spin = NULL;
}
