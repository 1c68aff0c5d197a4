// Every call of the PROCStar III template: words are written, added up and read, by an object on the stack and by one that a
// factory made.
#include <cstdio>
#include <exception>
#include <vector>

#include "procstar.hpp"

enum : uint32_t { DATA = 0x000, COUNT = 0x200, START = 0x201, SUM = 0x202, WORDS = 64 };

static uint32_t added(procstar::Fpga& fpga, uint32_t count)
{
    fpga.write(COUNT, count);
    fpga.write(START, 1);
    fpga.waitInterrupt();
    return fpga.read(SUM);
}

int main()
{
    std::vector<uint32_t> words(WORDS), back(WORDS);
    for (uint32_t i = 0; i < WORDS; i++) words[i] = i;
    {
        procstar::Fpga fpga(0, "sum.rbf");
        fpga.write(DATA, words.data(), WORDS);
        for (uint32_t count = 16; count <= WORDS; count += 16) std::printf("%u: %u\n", count, added(fpga, count));
        fpga.read(DATA, back.data(), WORDS / 2);
    }
    auto fpga = procstar::open(0, "sum.rbf");
    for (uint32_t part = 0; part < 4; part++)
        fpga->write(DATA + part * WORDS / 4, back.data(), WORDS / 4, procstar::Mode::nonblocking);
    fpga->wait();
    std::printf("again %u\n", added(*fpga, WORDS));
    try {
        procstar::Fpga none(9, "sum.rbf");
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
    }
    return 0;
}
