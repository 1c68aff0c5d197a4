/* Memory-mapped regions of a card. The pages of one may not be touched: an instruction that does is decoded, what it reads
 * is fetched from the card, it is let do its work on a page that may be touched, alone, and what it wrote goes to the card.
 * One thread runs at a time, so that no other one finds the page open. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "real.h"
#include "vcores.h"
#include "wb.h"
#include "wbcard.h"

#define PAGE 4096

typedef struct region {
    struct region *older;
    uintptr_t from;
    int64_t bytes, address, unit_bytes;
    wbcard_t *card;
    const char *send, *receive;
} region;

/* A part of a region that an instruction under way reads or writes. */
typedef struct {
    region *of;
    uintptr_t at;
    int bytes;
} part;

static region *regions;
static struct sigaction before_fault, before_step;
static __thread struct {
    part read, write;
    int under_way;
} now;

static region *region_of(uintptr_t at)
{
    region *one = regions;
    while (one && at - one->from >= (uintptr_t)one->bytes)
        one = one->older;
    return one;
}

/* The system's own calls: a stand-in library may bring its own mmap. */
static void open_pages(const part *one, int open)
{
    uintptr_t first = one->at & ~(uintptr_t)(PAGE - 1), end = one->at + (uintptr_t)one->bytes;
    if (one->of)
        syscall(SYS_mprotect, first, end - first, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

/* The table that moves them, the words around them, and their address. */
static int64_t words_around(const part *one, const char *table, uintptr_t *first, int64_t *bytes)
{
    char message[200];
    int number = wb_find_table(table);
    int64_t word = number < 0 ? 1 : wb_ports[wb_tables[number].port].word_bytes;
    int64_t offset = (int64_t)(one->at - one->of->from), start = offset - offset % word;
    *bytes = (offset + one->bytes + word - 1) / word * word - start;
    *first = one->of->from + (uintptr_t)start;
    if (offset + one->bytes > one->of->bytes || start % one->of->unit_bytes)
        snprintf(message, sizeof message, "an access of %d bytes at byte 0x%llx of a mapping of 0x%llx bytes does not lie in it "
                 "as the port's addresses do", one->bytes, (unsigned long long)offset, (unsigned long long)one->of->bytes);
    else if (table == one->of->send && *bytes != one->bytes)
        snprintf(message, sizeof message, "%d bytes are written at byte 0x%llx of a mapping, and the port takes whole words of "
                 "%lld: is the access of the right type?", one->bytes, (unsigned long long)offset, (long long)word);
    else
        return one->of->address + start / one->of->unit_bytes;
    vc_fatal(message);
}

static void fetch(const part *one)
{
    uint64_t words[16] = {0};
    uintptr_t first;
    int64_t bytes, address = words_around(one, one->of->receive, &first, &bytes);
    wbcard_receive(one->of->card, one->of->receive, words, address, bytes);
    open_pages(one, 1);
    memcpy((void *)one->at, (char *)words + (one->at - first), (size_t)one->bytes);
}

static void store(const part *one)
{
    uint64_t words[8];
    uintptr_t first;
    int64_t bytes, address = words_around(one, one->of->send, &first, &bytes);
    memcpy(words, (const void *)one->at, (size_t)one->bytes);
    open_pages(one, 0);
    wbcard_send(one->of->card, one->of->send, words, address, bytes);
}

#if defined(__x86_64__)

/* ---- which bytes of memory an instruction reads and writes ---- */

enum { READS = 1, WRITES = 2, STRING = 4, UPDATES = READS | WRITES };

typedef struct {
    int bytes, does;
} operand;

/* An instruction of SSE or AVX on `vector` bytes; `prefix` is 0x66, 0xf3, 0xf2 or 0. */
static operand of_vector(int opcode, int prefix, int wide, int vector)
{
    int scalar = prefix == 0xf3 ? 4 : prefix == 0xf2 ? 8 : vector;
    switch (opcode) {
    case 0x10: return (operand){scalar, READS};
    case 0x11: return (operand){scalar, WRITES};
    case 0x12: case 0x16: return (operand){8, READS};
    case 0x13: case 0x17: case 0xd6: return (operand){8, WRITES};
    case 0x29: case 0x2b: case 0xe7: return (operand){vector, WRITES};
    case 0x2a: return (operand){prefix == 0xf3 || prefix == 0xf2 ? (wide ? 8 : 4) : 8, READS};
    case 0x2e: case 0x2f: return (operand){prefix == 0x66 ? 8 : 4, READS};
    case 0x5a: return (operand){prefix == 0xf3 ? 4 : prefix == 0 ? vector / 2 : scalar, READS};
    case 0x6e: return (operand){wide ? 8 : 4, READS};
    case 0x6f: case 0xf0: return (operand){prefix ? vector : 8, READS};
    case 0x7e: return prefix == 0xf3 ? (operand){8, READS} : (operand){wide ? 8 : 4, WRITES};
    case 0x7f: return (operand){prefix ? vector : 8, WRITES};
    case 0xe6: return (operand){prefix == 0xf3 ? vector / 2 : vector, READS};
    }
    if (opcode == 0x28 || (opcode >= 0x51 && opcode <= 0x5f) || opcode == 0xc2 || opcode == 0x2c || opcode == 0x2d)
        return (operand){scalar, READS};
    if ((opcode >= 0x60 && opcode <= 0x76) || opcode == 0x14 || opcode == 0x15 || opcode == 0xc6 || opcode >= 0xd1)
        return (operand){prefix || vector > 16 ? vector : 8, READS};
    return (operand){0, 0};
}

/* One of the maps 0f 38 (2) and 0f 3a (3), which holds vectors but for what takes a part of one. */
static operand of_further(int map, int opcode, int wide, int vector)
{
    if (map == 2)
        switch (opcode) {
        case 0x18: case 0x58: return (operand){4, READS};
        case 0x19: case 0x59: return (operand){8, READS};
        case 0x1a: case 0x5a: return (operand){16, READS};
        case 0x78: return (operand){1, READS};
        case 0x79: return (operand){2, READS};
        case 0x20: case 0x23: case 0x25: case 0x30: case 0x33: case 0x35: return (operand){vector / 2, READS};
        case 0x21: case 0x24: case 0x31: case 0x34: return (operand){vector / 4, READS};
        case 0x22: case 0x32: return (operand){vector / 8, READS};
        }
    else
        switch (opcode) {
        case 0x14: case 0x15: return (operand){opcode - 0x13, WRITES};
        case 0x16: return (operand){wide ? 8 : 4, WRITES};
        case 0x17: return (operand){4, WRITES};
        case 0x18: case 0x38: return (operand){16, READS};
        case 0x19: case 0x39: return (operand){16, WRITES};
        case 0x20: return (operand){1, READS};
        case 0x21: return (operand){4, READS};
        case 0x22: return (operand){wide ? 8 : 4, READS};
        case 0x03: case 0x0f: case 0x1e: case 0x1f: case 0x25: case 0x3e: case 0x3f: return (operand){vector, READS};
        }
    if (map == 2 && (opcode < 0x12 || (opcode >= 0x1c && opcode <= 0x2b) || (opcode >= 0x36 && opcode <= 0x40) || opcode == 0x17))
        return (operand){vector, READS};
    return (operand){0, 0};
}

static operand of_two_bytes(const unsigned char *at, int prefix, int wide, int size)
{
    int opcode = at[0], reg = at[1] >> 3 & 7;
    if (opcode >= 0x40 && opcode <= 0x4f)
        return (operand){size, READS};
    if (opcode >= 0x90 && opcode <= 0x9f)
        return (operand){1, WRITES};
    switch (opcode) {
    case 0xb6: case 0xbe: return (operand){1, READS};
    case 0xb7: case 0xbf: return (operand){2, READS};
    case 0xaf: case 0xbc: case 0xbd: case 0xb8: return (operand){size, READS};
    case 0xb0: case 0xc0: return (operand){1, UPDATES};
    case 0xb1: case 0xc1: return (operand){size, UPDATES};
    case 0xba: return (operand){size, reg == 4 ? READS : UPDATES};
    case 0xc3: return (operand){size, WRITES};
    case 0xc7: return (operand){reg == 1 ? (wide ? 16 : 8) : 0, UPDATES};
    case 0x38:
        if (at[1] >= 0xf0)
            return (operand){size, at[1] == 0xf1 && prefix != 0xf2 ? WRITES : READS};
        return of_further(2, at[1], wide, prefix ? 16 : 8);
    case 0x3a: return of_further(3, at[1], wide, prefix ? 16 : 8);
    }
    return of_vector(opcode, prefix, wide, 16);
}

static operand of_one_byte(const unsigned char *at, int size)
{
    int opcode = at[0], reg = at[1] >> 3 & 7, one = opcode & 1 ? size : 1;
    if (opcode < 0x40 && (opcode & 7) < 4)
        return (operand){one, opcode & 2 || opcode >= 0x38 ? READS : UPDATES};
    switch (opcode) {
    case 0x63: return (operand){4, READS};
    case 0x69: case 0x6b: return (operand){size, READS};
    case 0x80: case 0x81: case 0x83: return (operand){one, reg == 7 ? READS : UPDATES};
    case 0x84: case 0x85: case 0x8a: case 0x8b: case 0xa0: case 0xa1: return (operand){one, READS};
    case 0x86: case 0x87: return (operand){one, UPDATES};
    case 0x88: case 0x89: case 0xc6: case 0xc7: case 0xa2: case 0xa3: return (operand){one, WRITES};
    case 0xa4: case 0xa5: return (operand){one, STRING};
    case 0xaa: case 0xab: return (operand){one, WRITES};
    case 0xa6: case 0xa7: case 0xac: case 0xad: case 0xae: case 0xaf: return (operand){one, READS};
    case 0xc0: case 0xc1: case 0xd0: case 0xd1: case 0xd2: case 0xd3: return (operand){one, UPDATES};
    case 0xf6: case 0xf7: return (operand){one, reg == 2 || reg == 3 ? UPDATES : READS};
    case 0xfe: case 0xff: return (operand){reg < 2 ? one : 8, reg < 2 ? UPDATES : READS};
    }
    return (operand){0, 0};
}

static operand decode(const unsigned char *at)
{
    static const int implied[4] = {0, 0x66, 0xf3, 0xf2};
    int prefix = 0, wide = 0, narrow = 0;
    for (;; at++) {
        if (*at == 0x66)
            narrow = 1;
        else if (*at == 0xf2 || *at == 0xf3)
            prefix = *at;
        else if (*at != 0x67 && *at != 0xf0 && *at != 0x2e && *at != 0x36 && *at != 0x3e && *at != 0x26 && *at != 0x64 &&
                 *at != 0x65)
            break;
    }
    if (*at >= 0x40 && *at <= 0x4f)
        wide = *at++ >> 3 & 1;
    int size = wide ? 8 : narrow ? 2 : 4;
    if (*at == 0x0f)
        return of_two_bytes(at + 1, prefix ? prefix : narrow ? 0x66 : 0, wide, size);
    if (*at == 0xc5)
        return of_vector(at[2], implied[at[1] & 3], 0, at[1] & 4 ? 32 : 16);
    int coded = *at == 0xc4 ? at[1] & 31 : *at == 0x62 ? at[1] & 7 : 0; /* VEX and EVEX name the map */
    if (coded) {
        const unsigned char *opcode = at + (*at == 0xc4 ? 3 : 4);
        int vector = *at == 0xc4 ? (at[2] & 4 ? 32 : 16) : at[3] & 0x10 ? (at[2] >> 7 ? 8 : 4) : 16 << (at[3] >> 5 & 3);
        return coded == 1 ? of_vector(*opcode, implied[at[2] & 3], at[2] >> 7, vector) : of_further(coded, *opcode, at[2] >> 7, vector);
    }
    return of_one_byte(at, size);
}

/* ---- an instruction that touches a region ---- */

static void pass_on(const struct sigaction *before, int signal, siginfo_t *told, void *context)
{
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(signal, told, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(signal);
    else
        REAL(sigaction)(signal, before, NULL); /* it comes again, and ends the program */
}

static void in_fault(int signal, siginfo_t *told, void *given)
{
    int saved = errno;
    greg_t *registers = ((ucontext_t *)given)->uc_mcontext.gregs;
    uintptr_t at = (uintptr_t)told->si_addr;
    region *of = region_of(at);
    if (!of || now.under_way || registers[REG_RIP] == (greg_t)at) {
        pass_on(&before_fault, signal, told, given);
        return;
    }
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];
    operand is = decode(code);
    if (!is.bytes) {
        char message[160];
        snprintf(message, sizeof message, "an instruction that is not known (%02x %02x %02x %02x %02x %02x) touches a mapping of "
                 "the card's", code[0], code[1], code[2], code[3], code[4], code[5]);
        vc_fatal(message);
    }
    now.read = now.write = (part){NULL, at, is.bytes};
    if (is.does & STRING) {
        now.read.of = region_of(now.read.at = (uintptr_t)registers[REG_RSI]);
        now.write.of = region_of(now.write.at = (uintptr_t)registers[REG_RDI]);
    } else {
        now.read.of = is.does & READS ? of : NULL;
        now.write.of = is.does & WRITES ? of : NULL;
    }
    now.under_way = 1;
    if (now.read.of)
        fetch(&now.read);
    else
        vc_charge();
    open_pages(&now.write, 1);
    registers[REG_EFL] |= 0x100; /* one step */
    errno = saved;
}

static void after_step(int signal, siginfo_t *told, void *given)
{
    int saved = errno;
    if (!now.under_way) {
        pass_on(&before_step, signal, told, given);
        return;
    }
    ((ucontext_t *)given)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x100;
    now.under_way = 0;
    open_pages(&now.read, 0);
    rcw_skip_ps();
    if (now.write.of) {
        open_pages(&now.write, 1); /* the page may be the one that was read */
        store(&now.write);
    }
    rcw_skip_ps();
    errno = saved;
}

static int watch(void)
{
    static int done;
    struct sigaction fault = {.sa_sigaction = in_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    struct sigaction step = {.sa_sigaction = after_step, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    if (!done++) {
        REAL(sigaction)(SIGSEGV, &fault, &before_fault);
        REAL(sigaction)(SIGTRAP, &step, &before_step);
    }
    return 1;
}
#else
static int watch(void)
{
    vc_fatal("memory-mapped accesses are simulated where the host is an x86-64 machine");
}
#endif

void *wbcard_map(wbcard_t *card, const char *send, const char *receive, int64_t address, int64_t unit_bytes, int64_t bytes)
{
    region *one = card && bytes > 0 && unit_bytes > 0 && address >= 0 && watch() ? calloc(1, sizeof *one) : NULL;
    if (!one)
        return NULL;
    size_t whole = ((size_t)bytes + PAGE - 1) / PAGE * PAGE;
    long at = syscall(SYS_mmap, NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == -1) {
        free(one);
        return NULL;
    }
    *one = (region){regions, (uintptr_t)at, bytes, address, unit_bytes, card, strdup(send), strdup(receive)};
    regions = one;
    return (void *)at;
}

int wbcard_unmap(void *at)
{
    for (region **link = &regions; *link; link = &(*link)->older)
        if ((*link)->from == (uintptr_t)at) {
            region *one = *link;
            *link = one->older;
            syscall(SYS_munmap, at, ((size_t)one->bytes + PAGE - 1) / PAGE * PAGE);
            free((void *)one->send);
            free((void *)one->receive);
            free(one);
            return 0;
        }
    return -1;
}
