/* c = a x b of row-major matrices, an element of c for each work item: a column along dimension 0, a row along 1. */
__kernel void matrix_multiply(__global const float *a, __global const float *b, __global float *c, int a_width,
                              int b_width)
{
    int column = get_global_id(0);
    int row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < a_width; k++)
        sum += a[row * a_width + k] * b[k * b_width + column];
    c[row * b_width + column] = sum;
}

#ifndef TILE
#define TILE 64
#endif

/* The same in tiles, which a work group brings into local memory together. */
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matrix_multiply_tiled(__global const float *a, __global const float *b, __global float *c, int a_width, int b_width)
{
    __local float a_tile[TILE][TILE];
    __local float b_tile[TILE][TILE];
    int x = get_local_id(0);
    int y = get_local_id(1);
    int column = get_global_id(0);
    int row = get_global_id(1);
    float sum = 0.0f;
    for (int tile = 0; tile < a_width; tile += TILE) {
        a_tile[y][x] = a[row * a_width + tile + x];
        b_tile[y][x] = b[(tile + y) * b_width + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += a_tile[y][k] * b_tile[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * b_width + column] = sum;
}
