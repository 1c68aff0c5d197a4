// Two boards, left and right, that stand in for real ones: the vendor's API over the user's designs in Verilator. The clock of each
// runs during its own calls only.
#include "Vleft.h"
#include "Vright.h"
#include "fpga.h"
#include "verilated.h"

enum { WRITE_CYCLES = 500, READ_CYCLES = 20, MOST_CYCLES = 100000 }; // before an access; until the interrupt

template <class Design> auto raised(Design &design, int) -> decltype(bool(design.irq)) { return design.irq; }
template <class Design> bool raised(Design &, long) { return false; } // this design has no interrupt

struct fpga {
    bool opened = false;
    virtual void cycle(bool rst, bool wr_en, bool rd_en, uint32_t addr, uint32_t wr_data) = 0;
    virtual uint32_t read() = 0;
    virtual bool irq() = 0;
    void idle(int cycles) {
        while (cycles--) cycle(false, false, false, 0, 0);
    }
};

template <class Design> struct Board final : fpga {
    VerilatedContext context;
    Design design{&context};

    void cycle(bool rst, bool wr_en, bool rd_en, uint32_t addr, uint32_t wr_data) override {
        design.rst = rst, design.wr_en = wr_en, design.rd_en = rd_en, design.addr = addr, design.wr_data = wr_data;
        for (int level : {0, 1}) {
            design.clk = level;
            design.eval();
        }
    }
    uint32_t read() override { return design.rd_data; }
    bool irq() override { return raised(design, 0); }
};

static Board<Vleft> left;
static Board<Vright> right;

fpga_t *fpgaOpen(int card) {
    if (card < 0 || card > 1) return nullptr;
    fpga_t *fpga = card ? static_cast<fpga_t *>(&right) : &left;
    if (fpga->opened) return nullptr;
    fpga->opened = true;
    for (int i = 0; i < 16; ++i) fpga->cycle(true, false, false, 0, 0);
    return fpga;
}

int fpgaWrite(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words) {
    fpga->idle(WRITE_CYCLES);
    for (int i = 0; i < words; ++i) fpga->cycle(false, true, false, addr + i, data[i]);
    return 0;
}

int fpgaRead(fpga_t *fpga, uint32_t *data, uint32_t addr, int words) {
    fpga->idle(READ_CYCLES);
    for (int i = 0; i < words; ++i) {
        fpga->cycle(false, false, true, addr + i, 0);
        data[i] = fpga->read();
    }
    return 0;
}

int fpgaWriteReg(fpga_t *fpga, uint32_t addr, uint32_t value) { return fpgaWrite(fpga, &value, addr, 1); }

uint32_t fpgaReadReg(fpga_t *fpga, uint32_t addr) {
    uint32_t value = 0;
    fpgaRead(fpga, &value, addr, 1);
    return value;
}

int fpgaWaitIrq(fpga_t *fpga) {
    int cycles = 0;
    while (!fpga->irq() && cycles++ < MOST_CYCLES) fpga->idle(1);
    return cycles < MOST_CYCLES ? 0 : -1;
}

void fpgaClose(fpga_t *fpga) { fpga->opened = false; }
