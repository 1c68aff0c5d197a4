// Memory on the card, and what the ports share by which the design asks it: the host's transfers go straight into it.
#pragma once
#include <array>
#include <cstdio>

#include "dram.h"
#include "port.h"

class CardMemory : public Port {
public:
    CardMemory(ClockDomain& clock, const DramTiming& timing, int64_t bytes, int64_t base, int64_t word_bytes)
        : Port(clock, word_bytes, 0, 0, 0), dram(timing), base_(base), cells_(size_t(bytes)) {}
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

    int64_t offset(uint64_t address) const { return int64_t(address - uint64_t(base_)); }

    uint8_t* at(uint64_t address, int64_t bytes, const std::string& who) {
        if (address < uint64_t(base_) || uint64_t(offset(address)) + uint64_t(bytes) > cells_.size()) {
            char text[96];
            std::snprintf(text, sizeof text, " asks for %lld bytes at 0x%llx, outside the card's memory of %lld bytes",
                          static_cast<long long>(bytes), static_cast<unsigned long long>(address),
                          static_cast<long long>(cells_.size()));
            throw Failure(who + text);
        }
        return cells_.data() + offset(address);
    }

    Dram dram;

private:
    const int64_t base_;
    std::vector<uint8_t> cells_;
};

template <class Pins> class MemoryBank : public CardMemory {
public:
    MemoryBank(Pins, ClockDomain& clock)
        : CardMemory(clock,
                     {Pins::channels, Pins::interleave_bytes, Pins::banks, Pins::row_bytes, Pins::bank_rows, Pins::fixed_ps,
                      Pins::cas_ps, Pins::rcd_ps, Pins::rp_ps, Pins::turnaround_ps, Pins::refresh_ps, Pins::refreshing_ps,
                      Pins::rate_bytes, Pins::rate_ps},
                     Pins::bytes, Pins::base, Pins::word_bytes) {}
};

// What a port of the design's own did, in cycles of its clock and out of reset. [0] are reads, [1] writes.
struct MasterCounts {
    // A word passed; none did, and something that was asked for was not there yet; none did, and the design was not
    // ready to take one or to give one that it had announced; nothing was asked for.
    enum Cycle { moving, waiting, held, idle };
    int64_t of[4] = {}, bursts[2] = {}, bytes[2] = {};
    int64_t latency_cycles = 0;  // sum over all bursts, from the request's cycle to the one of the last answer
    DramCounts dram;
};

// A burst of the design's: once the memory has granted it, each of its words has a cycle from which on it is through.
struct MemoryBurst {
    uint64_t address = 0, id = 0;
    int64_t beats = 1, asked_cycle = 0, done = 0;  // done: words that passed the port
    std::vector<int64_t> through;
    std::vector<uint8_t> data;

    bool granted() const { return !through.empty(); }
    bool last_through(int64_t cycle) const { return granted() && through.back() <= cycle; }
    bool next_through(int64_t cycle) const { return granted() && through[size_t(done)] <= cycle; }
};

// A port of the design's own: the card answers it out of the memory.
class MasterPort : public Port {
public:
    MasterPort(ClockDomain& clock, CardMemory& memory, int64_t word_bytes, const char* name)
        : Port(clock, word_bytes, 0, 0, 0), memory_(memory), who_(std::string("port ") + name) {}
    bool addressed() const override { return false; }
    int64_t rests_until() const override { return last_ == MasterCounts::idle && !to_come() ? never : 0; }
    const MasterCounts* master() override {
        counts_.of[last_] += clock_.cycle - counted_;
        counted_ = clock_.cycle;
        return &counts_;
    }

protected:
    MemoryBurst burst(uint64_t address, int64_t beats, uint64_t id = 0) {
        memory_.at(address, beats * word_bytes_, who_);
        MemoryBurst made;
        made.address = address;
        made.id = id;
        made.beats = beats;
        made.asked_cycle = clock_.cycle;
        return made;
    }

    void count_burst(const MemoryBurst& burst, bool write) {
        ++counts_.bursts[write];
        counts_.bytes[write] += burst.beats * word_bytes_;
    }

    // The memory is asked in this cycle: for all words of a read, or with the last one of a write.
    void grant(MemoryBurst& burst, bool write) {
        count_burst(burst, write);
        const int64_t bytes = burst.beats * word_bytes_;
        const auto pieces = memory_.dram.grant(clock_.start(clock_.cycle), memory_.offset(burst.address), bytes, write, counts_.dram);
        auto piece = pieces.begin();
        int64_t from = 0, latest_ps = 0;
        for (int64_t beat = 1; beat <= burst.beats; ++beat) {
            for (; piece->to_byte < beat * word_bytes_; ++piece) {
                latest_ps = std::max(latest_ps, piece->end_ps);
                from = piece->to_byte;
            }
            const auto took = static_cast<__int128>(piece->end_ps - piece->begin_ps) * (beat * word_bytes_ - from);
            const int64_t size = piece->to_byte - from;
            latest_ps = std::max(latest_ps, piece->begin_ps + int64_t((took + size - 1) / size));
            burst.through.push_back(std::max(ending(latest_ps), clock_.cycle + 1));
        }
    }

    void answered(const MemoryBurst& burst) { counts_.latency_cycles += clock_.cycle + 1 - burst.asked_cycle; }

    // What this cycle was: of those since the last one looked at nothing was different.
    void count(MasterCounts::Cycle what) {
        counts_.of[last_] += clock_.cycle - counted_;
        counted_ = clock_.cycle;
        last_ = what;
    }

    using Enabled = std::array<uint8_t, 16>;  // a bit for each byte of a word

    // A design without enables gives whole words.
    template <class Pin> Enabled enabled(const Pin& enables) const {
        Enabled bits;
        bits.fill(0xff);
        if (!std::is_same_v<Pin, Absent>) get_word(enables, bits.data(), (word_bytes_ + 7) / 8);
        return bits;
    }

    template <class Data> void store(uint64_t address, const Data& data, const Enabled& enabled) {
        uint8_t bytes[128];
        get_word(data, bytes, word_bytes_);
        uint8_t* cell = memory_.at(address, word_bytes_, who_);
        for (int64_t i = 0; i < word_bytes_; ++i)
            if (enabled[size_t(i / 8)] >> (i % 8) & 1) cell[i] = bytes[i];
    }

    template <class Data> void load(uint64_t address, Data& data) { put_word(data, memory_.at(address, word_bytes_, who_), word_bytes_); }

    // What a read brings where nothing that is asked for after it may change that.
    void keep(MemoryBurst& burst) {
        const uint8_t* from = memory_.at(burst.address, burst.beats * word_bytes_, who_);
        burst.data.assign(from, from + burst.beats * word_bytes_);
    }

    CardMemory& memory_;
    const std::string who_;

private:
    // The cycle that ends at `ps`, or the next to begin.
    int64_t ending(int64_t ps) const {
        const int64_t cycle = clock_.cycles_before(ps);
        return clock_.start(cycle) < ps ? cycle : cycle - 1;
    }

    MasterCounts counts_;
    MasterCounts::Cycle last_ = MasterCounts::idle;
    int64_t counted_ = 0;
};
