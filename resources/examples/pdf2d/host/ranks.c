/* Host of the optimised form in several processes (MPI), each with a card of its own: the first one makes the points and scatters them, each
 * has its card work on its part, and the sums are reduced to the first one. */
#include <stdlib.h>

#include <mpi.h>

#include "fpga.h"
#include "pdf2d.h"

enum { BATCH = 8192 };
enum { BUFFER = 0x2000, BINS_AT = 0x4000, STATUS = 0x4100 };

static int64_t sums[BINS * BINS], all[BINS * BINS];

/* Adds the bins of `batches` batches of points to the sums. */
static void work(const uint32_t *points, int batches)
{
    uint32_t bins[BINS * BINS], done;

    #pragma recap openCard overhead(initialize)
    fpga_t *fpga = fpgaOpen(0);
    if (!fpga)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    for (int batch = 0; batch < batches && batch < 2; batch++)
        #pragma recap writeFirst send(data, pdf2d_top.port|pdf2d_top.distribute, x1)
        fpgaWrite(fpga, points + batch * BATCH, (uint32_t)(batch % 2) * BUFFER, BATCH);
    for (int batch = 0; batch < batches; batch++) {
        do {
            #pragma recap pollStatus wait_recv(late_sender|poll, pdf2d_top.port|pdf2d_top.merge, d1)
            done = fpgaReadReg(fpga, STATUS) & 0xffff;
        } while (done <= (uint32_t)batch);
        #pragma recap readBins recv(data, pdf2d_top.port|pdf2d_top.merge, p1)
        fpgaRead(fpga, bins, BINS_AT, BINS * BINS);
        if (batch + 2 < batches)
            #pragma recap writePoints send(data, pdf2d_top.port|pdf2d_top.distribute, x1)
            fpgaWrite(fpga, points + (batch + 2) * BATCH, (uint32_t)(batch % 2) * BUFFER, BATCH);
        for (int i = 0; i < BINS * BINS; i++)
            sums[i] += bins[i];
    }
    #pragma recap closeCard overhead(finalize)
    fpgaClose(fpga);
}

int main(int argc, char **argv)
{
    static uint32_t points[POINTS], part[POINTS];
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (POINTS % (BATCH * ranks)) {
        fprintf(stderr, "POINTS is no multiple of %d batches of %d points\n", ranks, BATCH);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (rank == 0)
        pdf2d_points(points, 0, POINTS);
    MPI_Scatter(points, POINTS / ranks, MPI_UINT32_T, part, POINTS / ranks, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    work(part, POINTS / ranks / BATCH);
    MPI_Reduce(sums, all, BINS * BINS, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        pdf2d_print(all);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
