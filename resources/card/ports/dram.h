// Memory on the card: the host's transfers go straight into it, and the design's own AXI4 masters ask it for bursts.
#pragma once
#include <cstdio>

#include "port.h"

// One memory serves all ports, in order: a burst waits for its bank, opens its row, and has the bus for its bytes.
class DramMemory : public Port {
public:
    struct Timing {
        int64_t bytes, base, banks, row_bytes;
        int64_t fixed_ps, cas_ps, rcd_ps, rp_ps;
        int64_t rate_bytes, rate_ps;  // so many bytes in so many picoseconds
    };
    struct Grant {
        int64_t begin_ps, end_ps;
    };

    DramMemory(ClockDomain& clock, const Timing& timing, int64_t word_bytes)
        : Port(clock, word_bytes, 0, 0, 0), timing_(timing), cells_(size_t(timing.bytes)), banks_(size_t(timing.banks)) {}
    int64_t busy_from() const override { return next_due(); }
    int64_t address_step() const override { return word_bytes_; }

    void put() override {}
    void look() override {
        while (Transfer* t = next()) {
            const int64_t index = ask(*t, level(*t));
            uint8_t* cell = at(uint64_t(t->address + index * word_bytes_), word_bytes_, "the host");
            if (t->send) std::memcpy(cell, word(*t, index), size_t(word_bytes_));
            else std::memcpy(word(*t, index), cell, size_t(word_bytes_));
            arrive(*t, 1);
        }
    }

    Grant grant(int64_t asked_ps, uint64_t address, int64_t bytes) {
        const int64_t row = int64_t(address - uint64_t(timing_.base)) / timing_.row_bytes;
        Bank& bank = banks_[size_t(row % timing_.banks)];
        const int64_t access = bank.row == row ? 0 : timing_.rcd_ps + (bank.row < 0 ? 0 : timing_.rp_ps);
        const int64_t from = std::max(asked_ps + timing_.fixed_ps, bank.free_ps) + access + timing_.cas_ps;
        const int64_t begin = std::max(from, bus_free_ps_);
        const int64_t end = begin + int64_t((static_cast<__int128>(bytes) * timing_.rate_ps + timing_.rate_bytes - 1) / timing_.rate_bytes);
        bank.row = row;
        bank.free_ps = bus_free_ps_ = end;
        return {begin, end};
    }

    uint8_t* at(uint64_t address, int64_t bytes, const std::string& who) {
        const uint64_t offset = address - uint64_t(timing_.base);
        if (address < uint64_t(timing_.base) || offset + uint64_t(bytes) > uint64_t(timing_.bytes)) {
            char text[96];
            std::snprintf(text, sizeof text, " asks for %lld bytes at 0x%llx, outside the card's memory of %lld bytes",
                          static_cast<long long>(bytes), static_cast<unsigned long long>(address),
                          static_cast<long long>(timing_.bytes));
            throw Failure(who + text);
        }
        return cells_.data() + offset;
    }

private:
    struct Bank {
        int64_t free_ps = 0, row = -1;
    };
    const Timing timing_;
    std::vector<uint8_t> cells_;
    std::vector<Bank> banks_;
    int64_t bus_free_ps_ = 0;
};

template <class Pins> class Dram : public DramMemory {
public:
    Dram(Pins, ClockDomain& clock)
        : DramMemory(clock,
                     {Pins::bytes, Pins::base, Pins::banks, Pins::row_bytes, Pins::fixed_ps, Pins::cas_ps, Pins::rcd_ps,
                      Pins::rp_ps, Pins::rate_bytes, Pins::rate_ps},
                     Pins::word_bytes) {}
};

// A master of the design's own: the card answers it out of the memory.
template <class Pins> class AxiMasterPort : public Port {
public:
    AxiMasterPort(Pins pins, ClockDomain& clock, DramMemory& memory)
        : Port(clock, Pins::word_bytes, 0, 0, 0), pins_(pins), memory_(memory) {
        pins_.awready() = pins_.wready() = pins_.arready() = pins_.bvalid() = pins_.rvalid() = 0;
    }
    bool addressed() const override { return false; }
    bool to_come() const override {
        for (const auto* bursts : {&reads_, &writes_})
            for (const Burst& burst : *bursts)
                if (burst.granted && at(burst, burst.beats - 1) > clock_.cycle) return true;
        return false;
    }

    void put() override {
        read_ready_ = int64_t(reads_.size()) < Pins::outstanding;
        write_ready_ = int64_t(writes_.size()) < Pins::outstanding;
        pins_.arready() = read_ready_;
        pins_.awready() = write_ready_;
        pins_.wready() = unwritten_ != nullptr;
        const bool answers = !writes_.empty() && writes_.front().granted && at(writes_.front(), writes_.front().beats - 1) <= clock_.cycle;
        pins_.bvalid() = answer_write_ = answers;
        pins_.bresp() = 0;
        if (answers) pins_.bid() = writes_.front().id;
        answer_read_ = !reads_.empty() && at(reads_.front(), reads_.front().done) <= clock_.cycle;
        pins_.rvalid() = answer_read_;
        pins_.rresp() = 0;
        if (answer_read_) {
            const Burst& burst = reads_.front();
            put_word(pins_.rdata(), memory_.at(burst.address + uint64_t(burst.done * word_bytes_), word_bytes_, Pins::name), word_bytes_);
            pins_.rid() = burst.id;
            pins_.rlast() = burst.done == burst.beats - 1;
        }
    }

    void look() override {
        if (answer_read_ && pins_.rready()) {
            if (++reads_.front().done == reads_.front().beats) reads_.pop_front();
        }
        if (answer_write_ && pins_.bready()) writes_.pop_front();
        if (unwritten_ && pins_.wvalid()) write_word();
        if (write_ready_ && pins_.awvalid()) {
            writes_.push_back(burst(pins_.awaddr(), pins_.awlen(), Pins::has_awsize ? int(pins_.awsize()) : size,
                                    Pins::has_awburst ? int(pins_.awburst()) : 1, pins_.awid()));
        }
        if (read_ready_ && pins_.arvalid()) {
            reads_.push_back(burst(pins_.araddr(), pins_.arlen(), Pins::has_arsize ? int(pins_.arsize()) : size,
                                   Pins::has_arburst ? int(pins_.arburst()) : 1, pins_.arid()));
            grant(reads_.back());
        }
        unwritten_ = nullptr;
        for (Burst& burst : writes_)
            if (!burst.granted) {
                unwritten_ = &burst;
                break;
            }
    }

private:
    struct Burst {
        uint64_t address, id;
        int64_t beats, done = 0, granted_cycle = 0;
        bool granted = false;
        DramMemory::Grant grant{0, 0};
    };
    static constexpr int size = 63 - __builtin_clzll(uint64_t(Pins::word_bytes));

    Burst burst(uint64_t address, uint64_t length, int beat_size, int type, uint64_t id) const {
        const int64_t beats = int64_t(length) + 1;
        if (type != 1 || beat_size != size)
            throw Failure(std::string("port ") + Pins::name + ": only INCR bursts of the port's full width are modelled");
        if ((address & 4095) + uint64_t(beats * word_bytes_) > 4096)
            throw Failure(std::string("port ") + Pins::name + ": a burst of the design's crosses a 4 KiB boundary");
        memory_.at(address, beats * word_bytes_, std::string("port ") + Pins::name);
        return {address, id, beats};
    }

    void grant(Burst& burst) {
        burst.grant = memory_.grant(clock_.start(clock_.cycle), burst.address, burst.beats * word_bytes_);
        burst.granted = true;
        burst.granted_cycle = clock_.cycle;
    }

    // The cycle in which beat `beat` is there: the one that ends when the memory's bus has moved it, or the next.
    int64_t at(const Burst& burst, int64_t beat) const {
        const auto took = static_cast<__int128>(burst.grant.end_ps - burst.grant.begin_ps) * (beat + 1);
        const int64_t ps = burst.grant.begin_ps + int64_t((took + burst.beats - 1) / burst.beats);
        int64_t cycle = clock_.cycles_before(ps);
        if (clock_.start(cycle) < ps) ++cycle;
        return std::max(cycle - 1, burst.granted_cycle + 1);
    }

    void write_word() {
        Burst& burst = *unwritten_;
        uint8_t* cell = memory_.at(burst.address + uint64_t(burst.done * word_bytes_), word_bytes_, Pins::name);
        std::vector<uint8_t> data(static_cast<size_t>(word_bytes_)), strobe(static_cast<size_t>((word_bytes_ + 7) / 8), 0xff);
        get_word(pins_.wdata(), data.data(), word_bytes_);
        if (Pins::has_wstrb) get_word(pins_.wstrb(), strobe.data(), int64_t(strobe.size()));
        for (int64_t i = 0; i < word_bytes_; ++i)
            if (strobe[size_t(i / 8)] >> (i % 8) & 1) cell[i] = data[size_t(i)];
        const bool last = ++burst.done == burst.beats;
        if (bool(pins_.wlast()) != last)
            throw Failure(std::string("port ") + Pins::name + ": wlast is "
                          + (last ? "low with the last word of a burst" : "high before the last word of a burst"));
        if (last) grant(burst);
    }

    Pins pins_;
    DramMemory& memory_;
    bool read_ready_ = false, write_ready_ = false, answer_write_ = false, answer_read_ = false;
    std::deque<Burst> reads_, writes_;
    Burst* unwritten_ = nullptr;  // the burst whose words come now
};
