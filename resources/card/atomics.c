/* The program's atomic and volatile accesses as calls on the virtual clock.
 *
 * The sources of a program of several threads are compiled with -fsanitize=thread, for which the compiler calls a function
 * of these names at every access to memory; the sanitizer's own library is not linked. Where that would disturb what is
 * measured, rcw_access is called before each such access (host_points.py). */
#include "atomics.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <stddef.h>
#include <stdint.h>

#include "host_time.h"
#include "vcores.h"

typedef unsigned __int128 u128;

static inline void call(void)
{
    if (vc_self)
        vc_point();
}

/* Whether an access changed the variable: what only looks again and again is polling. */
static inline void saw(int changed)
{
    if (vc_self)
        vc_self->polls = changed ? 0 : vc_self->polls + 1;
}

/* ---- the accesses of a program whose time is measured ---- */

__attribute__((used)) static void access_point(void)
{
    if (vc_self) {
        vc_point();
        host_time_owe(); /* what keeping the registers took */
    }
}

#ifdef __x86_64__
static int64_t state_bytes __attribute__((used));

__attribute__((constructor(101))) static void size_of_state(void) /* before the library starts */
{
    unsigned eax, ebx = 0, ecx, edx;
    __get_cpuid_count(0xd, 0, &eax, &ebx, &ecx, &edx);
    state_bytes = (ebx > 576 ? ebx : 576) + 63;
}

/* Every register stays as it is, the flags and those of vectors too (x87, SSE, AVX, AVX-512: 0xe7). */
__asm__(
    ".text\n.globl rcw_access\n.globl rcw_access_always\n"
    "rcw_access:\n"
    "    pushfq\n"
    "    cmpl $1, vc_live(%rip)\n"
    "    jg 1f\n"
    "    popfq\n"
    "    ret\n"
    "rcw_access_always:\n"
    "    pushfq\n"
    "1:  pushq %rax; pushq %rcx; pushq %rdx; pushq %rsi; pushq %rdi; pushq %r8; pushq %r9; pushq %r10; pushq %r11; pushq %rbp\n"
    "    movq %rsp, %rbp\n"
    "    subq state_bytes(%rip), %rsp\n"
    "    andq $-64, %rsp\n"
    "    xorl %eax, %eax\n"
    "    leaq 512(%rsp), %rdi\n" /* the header has to be zero */
    "    movl $8, %ecx\n"
    "    cld\n"
    "    rep stosq\n"
    "    movl $0xe7, %eax\n"
    "    xorl %edx, %edx\n"
    "    xsave (%rsp)\n"
    "    call access_point\n"
    "    movl $0xe7, %eax\n"
    "    xorl %edx, %edx\n"
    "    xrstor (%rsp)\n"
    "    movq %rbp, %rsp\n"
    "    popq %rbp; popq %r11; popq %r10; popq %r9; popq %r8; popq %rdi; popq %rsi; popq %rdx; popq %rcx; popq %rax\n"
    "    popfq\n"
    "    ret\n");
#else
void rcw_access_always(void) { access_point(); }
#endif

/* ---- the accesses of a program whose work is counted ---- */

void __tsan_init(void) {}
void __tsan_read_range(void *at, size_t bytes) { (void)at, (void)bytes; }
void __tsan_write_range(void *at, size_t bytes) { (void)at, (void)bytes; }
void __tsan_vptr_update(void **at, void *value) { (void)at, (void)value; }
void __tsan_vptr_read(void **at) { (void)at; }
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

#define ACCESS(bytes)                                                        \
    void __tsan_read##bytes(void *at) { (void)at; }                          \
    void __tsan_write##bytes(void *at) { (void)at; }                         \
    void __tsan_unaligned_read##bytes(void *at) { (void)at; }                \
    void __tsan_unaligned_write##bytes(void *at) { (void)at; }               \
    void __tsan_volatile_read##bytes(void *at) { (void)at, call(), saw(0); } \
    void __tsan_volatile_write##bytes(void *at) { (void)at, call(), saw(1); } \
    void __tsan_unaligned_volatile_read##bytes(void *at) { (void)at, call(); }  \
    void __tsan_unaligned_volatile_write##bytes(void *at) { (void)at, call(); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

#define ATOMIC(bits, type)                                                                                              \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                                                 \
    {                                                                                                                   \
        (void)order, call(), saw(0);                                                                                    \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                                   \
    }                                                                                                                   \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                                          \
    {                                                                                                                   \
        (void)order, call(), saw(1);                                                                                    \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                  \
    }                                                                                                                   \
    UPDATED(bits, type, exchange, exchange_n)                                                                           \
    UPDATED(bits, type, fetch_add, fetch_add)                                                                           \
    UPDATED(bits, type, fetch_sub, fetch_sub)                                                                           \
    UPDATED(bits, type, fetch_and, fetch_and)                                                                           \
    UPDATED(bits, type, fetch_or, fetch_or)                                                                             \
    UPDATED(bits, type, fetch_xor, fetch_xor)                                                                           \
    UPDATED(bits, type, fetch_nand, fetch_nand)                                                                         \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected, type value, int order, int or_else) \
    {                                                                                                                   \
        (void)order, (void)or_else, call();                                                                             \
        int same = __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);             \
        saw(same);                                                                                                      \
        return same;                                                                                                    \
    }                                                                                                                   \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected, type value, int order, int or_else) \
    {                                                                                                                   \
        return __tsan_atomic##bits##_compare_exchange_strong(at, expected, value, order, or_else);                      \
    }                                                                                                                   \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value, int order, int or_else) \
    {                                                                                                                   \
        __tsan_atomic##bits##_compare_exchange_strong(at, &expected, value, order, or_else);                            \
        return expected;                                                                                                \
    }
#define UPDATED(bits, type, name, builtin)                                             \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order)        \
    {                                                                                  \
        (void)order, call();                                                           \
        type old = __atomic_##builtin(at, value, __ATOMIC_SEQ_CST);                    \
        saw(*at != old);                                                               \
        return old;                                                                    \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

/* Of 16 bytes: one thread runs at a time, so plain accesses are enough. */
#define CHANGED(name, result)                                                          \
    u128 __tsan_atomic128_##name(volatile u128 *at, u128 value, int order)             \
    {                                                                                  \
        (void)order, call();                                                           \
        u128 old = *at;                                                                \
        *at = result;                                                                  \
        return old;                                                                    \
    }
CHANGED(exchange, value)
CHANGED(fetch_add, old + value)
CHANGED(fetch_sub, old - value)
CHANGED(fetch_and, old & value)
CHANGED(fetch_or, old | value)
CHANGED(fetch_xor, old ^ value)
CHANGED(fetch_nand, ~(old & value))

u128 __tsan_atomic128_load(const volatile u128 *at, int order)
{
    (void)order, call();
    return *at;
}

void __tsan_atomic128_store(volatile u128 *at, u128 value, int order)
{
    (void)order, call();
    *at = value;
}

int __tsan_atomic128_compare_exchange_strong(volatile u128 *at, u128 *expected, u128 value, int order, int or_else)
{
    (void)order, (void)or_else, call();
    u128 old = *at;
    int same = old == *expected;
    if (same)
        *at = value;
    *expected = old;
    return same;
}

int __tsan_atomic128_compare_exchange_weak(volatile u128 *at, u128 *expected, u128 value, int order, int or_else)
{
    return __tsan_atomic128_compare_exchange_strong(at, expected, value, order, or_else);
}

u128 __tsan_atomic128_compare_exchange_val(volatile u128 *at, u128 expected, u128 value, int order, int or_else)
{
    __tsan_atomic128_compare_exchange_strong(at, &expected, value, order, or_else);
    return expected;
}

void __tsan_atomic_thread_fence(int order)
{
    (void)order, call();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order) { (void)order, __atomic_signal_fence(__ATOMIC_SEQ_CST); }
