#include "kernels.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CONTROL = 0x00, INTERRUPTS = 0x04, OF_END = 0x08, STATUS = 0x0c, ARGUMENTS = 0x10, PAGE = 4096 };

typedef struct range {
    int64_t address, end;
    struct range *next;
} range;

struct wbk_card {
    wbcard_t *card;
    range *used; /* by address */
    wbk_command *waiting, **last, *running;
    int enabled;
};

struct wbk_command {
    enum { WRITE, READ, RUN } kind;
    enum { WAITING, BEGUN, DONE } state;
    int failed, users, count;
    wbk_card *card;
    int64_t address;
    const void *from;
    void *to;
    size_t bytes;
    wbk_arguments *arguments;
    wbk_command *next;
    wbk_command *after[];
};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void finish(wbk_command *it);

wbk_card *wbk_open(int number)
{
    wbcard_t *opened = wbcard_open(number);
    wbk_card *card = opened ? calloc(1, sizeof *card) : NULL;
    if (card)
        card->card = opened, card->last = &card->waiting;
    return card;
}

int64_t wbk_allocate(wbk_card *card, size_t bytes)
{
    int64_t size = ((int64_t)bytes + PAGE - 1) / PAGE * PAGE, at = 0;
    range **place = &card->used, *made = malloc(sizeof *made);
    for (; *place && (*place)->address - at < size; place = &(*place)->next)
        at = (*place)->end;
    *made = (range){at, at + size, *place};
    *place = made;
    return at;
}

void wbk_free(wbk_card *card, int64_t address)
{
    for (range **place = &card->used; *place; place = &(*place)->next)
        if ((*place)->address == address) {
            range *gone = *place;
            *place = gone->next;
            free(gone);
            return;
        }
}

int wbk_set_argument(wbk_arguments *arguments, unsigned index, const void *value, size_t bytes)
{
    if (index >= WBK_MOST_ARGUMENTS || bytes > WBK_MOST_ARGUMENT_BYTES)
        return -1;
    memcpy(arguments->values[index], value, bytes);
    arguments->bytes[index] = bytes;
    return 0;
}

int wbk_was_done(const wbk_command *command) { return command->state == DONE; }

wbk_command *wbk_keep(wbk_command *command)
{
    command->users++;
    return command;
}

static void drop(wbk_command *command)
{
    if (--command->users)
        return;
    free(command->arguments);
    free(command);
}

static void set_register(wbk_command *it, int64_t address, uint32_t value)
{
    it->failed |= wbcard_send_async(it->card->card, "write_reg", &value, address, sizeof value) != 0;
}

static void start_kernel(wbk_command *it)
{
    int64_t address = ARGUMENTS;
    if (!it->card->enabled) {
        set_register(it, INTERRUPTS, 1);
        set_register(it, OF_END, 1);
        it->card->enabled = 1;
    }
    for (int i = 0; i < WBK_MOST_ARGUMENTS && it->arguments->bytes[i]; i++, address += 4)
        for (size_t at = 0; at < it->arguments->bytes[i]; at += 4, address += 4) {
            size_t left = it->arguments->bytes[i] - at;
            uint32_t word = 0;
            memcpy(&word, it->arguments->values[i] + at, left < 4 ? left : 4);
            set_register(it, address, word);
        }
    set_register(it, CONTROL, 1);
    free(it->arguments);
    it->arguments = NULL;
    it->card->running = wbk_keep(it);
}

static void done(wbk_command *it)
{
    it->state = DONE;
    for (int i = 0; i < it->count; i++)
        drop(it->after[i]);
    it->count = 0;
}

static void begin(wbk_command *it)
{
    for (int i = 0; i < it->count; i++)
        if (it->after[i]->kind != WRITE || it->after[i]->state == WAITING)
            finish(it->after[i]);
    if (it->kind == RUN && it->card->running)
        finish(it->card->running);
    it->state = BEGUN;
    if (it->kind == RUN)
        start_kernel(it);
    else if (it->kind == WRITE)
        it->failed |= wbcard_send_async(it->card->card, "write", it->from, it->address, (int64_t)it->bytes) != 0;
    else {
        it->failed |= wbcard_receive(it->card->card, "read", it->to, it->address, (int64_t)it->bytes) != 0;
        done(it);
    }
}

static void finish(wbk_command *it)
{
    if (it->state == WAITING)
        begin(it);
    if (it->state == DONE)
        return;
    it->failed |= wbcard_wait(it->card->card) != 0;
    if (it->kind == RUN) {
        const uint32_t clear = 1;
        wbcard_wait_irq(it->card->card);
        it->failed |= wbcard_send(it->card->card, "write_reg", &clear, STATUS, sizeof clear) != 0;
        it->card->running = NULL;
    }
    done(it);
    if (it->kind == RUN)
        drop(it);
}

/* Whether it need not wait for another. */
static int can_begin(const wbk_command *it)
{
    if (it->kind == RUN && it->card->running)
        return 0;
    for (int i = 0; i < it->count; i++)
        if (it->after[i]->state == WAITING || (it->after[i]->state == BEGUN && it->after[i]->kind != WRITE))
            return 0;
    return 1;
}

static void begin_what_can(wbk_card *card)
{
    for (wbk_command **place = &card->waiting; *place;) {
        wbk_command *it = *place;
        if (it->state == WAITING && it->kind != READ && can_begin(it))
            begin(it);
        if (it->state == WAITING)
            place = &it->next;
        else {
            *place = it->next;
            drop(it);
        }
        if (!*place)
            card->last = place;
    }
}

static wbk_command *enqueue(wbk_card *card, wbk_command one, wbk_command *const *after, int count)
{
    wbk_command *it = malloc(sizeof *it + (size_t)count * sizeof *after);
    *it = one;
    it->card = card, it->users = 2, it->count = count;
    for (int i = 0; i < count; i++)
        it->after[i] = wbk_keep(after[i]);
    pthread_mutex_lock(&one_at_a_time);
    *card->last = it;
    card->last = &it->next;
    begin_what_can(card);
    pthread_mutex_unlock(&one_at_a_time);
    return it;
}

wbk_command *wbk_write(wbk_card *card, int64_t to, const void *from, size_t bytes, wbk_command *const *after, int count)
{
    return enqueue(card, (wbk_command){.kind = WRITE, .address = to, .from = from, .bytes = bytes}, after, count);
}

wbk_command *wbk_read(wbk_card *card, void *to, int64_t from, size_t bytes, wbk_command *const *after, int count)
{
    return enqueue(card, (wbk_command){.kind = READ, .address = from, .to = to, .bytes = bytes}, after, count);
}

wbk_command *wbk_run(wbk_card *card, const wbk_arguments *arguments, wbk_command *const *after, int count)
{
    wbk_arguments *kept = malloc(sizeof *kept);
    *kept = *arguments;
    return enqueue(card, (wbk_command){.kind = RUN, .arguments = kept}, after, count);
}

int wbk_wait(wbk_command *command)
{
    pthread_mutex_lock(&one_at_a_time);
    finish(command);
    begin_what_can(command->card);
    pthread_mutex_unlock(&one_at_a_time);
    return command->failed ? -1 : 0;
}

static void look(wbk_command *it)
{
    for (int i = 0; i < it->count && it->state == WAITING; i++)
        look(it->after[i]);
    if (it->state == WAITING && it->kind == RUN && it->card->running)
        look(it->card->running);
    if (it->state == WAITING && can_begin(it))
        begin(it);
    uint32_t ended = it->kind != RUN;
    if (it->state == BEGUN && it->kind == RUN)
        it->failed |= wbcard_receive(it->card->card, "read_reg", &ended, STATUS, sizeof ended) != 0;
    if (it->state == BEGUN && ended & 1)
        finish(it);
}

int wbk_is_done(wbk_command *command)
{
    pthread_mutex_lock(&one_at_a_time);
    look(command);
    begin_what_can(command->card);
    pthread_mutex_unlock(&one_at_a_time);
    return command->state == DONE;
}

void wbk_drop(wbk_command *command)
{
    pthread_mutex_lock(&one_at_a_time);
    drop(command);
    pthread_mutex_unlock(&one_at_a_time);
}

void wbk_close(wbk_card *card)
{
    pthread_mutex_lock(&one_at_a_time);
    while (card->waiting) {
        finish(card->waiting);
        begin_what_can(card);
    }
    if (card->running)
        finish(card->running);
    while (card->used)
        wbk_free(card, card->used->address);
    wbcard_close(card->card);
    free(card);
    pthread_mutex_unlock(&one_at_a_time);
}
