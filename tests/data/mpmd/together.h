/* What all ranks of both programs do: hand on a number through a window and to neighbours, and write it to a file. */
#include <mpi.h>

static int together(int number, const char *path)
{
    int ranks, rank, periodic = 1, *put, given, near[2];
    MPI_Win window;
    MPI_Comm ring;
    MPI_File file;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *put, sizeof *put, MPI_INFO_NULL, MPI_COMM_WORLD, &put, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&number, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    given = *put;
    MPI_Win_free(&window);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
    MPI_Neighbor_allgather(&number, 1, MPI_INT, near, 1, MPI_INT, ring);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank * (MPI_Offset)sizeof number, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return given == near[0] ? given : -1;
}
