/* Gives each other rank a number, and adds up what comes back. */
#include <stdio.h>

#include "together.h"

int main(int argc, char **argv)
{
    int ranks, number, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int other = 1; other < ranks; other++)
        #pragma recap give send(data, $CPU, m)
        MPI_Send(&other, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    for (int other = 1; other < ranks; other++) {
        MPI_Recv(&number, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += number;
    }
    printf("%d %d\n", sum, together(sum, argv[1]));
    MPI_Finalize();
    return 0;
}
