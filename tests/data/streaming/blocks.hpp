#pragma once
#include <cstdio>

#include "streaming.hpp"

struct Count {
    streaming::Out<uint32_t> y;
    uint32_t most;

    void run()
    {
        for (uint32_t i = 0; i < most; i++)
            if (!y.push(i)) return;
    }
};

struct Scale {
    streaming::In<uint32_t> x;
    streaming::Out<uint32_t> y;
    uint32_t factor;

    void run()
    {
        for (uint32_t value; x.pop(value);)
            if (!y.push(value * factor)) return;
    }
};

struct Print {
    streaming::In<uint32_t> x;

    void run()
    {
        unsigned long count = 0, sum = 0;
        for (uint32_t value; x.pop(value);) sum += value * ++count;
        std::printf("%lu %lu\n", count, sum);
    }
};

struct First {
    streaming::In<uint32_t> x;
    uint32_t most;

    void run()
    {
        unsigned long sum = 0;
        uint32_t value;
        for (uint32_t i = 0; i < most && x.pop(value); i++) sum += value;
        std::printf("%lu\n", sum);
    }
};

// All of one, then all of the other.
struct Both {
    streaming::Out<uint32_t> first, second;
    uint32_t most;

    void run()
    {
        for (uint32_t i = 0; i < most; i++)
            if (!first.push(i)) return;
        for (uint32_t i = 0; i < most; i++)
            if (!second.push(i)) return;
    }
};

struct Join {
    streaming::In<uint32_t> x, y;

    void run()
    {
        for (uint32_t one, other; y.pop(other) && x.pop(one);) {}
    }
};
