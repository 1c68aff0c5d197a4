/* Host of the 2-D PDF, step by step:
 *   0  the original form: it clears, fills, starts, asks, stops and reads each core, 512 points at a time
 *   1  control is in the FPGA: a core clears itself, starts with its last point and needs no stop
 *   2  bins of all cores are consecutive in the memory map, and kept while the next are computed: one read for all
 *   3  buffers of all cores are consecutive too, each twice: one write for all, of 40 KB
 *   4  one status register for all cores */
#include <stdlib.h>

#include "fpga.h"
#include "pdf2d.h"

enum { BATCH = 512, BATCHES = POINTS / BATCH, ROUNDS = BATCHES / CORES, ALL = CORES * BINS * BINS };
enum { CORE = 0x400, BINS_AT = 0x200, CONTROL = 0x300 };                    /* of each core */
enum { ALL_POINTS = 0x10000, ALL_BINS = 0x20000, ALL_DONE = 0x30000 };

_Static_assert(POINTS % (BATCH * CORES) == 0, "POINTS is a multiple of the 512 points that each core takes at once");

static int64_t sums[BINS * BINS];

static void add(const uint32_t *bins, int count)
{
    for (int i = 0; i < count; i++)
        sums[i % (BINS * BINS)] += bins[i];
}

#if STEP < 3
/* Give a core the next batch. */
static void begin(fpga_t *fpga, uint32_t core, int batch)
{
    uint32_t points[BATCH];

    pdf2d_points(points, batch * BATCH, BATCH);
#if STEP < 1
    static const uint32_t zeros[BINS * BINS];
    #pragma recap clearBins send(ctrl, pdf2d_top.core[*], c1)
    fpgaWrite(fpga, zeros, core + BINS_AT, BINS * BINS);
#endif
    #pragma recap writePoints send(data, pdf2d_top.core[*], x1)
    fpgaWrite(fpga, points, core, BATCH);
#if STEP < 1
    #pragma recap startCore send(ctrl, pdf2d_top.core[*], g1)
    fpgaWriteReg(fpga, core + CONTROL, 1);
#endif
}
#endif

/* Wait until a core, or whoever is asked at that address, has done more batches than that. */
static void wait_for(fpga_t *fpga, uint32_t address, uint32_t batches)
{
    uint32_t done;

    do {
        #pragma recap pollDone wait_recv(late_sender|poll, pdf2d_top.core[*], d1)
        done = fpgaReadReg(fpga, address);
    } while (done <= batches);
}

#if STEP < 2
/* Wait for a core and add its bins to the sums. */
static void finish(fpga_t *fpga, uint32_t core, int batch)
{
    uint32_t bins[BINS * BINS];

    wait_for(fpga, core + CONTROL, STEP < 1 ? 0 : (uint32_t)(batch / CORES));
#if STEP < 1
    #pragma recap stopCore send(ctrl, pdf2d_top.core[*], s1)
    fpgaWriteReg(fpga, core + CONTROL, 0);
#endif
    #pragma recap readBins recv(data, pdf2d_top.core[*], p1)
    fpgaRead(fpga, bins, core + BINS_AT, BINS * BINS);
    add(bins, BINS * BINS);
}
#else
/* Add the bins of all cores to the sums. */
static void add_all(fpga_t *fpga, int round)
{
    uint32_t bins[ALL];

    #pragma recap readBins recv(data, pdf2d_top.core[*], p1)
    fpgaRead(fpga, bins, ALL_BINS + (round % 2 ? 0x8000 : 0), ALL);
    add(bins, ALL);
}
#endif

#if STEP == 2
/* Wait for a core; behind the last one add all bins. */
static void finish(fpga_t *fpga, uint32_t core, int batch)
{
    wait_for(fpga, core + CONTROL, (uint32_t)(batch / CORES));
    if (batch % CORES == CORES - 1)
        add_all(fpga, batch / CORES);
}
#elif STEP > 2
static void write_round(fpga_t *fpga, int round)
{
    static uint32_t points[CORES * BATCH];

    pdf2d_points(points, round * CORES * BATCH, CORES * BATCH);
    #pragma recap writePoints send(data, pdf2d_top.core[*], x1)
    fpgaWrite(fpga, points, ALL_POINTS + (round % 2 ? 0x4000 : 0), CORES * BATCH);
}

/* Wait for all cores and add their bins. */
static void finish_round(fpga_t *fpga, int round)
{
#if STEP == 3
    for (uint32_t core = 0; core < CORES; core++)
        wait_for(fpga, core * CORE + CONTROL, (uint32_t)round);
#else
    wait_for(fpga, ALL_DONE, (uint32_t)round);
#endif
    add_all(fpga, round);
}
#endif

int main(void)
{
    #pragma recap openCard overhead(initialize)
    fpga_t *fpga = fpgaOpen(0);
    if (!fpga)
        return EXIT_FAILURE;
#if STEP < 3
    for (int batch = 0; batch < BATCHES + CORES; batch++) {
        uint32_t core = (uint32_t)(batch % CORES) * CORE;
        if (batch >= CORES)
            finish(fpga, core, batch - CORES);
        if (batch < BATCHES)
            begin(fpga, core, batch);
    }
#else
    for (int round = 0; round < ROUNDS + 2; round++) {
        if (round >= 2)
            finish_round(fpga, round - 2);
        if (round < ROUNDS)
            write_round(fpga, round);
    }
#endif
    #pragma recap closeCard overhead(finalize)
    fpgaClose(fpga);
    pdf2d_print(sums);
    return EXIT_SUCCESS;
}
