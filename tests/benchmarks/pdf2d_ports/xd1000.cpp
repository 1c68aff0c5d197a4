// The optimised form on an XD1000: blocks of 32 KB by DMA, an interrupt when the bins of a batch wait to be read.
#include <cstdlib>

#include "xd1000.hpp"

#define _Static_assert static_assert
#include "pdf2d.h"

enum { BATCH = 8192, BATCHES = POINTS / BATCH };
enum { BUFFER = 0x2000, BINS_AT = 0x4000 };

static_assert(POINTS % BATCH == 0, "POINTS is a multiple of the 8192 points of a batch");

static int64_t sums[BINS * BINS];

static void write_batch(xd1000::Dma& dma, int batch)
{
    static uint32_t points[BATCH];

    pdf2d_points(points, batch * BATCH, BATCH);
    #pragma recap writePoints send(data, pdf2d_top.port|pdf2d_top.distribute, x1)
    dma.send(uint32_t(batch % 2) * BUFFER, points, sizeof points);
}

int main()
{
    static uint32_t bins[BINS * BINS];

    #pragma recap openFpga overhead(initialize)
    const int fd = open(XD1000_DEVICE, O_RDWR);
    if (fd < 0) return EXIT_FAILURE;
    {
        #pragma recap beginDma overhead(initialize)
        xd1000::Dma dma(fd);
        for (int batch = 0; batch < BATCHES && batch < 2; batch++) write_batch(dma, batch);
        for (int batch = 0; batch < BATCHES; batch++) {
            #pragma recap waitBins wait_recv(late_sender, pdf2d_top.port|pdf2d_top.merge, d1)
            dma.waitInterrupt();
            #pragma recap readBins recv(data, pdf2d_top.port|pdf2d_top.merge, p1)
            dma.receive(BINS_AT, bins, sizeof bins);
            if (batch + 2 < BATCHES) write_batch(dma, batch + 2);
            for (int i = 0; i < BINS * BINS; i++) sums[i] += bins[i];
        }
    }
    #pragma recap closeFpga overhead(finalize)
    close(fd);
    pdf2d_print(sums);
    return EXIT_SUCCESS;
}
