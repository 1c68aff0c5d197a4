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
#include "real.h"
#include "spins.h"

typedef unsigned __int128 u128;

/* ---- the accesses of a program whose time is measured ---- */

__attribute__((used)) static void access_point(void)
{
    if (vc_self) {
        vc_point();
        host_time_owe(); /* what keeping the registers took */
    }
}

#ifdef __x86_64__
/* 0: SSE, 1: AVX, 2: AVX-512; whether xgetbv tells which registers hold anything: others stay clean, or SSE would be slow. */
static int vectors __attribute__((used)), xgetbv_tells __attribute__((used));

__attribute__((constructor(101))) static void find_vectors(void) /* before the library starts */
{
    unsigned eax = 0, ebx, ecx, edx;
    __builtin_cpu_init();
    vectors = __builtin_cpu_supports("avx512bw") ? 2 : __builtin_cpu_supports("avx") ? 1 : 0;
    xgetbv_tells = __get_cpuid_count(0xd, 1, &eax, &ebx, &ecx, &edx) && eax & 4;
}

#define TO_15 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define TO_31 TO_15 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
#define EACH(registers, instruction) ".irp r," registers "\n" instruction "\n.endr\n"

/* Every register that C's functions may change stays as it is, the flags too (xsave would take a microsecond). Nothing that is
 * called here uses the x87's. */
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
    "    subq $2112, %rsp\n"
    "    andq $-64, %rsp\n"
    "    cld\n"
    "    movl vectors(%rip), %eax\n"
    "    testl %eax, %eax\n"
    "    jz 2f\n"
    "    cmpl $0, xgetbv_tells(%rip)\n"
    "    je 5f\n"
    "    movl $1, %ecx\n"
    "    xgetbv\n"
    "    testl $0xe0, %eax\n" /* masks, and what only AVX-512 has */
    "    jnz 3f\n"
    "    testl $4, %eax\n"
    "    jz 2f\n"
    "    movl $1, %eax\n"
    "5:  cmpl $1, %eax\n"
    "    jg 3f\n"
    EACH(TO_15, "vmovups %ymm\\r, 32*\\r(%rsp)")
    "    vzeroupper\n"
    "    call access_point\n"
    EACH(TO_15, "vmovups 32*\\r(%rsp), %ymm\\r")
    "    jmp 4f\n"
    "2:\n"
    EACH(TO_15, "movups %xmm\\r, 16*\\r(%rsp)")
    "    call access_point\n"
    EACH(TO_15, "movups 16*\\r(%rsp), %xmm\\r")
    "    jmp 4f\n"
    "3:\n"
    EACH(TO_31, "vmovups %zmm\\r, 64*\\r(%rsp)")
    EACH("0,1,2,3,4,5,6,7", "kmovq %k\\r, 2048+8*\\r(%rsp)")
    "    vzeroupper\n"
    "    call access_point\n"
    EACH(TO_31, "vmovups 64*\\r(%rsp), %zmm\\r")
    EACH("0,1,2,3,4,5,6,7", "kmovq 2048+8*\\r(%rsp), %k\\r")
    "4:  movq %rbp, %rsp\n"
    "    popq %rbp; popq %r11; popq %r10; popq %r9; popq %r8; popq %rdi; popq %rsi; popq %rdx; popq %rcx; popq %rax\n"
    "    popfq\n"
    "    ret\n");
#else
void rcw_access_always(void) { access_point(); }
#endif

/* ---- the accesses of a program whose work is counted ---- */

/* Before an access that may change the variable, and before one that only looks: who does nothing else spins. */
static inline void call(void)
{
    if (vc_self)
        vc_access();
}

#define LOOK() (vc_self ? spin_look(HERE), vc_access() : (void)0)

/* What only looks again and again is polling. */
static inline void saw(int changed)
{
    vc_changes += (uint64_t)changed;
    if (vc_self)
        vc_self->polls = changed ? 0 : vc_self->polls + 1;
}

/* A plain write: no call, and within the thread's own stack no change. */
static inline void wrote(const char *at)
{
    const char *frame = __builtin_frame_address(0);
    if (!vc_self || at < frame || at >= vc_self->stack_top)
        vc_changes++;
}

void __tsan_init(void) {}
void __tsan_read_range(void *at, size_t bytes) { (void)at, (void)bytes; }
void __tsan_write_range(void *at, size_t bytes) { (void)bytes, wrote(at); }
void __tsan_vptr_update(void **at, void *value) { (void)value, wrote((char *)at); }
void __tsan_vptr_read(void **at) { (void)at; }
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

#define ACCESS(bytes)                                                                \
    void __tsan_read##bytes(void *at) { (void)at; }                                  \
    void __tsan_write##bytes(void *at) { wrote(at); }                                \
    void __tsan_unaligned_read##bytes(void *at) { (void)at; }                        \
    void __tsan_unaligned_write##bytes(void *at) { wrote(at); }                      \
    void __tsan_volatile_read##bytes(void *at) { (void)at, LOOK(), saw(0); }         \
    void __tsan_volatile_write##bytes(void *at) { (void)at, call(), saw(1); }        \
    void __tsan_unaligned_volatile_read##bytes(void *at) { (void)at, LOOK(), saw(0); } \
    void __tsan_unaligned_volatile_write##bytes(void *at) { (void)at, call(), saw(1); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

/* Other processes may share them; of 16 bytes they are only the threads', of which one runs at a time. */
#define SWAP(at, old, value)                                                           \
    __builtin_choose_expr(sizeof *(at) > 8, (*(at) = (value), 1),                      \
                          __atomic_compare_exchange_n(at, old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))

#define ATOMIC(bits, type)                                                                                              \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                                                 \
    {                                                                                                                   \
        (void)order, LOOK(), saw(0);                                                                                    \
        return *at;                                                                                                     \
    }                                                                                                                   \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                                          \
    {                                                                                                                   \
        (void)order, call(), saw(1);                                                                                    \
        *at = value;                                                                                                    \
    }                                                                                                                   \
    CHANGED(bits, type, exchange, value)                                                                                \
    CHANGED(bits, type, fetch_add, old + value)                                                                         \
    CHANGED(bits, type, fetch_sub, old - value)                                                                         \
    CHANGED(bits, type, fetch_and, old & value)                                                                         \
    CHANGED(bits, type, fetch_or, old | value)                                                                          \
    CHANGED(bits, type, fetch_xor, old ^ value)                                                                         \
    CHANGED(bits, type, fetch_nand, ~(old & value))                                                                     \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected, type value, int order, int or_else) \
    {                                                                                                                   \
        (void)order, (void)or_else, LOOK();                                                                             \
        type old = *at;                                                                                                 \
        int same = old == *expected && SWAP(at, &old, value);                                                           \
        *expected = old;                                                                                                \
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
#define CHANGED(bits, type, name, result)                                              \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order)        \
    {                                                                                  \
        (void)order, LOOK();                                                           \
        type old = *at;                                                                \
        while (!SWAP(at, &old, (type)(result)))                                        \
            ;                                                                          \
        saw(*at != old);                                                               \
        return old;                                                                    \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
ATOMIC(128, u128)

void __tsan_atomic_thread_fence(int order)
{
    (void)order, call();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order) { (void)order, __atomic_signal_fence(__ATOMIC_SEQ_CST); }
