// A word, and a strobe in the cycle in which it is due: the design takes it then, or never.
#pragma once
#include "ports/port.h"

template <class Pins> class StrobePort : public Port {
public:
    StrobePort(Pins pins, ClockDomain& clock) : Port(clock, Pins::word_bytes, 0, 0, 0), pins_(pins) { pins_.strobe() = 0; }
    bool addressed() const override { return false; }
    int64_t busy_from() const override { return open_ ? 0 : next_due(); }

    void put() override {
        open_ = next();
        pins_.strobe() = open_ != nullptr;
        if (open_) put_word(pins_.data(), word(*open_, ask(*open_, level(*open_))), word_bytes_);
    }
    void look() override {
        if (!open_) return;
        take(*open_);
        arrive(*open_, 1);
    }

private:
    Pins pins_;
    Transfer* open_ = nullptr;
};
