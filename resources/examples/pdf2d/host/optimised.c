/* Host of the optimised form: 8192 points (32 KB) in a call, one status register, all results in one read. While the
 * card computes one batch, the next is written to the other buffer. */
#include <stdlib.h>

#include "fpga.h"
#include "pdf2d.h"

enum { BATCH = 8192, BATCHES = POINTS / BATCH };
enum { BUFFER = 0x2000, BINS_AT = 0x4000, STATUS = 0x4100 };

_Static_assert(POINTS % BATCH == 0, "POINTS is a multiple of the 8192 points of a batch");

static int64_t sums[BINS * BINS];

static void write_batch(fpga_t *fpga, int batch)
{
    static uint32_t points[BATCH];

    pdf2d_points(points, batch * BATCH, BATCH);
    #pragma recap writePoints send(data, pdf2d_top.port|pdf2d_top.distribute, x1)
    fpgaWrite(fpga, points, (uint32_t)(batch % 2) * BUFFER, BATCH);
}

int main(void)
{
    uint32_t bins[BINS * BINS], done;

    #pragma recap openCard overhead(initialize)
    fpga_t *fpga = fpgaOpen(0);
    if (!fpga)
        return EXIT_FAILURE;
    for (int batch = 0; batch < BATCHES && batch < 2; batch++)
        write_batch(fpga, batch);
    for (int batch = 0; batch < BATCHES; batch++) {
        do {
            #pragma recap pollStatus wait_recv(late_sender|poll, pdf2d_top.port|pdf2d_top.merge, d1)
            done = fpgaReadReg(fpga, STATUS) & 0xffff;
        } while (done <= (uint32_t)batch);
        #pragma recap readBins recv(data, pdf2d_top.port|pdf2d_top.merge, p1)
        fpgaRead(fpga, bins, BINS_AT, BINS * BINS);
        if (batch + 2 < BATCHES)
            write_batch(fpga, batch + 2);
        for (int i = 0; i < BINS * BINS; i++)
            sums[i] += bins[i];
    }
    #pragma recap closeCard overhead(finalize)
    fpgaClose(fpga);
    pdf2d_print(sums);
    return EXIT_SUCCESS;
}
