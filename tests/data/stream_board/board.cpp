// A board that stands in for one: the vendor's API over the user's design in Verilator, as a plain shared library.
// The design's clock runs during calls only; the link keeps a few words that nobody has received yet.
#include <cstdlib>
#include <deque>

#include "Vboard.h"
#include "fpga.h"
#include "verilated.h"

enum { KEPT_WORDS = 4, MOST_CYCLES = 1000000 };

struct fpga {
    VerilatedContext context;
    Vboard design{&context};
    std::deque<uint16_t> kept;

    bool cycle() {  // whether the design took a word
        design.clk = 0;
        design.back_tready = kept.size() < KEPT_WORDS;
        design.eval();
        const bool took = design.tvalid && design.tready;
        if (design.back_tvalid && design.back_tready) kept.push_back(design.back_tdata);
        design.clk = 1;
        design.eval();
        return took;
    }
};

static fpga_t *opened;

fpga_t *fpgaOpen(int card) {
    if (card != 0 || opened) return nullptr;
    opened = new fpga;
    opened->design.rst = 1;
    for (int i = 0; i < 16; ++i) opened->cycle();
    opened->design.rst = 0;
    opened->kept.clear();
    return opened;
}

int fpgaSend(fpga_t *fpga, const uint16_t *data, int words) {
    for (int i = 0; i < words; ++i) {
        fpga->design.tdata = data[i];
        fpga->design.tvalid = 1;
        for (int n = 0; !fpga->cycle(); ++n)
            if (n == MOST_CYCLES) return -1;
        fpga->design.tvalid = 0;
    }
    return words;
}

int fpgaReceive(fpga_t *fpga, uint16_t *data, int words) {
    for (int i = 0; i < words; ++i) {
        for (int n = 0; fpga->kept.empty(); ++n, fpga->cycle())
            if (n == MOST_CYCLES) return -1;
        data[i] = fpga->kept.front();
        fpga->kept.pop_front();
    }
    return words;
}

void fpgaClose(fpga_t *fpga) {
    fpga->design.final();
    delete fpga;
    opened = nullptr;
}
