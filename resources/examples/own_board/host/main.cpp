// Peak and sum of magnitudes of a signal, block by block: the samples go to the FPGA, which looks at one a cycle.
#include <algorithm>
#include <cstdio>

#include "meter.hpp"

#ifndef BLOCKS
#define BLOCKS 8
#endif

int main()
{
    lx::Board board(0);
    Meter meter(board);
    std::vector<int32_t> samples(Meter::block_words);
    uint32_t state = 1, sum = 0;
    int32_t peak = 0;
    for (int block = 0; block < BLOCKS; block++) {
        for (int32_t &sample : samples) {
            state = state * 1664525u + 1013904223u;
            sample = static_cast<int32_t>(state >> 16) - 32768;
        }
        const Level level = meter.measure(samples);
        peak = std::max(peak, level.peak);
        sum += level.sum;
    }
    std::printf("peak %d, sum %u\n", peak, sum);
}
