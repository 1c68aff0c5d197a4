/* Matrix multiply, n x n, in three orders: how its computational density depends on the order alone.
 *     matrix_multiply N naive        rows by columns, as the paper's algorithm B is written
 *     matrix_multiply N blocked B    B x B blocks of both operands at a time: what Eq. 4 assumes
 *     matrix_multiply N outer B      a B x B tile of results, one column and one row of operands at a time
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rho.h"

static float *a, *b, *c;
static int n;

static void block(int i0, int i1, int j0, int j1, int k0, int k1)
{
    for (int i = i0; i < i1; i++)
        for (int j = j0; j < j1; j++) {
            float sum = c[i * n + j];
            for (int k = k0; k < k1; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

static int least(int x, int y) { return x < y ? x : y; }

int main(int argc, char **argv)
{
    n = argc > 2 ? atoi(argv[1]) : 0;
    const char *order = argc > 2 ? argv[2] : "";
    int size = argc > 3 ? atoi(argv[3]) : 0;
    if (n < 1 || n > 4096 || (strcmp(order, "naive") != 0 && (size < 1 || size > n))) {
        fprintf(stderr, "usage: matrix_multiply N naive | blocked B | outer B\n");
        return 2;
    }
    size_t bytes = (size_t)n * n * sizeof *a;
    a = malloc(bytes), b = malloc(bytes), c = calloc(1, bytes);
    if (!a || !b || !c)
        return 1;
    for (int i = 0; i < n * n; i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
    }
    rho_input(a, bytes, sizeof *a);
    rho_input(b, bytes, sizeof *b);
    rho_begin();
    if (!strcmp(order, "naive"))
        block(0, n, 0, n, 0, n);
    else
        for (int i = 0; i < n; i += size)
            for (int j = 0; j < n; j += size)
                for (int k = 0; k < n; k += !strcmp(order, "outer") ? 1 : size)
                    block(i, least(i + size, n), j, least(j + size, n), k,
                          !strcmp(order, "outer") ? k + 1 : least(k + size, n));
    rho_end((unsigned long long)n * n * n);
    double check = 0;
    for (int i = 0; i < n * n; i++)
        check += c[i];
    printf("%.0f\n", check);
    return 0;
}
