/* Receives what a host program reads, writes and computes while it runs, and keeps the LRU stack distances of the words
 * that a region of it reads (`rho_lru.h`). The calls are put into the program by `host_ir.py`.
 *
 * A word that the region writes before it reads it is a result of its own, no input: reading it does not count
 * (Steffen 2007, section 3: results are left out). What is written outside the region is new data: the next read in
 * the region is a first one. So is a word that holds another value than when it was last seen: the C library, the
 * system or a card wrote it. New data that are equal to what was there before are not seen to be new.
 *
 * Output (file `rho.txt` in the folder RCW_RAW, at the program's end): a line "entered operations reads
 * results_read words word_bytes", then "distance count"; `entered` is -1 where memory ran short. */
#include "rho_lru.h"

enum { WORD_BYTES = 4 };

static uint64_t operations, entered, results_read;
static uintptr_t *places;      /* a word's address over WORD_BYTES, plus 1, by hash; 0: free */
static uint32_t *numbers;      /* the element of that word */
static uint32_t places_room;   /* a power of 2 */
static uint32_t *values;       /* what an element's word held when it was last seen */
static unsigned char *written; /* an element that the region wrote first */
static int full, lock;
static __thread int depth, inside;

static void take(void)
{
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        ;
}

static void give(void)
{
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static uint32_t place_of(uintptr_t word)
{
    uint32_t at = (uint32_t)((word * 0x9E3779B97F4A7C15ull) >> 32) & (places_room - 1);
    while (places[at] && places[at] != word + 1)
        at = (at + 1) & (places_room - 1);
    return at;
}

/* Twice the room for words. */
static int grow(void)
{
    uint32_t before = places_room;
    uintptr_t *old_places = places;
    uint32_t *old_numbers = numbers;
    places_room = before ? 2 * before : 1 << 14;
    places = calloc(places_room, sizeof *places);
    numbers = calloc(places_room, sizeof *numbers);
    unsigned char *more = realloc(written, places_room / 2);
    written = more ? more : written;
    uint32_t *more_values = realloc(values, places_room / 2 * sizeof *values);
    values = more_values ? more_values : values;
    if (!places || !numbers || !more || !more_values || !make_room(places_room / 2))
        return 0;
    for (uint32_t i = 0; i < before; i++)
        if (old_places[i]) {
            uint32_t at = place_of(old_places[i] - 1);
            places[at] = old_places[i];
            numbers[at] = old_numbers[i];
        }
    free(old_places);
    free(old_numbers);
    return 1;
}

static uint32_t now_at(uintptr_t word)
{
    uint32_t value;
    memcpy(&value, (const void *)(word * WORD_BYTES), sizeof value);
    return value;
}

/* The element of a word; a new one where `begin` says so, else UINT32_MAX for a word that is not known. */
static uint32_t element_of(uintptr_t word, int begin)
{
    if (begin && elements == places_room / 2 && !grow())
        return full = 1, UINT32_MAX;
    if (!places_room)
        return UINT32_MAX;
    uint32_t at = place_of(word);
    if (!places[at]) {
        if (!begin)
            return UINT32_MAX;
        places[at] = word + 1;
        numbers[at] = elements;
        written[elements] = 0;
        values[elements++] = now_at(word);
    }
    return numbers[at];
}

static void renew(uint32_t element)
{
    forget(element);
    written[element] = 0;
}

void rho_load(const void *address, uint64_t bytes)
{
    uintptr_t first = (uintptr_t)address / WORD_BYTES, end = ((uintptr_t)address + bytes + WORD_BYTES - 1) / WORD_BYTES;
    if (!(depth || inside) || full || !bytes)
        return;
    take();
    for (uintptr_t word = first; word < end && !full; word++) {
        uint32_t element = element_of(word, 1);
        if (element != UINT32_MAX && values[element] != now_at(word)) {
            renew(element);
            values[element] = now_at(word);
        }
        if (element != UINT32_MAX && written[element])
            results_read++;
        else if (element != UINT32_MAX)
            read_element(element);
    }
    give();
}

/* After the store. */
void rho_store(const void *address, uint64_t bytes)
{
    uintptr_t first = (uintptr_t)address / WORD_BYTES, end = ((uintptr_t)address + bytes + WORD_BYTES - 1) / WORD_BYTES;
    int within = depth || inside;
    if (full || !bytes || (!within && !elements))
        return;
    take();
    for (uintptr_t word = first; word < end && !full; word++) {
        uint32_t element = element_of(word, within);
        if (element == UINT32_MAX)
            continue;
        values[element] = now_at(word);
        if (!within)
            renew(element);
        else if (!last[element])
            written[element] = 1;
    }
    give();
}

void rho_operations(uint64_t count)
{
    if (depth || inside)
        __atomic_fetch_add(&operations, count, __ATOMIC_RELAXED);
}

void rho_enter(void)
{
    depth++;
    __atomic_fetch_add(&entered, 1, __ATOMIC_RELAXED);
}

void rho_leave(void)
{
    depth--;
}

void rho_inside(int now_inside)
{
    if (now_inside && !inside)
        __atomic_fetch_add(&entered, 1, __ATOMIC_RELAXED);
    inside = now_inside;
}

__attribute__((destructor)) static void write_records(void)
{
    char path[4096];
    const char *folder = getenv("RCW_RAW");
    if (!folder || snprintf(path, sizeof path, "%s/rho.txt", folder) >= (int)sizeof path)
        return;
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fprintf(file, "%lld %llu %llu %llu %u %d\n", full ? -1ll : (long long)entered, (unsigned long long)operations,
            (unsigned long long)reads, (unsigned long long)results_read, elements, WORD_BYTES);
    write_distances(file);
    fclose(file);
}
