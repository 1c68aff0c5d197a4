// The Verilated design behind the platform's memory-style port. card_port.h is generated for each design: it names the
// port's signals (CARD_CLOCK, ...), and says whether there is an interrupt (CARD_IRQ) and a tap port (CARD_TAPS).
#pragma once
#include <cstdint>

#include "Vcard.h"
#include "card_port.h"
#include "verilated.h"

class Design {
public:
    static constexpr int tap_words = (CARD_TAP_BITS + 31) / 32;

    explicit Design(VerilatedContext* context) : model_(context) {
        quiet();
        model_.CARD_CLOCK = 0;
    }
    ~Design() { model_.final(); }

    // The reset sequence: sixteen cycles with the reset active, which nothing counts.
    void reset() {
        quiet();
        model_.CARD_RESET = CARD_RESET_ACTIVE;
        for (int i = 0; i < 16; ++i) {
            settle();
            edge();
        }
        model_.CARD_RESET = !CARD_RESET_ACTIVE;
    }

    void put_write(uint64_t address, uint64_t word) {
        model_.CARD_WRITE_ADDRESS = address & low_bits(CARD_WRITE_ADDRESS_BITS);
        model_.CARD_WRITE_DATA = word;
        model_.CARD_WRITE_ENABLE = 1;
    }
    void put_read(uint64_t address) {
        model_.CARD_READ_ADDRESS = address & low_bits(CARD_READ_ADDRESS_BITS);
        model_.CARD_READ_ENABLE = 1;
    }
    void quiet() {
        model_.CARD_WRITE_ENABLE = 0;
        model_.CARD_READ_ENABLE = 0;
        model_.CARD_WRITE_DATA = 0;
        model_.CARD_WRITE_ADDRESS = 0;
        model_.CARD_READ_ADDRESS = 0;
    }

    // A cycle is settle(), then edge(): its inputs are there before the rising edge that ends it.
    void settle() {
        model_.CARD_CLOCK = 0;
        model_.eval();
    }
    void edge() {
        model_.CARD_CLOCK = 1;
        model_.eval();
    }

    uint64_t read_word() const { return uint64_t(model_.CARD_READ_DATA); }

    bool interrupt() const {
#ifdef CARD_IRQ
        return model_.CARD_IRQ;
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
        return model_.CARD_TAPS.data();
#elif CARD_TAP_BITS > 0
        const uint64_t value = model_.CARD_TAPS;
        spare[0] = uint32_t(value);
        spare[1] = uint32_t(value >> 32);
        return spare;
#else
        return spare;
#endif
    }

private:
    // A port has as many address lines as it has: higher bits go nowhere.
    static constexpr uint64_t low_bits(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

    Vcard model_;
};
