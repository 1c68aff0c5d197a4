/* Receives every load of a program compiled with gcc -fsanitize=thread, whose calls this file answers in place of the
 * race detector's library, and keeps the LRU stack distances of the marked inputs' elements (`rho_lru.h`).
 *
 * Output (file RHO_OUT): a line "operations reads elements element_bytes", then "distance count"; distance 0 is a first
 * read. */
#include "rho_lru.h"

enum { INPUTS = 16 };

static struct { uintptr_t start, end; uint32_t first; } inputs[INPUTS];
static int input_count, active;
static size_t element_bytes;

static void fail(const char *message)
{
    fprintf(stderr, "rho: %s\n", message);
    exit(3);
}

static void loaded(const void *address, size_t bytes)
{
    uintptr_t at = (uintptr_t)address;
    if (!active)
        return;
    for (int i = 0; i < input_count; i++)
        if (at >= inputs[i].start && at < inputs[i].end) {
            uint32_t from = (uint32_t)((at - inputs[i].start) / element_bytes);
            uint32_t to = (uint32_t)((at + bytes - 1 - inputs[i].start) / element_bytes);
            for (uint32_t element = from; element <= to && inputs[i].first + element < elements; element++)
                read_element(inputs[i].first + element);
            return;
        }
}

void rho_input(const void *start, size_t bytes, size_t size)
{
    if (input_count == INPUTS)
        fail("more than 16 inputs");
    if (!size || bytes % size || (element_bytes && size != element_bytes))
        fail("inputs are whole elements, all of one size");
    element_bytes = size;
    inputs[input_count].start = (uintptr_t)start;
    inputs[input_count].end = (uintptr_t)start + bytes;
    inputs[input_count++].first = elements;
    elements += (uint32_t)(bytes / size);
}

void rho_begin(void)
{
    if (!elements)
        fail("no inputs are marked");
    if (!make_room(elements))
        fail("not enough memory");
    active = 1;
}

void rho_end(unsigned long long operations)
{
    const char *path = getenv("RHO_OUT");
    FILE *file = path ? fopen(path, "w") : NULL;
    active = 0;
    if (!file)
        fail("RHO_OUT cannot be written");
    fprintf(file, "%llu %llu %u %zu\n", operations, (unsigned long long)reads, elements, element_bytes);
    write_distances(file);
    if (fclose(file))
        fail("RHO_OUT cannot be written");
}

/* What the compiler calls. Stores and function entries are of no interest. */
#define READ(bytes) \
    void __tsan_read##bytes(void *address) { loaded(address, bytes); } \
    void __tsan_unaligned_read##bytes(void *address) { loaded(address, bytes); } \
    void __tsan_volatile_read##bytes(void *address) { loaded(address, bytes); } \
    void __tsan_read##bytes##_pc(void *address, void *pc) { (void)pc; loaded(address, bytes); } \
    void __tsan_write##bytes(void *address) { (void)address; } \
    void __tsan_unaligned_write##bytes(void *address) { (void)address; } \
    void __tsan_volatile_write##bytes(void *address) { (void)address; }
READ(1)
READ(2)
READ(4)
READ(8)
READ(16)
void __tsan_read_range(void *address, unsigned long bytes) { loaded(address, bytes); }
void __tsan_write_range(void *address, unsigned long bytes) { (void)address; (void)bytes; }
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_init(void) {}
void __tsan_vptr_update(void **pointer, void *value) { (void)pointer; (void)value; }
void __tsan_vptr_read(void **pointer) { (void)pointer; }
