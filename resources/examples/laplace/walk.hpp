#pragma once
#include <cstdio>

#include "streaming.hpp"

// From a point of the grid to its edge, eight steps by the lower half of a number, two bits each; the left edge is at 100, the others at 0.
struct Walk {
    streaming::In<uint32_t> x;
    streaming::Out<double> y;
    uint32_t grid, walks;

    void run()
    {
        uint32_t bits = 0;
        int left = 0; // steps that the number has still
        for (uint32_t row = 1; row <= grid; row++)
            for (uint32_t column = 1; column <= grid; column++) {
                uint32_t warm = 0;
                for (uint32_t walk = 0; walk < walks; walk++) {
                    uint32_t at_row = row, at_column = column;
                    while (at_row && at_column && at_row <= grid && at_column <= grid) {
                        if (!left) {
                            if (!x.pop(bits)) return;
                            left = 8;
                        }
                        switch (bits & 3) {
                        case 0: at_row--; break;
                        case 1: at_row++; break;
                        case 2: at_column--; break;
                        default: at_column++;
                        }
                        bits >>= 2;
                        left--;
                    }
                    warm += !at_column;
                }
                if (!y.push(100.0 * warm / walks)) return;
            }
    }
};

struct Avg {
    streaming::In<double> left, right;
    streaming::Out<double> y;

    void run()
    {
        for (double a, b; left.pop(a) && right.pop(b);)
            if (!y.push((a + b) / 2)) return;
    }
};

struct Print {
    streaming::In<double> x;
    uint32_t grid;

    void run()
    {
        uint32_t column = 0;
        for (double temperature; x.pop(temperature);) {
            std::printf("%7.3f%c", temperature, ++column % grid ? ' ' : '\n');
        }
    }
};
