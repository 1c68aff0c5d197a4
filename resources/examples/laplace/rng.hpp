// MT19937 (Matsumoto and Nishimura 1998).
#pragma once
#include "streaming.hpp"

struct MersenneTwister {
    streaming::Out<uint32_t> y;
    uint32_t seed;

    void run()
    {
        static constexpr uint32_t size = 624, middle = 397;
        uint32_t state[size];
        state[0] = seed;
        for (uint32_t i = 1; i < size; i++) state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
        for (uint32_t i = 0;; i = i == size - 1 ? 0 : i + 1) {
            const uint32_t next = i == size - 1 ? 0 : i + 1, far = i < size - middle ? i + middle : i + middle - size;
            const uint32_t joined = (state[i] & 0x80000000u) | (state[next] & 0x7fffffffu);
            state[i] = state[far] ^ (joined >> 1) ^ (0x9908b0dfu & -(joined & 1));
            uint32_t value = state[i];
            value ^= value >> 11;
            value ^= (value << 7) & 0x9d2c5680u;
            value ^= (value << 15) & 0xefc60000u;
            if (!y.push(value ^ (value >> 18))) return; // nobody wants more
        }
    }
};
