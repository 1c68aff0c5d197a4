// A port of the design's own with an enable, an address and data, as memories and small processors have. Its answer
// comes with `valid`; without `grant` the request stays until then. Without both it is that of a memory which always
// answers after `read_latency` cycles: that neither waits for banks nor occupies them.
#pragma once
#include "memory_bank.h"

template <class Pins> class MemoryMasterPort : public MasterPort {
public:
    MemoryMasterPort(Pins pins, ClockDomain& clock, CardMemory& memory)
        : MasterPort(clock, memory, Pins::word_bytes, Pins::name), pins_(pins) {
        pins_.grant() = pins_.valid() = 0;
    }
    bool to_come() const override { return !asked_.empty(); }

    void put() override {
        answers_ = !asked_.empty() && asked_.front().next_through(clock_.cycle);
        if (answers_ && !asked_.front().data.empty()) put_word(pins_.read_data(), asked_.front().data.data(), word_bytes_);
        takes_ = int64_t(asked_.size()) < (Pins::has_grant ? Pins::outstanding : Pins::has_valid ? 1 : INT64_MAX);
        pins_.valid() = answers_ && asked_.front().id;
        pins_.grant() = takes_;
    }

    void look() override {
        const bool asks = bool(pins_.enable()) != bool(Pins::enable_low);
        const bool moves = Pins::has_valid ? answers_ : asks;
        count(moves ? MasterCounts::moving : asks || !asked_.empty() ? MasterCounts::waiting : MasterCounts::idle);
        const bool took = asks && takes_;
        if (answers_) {
            answered(asked_.front());
            asked_.pop_front();
        }
        if (took) ask();
    }

private:
    static constexpr bool by_bytes = !Pins::has_write_enable && Pins::has_byte_enable;

    void ask() {
        Enabled bytes = enabled(pins_.byte_enable());
        if (Pins::byte_enable_low)
            for (uint8_t& byte : bytes) byte = uint8_t(~byte);
        bool any = false;
        for (int64_t i = 0; i < word_bytes_; ++i) any |= bytes[size_t(i / 8)] >> (i % 8) & 1;
        const bool writes = by_bytes ? any : Pins::has_write_enable && bool(pins_.write_enable()) != bool(Pins::write_enable_low);
        MemoryBurst one = burst(uint64_t(pins_.address()) * Pins::address_unit, 1);
        one.id = !writes || Pins::answers_writes;  // whether its end is told
        if (writes) store(one.address, pins_.write_data(), bytes);
        else keep(one);
        if (Pins::has_valid) {
            grant(one, writes);
        } else {
            count_burst(one, writes);
            if (writes) return;
            one.through.push_back(clock_.cycle + Pins::read_latency);
        }
        asked_.push_back(one);
    }

    Pins pins_;
    bool answers_ = false, takes_ = false;
    std::deque<MemoryBurst> asked_;  // in order
};
