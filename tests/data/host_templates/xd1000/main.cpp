// Every call of the XD1000 template: words are sent, added up and received, and files that are no FPGA are opened too.
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "xd1000.hpp"

enum : uint32_t { DATA = 0x000, COUNT = 0x200, START = 0x201, SUM = 0x202, ASKED = 0x203, WORDS = 64 };

static uint32_t added(xd1000::Dma& dma, uint32_t count)
{
    const uint32_t one = 1;
    uint32_t sum;
    dma.send(COUNT, &count, sizeof count);
    dma.send(START, &one, sizeof one);
    dma.waitInterrupt();
    dma.receive(SUM, &sum, sizeof sum);
    return sum;
}

int main()
{
    const int nothing = open("/dev/null", O_RDWR);
    try {
        xd1000::Dma none(nothing);
    } catch (const std::invalid_argument& error) {
        std::printf("%s\n", error.what());
    }
    close(nothing);

    const int fpga = open(XD1000_DEVICE, O_RDWR);
    if (fpga < 0) return 1;
    {
        std::vector<uint32_t> words(WORDS), back(WORDS / 2), asked(1);
        for (uint32_t i = 0; i < WORDS; i++) words[i] = i;
        xd1000::Dma dma(fpga);
        dma.send(DATA, words);
        for (uint32_t count = 16; count <= WORDS; count += 16) std::printf("%u: %u\n", count, added(dma, count));
        dma.receive(DATA, back);
        for (uint32_t part = 0; part < 2; part++) dma.start(DATA + part * WORDS / 2, back.data(), back.size() * 4);
        dma.wait();
        std::printf("again %u\n", added(dma, WORDS));
        dma.receive(ASKED, asked);
        std::printf("%u transfers\n", asked[0]);
    }
    return close(fpga);
}
