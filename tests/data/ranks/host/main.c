/* Each rank has its card add up words, and hands the sum on to the next one, around the ring; then all know all sums. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "fpga.h"

enum { DATA = 0x000, DONE = 0x100, SUM = 0x101, WORDS = 16, LONG = 1 << 18, TAG = 7 };

static uint32_t sum_of(int rank)
{
    uint32_t words[WORDS], sum;
    #pragma recap open overhead(initialize)
    fpga_t *fpga = fpgaOpen(0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++)
            words[i] = (uint32_t)(rank * 1000 + round * WORDS + i);
        #pragma recap put send(data, tiny_top.adder, w1)
        fpgaWrite(fpga, words, DATA, WORDS);
        #pragma recap poll wait_recv(late_sender, tiny_top.adder, d1)
        while (fpgaReadReg(fpga, DONE) == 0)
            ;
    }
    #pragma recap get recv(data, tiny_top.adder, s1)
    sum = fpgaReadReg(fpga, SUM);
    fpgaClose(fpga);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int next = (rank + 1) % ranks, before = (rank - 1 + ranks) % ranks;
    uint32_t sum = sum_of(rank), others = 0, all, before_me, most;
    char *big = calloc(2, LONG);

    if (rank == 0) { /* around the ring: each adds its own */
        MPI_Send(&sum, 1, MPI_UINT32_T, next, TAG, MPI_COMM_WORLD);
        MPI_Recv(&others, 1, MPI_UINT32_T, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&others, 1, MPI_UINT32_T, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        others += sum;
        MPI_Send(&others, 1, MPI_UINT32_T, next, TAG, MPI_COMM_WORLD);
    }
    for (int round = 0; round < ROUNDS; round++) { /* large ones, to one neighbour and from the other at once */
        MPI_Request requests[2];
        big[0] = (char)rank;
        MPI_Irecv(big + LONG, LONG, MPI_BYTE, before, round, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(big, LONG, MPI_BYTE, next, round, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (big[LONG] != (char)before)
            return EXIT_FAILURE;
    }
    MPI_Bcast(&others, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&sum, &all, 1, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Scan(&sum, &before_me, 1, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD); /* the last rank has the sum of all */
    MPI_Ireduce(&before_me, &most, 1, MPI_UINT32_T, MPI_MAX, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("%u %u\n", most, others);
    if (rank == 0 && most != all)
        return EXIT_FAILURE;
    free(big);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
