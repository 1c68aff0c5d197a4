/* What both hosts share: the sample points and the output. BINS (along an axis), CORES and POINTS are the project's. */
#ifndef PDF2D_H
#define PDF2D_H
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

_Static_assert((BINS & (BINS - 1)) == 0 && BINS >= 2 && BINS <= 16, "BINS is a power of two from 2 to 16");
_Static_assert(CORES >= 1 && CORES <= 32, "CORES is a number from 1 to 32");

/* Points from number `first` on, one word each: x in the lower half, y in the upper, both signed with 9 fractional bits.
 * Each is the sum of two evenly spread numbers, so the density is a pyramid over the square from -4 to 4. */
static void pdf2d_points(uint32_t *points, int first, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t z = (uint64_t)(first + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
        z ^= z >> 32;
        uint32_t x = (uint32_t)(z & 2047) + (uint32_t)(z >> 11 & 2047) - 2048;
        uint32_t y = (uint32_t)(z >> 22 & 2047) + (uint32_t)(z >> 33 & 2047) - 2048;
        points[i] = (y << 16) | (x & 0xffff);
    }
}

/* The sums have 9 fractional bits. The window's integral is pi h^4 / 2 with h^2 = spacing^2 / 2. */
static void pdf2d_print(const int64_t *sums)
{
    const double spacing = 8.0 / BINS, integral = 3.14159265358979323846 / 8 * spacing * spacing * spacing * spacing;
    uint64_t checksum = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < BINS * BINS; i++)
        checksum = (checksum ^ (uint64_t)sums[i]) * UINT64_C(0x100000001b3);
    printf("%d points, %d x %d bins\nchecksum %016" PRIx64 "\n", POINTS, BINS, BINS, checksum);
    for (int i = 0; i < BINS; i++)
        printf("bin %d %d: %" PRId64 ", density %.6f\n", i, i, sums[i * BINS + i],
               (double)sums[i * BINS + i] / 512 / POINTS / integral);
}
#endif
