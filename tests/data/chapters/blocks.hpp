#pragma once
#include <cstdint>

#include "streaming.hpp"

using In = streaming::In<uint16_t>;
using Out = streaming::Out<uint16_t>;

inline void worked(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) asm volatile("");
}

__attribute__((noinline)) inline void made(Out& out, uint32_t count, uint32_t work)
{
    for (uint32_t i = 0; i < count; i++) {
        worked(work * (i / 50 % 2 + 1)); // faster and slower in turn
        if (!out.push(uint16_t(i))) return;
    }
}

__attribute__((noinline)) inline void passed(In& in, Out& out, uint32_t work)
{
    for (uint16_t value; in.pop(value);) {
        worked(work + value % 8 * work / 8);
        if (!out.push(value)) return;
    }
}

__attribute__((noinline)) inline void dealt(In& in, Out& upper, Out& lower, uint32_t work)
{
    bool up = true;
    for (uint16_t value; in.pop(value); up = !up) {
        worked(work);
        if (!(up ? upper : lower).push(value)) return;
    }
}

__attribute__((noinline)) inline void merged(In& upper, In& lower, Out& out, uint32_t work)
{
    for (uint16_t value; upper.pop(value);) {
        worked(work);
        if (!out.push(value)) return;
        if (!lower.pop(value) || !out.push(value)) return;
    }
}

__attribute__((noinline)) inline void taken(In& in, uint32_t work)
{
    for (uint16_t value; in.pop(value);) worked(work);
}

struct Sensor { Out y; uint32_t count, work; void run() { made(y, count, work); } };
struct Source { Out out; uint32_t count, work; void run() { made(out, count, work); } };
struct LPF { In x; Out y; uint32_t work; void run() { passed(x, y, work); } };
struct Accumulate { In acc_in; Out acc_out; uint32_t work; void run() { passed(acc_in, acc_out, work); } };
struct Pass { In in; Out out; uint32_t work; void run() { passed(in, out, work); } };
struct Split { In in; Out upper, lower; uint32_t work; void run() { dealt(in, upper, lower, work); } };
struct Merge { In upper, lower; Out out; uint32_t work; void run() { merged(upper, lower, out, work); } };
struct Enqueue { In in1, in2; Out out; uint32_t work; void run() { merged(in1, in2, out, work); } };
struct WriteFile { In x; uint32_t work; void run() { taken(x, work); } };
struct Sink { In in; uint32_t work; void run() { taken(in, work); } };
