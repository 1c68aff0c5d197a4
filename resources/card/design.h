// The Verilated design: its clocks, resets and taps. card_port.h is generated for each design: it names the signals, and
// makes the drivers of its ports (make_ports).
#pragma once
#include <cstdint>

#include <vector>

#include "Vcard.h"
#include "Vcard__Syms.h"
#include "verilated.h"
#include "ports/port.h"
#include "card_port.h"

class Design {
public:
    static constexpr int tap_words = (CARD_TAP_BITS + 31) / 32;

    explicit Design(VerilatedContext* context) : model(context) {
        for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_clock(model, clock, 0);
    }
    ~Design() { model.final(); }

    // The reset sequence: sixteen cycles of every clock with the resets active, which nothing counts.
    void reset() {
        if (!CARD_HAS_RESET) return model.eval();
        for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_reset(model, clock, true);
        for (int i = 0; i < 16; ++i) {
            for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_clock(model, clock, 0);
            model.eval();
            for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_clock(model, clock, 1);
            model.eval();
        }
        for (int clock = 0; clock < CARD_CLOCKS; ++clock) set_reset(model, clock, false);
    }

    // A cycle of the only clock is settle(), then edge(): its inputs are there before the rising edge that ends it.
    void settle() {
        set_clock(model, 0, 0);
        model.eval();
    }
    void edge() {
        set_clock(model, 0, 1);
        model.eval();
    }

    bool interrupt() const {
#ifdef CARD_IRQ
        return model.CARD_IRQ;
#else
        return false;
#endif
    }

    static constexpr bool has_interrupt() {
#ifdef CARD_IRQ
        return true;
#else
        return false;
#endif
    }

    // The packed tap port as 32-bit words, least significant first; `spare` is room for a narrow port's. So are valid and
    // ready of the streams.
    const uint32_t* taps(uint32_t* spare) const {
#if CARD_TAP_BITS > 0
        return words_of(model.CARD_TAPS, spare);
#else
        return spare;
#endif
    }
    static constexpr size_t stream_words = (CARD_STREAMS + 31) / 32;
    const uint32_t* valid(uint32_t* spare) const {
#if CARD_STREAMS > 0
        return words_of(model.recap_valid, spare);
#else
        return spare;
#endif
    }
    const uint32_t* ready(uint32_t* spare) const {
#if CARD_STREAMS > 0
        return words_of(model.recap_ready, spare);
#else
        return spare;
#endif
    }

    // All that the design remembers, but for what no stream ever depends on.
    std::vector<uint8_t> state() {
        Vcard__Syms& syms = *model.rootp->vlSymsp;
        const auto* from = reinterpret_cast<const uint8_t*>(&syms);
        std::vector<uint8_t> copy(from, from + sizeof syms);
        blank_idle(syms, [&](const void* at, size_t bytes) {
            std::memset(copy.data() + (static_cast<const uint8_t*>(at) - from), 0, bytes);
        });
        return copy;
    }

    Vcard model;

private:
    template <std::size_t words>
    static const uint32_t* words_of(const VlWide<words>& value, uint32_t*) {
        return value.data();
    }
    static const uint32_t* words_of(uint64_t value, uint32_t* spare) {
        spare[0] = uint32_t(value);
        spare[1] = uint32_t(value >> 32);
        return spare;
    }
};
