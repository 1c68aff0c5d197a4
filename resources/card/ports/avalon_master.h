// An Avalon-MM master of the design's own: single words or bursts, with readdatavalid or without.
#pragma once
#include "memory_bank.h"

template <class Pins> class AvalonMasterPort : public MasterPort {
public:
    AvalonMasterPort(Pins pins, ClockDomain& clock, CardMemory& memory)
        : MasterPort(clock, memory, Pins::word_bytes, Pins::name), pins_(pins) {
        pins_.readdatavalid() = 0;
        pins_.waitrequest() = 1;
    }
    bool to_come() const override { return !reads_.empty() || (!writes_.empty() && writes_.front().granted()); }

    void put() override {
        answers_ = !reads_.empty() && reads_.front().next_through(clock_.cycle);
        if (answers_) put_word(pins_.readdata(), &reads_.front().data[size_t(reads_.front().done * word_bytes_)], word_bytes_);
        pins_.readdatavalid() = answers_;
        const bool room = int64_t(reads_.size()) < Pins::outstanding && (writing() || int64_t(writes_.size()) < Pins::outstanding);
        takes_ = Pins::has_readdatavalid ? room : answers_ || takes_write_;
        pins_.waitrequest() = !takes_;
    }

    void look() override {
        const bool writes = pins_.write(), reads = pins_.read();
        count(this_cycle(reads, writes));
        const bool asks = reads && (Pins::has_readdatavalid ? takes_ : reads_.empty());
        if (answers_ && (Pins::has_readdatavalid || reads)) {
            if (++reads_.front().done == reads_.front().beats) {
                answered(reads_.front());
                reads_.pop_front();
            }
        }
        if (asks) {
            if (!Pins::has_readdatavalid && words() != 1) throw Failure(who_ + ": bursts of reads need readdatavalid");
            reads_.push_back(burst(address(), words()));
            keep(reads_.back());
            grant(reads_.back(), false);
        }
        takes_write_ = !Pins::has_readdatavalid && writes && !takes_ && int64_t(writes_.size()) < Pins::outstanding;
        if (writes && takes_) write_word();
        while (!writes_.empty() && writes_.front().last_through(clock_.cycle)) {
            answered(writes_.front());
            writes_.pop_front();
        }
    }

private:
    bool writing() const { return !writes_.empty() && !writes_.back().granted(); }
    uint64_t address() { return uint64_t(pins_.address()) * Pins::address_unit; }
    int64_t words() {
        const int64_t count = Pins::has_burstcount ? int64_t(pins_.burstcount()) : 1;
        if (count < 1) throw Failure(who_ + ": the design asks for a burst of no words");
        return count;
    }

    void write_word() {
        if (!writing()) writes_.push_back(burst(address(), words()));
        MemoryBurst& burst = writes_.back();
        store(burst.address + uint64_t(burst.done * word_bytes_), pins_.writedata(), enabled(pins_.byteenable()));
        if (++burst.done == burst.beats) grant(burst, true);
    }

    MasterCounts::Cycle this_cycle(bool reads, bool writes) const {
        if ((answers_ && (Pins::has_readdatavalid || reads)) || (writes && takes_)) return MasterCounts::moving;
        if (!reads_.empty() || reads || writes) return MasterCounts::waiting;
        return writing() ? MasterCounts::held : MasterCounts::idle;
    }

    Pins pins_;
    bool answers_ = false, takes_ = false, takes_write_ = false;
    std::deque<MemoryBurst> reads_, writes_;
};
