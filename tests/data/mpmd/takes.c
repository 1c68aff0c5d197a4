/* Takes a number, and gives one more back, by a function of its own that has the name of one of C11's. */
#include "together.h"

int mtx_lock(int *number) { return ++*number; }

int main(int argc, char **argv)
{
    int number;
    MPI_Init(&argc, &argv);
    #pragma recap take recv(data, $CPU, m)
    MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mtx_lock(&number);
    MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    together(number, argv[1]);
    MPI_Finalize();
    return 0;
}
