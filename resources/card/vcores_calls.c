/* The calls of the host's threads that others may depend on, as they are recorded; vcores.h says what the functions do. */
#include "vcores.h"

void (*vc_synced)(const rcw_sync_record *call);

void vc_last_call(vthread *t)
{
    if (t->call.result == SYNC_NOT_OVER)
        t->call.t1_ps = vc_clock_ps;
    if (vc_synced && t->call.kind != SYNC_NONE)
        vc_synced(&t->call);
    t->call.kind = SYNC_NONE;
}

void vc_does(rcw_sync_kind kind, const void *object, int64_t argument)
{
    vthread *self = vc_self;
    if (!vc_synced)
        return;
    vc_last_call(self);
    self->calls++;
    self->call = (rcw_sync_record){
        .t0_ps = vc_clock_ps, .t1_ps = vc_clock_ps, .woken_ps = -1, .own_ps = self->own_ps, .object = (uintptr_t)object,
        .argument = argument, .thread = self->number, .by_thread = -1, .by_record = -1, .kind = (int16_t)kind};
    self->own_ps = 0;
}

void vc_refused(void) { vc_self->call.result = SYNC_REFUSED; }

void vc_argument(int64_t argument) { vc_self->call.argument = argument; }

/* The first wait of a call for the card is its own; what it has to wait for besides is as if it were another call. */
void vc_waits_for(vc_what what)
{
    vthread *self = vc_self;
    int card = self->call.kind == SYNC_CARD || self->call.kind == SYNC_CARD_HELD || self->call.kind == SYNC_INTERRUPT;
    if (what == VC_SLEEP)
        vc_does(SYNC_SLEEP, NULL, 0);
    else if (what == VC_CARD || what == VC_INTERRUPT)
        if (!card || self->call.woken_ps >= 0)
            vc_does(SYNC_CARD, NULL, -1);
    if (what == VC_MUTEX && self->call.kind == SYNC_WAIT) /* the condition came, and tells why */
        return;
    self->call.result = SYNC_NOT_OVER;
    self->by_thread = self->by_call = -1;
}

void vc_went_on(vc_what what, rcw_sync_result result)
{
    vthread *self = vc_self;
    rcw_sync_record *call = &self->call;
    call->t1_ps = vc_clock_ps;
    if (what == VC_MUTEX && call->kind == SYNC_WAIT)
        return;
    if (what == VC_PIPE)
        call->argument++;
    call->result = (int16_t)result;
    call->woken_ps = self->woken_ps;
    call->by_thread = self->by_thread;
    call->by_record = self->by_call;
}

void vc_is_woken(vthread *t, const vthread *by)
{
    t->woken_ps = vc_clock_ps;
    t->by_thread = by && by->calls ? by->number : -1;
    t->by_call = by ? by->calls - 1 : -1;
}
