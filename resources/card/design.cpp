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
#if CARD_BESIDE
#include "beside.h"
#include "svdpi.h"
#endif

void Vcard___024root___eval(Vcard___024root*);

namespace {

#ifdef CARD_IRQ
constexpr bool has_interrupt_pin = true;
#else
constexpr bool has_interrupt_pin = false;
#endif

#if CARD_BESIDE
Beside* asking = nullptr;  // the one whose design is being evaluated
#endif

class Simulated final : public Design {
public:
#if CARD_BESIDE
    explicit Simulated(const std::vector<std::string>& beside)
        : Design(CARD_CLOCKS, CARD_TAP_BITS, CARD_STREAMS, has_interrupt_pin), beside_(beside, CARD_BESIDE_CLOCKED) {
#else
    explicit Simulated(const std::vector<std::string>&) : Design(CARD_CLOCKS, CARD_TAP_BITS, CARD_STREAMS, has_interrupt_pin) {
#endif
        context_.commandArgs(0, static_cast<const char**>(nullptr));  // what asks for $test$plusargs is told that there are none
#if CARD_WAVES
        context_.traceEverOn(true);
#endif
        for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_clock(model_, clock, 0);
    }
    ~Simulated() override { model_.final(); }

    std::vector<std::unique_ptr<Port>> make_ports(std::vector<ClockDomain>& clocks) override {
        domains_ = &clocks;
        return ::make_ports(model_, clocks);
    }

    void reset() override {
        if (!CARD_HAS_RESET) {
            falls((*domains_)[0]);
            return model_.eval();
        }
        for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_reset(model_, clock, true);
        ClockDomain domain = (*domains_)[0];
        for (domain.cycle = -reset_cycles; domain.cycle < 0; ++domain.cycle) {
            falls(domain);
            for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_clock(model_, clock, 0);
            model_.eval();
            rises(domain);
            for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_clock(model_, clock, 1);
            model_.eval();
        }
        for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_reset(model_, clock, false);
    }

    void settle() override {
        foresee();
        falls((*domains_)[0]);
        set_clock(model_, 0, 0);
        evaluate();
    }
    void edge() override {
        rises((*domains_)[0]);
        set_clock(model_, 0, 1);
        evaluate();
    }
#if CARD_BESIDE
    void stays(int64_t cycles) override {
        if (!CARD_BESIDE_DIRECT) return;
        stays_from_ = (*domains_)[0].cycle;
        stays_to_ = stays_from_ + cycles;
    }
#endif
    void set_clocks(const std::vector<bool>& which, int level) override {
        for (int clock = CARD_CLOCKS - 1; clock >= 0; --clock) {
            if (!which[size_t(clock)]) continue;
            if (level) rises((*domains_)[size_t(clock)]);
            else falls((*domains_)[size_t(clock)]);
            set_clock(model_, clock, level);
        }
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

#if CARD_BESIDE
    // When what is evaluated next happens, in the simulator beside: a clock falls in the midst of its cycle, or just after the
    // last edge of another. What the design gives is looked at right before the next edge, where that is known and nothing
    // of ours answers it meanwhile.
    void falls(const ClockDomain& clock) { comes(fall(clock)); }
    void rises(const ClockDomain& clock) { comes(rise(clock)); }
    void comes(const BesideStep& step) {
        asking = &beside_;
        beside_.moment(step);
    }
    BesideStep fall(const ClockDomain& clock) const {
        const int64_t at = std::max(midst(clock, clock.cycle), last_edge_ps_ + 1);
        return moment(at, CARD_BESIDE_DIRECT ? clock.start(clock.cycle + 1) - 1 : at, true);
    }
    BesideStep rise(const ClockDomain& clock) {
        last_edge_ps_ = clock.start(clock.cycle + 1);
        const bool known = CARD_BESIDE_DIRECT && CARD_CLOCKS == 1;
        return moment(last_edge_ps_, known ? midst(clock, clock.cycle + 1) - 1 : last_edge_ps_, false);
    }
    static int64_t midst(const ClockDomain& clock, int64_t cycle) {
        return clock.start(cycle) + (clock.start(cycle + 1) - clock.start(cycle)) / 2;
    }
    // On the virtual clock, which begins after the reset.
    BesideStep moment(int64_t at_ps, int64_t look_ps, bool inputs_first) const {
        const int64_t fs = 1000, begin_ps = CARD_HAS_RESET ? reset_cycles * (*domains_)[0].start(1) : 0;
        return {(at_ps + begin_ps) * fs, (look_ps + begin_ps) * fs, inputs_first};
    }
    void foresee() {
        ClockDomain clock = (*domains_)[0];
        if (clock.cycle <= stays_from_ || clock.cycle + 4 > stays_to_ || beside_.foresees()) return;
        const int64_t last_edge_ps = last_edge_ps_;
        std::vector<BesideStep> steps;
        for (const int64_t to = std::min(stays_to_, clock.cycle + 256); clock.cycle < to; ++clock.cycle) {
            steps.push_back(fall(clock));
            steps.push_back(rise(clock));
        }
        last_edge_ps_ = last_edge_ps;
        beside_.foresee(steps);
    }
#else
    void falls(const ClockDomain&) {}
    void rises(const ClockDomain&) {}
    void foresee() {}
#endif

    template <std::size_t words>
    static const uint32_t* words_of(const VlWide<words>& value, uint32_t*) {
        return value.data();
    }
    static const uint32_t* words_of(uint64_t value, uint32_t* spare) {
        spare[0] = uint32_t(value);
        spare[1] = uint32_t(value >> 32);
        return spare;
    }

    static constexpr int reset_cycles = 16;

    const std::vector<ClockDomain>* domains_ = nullptr;
#if CARD_BESIDE
    int64_t last_edge_ps_ = INT64_MIN / 4;
    int64_t stays_from_ = 0, stays_to_ = 0;  // cycles in which the card lets the inputs be
    Beside beside_;
#endif
    VerilatedContext context_;
    Vcard model_{&context_};
#if CARD_WAVES
    std::unique_ptr<Waves> waves_;  // ends before the model
#endif
};

}  // namespace

extern "C" __attribute__((visibility("default"))) Design* rcw_make_design(const std::vector<std::string>& beside) {
    return new Simulated(beside);
}

#if CARD_BESIDE
extern "C" void recap_beside(const svBitVecVal* clocks, const svBitVecVal* given, svBitVecVal* seen) {
    asking->exchange(clocks, given, seen);
}
#endif
