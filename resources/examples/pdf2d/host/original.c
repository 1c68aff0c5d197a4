/* Host of the original form: clears, fills, starts, asks, stops and reads each core, 512 points at a time. */
#include <stdlib.h>

#include "fpga.h"
#include "pdf2d.h"

enum { BATCH = 512, BATCHES = POINTS / BATCH }; /* what a core's 2 KB buffer holds */
enum { CORE = 0x400, BINS_AT = 0x200, CONTROL = 0x300 };

_Static_assert(POINTS % BATCH == 0, "POINTS is a multiple of the 512 points of a batch");

static int64_t sums[BINS * BINS];

/* Give a core the next batch. */
static void begin(fpga_t *fpga, uint32_t core, int batch)
{
    static const uint32_t zeros[BINS * BINS];
    uint32_t points[BATCH];

    pdf2d_points(points, batch * BATCH, BATCH);
    #pragma recap clearBins send(ctrl, pdf2d_top.core[*], c1)
    fpgaWrite(fpga, zeros, core + BINS_AT, BINS * BINS);
    #pragma recap writePoints send(data, pdf2d_top.core[*], x1)
    fpgaWrite(fpga, points, core, BATCH);
    #pragma recap startCore send(ctrl, pdf2d_top.core[*], g1)
    fpgaWriteReg(fpga, core + CONTROL, 1);
}

/* Wait for a core and add its bins to the sums. */
static void finish(fpga_t *fpga, uint32_t core)
{
    uint32_t bins[BINS * BINS], done;

    do {
        #pragma recap pollDone wait_recv(late_sender|poll, pdf2d_top.core[*], d1)
        done = fpgaReadReg(fpga, core + CONTROL);
    } while (!done);
    #pragma recap stopCore send(ctrl, pdf2d_top.core[*], s1)
    fpgaWriteReg(fpga, core + CONTROL, 0);
    #pragma recap readBins recv(data, pdf2d_top.core[*], p1)
    fpgaRead(fpga, bins, core + BINS_AT, BINS * BINS);
    for (int i = 0; i < BINS * BINS; i++)
        sums[i] += bins[i];
}

int main(void)
{
    #pragma recap openCard overhead(initialize)
    fpga_t *fpga = fpgaOpen(0);
    if (!fpga)
        return EXIT_FAILURE;
    for (int batch = 0; batch < BATCHES + CORES; batch++) {
        uint32_t core = (uint32_t)(batch % CORES) * CORE;
        if (batch >= CORES && batch - CORES < BATCHES)
            finish(fpga, core);
        if (batch < BATCHES)
            begin(fpga, core, batch);
    }
    #pragma recap closeCard overhead(finalize)
    fpgaClose(fpga);
    pdf2d_print(sums);
    return EXIT_SUCCESS;
}
