// The part of a card that is compiled with each design, into a library: card_port.h, generated for it, names its signals and makes the
// drivers of its ports (make_ports).
#include <cstring>

#include "Vcard.h"
#include "Vcard__Syms.h"
#include "design.h"
#include "verilated.h"
#include "card_port.h"
#if CARD_WAVES
#include "waves.h"
#endif

void Vcard___024root___eval(Vcard___024root*);

namespace {

#ifdef CARD_IRQ
constexpr bool has_interrupt_pin = true;
#else
constexpr bool has_interrupt_pin = false;
#endif

class Simulated final : public Design {
public:
    Simulated() : Design(CARD_CLOCKS, CARD_TAP_BITS, CARD_STREAMS, has_interrupt_pin) {
#if CARD_WAVES
        context_.traceEverOn(true);
#endif
        for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_clock(model_, clock, 0);
    }
    ~Simulated() override { model_.final(); }

    std::vector<std::unique_ptr<Port>> make_ports(std::vector<ClockDomain>& clocks) override {
        return ::make_ports(model_, clocks);
    }

    void reset() override {
        if (!CARD_HAS_RESET) return model_.eval();
        for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_reset(model_, clock, true);
        for (int i = 0; i < 16; ++i) {
            for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_clock(model_, clock, 0);
            model_.eval();
            for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_clock(model_, clock, 1);
            model_.eval();
        }
        for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_reset(model_, clock, false);
    }

    void settle() override {
        set_clock(model_, 0, 0);
        evaluate();
    }
    void edge() override {
        set_clock(model_, 0, 1);
        evaluate();
    }
    void set_clocks(const std::vector<bool>& which, int level) override {
        for (int clock = 0; clock < CARD_CLOCKS; ++clock)
            if (which[size_t(clock)]) set_clock(model_, clock, level);
        evaluate();
    }

    bool interrupt() const override {
#ifdef CARD_IRQ
        return model_.CARD_IRQ;
#else
        return false;
#endif
    }

    const uint32_t* taps(uint32_t* spare) const override {
#if CARD_TAP_BITS > 0
        return words_of(model_.CARD_TAPS, spare);
#else
        return spare;
#endif
    }
    const uint32_t* valid(uint32_t* spare) const override {
#if CARD_STREAMS > 0
        return words_of(model_.recap_valid, spare);
#else
        return spare;
#endif
    }
    const uint32_t* ready(uint32_t* spare) const override {
#if CARD_STREAMS > 0
        return words_of(model_.recap_ready, spare);
#else
        return spare;
#endif
    }

    const uint8_t* bytes() const override { return reinterpret_cast<const uint8_t*>(model_.rootp->vlSymsp); }
    size_t size() const override { return CARD_WHOLE ? sizeof(Vcard__Syms) : 0; }

    std::vector<uint8_t> state() const override {
        Vcard__Syms& syms = *model_.rootp->vlSymsp;
        const auto* from = reinterpret_cast<const uint8_t*>(&syms);
        std::vector<uint8_t> copy(from, from + sizeof syms);
        blank_idle(syms, [&](const void* at, size_t bytes) {
            std::memset(copy.data() + (static_cast<const uint8_t*>(at) - from), 0, bytes);
        });
        return copy;
    }

    bool finished() const override { return context_.gotFinish(); }

#if CARD_WAVES
    void open_waves(const std::string& path, int64_t most_bytes) override {
        waves_ = std::make_unique<Waves>(most_bytes);
        model_.trace(&waves_->vcd, 99);
        waves_->open(path);
    }
    bool wave(int64_t ps) override { return waves_->dump(ps); }
    void close_waves() override {
        if (waves_) waves_->vcd.close();
    }
#else
    void open_waves(const std::string&, int64_t) override { throw Failure("the card was built without waveforms: build it anew"); }
    bool wave(int64_t) override { return false; }
    void close_waves() override {}
#endif

private:
    // What stands around it in Verilator's own function, behind two locks, is for objects of classes, threads and waves.
    void evaluate() {
        if (CARD_WHOLE && !CARD_WAVES) Vcard___024root___eval(model_.rootp);
        else model_.eval();
    }

    template <std::size_t words>
    static const uint32_t* words_of(const VlWide<words>& value, uint32_t*) {
        return value.data();
    }
    static const uint32_t* words_of(uint64_t value, uint32_t* spare) {
        spare[0] = uint32_t(value);
        spare[1] = uint32_t(value >> 32);
        return spare;
    }

    VerilatedContext context_;
    Vcard model_{&context_};
#if CARD_WAVES
    std::unique_ptr<Waves> waves_;  // ends before the model
#endif
};

}  // namespace

extern "C" __attribute__((visibility("default"))) Design* rcw_make_design() { return new Simulated; }
