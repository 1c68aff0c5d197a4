// Memory style: an address and an enable for every word; the design never stalls.
#pragma once
#include "port.h"

template <class Pins> class MemoryPort : public Port {
public:
    MemoryPort(Pins pins, ClockDomain& clock)
        : Port(clock, Pins::word_bytes, 0, 0, Pins::read_delay > 1 ? Pins::read_delay - 1 : 0), pins_(pins) {
        quiet();
    }
    int64_t busy_from() const override { return asked_ || !samples_.empty() ? 0 : next_due(); }
    int64_t address_step() const override { return Pins::address_step; }

    void put() override {
        if (asked_) quiet();
        asked_ = next();
        if (!asked_) return;
        Transfer& t = *asked_;
        index_ = ask(t, level(t));
        const uint64_t address = uint64_t(t.address + index_ * Pins::address_step);
        if (t.send) {
            pins_.write_address() = low_bits(address, Pins::write_address_bits);
            put_word(pins_.write_data(), word(t, index_), word_bytes_);
            pins_.write_enable() = 1;
        } else {
            pins_.read_address() = low_bits(address, Pins::read_address_bits);
            pins_.read_enable() = 1;
        }
    }

    void look() override {
        if (!asked_) return;
        if (asked_->send) arrive(*asked_, 1);
        else if (Pins::read_delay == 0) sample({clock_.cycle, asked_, index_});
        else samples_.push_back({clock_.cycle + (Pins::read_delay > 1 ? Pins::read_delay - 1 : 0), asked_, index_});
    }

    void edge() override {
        while (!samples_.empty() && samples_.front().cycle <= clock_.cycle) {
            sample(samples_.front());
            samples_.pop_front();
        }
    }

private:
    struct Sample {
        int64_t cycle;  // sampled right after this cycle's edge
        Transfer* transfer;
        int64_t index;
    };

    void sample(const Sample& s) {
        get_word(pins_.read_data(), word(*s.transfer, s.index), word_bytes_);
        arrive(*s.transfer, 1);
    }

    void quiet() {
        static const uint8_t zero[256] = {};
        pins_.write_enable() = 0;
        pins_.read_enable() = 0;
        put_word(pins_.write_data(), zero, word_bytes_);
        pins_.write_address() = 0;
        pins_.read_address() = 0;
    }

    Pins pins_;
    Transfer* asked_ = nullptr;
    int64_t index_ = 0;
    std::deque<Sample> samples_;
};
