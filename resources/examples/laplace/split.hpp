#pragma once
#include <cstring>

#include "streaming.hpp"

// The first form: each number is carried over byte by byte.
struct SplitByByte {
    streaming::In<uint32_t> x;
    streaming::Out<uint32_t> left, right;

    void run()
    {
        bool to_left = true, left_wanted = true, right_wanted = true;
        for (uint32_t number; (left_wanted || right_wanted) && x.pop(number); to_left = !to_left) {
            uint32_t copy = 0;
            for (unsigned byte = 0; byte < sizeof number; byte++)
                for (unsigned bit = 0; bit < 8; bit++) copy |= number & (1u << (8 * byte + bit));
            if (to_left) left_wanted = left_wanted && left.push(copy);
            else right_wanted = right_wanted && right.push(copy);
        }
    }
};

// The mended form: what waits is taken at once, and dealt out.
struct SplitByChunk {
    streaming::In<uint32_t> x;
    streaming::Out<uint32_t> left, right;

    void run()
    {
        static constexpr size_t most = 64;
        uint32_t numbers[most], dealt[2][most];
        unsigned side = 0;
        bool wanted[2] = {true, true};
        for (size_t count; (wanted[0] || wanted[1]) && (count = x.pop(numbers, most));) {
            size_t of[2] = {0, 0};
            for (size_t i = 0; i < count; i++, side ^= 1) dealt[side][of[side]++] = numbers[i];
            wanted[0] = wanted[0] && left.push(dealt[0], of[0]);
            wanted[1] = wanted[1] && right.push(dealt[1], of[1]);
        }
    }
};
