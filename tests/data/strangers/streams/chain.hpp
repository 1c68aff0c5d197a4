#pragma once
#include <cstdio>

#include "streaming.hpp"

struct Sensor {
    streaming::Out<uint32_t> y;
    uint32_t samples;
    void run() {
        for (uint32_t i = 0; i < samples; i++)
            if (!y.push(i)) return;
    }
};

struct Sum {
    streaming::In<uint32_t> x;
    void run() {
        unsigned long total = 0;
        for (uint32_t value; x.pop(value);) total += value;
        std::printf("%lu\n", total);
    }
};
