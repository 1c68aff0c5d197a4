// Avalon-MM: the card asks, the design answers. Addresses count words.
#pragma once
#include "port.h"

template <class Pins> class AvalonPort : public Port {
public:
    AvalonPort(Pins pins, ClockDomain& clock)
        : Port(clock, Pins::word_bytes, Pins::buffer_words, 0, Pins::response_cycles), pins_(pins) {
        pins_.read() = pins_.write() = 0;
    }
    int64_t busy_from() const override { return open_ || !reads_.empty() ? 0 : next_due(); }
    bool always_looks() const override { return Pins::has_readdatavalid; }  // answers that nobody asked for
    int64_t rests_until() const override { return busy_from(); }
    int64_t address_step() const override { return Pins::address_step; }

    void put() override {
        if (taken_) {
            pins_.read() = pins_.write() = 0;
            open_ = nullptr;
            taken_ = false;
        }
        if (open_ || int64_t(reads_.size()) >= Pins::outstanding) return;
        open_ = next();
        if (!open_) return;
        index_ = ask(*open_, level(*open_));
        pins_.address() = low_bits(uint64_t(open_->address + index_ * Pins::address_step), Pins::address_bits);
        put_ones(pins_.byteenable(), word_bytes_);
        if (open_->send) {
            put_word(pins_.writedata(), word(*open_, index_), word_bytes_);
            pins_.write() = 1;
        } else {
            pins_.read() = 1;
        }
    }

    void look() override {
        if (open_ && !pins_.waitrequest()) {
            taken_ = true;
            if (open_->send) {
                take(*open_);
                arrive(*open_, 1);
            } else {
                reads_.push_back({open_, index_, clock_.cycle + Pins::read_latency});
            }
        }
        if (Pins::has_readdatavalid ? bool(pins_.readdatavalid()) : !reads_.empty() && reads_.front().at <= clock_.cycle) {
            if (reads_.empty())
                throw Failure(std::string("port ") + Pins::name + ": readdatavalid without a read that waits for it");
            Read read = reads_.front();
            reads_.pop_front();
            get_word(pins_.readdata(), word(*read.transfer, read.index), word_bytes_);
            take(*read.transfer);
            arrive(*read.transfer, 1);
        }
    }

private:
    struct Read {
        Transfer* transfer;
        int64_t index, at;
    };
    Pins pins_;
    Transfer* open_ = nullptr;
    int64_t index_ = 0;
    bool taken_ = false;
    std::deque<Read> reads_;
};
