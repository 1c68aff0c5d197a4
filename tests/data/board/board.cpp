// A board that stands in for one: the vendor's API over the user's design in Verilator, as a plain shared library.
// The design's clocks run during calls only: CALL_CYCLES before a write, READ_CYCLES before a read (as many, unless a
// build says otherwise), and WORD_CYCLES for each word, as on a slow bus. A clock `fast` of the design's makes three
// cycles while the first makes two, unless RCW_BOARD_STANDS is set. With BOARD_HZ the clock goes on between calls as
// well: a call finds as many cycles as the time since the board was opened has, or as many as before where the simulator
// does not keep up.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "Vboard.h"
#include "fpga.h"
#include "verilated.h"

enum { CALL_CYCLES = 500 };

template <class Design> auto fast_edge(Design &design, int level) -> decltype(void(design.fast)) { design.fast = level; }
template <class Design> void fast_edge(Design &, long) {}
template <class Design> auto raised(Design &design, int) -> decltype(int(design.irq)) { return design.irq; }
template <class Design> int raised(Design &, long) { return -1; } // this design has no interrupt

struct fpga {
    VerilatedContext context;
    Vboard design{&context};

    bool stands = std::getenv("RCW_BOARD_STANDS");
    long cycles = 0;
    std::mutex calls; // one at a time
    const std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();

    void cycle() {
        design.clk = 0;
        design.eval();
        for (int edges = stands ? 0 : 1 + cycles % 2; edges--;) {
            fast_edge(design, 0);
            design.eval();
            fast_edge(design, 1);
            design.eval();
        }
        design.clk = 1;
        design.eval();
        ++cycles;
    }
    void idle(long cycles) {
        design.wr_en = design.rd_en = 0;
        for (long i = 0; i < cycles; ++i) cycle();
    }
    void begin_access(long most = CALL_CYCLES) {
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - opened;
        const long due = long(since.count() * BOARD_HZ) - cycles;
        idle(BOARD_HZ ? std::clamp(due, 0L, most) : most);
    }
};

static fpga_t *opened;

fpga_t *fpgaOpen(int card) {
    if (card != 0 || opened) return nullptr;
    opened = new fpga;
    opened->design.rst = 1;
    opened->idle(16);
    opened->design.rst = 0;
    return opened;
}

int fpgaConfigure(fpga_t *fpga, const char *) { return fpga ? 0 : -1; }

int fpgaWrite(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words) {
    if (!fpga || words < 0) return -1;
    const std::lock_guard<std::mutex> alone(fpga->calls);
    fpga->begin_access();
    for (int i = 0; i < words; ++i) {
        fpga->design.addr = addr + i;
        fpga->design.wr_data = data[i];
        fpga->design.wr_en = 1;
        fpga->cycle();
        fpga->idle(WORD_CYCLES - 1);
    }
    return 0;
}

int fpgaRead(fpga_t *fpga, uint32_t *data, uint32_t addr, int words) {
    if (!fpga || words < 0) return -1;
    const std::lock_guard<std::mutex> alone(fpga->calls);
    fpga->begin_access(READ_CYCLES);
    for (int i = 0; i < words; ++i) {
        fpga->design.addr = addr + i;
        fpga->design.rd_en = 1;
        fpga->cycle();
        data[i] = fpga->design.rd_data;
        fpga->idle(WORD_CYCLES - 1);
    }
    return 0;
}

int fpgaWriteReg(fpga_t *fpga, uint32_t addr, uint32_t value) { return fpgaWrite(fpga, &value, addr, 1); }

uint32_t fpgaReadReg(fpga_t *fpga, uint32_t addr) {
    uint32_t value = 0;
    fpgaRead(fpga, &value, addr, 1);
    return value;
}

int fpgaWriteAsync(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words) {
    return fpgaWrite(fpga, data, addr, words);
}

int fpgaWait(fpga_t *fpga) { return fpga ? 0 : -1; }

int fpgaWaitIrq(fpga_t *fpga) {
    for (;; std::this_thread::sleep_for(std::chrono::microseconds(200))) {
        const std::lock_guard<std::mutex> alone(fpga->calls);
        fpga->begin_access();
        if (const int level = raised(fpga->design, 0)) return level < 0 ? -1 : 0;
    }
}

void fpgaClose(fpga_t *fpga) {
    if (!fpga) return;
    fpga->design.final();
    delete fpga;
    opened = nullptr;
}
