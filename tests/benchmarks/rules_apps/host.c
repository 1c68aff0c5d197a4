/* The host of all applications of rules.py: ROUNDS batches of WORDS words are prepared, written and worked on.
 *
 * EFFORT: steps of the host's own work on each word. PIECES: calls in which a batch is written; BEGIN: they return at once.
 * AHEAD: the next batch is written and prepared while the FPGA works. STARTS: commands for a batch. IRQ: the FPGA calls when
 * it is done, else the host polls. LOADS: files that the FPGA is configured with. PARTS: the FPGA is released after each. */
#include <stdint.h>
#include <stdio.h>

#include "board.h"
#include "design.h" /* the design's registers, and what the application sets them to */

enum { PACE = 0x6000, COMMAND = 0x6100, DONE = 0x6101, SUM = 0x6102 };

static uint32_t batches[2][WORDS];
static volatile uint32_t spent;

static void prepare(int round)
{
    uint32_t *words = batches[round % 2];
    for (int i = 0; i < WORDS; i++) {
        uint32_t x = (uint32_t)(round * WORDS + i + 1), y = x;
        for (int step = 0; step < EFFORT; step++)
            y = y * 1664525u + 1013904223u;
        spent = y;
        words[i] = x;
    }
}

static void put(board *card, int round)
{
    enum { PIECE = WORDS / PIECES };
    uint32_t half = (uint32_t)(round % 2 * WORDS);
    for (int i = 0; i < WORDS; i += PIECE) {
        if (BEGIN) {
            #pragma recap putMany send(data, TAKES, x)
            boardBegin(card, half + (uint32_t)i, batches[round % 2] + i, PIECE);
        } else {
            #pragma recap put send(data, TAKES, x)
            boardWrite(card, half + (uint32_t)i, batches[round % 2] + i, PIECE);
        }
    }
}

static void await(board *card)
{
    if (IRQ) {
        #pragma recap called wait_recv(late_sender, GIVES, d)
        boardWaitIrq(card);
    } else {
        #pragma recap poll wait_recv(late_sender, GIVES, d)
        while (!boardReadReg(card, DONE))
            ;
    }
}

static uint32_t work(board *card, int first, int last, uint32_t total)
{
    uint32_t sum;
    prepare(first);
    put(card, first);
    if (AHEAD)
        prepare(first + 1);
    for (int round = first; round < last; round++) {
        for (int part = 0; part < STARTS; part++) {
            uint32_t base = (uint32_t)(round % 2 * WORDS + part * (WORDS / STARTS));
            #pragma recap begin send(ctrl, TAKES, go)
            boardWriteReg(card, COMMAND, (uint32_t)(WORDS / STARTS) << 16 | base);
            if (AHEAD && part == 0 && round + 1 < last) {
                put(card, round + 1);
                if (round + 2 < last)
                    prepare(round + 2);
            }
            await(card);
        }
        if (BEGIN && round + 1 < last) {
            #pragma recap written wait_send(ack, TAKES, x)
            boardWait(card);
        }
        #pragma recap get recv(data, GIVES, y)
        boardRead(card, SUM, &sum, 1);
        total = total * 31 + sum;
        if (!AHEAD && round + 1 < last) {
            prepare(round + 1);
            put(card, round + 1);
        }
    }
    return total;
}

int main(void)
{
    static const uint32_t pace[] = {REGISTERS};
    uint32_t total = 0;
    for (int part = 0; part < PARTS; part++) {
        #pragma recap open overhead(initialize)
        board *card = boardOpen(0);
        for (int load = 0; load < (part ? 0 : LOADS); load++) {
            #pragma recap load overhead(initialize)
            boardConfigure(card, "design.bit");
        }
        #pragma recap pace send(ctrl, TAKES, pace)
        boardWrite(card, PACE, pace, (int)(sizeof pace / sizeof *pace));
        total = work(card, part * ROUNDS / PARTS, (part + 1) * ROUNDS / PARTS, total);
        #pragma recap release overhead(finalize)
        boardRelease(card);
    }
    printf("%u\n", total);
    return 0;
}
