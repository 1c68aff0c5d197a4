// The data of the time-domain FIR benchmark, and where the FPGA keeps them. Sizes come from the project's settings.
#ifndef TDFIR_HPP
#define TDFIR_HPP
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "procstar.hpp"

constexpr uint32_t OUTPUT_WORDS = INPUT_WORDS + KERNEL_WORDS - 1;
constexpr uint32_t BATCHES = FILTERS / BATCH;
constexpr uint32_t INPUTS = 0, KERNELS = 1u << 28, OUTPUTS = 2u << 28, FINISHED = 3u << 28;
static_assert(FILTERS % BATCH == 0, "FILTERS is a multiple of BATCH");

using Words = std::vector<uint32_t>;

// Pseudo-random words, the same for every form.
inline Words random_words(uint32_t seed, size_t count)
{
    Words words(count);
    for (uint32_t& word : words) word = (seed = seed * 1664525 + 1013904223) >> 8;
    return words;
}

struct Data {
    Words inputs = random_words(1, size_t(FILTERS) * INPUT_WORDS);
    Words kernels = random_words(2, size_t(FILTERS) * KERNEL_WORDS);
    Words outputs = Words(size_t(FILTERS) * OUTPUT_WORDS);

    const uint32_t* input(uint32_t batch) const { return &inputs[size_t(batch) * BATCH * INPUT_WORDS]; }
    const uint32_t* kernel(uint32_t batch) const { return &kernels[size_t(batch) * BATCH * KERNEL_WORDS]; }
    uint32_t* output(uint32_t batch) { return &outputs[size_t(batch) * BATCH * OUTPUT_WORDS]; }

    void print(std::chrono::steady_clock::duration took) const
    {
        uint64_t sum = 0;
        for (uint32_t word : outputs) sum = sum * 31 + word;
        std::printf("sum %" PRIu64 "\n", sum);
        std::printf("took %lld ns\n", static_cast<long long>(std::chrono::nanoseconds(took).count()));
    }
};

// All FPGAs of the card, open.
inline std::vector<procstar::Fpga*> all_fpgas()
{
    std::vector<procstar::Fpga*> fpgas;
    for (int number = 0; number < FPGAS; number++) {
        #pragma recap openFpga overhead(initialize)
        fpgas.push_back(new procstar::Fpga(number, "tdfir.rbf"));
    }
    return fpgas;
}
#endif
