"""Memory-mapped regions of the simulated card: whatever instruction touches one becomes a transfer of the port's."""

from pathlib import Path

import pytest
from rc_workbench_plugins.simulated_card.card import CardExecutable
from simulated_card.conftest import PLATFORM, run

from workbench.api.records import read_transfers

HEAD = """
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <pthread.h>
typedef struct wbcard wbcard_t;
wbcard_t *wbcard_open(int card);
void *wbcard_map(wbcard_t *card, const char *send, const char *receive, int64_t address, int64_t unit, int64_t bytes);
int wbcard_unmap(void *at);
"""
ACCESSES = (
    HEAD
    + """
typedef struct { uint32_t data, other; uint64_t wide; } regs_t;
static void *own(void *at)
{
    volatile uint32_t *word = at;
    word[40] = 9;
    return (void *)(uintptr_t)word[40];
}
int main(void)
{
    char *map = wbcard_map(wbcard_open(0), "write_reg", "read_reg", 16, 4, 4096);
    volatile uint32_t *word = (volatile uint32_t *)map;
    volatile regs_t *regs = (volatile regs_t *)(map + 64);
    word[0] = 5;                                            /* address 16 */
    word[0] += 7;
    word[0]++;
    printf("%u\\n", word[0]);
    regs->wide = 0x1122334455667788;                        /* two words */
    printf("%llx\\n", (unsigned long long)regs->wide);
    printf("%x\\n", *((volatile uint32_t *)map + 19));
    printf("%x\\n", *(volatile uint8_t *)(map + 73));        /* a part of a word: the port reads the whole one */
    printf("%d\\n", *(volatile int16_t *)(map + 76));
    volatile float *real = (volatile float *)(map + 128);
    *real = 1.5f;
    *real *= 2;
    printf("%g\\n", *real);
    char text[40] = "through a loop of the C library's own.", back[40];
    memcpy(map + 256, text, 40);
    memcpy(back, map + 256, 40);
    memcpy(map + 512, map + 256, 40);
    printf("%s %d\\n", back, memcmp(map + 512, text, 40));
    pthread_t other;
    void *got;
    pthread_create(&other, 0, own, map);
    pthread_join(other, &got);
    printf("%d %d\\n", (int)(uintptr_t)got, wbcard_unmap(map));
    return 0;
}
"""
)


def test_accesses_are_transfers(card: CardExecutable, tmp_path: Path) -> None:
    outcome = run(card, ACCESSES, tmp_path, flags=("-O2", "-march=native"))
    assert outcome.diagnostics == ()
    assert outcome.stdout.splitlines() == [
        "13", "1122334455667788", "11223344", "77", "13124", "3", "through a loop of the C library's own. 0", "9 0",
    ]  # fmt: skip
    rows = read_transfers(tmp_path / "raw").at()
    names = list(PLATFORM.transfer_tables)
    told = [(names[row["table"]].split("_")[0], int(row["address"]), int(row["bytes"])) for row in rows]
    w, r = "write", "read"
    assert told[:6] == [(w, 16, 4), (r, 16, 4), (w, 16, 4), (r, 16, 4), (w, 16, 4), (r, 16, 4)]
    assert told[6:11] == [(w, 34, 8), (r, 34, 8), (r, 35, 4), (r, 34, 4), (r, 35, 4)]
    assert told[11:15] == [(w, 48, 4), (r, 48, 4), (w, 48, 4), (r, 48, 4)]
    assert told[-2:] == [(w, 56, 4), (r, 56, 4)]
    copied = [(one, address, size) for one, address, size in told[15:-2]]
    for direction, first in ((w, 80), (r, 80), (w, 144), (r, 144)):
        parts = [(a, n) for one, a, n in copied if one == direction and first <= a < first + 10]
        assert {a + k for a, n in parts for k in range(n // 4)} == set(range(first, first + 10)), direction
    lasts = {"write": 900_000, "read": 1_100_000}
    assert all(row["end_ps"] - row["grant_ps"] == lasts[one[0]] * max(1, one[2] // 4)
               for row, one in zip(rows, told, strict=True))  # fmt: skip


VECTORS = (
    HEAD
    + """
#define ON(isa, code) \\
    if (__builtin_cpu_supports(isa)) { \\
        long got; \\
        __asm__ volatile (code : "=a"(got) : "r"(map) : "xmm0"); \\
        printf("%ld ", got & 15); \\
    } else \\
        printf("? ");
int main(void)
{
    char *map = wbcard_map(wbcard_open(0), "write_reg", "read_reg", 0, 4, 4096);
    for (int k = 0; k < 16; k++)
        ((volatile uint32_t *)map)[k] = 0x01010101u * k;
    ON("ssse3", "pxor %%xmm0, %%xmm0; pshufb (%1), %%xmm0; movd %%xmm0, %%eax")
    ON("sse4.1", "pmovzxbd 4(%1), %%xmm0; movd %%xmm0, %%eax")
    ON("sse4.1", "pxor %%xmm0, %%xmm0; pinsrb $0, 8(%1), %%xmm0; movd %%xmm0, %%eax")
    ON("avx", "vbroadcastss 12(%1), %%ymm0; vmovd %%xmm0, %%eax; vzeroupper")
    ON("avx2", "vpbroadcastb 16(%1), %%ymm0; vmovd %%xmm0, %%eax; vzeroupper")
    ON("avx2", "vinserti128 $0, 20(%1), %%ymm0, %%ymm0; vmovd %%xmm0, %%eax; vzeroupper")
    ON("avx512bw", "vpxorq %%ymm16, %%ymm16, %%ymm16; vpcmpub $0, (%1), %%ymm16, %%k1; kmovd %%k1, %%eax")
    ON("avx512vl", "vpxord %%xmm16, %%xmm16, %%xmm16; vpord 28(%1)%{1to4%}, %%xmm16, %%xmm16; vmovd %%xmm16, %%eax")
    return 0;
}
"""
)


def test_vectors_are_read_as_they_are(card: CardExecutable, tmp_path: Path) -> None:
    """By instructions that a C library made for such a processor uses, too."""
    outcome = run(card, VECTORS, tmp_path)
    assert outcome.diagnostics == ()
    wanted = ["0", "1", "2", "3", "4", "5", "15", "7"]
    got = outcome.stdout.split()
    assert got == [want if have != "?" else have for have, want in zip(got, wanted, strict=True)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "*(volatile uint8_t *)map = 1;",
            "1 bytes are written at byte 0x0 of a mapping, and the port takes whole words of 4",
        ),
        ('printf("%d", *(volatile int *)(map + 4096));', "does not lie in it"),
        ('__asm__ volatile ("fldt (%0)" :: "r"(map));', "an instruction that is not known (db "),
    ],
)
def test_what_cannot_be_is_told(card: CardExecutable, tmp_path: Path, body: str, said: str) -> None:
    host = HEAD + 'int main(void) { char *map = wbcard_map(wbcard_open(0), "write_reg", "read_reg", 0, 4, 4098);'
    outcome = run(card, host + body + " return 0; }", tmp_path)
    assert any(said in problem.message for problem in outcome.diagnostics), outcome.diagnostics


def test_another_fault_of_the_program_is_its_own(card: CardExecutable, tmp_path: Path) -> None:
    host = HEAD + 'int main(void) { wbcard_map(wbcard_open(0), "write_reg", "read_reg", 0, 4, 64);'
    assert run(card, host + " *(volatile int *)16 = 1; return 0; }", tmp_path).exit == -11
