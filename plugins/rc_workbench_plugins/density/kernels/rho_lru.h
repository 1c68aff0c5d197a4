/* The LRU stack distances of reads, element by element, for the recorders of rho: `rho_trace.c` and `rho_host.c`.
 *
 * The stack distance of a read is how many different elements were read since, and with, the last read of the same one:
 * a store of at least that many elements, the least recently used leaving first, still holds it (Mattson et al., IBM
 * Systems Journal 9(2), 1970). One pass so gives the misses of every size of store. Distances come from a Fenwick tree
 * over the times of last reads, packed when it is full; so memory grows with the elements, not with the reads.
 * Distance 0 is a first read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t elements, room, capacity, now; /* elements known, and how many there is room for */
static uint32_t *last, *holder, *tree; /* last read of an element (0: none); element last read at a time; sums */
static uint64_t *histogram, reads;

static void add(uint32_t time, uint32_t value)
{
    for (; time <= capacity; time += time & -time)
        tree[time] += value;
}

static uint32_t sum(uint32_t time)
{
    uint32_t result = 0;
    for (; time; time -= time & -time)
        result += tree[time];
    return result;
}

/* Renumbers the times of last reads from 1 on, in their order. */
static void pack(void)
{
    uint32_t next = 0;
    for (uint32_t time = 1; time <= now; time++)
        if (holder[time] != UINT32_MAX && last[holder[time]] == time) {
            holder[++next] = holder[time];
            last[holder[next]] = next;
        }
    now = next;
    memset(tree, 0, (capacity + 1) * sizeof *tree);
    for (uint32_t time = 1; time <= now; time++)
        add(time, 1);
}

/* Makes room for so many elements, none read yet; 0 where memory does not suffice. */
static int make_room(uint32_t wanted)
{
    uint32_t larger = 4 * wanted + 1024;
    uint32_t *more_last = realloc(last, wanted * sizeof *last);
    last = more_last ? more_last : last;
    uint32_t *more_holder = realloc(holder, ((size_t)larger + 1) * sizeof *holder);
    holder = more_holder ? more_holder : holder;
    uint32_t *more_tree = realloc(tree, ((size_t)larger + 1) * sizeof *tree);
    tree = more_tree ? more_tree : tree;
    uint64_t *more_histogram = realloc(histogram, ((size_t)wanted + 1) * sizeof *histogram);
    histogram = more_histogram ? more_histogram : histogram;
    if (!more_last || !more_holder || !more_tree || !more_histogram)
        return 0;
    memset(last + room, 0, (wanted - room) * sizeof *last);
    uint32_t begin = room ? room + 1 : 0;
    memset(histogram + begin, 0, (wanted + 1 - begin) * sizeof *histogram);
    room = wanted, capacity = larger;
    pack();
    return 1;
}

/* Forgets when an element was read: the next read of it is a first one. */
static void forget(uint32_t element)
{
    if (last[element]) {
        add(last[element], (uint32_t)-1);
        holder[last[element]] = UINT32_MAX;
        last[element] = 0;
    }
}

static void read_element(uint32_t element)
{
    uint32_t distance = 0;
    if (now == capacity)
        pack();
    if (last[element]) {
        distance = sum(now) - sum(last[element] - 1);
        forget(element);
    }
    last[element] = ++now;
    holder[now] = element;
    add(now, 1);
    histogram[distance]++;
    reads++;
}

/* Writes "distance count" lines. */
static void write_distances(FILE *file)
{
    for (uint32_t distance = 0; distance <= room; distance++)
        if (histogram && histogram[distance])
            fprintf(file, "%u %llu\n", distance, (unsigned long long)histogram[distance]);
}
