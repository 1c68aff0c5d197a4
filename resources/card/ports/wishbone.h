// Wishbone B4: the card asks, the design answers. Classic cycles hold the strobe until the answer; a design with a stall is
// asked again while answers are outstanding.
#pragma once
#include "port.h"

template <class Pins> class WishbonePort : public Port {
public:
    WishbonePort(Pins pins, ClockDomain& clock)
        : Port(clock, Pins::word_bytes, Pins::buffer_words, Pins::response_cycles, Pins::response_cycles), pins_(pins) {
        pins_.cyc() = pins_.stb() = pins_.we() = 0;
    }
    int64_t busy_from() const override { return open_ || !asked_.empty() ? 0 : next_due(); }
    bool always_looks() const override { return true; }  // answers that nobody asked for
    int64_t rests_until() const override { return busy_from(); }
    int64_t address_step() const override { return Pins::address_step; }

    void put() override {
        if (taken_) {
            pins_.stb() = pins_.we() = 0;
            open_ = nullptr;
            taken_ = false;
        }
        if (!open_ && int64_t(asked_.size()) < Pins::outstanding && (open_ = next())) {
            index_ = ask(*open_, level(*open_));
            pins_.adr() = low_bits(uint64_t(open_->address + index_ * Pins::address_step), Pins::adr_bits);
            put_ones(pins_.sel(), word_bytes_);
            if (open_->send) put_word(pins_.dat_w(), word(*open_, index_), word_bytes_);
            pins_.we() = open_->send;
            pins_.stb() = 1;
        }
        pins_.cyc() = open_ || !asked_.empty();
    }

    void look() override {
        const bool failed = pins_.err() || pins_.rty(), answered = pins_.ack() || failed;
        if (open_ && (Pins::has_stall ? !pins_.stall() : answered)) {
            taken_ = true;
            asked_.push_back({open_, index_});
        }
        if (!answered) return;
        if (asked_.empty()) throw Failure(std::string("port ") + Pins::name + ": an answer to nothing that was asked");
        const Asked one = asked_.front();
        asked_.pop_front();
        Transfer& t = *one.transfer;
        t.failed |= failed;
        if (!t.send) get_word(pins_.dat_r(), word(t, one.index), word_bytes_);
        take(t);
        arrive(t, 1);
    }

private:
    struct Asked {
        Transfer* transfer;
        int64_t index;
    };
    Pins pins_;
    Transfer* open_ = nullptr;
    int64_t index_ = 0;
    bool taken_ = false;
    std::deque<Asked> asked_;
};
