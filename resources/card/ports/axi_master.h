// An AXI4 master of the design's own.
#pragma once
#include "memory_bank.h"

template <class Pins> class AxiMasterPort : public MasterPort {
public:
    AxiMasterPort(Pins pins, ClockDomain& clock, CardMemory& memory)
        : MasterPort(clock, memory, Pins::word_bytes, Pins::name), pins_(pins) {
        pins_.awready() = pins_.wready() = pins_.arready() = pins_.bvalid() = pins_.rvalid() = 0;
    }
    bool to_come() const override {
        for (const auto* bursts : {&reads_, &writes_})
            for (const MemoryBurst& burst : *bursts)
                if (burst.granted() && !burst.last_through(clock_.cycle)) return true;
        return false;
    }

    void put() override {
        read_ready_ = int64_t(reads_.size()) < Pins::outstanding;
        write_ready_ = int64_t(writes_.size()) < Pins::outstanding;
        pins_.arready() = read_ready_;
        pins_.awready() = write_ready_;
        pins_.wready() = unwritten_ != nullptr;
        answer_write_ = !writes_.empty() && writes_.front().last_through(clock_.cycle);
        pins_.bvalid() = answer_write_;
        pins_.bresp() = 0;
        if (answer_write_) pins_.bid() = writes_.front().id;
        answer_read_ = !reads_.empty() && reads_.front().next_through(clock_.cycle);
        pins_.rvalid() = answer_read_;
        pins_.rresp() = 0;
        if (answer_read_) {
            const MemoryBurst& burst = reads_.front();
            load(burst.address + uint64_t(burst.done * word_bytes_), pins_.rdata());
            pins_.rid() = burst.id;
            pins_.rlast() = burst.done == burst.beats - 1;
        }
    }

    void look() override {
        count(this_cycle());
        if (answer_read_ && pins_.rready()) {
            if (++reads_.front().done == reads_.front().beats) {
                answered(reads_.front());
                reads_.pop_front();
            }
        }
        if (answer_write_ && pins_.bready()) {
            answered(writes_.front());
            writes_.pop_front();
        }
        if (unwritten_ && pins_.wvalid()) write_word();
        if (write_ready_ && pins_.awvalid()) {
            writes_.push_back(asked(pins_.awaddr(), pins_.awlen(), Pins::has_awsize ? int(pins_.awsize()) : size,
                                    Pins::has_awburst ? int(pins_.awburst()) : 1, pins_.awid()));
        }
        if (read_ready_ && pins_.arvalid()) {
            reads_.push_back(asked(pins_.araddr(), pins_.arlen(), Pins::has_arsize ? int(pins_.arsize()) : size,
                                   Pins::has_arburst ? int(pins_.arburst()) : 1, pins_.arid()));
            grant(reads_.back(), false);
        }
        unwritten_ = nullptr;
        for (MemoryBurst& burst : writes_)
            if (!burst.granted()) {
                unwritten_ = &burst;
                break;
            }
    }

private:
    static constexpr int size = 63 - __builtin_clzll(uint64_t(Pins::word_bytes));

    MasterCounts::Cycle this_cycle() {
        if ((answer_read_ && pins_.rready()) || (unwritten_ && pins_.wvalid())) return MasterCounts::moving;
        const bool late = (!reads_.empty() && !answer_read_) || (!writes_.empty() && writes_.front().granted() && !answer_write_);
        if (late || pins_.arvalid() || pins_.awvalid() || (answer_write_ && pins_.bready())) return MasterCounts::waiting;
        return reads_.empty() && writes_.empty() ? MasterCounts::idle : MasterCounts::held;
    }

    MemoryBurst asked(uint64_t address, uint64_t length, int beat_size, int type, uint64_t id) {
        const int64_t beats = int64_t(length) + 1;
        if (type != 1 || beat_size != size)
            throw Failure(who_ + ": only INCR bursts of the port's full width are modelled");
        if ((address & 4095) + uint64_t(beats * word_bytes_) > 4096)
            throw Failure(who_ + ": a burst of the design's crosses a 4 KiB boundary");
        return burst(address, beats, id);
    }

    void write_word() {
        MemoryBurst& burst = *unwritten_;
        store(burst.address + uint64_t(burst.done * word_bytes_), pins_.wdata(), enabled(pins_.wstrb()));
        const bool last = ++burst.done == burst.beats;
        if (bool(pins_.wlast()) != last)
            throw Failure(who_ + ": wlast is " + (last ? "low with the last word of a burst" : "high before the last word of a burst"));
        if (last) grant(burst, true);
    }

    Pins pins_;
    bool read_ready_ = false, write_ready_ = false, answer_write_ = false, answer_read_ = false;
    std::deque<MemoryBurst> reads_, writes_;
    MemoryBurst* unwritten_ = nullptr;  // the burst whose words come now
};
