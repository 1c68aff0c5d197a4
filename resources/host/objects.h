/* What the program has opened through calls that a template's entries name (`opens`): descriptors, handles, mappings.
 * Any thread may ask at any time; nobody waits. */
#ifndef RECAP_OBJECTS_H
#define RECAP_OBJECTS_H
#include <stddef.h>
#include <stdint.h>

#include "recap.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rcw_object {
    struct rcw_object *older;
    int32_t name;     /* the template's, numbered from 1; 0: gone */
    int32_t fpga;     /* -1: not told */
    uint64_t value;   /* the descriptor, the handle, or where the mapping begins */
    uint64_t bytes;   /* of a mapping, else 1 */
    int64_t address;  /* on the FPGA, where the mapping begins; -1: not told */
} rcw_object;

enum { RCW_PLACES = 1024 };
extern rcw_object *rcw_objects[RCW_PLACES + 1]; /* by value; mappings are the last ones */

RCW_INLINE int rcw_place(uint64_t value) { return (int)(value * UINT64_C(0x9e3779b97f4a7c15) >> 54); }

/* `names` are sets of names: bit n is name n. What one call opens is of one of its `names`, and ends what the value was
 * of these before; a release ends it as well. */
void rcw_opened(int32_t name, uint64_t names, uint64_t value, uint64_t bytes, int64_t address, int32_t fpga);
void rcw_closed(uint64_t names, uint64_t value);

RCW_INLINE const rcw_object *rcw_among(int place, uint64_t value, uint64_t names)
{
    const rcw_object *one = __atomic_load_n(&rcw_objects[place], __ATOMIC_ACQUIRE);
    for (; one; one = one->older) {
        int32_t name = __atomic_load_n(&one->name, __ATOMIC_ACQUIRE);
        if (name > 0 && names >> name & 1 && value - one->value < one->bytes)
            return one;
    }
    return 0;
}

/* What a value is, or points into, of the names that may be meant; NULL: none of them. */
RCW_INLINE const rcw_object *rcw_of(uint64_t value, uint64_t names)
{
    const rcw_object *mapping = rcw_among(RCW_PLACES, value, names);
    return mapping ? mapping : rcw_among(rcw_place(value), value, names);
}

/* An access of memory under way, as instrumented sources know it, and as their wrappers do. */
struct rcw_access { unsigned long long words[16]; };
typedef struct {
    rcw_thread *thread; /* NULL: it is not recorded */
    rcw_start began;
    rcw_call call;
    int slot;
} rcw_accessing;
void rcw_accessed(struct rcw_access *access);

/* Whether a text is as a pattern says, with * and ? as in a file's name: the template's `like`. */
int rcw_like(const char *text, const char *pattern);

/* How many other texts were asked for before this one was for the first time: the template's `order_of`, as of paths. */
int rcw_order_of(const char *text);

/* A queue of the program's by where it is, as the address of its calls' records: its number, from 1 on in the order in
 * which queues are first used, above the 32 bits that say how many elements a call moved. */
int64_t rcw_queue(uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
