#pragma once
#include <cstdint>
#include <vector>

#include "board.hpp"

struct Level {
    int32_t peak;
    uint32_t sum;
};

// Measures blocks of samples on the FPGA.
class Meter {
public:
    static constexpr std::size_t block_words = 1024;

    explicit Meter(lx::Board &board) : board_(board) {}
    Level measure(const std::vector<int32_t> &samples);

private:
    lx::Board &board_;
};
