// AXI4-Stream, and Avalon-ST whose words are whole: into the design, and out of it.
#pragma once
#include <algorithm>

#include "port.h"

template <class Pins> class StreamInPort : public Port {
public:
    StreamInPort(Pins pins, ClockDomain& clock) : Port(clock, Pins::word_bytes, Pins::buffer_words, 0, 0), pins_(pins) {
        pins_.tvalid() = 0;
    }
    bool addressed() const override { return false; }
    int64_t busy_from() const override {
        const int64_t due = next_due();
        return open_ || !announcement_.empty() ? 0 : due == this->never ? due : due - announcing;
    }
    void reserve(uint64_t marks) override { marks_ = marks; }
    void forget() override {
        Port::forget();
        open_ = nullptr;
        announcement_.clear();
        pins_.tvalid() = 0;
    }

    void put() override {
        if (taken_) {
            pins_.tvalid() = 0;
            open_ = nullptr;
            taken_ = false;
            if (!announcement_.empty()) announcement_.pop_front();
        }
        if (open_ || !announcement_.empty()) return put_announcement();
        // Before the cycle of the first word, so that the design has that in it.
        if (marks_ && !queue_.empty()) {
            Transfer& coming = *queue_.front();
            if (!coming.asked && !coming.announced && !coming.off_clock && level(coming) <= clock_.cycle + announcing
                && holds_mark(coming))
                return announce(coming);
        }
        open_ = next();
        if (!open_) return;
        const int64_t index = ask(*open_, level(*open_));
        put_word(pins_.tdata(), word(*open_, index), word_bytes_);
        pins_.tlast() = index == open_->words - 1;
        if constexpr (Pins::starts) {  // Avalon-ST
            pins_.startofpacket() = index == 0;
            pins_.empty() = 0;
        } else {
            put_ones(pins_.tkeep(), word_bytes_);
            put_ones(pins_.tstrb(), word_bytes_);
        }
        pins_.tvalid() = 1;
    }

    void look() override {
        if ((!open_ && announcement_.empty()) || (Pins::has_tready && !pins_.tready())) return;
        taken_ = true;
        if (!open_) return;
        take(*open_);
        arrive(*open_, 1);
    }

private:
    // A mark and a number of 64 bits.
    static constexpr int64_t announcing = 1 + (8 + Pins::word_bytes - 1) / Pins::word_bytes;

    bool holds_mark(Transfer& t) const {
        for (int64_t i = 0; i < t.words; ++i) {
            uint64_t low = 0;
            const uint8_t* at = word(t, i);
            std::memcpy(&low, at, size_t(std::min<int64_t>(word_bytes_, 8)));
            if (low - marks_ < 8 && std::all_of(at + std::min<int64_t>(word_bytes_, 8), at + word_bytes_, [](uint8_t b) { return !b; }))
                return true;
        }
        return false;
    }

    void announce(Transfer& t) {
        t.announced = true;
        const uint64_t mark = marks_ + mark_data, words = uint64_t(t.words);
        for (int64_t i = 0; i < announcing; ++i) {
            std::vector<uint8_t> one(size_t(word_bytes_), 0);
            const auto* from = reinterpret_cast<const uint8_t*>(i ? &words : &mark);
            const int64_t at = i ? (i - 1) * word_bytes_ : 0;
            std::memcpy(one.data(), from + at, size_t(std::min<int64_t>(word_bytes_, 8 - at)));
            announcement_.push_back(std::move(one));
        }
        put_announcement();
    }
    void put_announcement() {
        if (announcement_.empty()) return;
        put_word(pins_.tdata(), announcement_.front().data(), word_bytes_);
        pins_.tlast() = 0;
        pins_.tvalid() = 1;
    }

    Pins pins_;
    Transfer* open_ = nullptr;
    bool taken_ = false;
    uint64_t marks_ = 0;
    std::deque<std::vector<uint8_t>> announcement_;  // words that say that the next ones are data
};

// Words wait in the link's buffer until the host's receive is due to have them.
template <class Pins> class StreamOutPort : public Port {
public:
    StreamOutPort(Pins pins, ClockDomain& clock) : Port(clock, Pins::word_bytes, 0, 0, 0), pins_(pins) {
        pins_.tready() = 0;
    }
    bool addressed() const override { return false; }

    int64_t rests_until() const override {
        return moved_ ? 0 : queue_.empty() ? never : due(*queue_.front(), queue_.front()->asked);
    }

    void put() override {
        ready_ = Pins::buffer_words ? int64_t(stored_.size()) < Pins::buffer_words : wanted();
        pins_.tready() = ready_;
    }

    void look() override {
        moved_ = ready_ && pins_.tvalid();
        if (moved_) {
            stored_.push_back({std::vector<uint8_t>(size_t(word_bytes_)), Pins::packets && pins_.tlast()});
            get_word(pins_.tdata(), stored_.back().data.data(), word_bytes_);
            last_moved_ = clock_.cycle;
        }
        if (stored_.empty() || !wanted()) return;
        moved_ = true;
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
    bool ready_ = false, moved_ = true;
    struct Word {
        std::vector<uint8_t> data;
        bool last;  // of the design's packet
    };
    std::deque<Word> stored_;
};
