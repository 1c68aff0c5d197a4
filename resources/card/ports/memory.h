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
        if (asked_) present(*asked_, asked_->asked);
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

protected:
    // The transfer's next word has its cycle, at the address of word `place`.
    void present(Transfer& t, int64_t place) {
        index_ = ask(t, level(t));
        address(t.send, t, place);
        if (t.send) {
            put_word(pins_.write_data(), word(t, index_), word_bytes_);
            pins_.write_enable() = 1;
        } else {
            pins_.read_enable() = 1;
        }
        pins_.enable() = 1;
    }

    void address(bool send, const Transfer& t, int64_t place) {
        const uint64_t at = uint64_t(t.address + place * Pins::address_step);
        if (send) pins_.write_address() = low_bits(at, Pins::write_address_bits);
        else pins_.read_address() = low_bits(at, Pins::read_address_bits);
    }

    void quiet() {
        static const uint8_t zero[256] = {};
        pins_.write_enable() = 0;
        pins_.read_enable() = 0;
        pins_.enable() = 0;
        put_word(pins_.write_data(), zero, word_bytes_);
        pins_.write_address() = 0;
        pins_.read_address() = 0;
    }

    Pins pins_;
    Transfer* asked_ = nullptr;

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

    int64_t index_ = 0;
    std::deque<Sample> samples_;
};
