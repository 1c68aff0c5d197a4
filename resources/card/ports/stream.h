// AXI4-Stream: into the design, and out of it.
#pragma once
#include "port.h"

template <class Pins> class StreamInPort : public Port {
public:
    StreamInPort(Pins pins, ClockDomain& clock) : Port(clock, Pins::word_bytes, Pins::buffer_words, 0, 0), pins_(pins) {
        pins_.tvalid() = 0;
    }
    bool addressed() const override { return false; }
    int64_t busy_from() const override { return open_ ? 0 : next_due(); }

    void put() override {
        if (taken_) {
            pins_.tvalid() = 0;
            open_ = nullptr;
            taken_ = false;
        }
        if (open_) return;
        open_ = next();
        if (!open_) return;
        const int64_t index = ask(*open_, level(*open_));
        put_word(pins_.tdata(), word(*open_, index), word_bytes_);
        put_ones(pins_.tkeep(), word_bytes_);
        put_ones(pins_.tstrb(), word_bytes_);
        pins_.tlast() = index == open_->words - 1;
        pins_.tvalid() = 1;
    }

    void look() override {
        if (!open_ || (Pins::has_tready && !pins_.tready())) return;
        taken_ = true;
        take(*open_);
        arrive(*open_, 1);
    }

private:
    Pins pins_;
    Transfer* open_ = nullptr;
    bool taken_ = false;
};

// Words wait in the link's buffer until the host's receive is due to have them.
template <class Pins> class StreamOutPort : public Port {
public:
    StreamOutPort(Pins pins, ClockDomain& clock) : Port(clock, Pins::word_bytes, 0, 0, 0), pins_(pins) {
        pins_.tready() = 0;
    }
    bool addressed() const override { return false; }

    void put() override {
        ready_ = Pins::buffer_words ? int64_t(stored_.size()) < Pins::buffer_words : wanted();
        pins_.tready() = ready_;
    }

    void look() override {
        if (ready_ && pins_.tvalid()) {
            stored_.push_back({std::vector<uint8_t>(size_t(word_bytes_)), Pins::packets && pins_.tlast()});
            get_word(pins_.tdata(), stored_.back().data.data(), word_bytes_);
            last_moved_ = clock_.cycle;
        }
        if (stored_.empty() || !wanted()) return;
        Transfer& t = *queue_.front();
        const int64_t index = ask(t, clock_.cycle);
        std::memcpy(word(t, index), stored_.front().data.data(), size_t(word_bytes_));
        if (stored_.front().last) cut(t, index + 1);
        stored_.pop_front();
        arrive(t, 1);
    }

private:
    bool wanted() const { return !queue_.empty() && due(*queue_.front(), queue_.front()->asked) <= clock_.cycle; }

    Pins pins_;
    bool ready_ = false;
    struct Word {
        std::vector<uint8_t> data;
        bool last;  // of the design's packet
    };
    std::deque<Word> stored_;
};
