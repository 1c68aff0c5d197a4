// The optimised form on one FPGA of a PROCStar III: 32 KB in a call, an interrupt when the bins of a batch wait to be read.
#include <cstdlib>

#include "procstar.hpp"

#define _Static_assert static_assert
#include "pdf2d.h"

enum { BATCH = 8192, BATCHES = POINTS / BATCH };
enum { BUFFER = 0x2000, BINS_AT = 0x4000 };

static_assert(POINTS % BATCH == 0, "POINTS is a multiple of the 8192 points of a batch");

static int64_t sums[BINS * BINS];

static void write_batch(procstar::Fpga& fpga, int batch)
{
    static uint32_t points[BATCH];

    pdf2d_points(points, batch * BATCH, BATCH);
    #pragma recap writePoints send(data, pdf2d_top.port|pdf2d_top.distribute, x1)
    fpga.write(uint32_t(batch % 2) * BUFFER, points, BATCH, procstar::Mode::blocking);
}

int main()
{
    static uint32_t bins[BINS * BINS];

    #pragma recap openFpga overhead(initialize)
    procstar::Fpga* fpga = procstar::open(0, "pdf2d.rbf").release();
    for (int batch = 0; batch < BATCHES && batch < 2; batch++) write_batch(*fpga, batch);
    for (int batch = 0; batch < BATCHES; batch++) {
        #pragma recap waitBins wait_recv(late_sender, pdf2d_top.port|pdf2d_top.merge, d1)
        fpga->waitInterrupt();
        #pragma recap readBins recv(data, pdf2d_top.port|pdf2d_top.merge, p1)
        fpga->read(BINS_AT, bins, BINS * BINS);
        if (batch + 2 < BATCHES) write_batch(*fpga, batch + 2);
        for (int i = 0; i < BINS * BINS; i++) sums[i] += bins[i];
    }
    #pragma recap closeFpga overhead(finalize)
    delete fpga;
    pdf2d_print(sums);
    return EXIT_SUCCESS;
}
