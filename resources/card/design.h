// The Verilated design: its clocks, resets and taps. card_port.h is generated for each design: it names the signals, and
// makes the drivers of its ports (make_ports).
#pragma once
#include <cstdint>

#include "Vcard.h"
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

    // The packed tap port as 32-bit words, least significant first; `spare` is room for a narrow port's.
    const uint32_t* taps(uint32_t* spare) const {
#if CARD_TAP_BITS > 64
        (void)spare;
        return model.CARD_TAPS.data();
#elif CARD_TAP_BITS > 0
        const uint64_t value = model.CARD_TAPS;
        spare[0] = uint32_t(value);
        spare[1] = uint32_t(value >> 32);
        return spare;
#else
        return spare;
#endif
    }

    Vcard model;
};
