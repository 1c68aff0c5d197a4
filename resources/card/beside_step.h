// What the card tells a simulator beside it: how many steps, and each of them, with the design's clocks and inputs as words
// behind it, least significant first. It answers each with the outputs; once at first, with how many words there are of
// clocks, inputs and outputs.
#pragma once
#include <cstdint>

struct BesideStep {
    int64_t at_fs, look_fs;  // when clocks and inputs change, and when the outputs are looked at; in the simulator's time
    uint64_t given_first;    // whether the inputs change before the clocks, else after them
};
