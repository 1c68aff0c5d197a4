/* What every host here shares: ROUNDS batches of WORDS words, EFFORT of preparing each word, CYCLES for each in hardware. */
#include <stdint.h>
#include <stdio.h>

#include "fpga.h"

enum { WORDS = 64, COMMAND = 0x400, PACE = 0x401, DONE = 0x501, SUM = 0x502 };

static volatile uint32_t spent;

/* The words of a round, and the host's own work on them: EFFORT steps each. */
static inline void prepare(uint32_t *words, int round)
{
    for (int i = 0; i < WORDS; i++) {
        uint32_t x = (uint32_t)(round * WORDS + i + 1), y = x;
        for (int step = 0; step < EFFORT; step++)
            y = y * 1664525u + 1013904223u;
        spent = y;
        words[i] = x;
    }
}

static inline uint32_t command(int base, int count) { return (uint32_t)count << 16 | (uint32_t)base; }
static inline uint32_t pace(int clear, int cycles) { return (uint32_t)clear << 16 | (uint32_t)cycles; }
