/* The table of what the program has opened; objects.h. */
#include "objects.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

rcw_object *rcw_objects[RCW_PLACES + 1];

/* A place in the table that nobody has, its `name` -1 until it is filled; NULL when there is no memory for one. */
static rcw_object *free_place(rcw_object **places)
{
    rcw_object *one = __atomic_load_n(places, __ATOMIC_ACQUIRE);
    for (; one; one = one->older) {
        int32_t gone = 0;
        if (__atomic_compare_exchange_n(&one->name, &gone, -1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return one;
    }
    if (!(one = calloc(1, sizeof *one)))
        return NULL;
    one->name = -1;
    one->older = __atomic_load_n(places, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(places, &one->older, one, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return one;
}

void rcw_opened(int32_t name, uint64_t names, uint64_t value, uint64_t bytes, int64_t address, int32_t fpga)
{
    rcw_closed(names, value); /* where that went unseen */
    if ((int64_t)value < 0 && (int64_t)value >= -4095) /* an error, as -1 or MAP_FAILED */
        return;
    rcw_object *one = free_place(&rcw_objects[bytes > 1 ? RCW_PLACES : rcw_place(value)]);
    if (!one)
        return;
    one->fpga = fpga;
    one->value = value;
    one->bytes = bytes ? bytes : 1;
    one->address = address;
    __atomic_store_n(&one->name, name, __ATOMIC_RELEASE);
}

static void close_among(rcw_object **places, uint64_t names, uint64_t value)
{
    rcw_object *one = __atomic_load_n(places, __ATOMIC_ACQUIRE);
    for (; one; one = one->older) {
        int32_t name = __atomic_load_n(&one->name, __ATOMIC_ACQUIRE);
        if (name > 0 && names >> name & 1 && one->value == value)
            __atomic_store_n(&one->name, 0, __ATOMIC_RELEASE);
    }
}

void rcw_closed(uint64_t names, uint64_t value)
{
    close_among(&rcw_objects[RCW_PLACES], names, value);
    close_among(&rcw_objects[rcw_place(value)], names, value);
}

_Static_assert(sizeof(rcw_accessing) <= sizeof(struct rcw_access), "an access under way does not fit");

void rcw_accessed(struct rcw_access *access)
{
    rcw_accessing *it = (rcw_accessing *)access;
    if (it->thread)
        rcw_leave(it->thread, &it->began, it->slot, &it->call);
}

int rcw_like(const char *text, const char *pattern) { return text && !fnmatch(pattern, text, 0); }

int rcw_order_of(const char *text)
{
    enum { RCW_TEXTS = 64 };
    static char *texts[RCW_TEXTS];
    static int count, busy;
    while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE)) {
    }
    int number = 0;
    while (number < count && strcmp(texts[number], text ? text : ""))
        number++;
    if (number == count && count < RCW_TEXTS && (texts[count] = strdup(text ? text : "")))
        count++;
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    return number;
}

int64_t rcw_queue(uint64_t value)
{
    enum { RCW_QUEUES = 4096 };
    static uint64_t queues[RCW_QUEUES];
    static int32_t numbers[RCW_QUEUES], count;
    unsigned place = (unsigned)(value * UINT64_C(0x9e3779b97f4a7c15) >> 52);
    for (int tries = 0; tries < RCW_QUEUES; tries++, place = (place + 1) % RCW_QUEUES) {
        uint64_t known = __atomic_load_n(&queues[place], __ATOMIC_ACQUIRE);
        if (!known && __atomic_compare_exchange_n(&queues[place], &known, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            __atomic_store_n(&numbers[place], __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
        else if (known != value)
            continue;
        int32_t number;
        while (!(number = __atomic_load_n(&numbers[place], __ATOMIC_ACQUIRE))) { /* another thread numbers it now */
        }
        return (int64_t)number << 32;
    }
    return -1; /* more queues than there are places */
}
