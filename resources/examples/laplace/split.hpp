#pragma once
#include "streaming.hpp"

// The first form: number by number, with a check sum (CRC-32) of all that went by.
struct SplitChecked {
    streaming::In<uint32_t> x;
    streaming::Out<uint32_t> left, right;
    uint32_t sum = ~0u;

    void run()
    {
        bool to_left = true, left_wanted = true, right_wanted = true;
        for (uint32_t number; (left_wanted || right_wanted) && x.pop(number); to_left = !to_left) {
            for (unsigned bit = 0; bit < 32; bit++) {
                const bool odd = (sum ^ (number >> bit)) & 1;
                sum >>= 1;
                if (odd) sum ^= 0xedb88320u;
            }
            if (to_left) left_wanted = left_wanted && left.push(number);
            else right_wanted = right_wanted && right.push(number);
        }
    }
};

// The fixed form: what waits is taken at once and dealt out, with no sum: nobody reads it.
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
