// Block transfer: the platform asks for a burst of words by its address and their count, then moves them one by one.
#pragma once
#include "memory.h"

template <class Pins> class BlockPort : public MemoryPort<Pins> {
    using Base = MemoryPort<Pins>;
    using Base::asked_, Base::clock_, Base::pins_;

public:
    BlockPort(Pins pins, ClockDomain& clock) : Base(pins, clock) {
        pins_.word_count() = pins_.request() = pins_.direction() = 0;
    }
    int64_t busy_from() const override {
        const int64_t due = Base::busy_from();
        return burst_ ? 0 : due && due != Base::never ? due - 1 : due;
    }

    void put() override {
        if (requesting_ && !granted_) return;
        if (asked_ && !taken_) return;  // the design has not taken the word yet
        if (asked_) {
            asked_ = nullptr;
            this->quiet();
            pins_.word_count() = --left_;
            if (!left_) burst_ = nullptr;
        }
        if (!burst_) {
            if (requesting_) pins_.request() = requesting_ = false;
            return ask_for_burst();
        }
        if (requesting_) pins_.request() = requesting_ = false;
        this->address(burst_->send, *burst_, first_);
        if (this->level(*burst_) > clock_.cycle) return;
        asked_ = burst_;
        this->present(*burst_, Pins::address_tracked ? burst_->asked : first_);
    }

    void look() override {
        granted_ = !Pins::has_acknowledge || bool(pins_.acknowledge());
        taken_ = !Pins::has_ready || bool(pins_.ready());
        if (taken_) Base::look();
    }

private:
    // A burst is asked for in the cycle before its first word's, the monitors' in that of their first.
    void ask_for_burst() {
        burst_ = this->next(1);
        if (!burst_) return;
        first_ = burst_->asked;
        if (burst_->off_clock) {
            pins_.word_count() = left_ = burst_->words;
            pins_.direction() = burst_->send;
            pins_.request() = requesting_ = true;
            return this->present(*(asked_ = burst_), first_);
        }
        left_ = burst_->words - first_;
        if (Pins::burst_words) left_ = std::min<int64_t>(left_, Pins::burst_words);
        this->address(burst_->send, *burst_, first_);
        pins_.word_count() = left_;
        pins_.direction() = burst_->send;
        pins_.request() = requesting_ = true;
    }

    Transfer* burst_ = nullptr;  // whose words are moved, or asked for
    int64_t first_ = 0, left_ = 0;
    bool requesting_ = false, granted_ = false, taken_ = false;
};
