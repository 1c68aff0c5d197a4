// What the blocks' states do, cycle by cycle: dwell histograms and transitions always, every change where the run is
// traced. These are what the counters in the hardware count too (`readout.py` makes the same tables of both).
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "record_file.h"
#include "records.h"

struct Tap {
    int block;
    int lsb;
    int width;
};

class Taps {
public:
    // `words` is how many 32-bit words the packed tap port has.
    Taps(std::vector<Tap> taps, int words, RecordFile* trace)
        : taps_(std::move(taps)), touching_(words), previous_(words, 0), trace_(trace) {
        for (size_t i = 0; i < taps_.size(); ++i) {
            const Tap& tap = taps_[i];
            for (int word = tap.lsb / 32; word <= (tap.lsb + tap.width - 1) / 32; ++word) touching_[word].push_back(i);
            blocks_.emplace_back();
            blocks_.back().bins.resize(size_t{1} << tap.width);
            blocks_.back().left.resize(size_t{1} << tap.width);
            blocks_.back().first.assign(size_t{1} << tap.width, -1);
        }
    }

    bool any() const { return !taps_.empty(); }

    // The taps' value in cycle `cycle`; cycles come in order and without gaps.
    void see(int64_t cycle, const uint32_t* now) {
        uint32_t changed = !started_;
        for (size_t word = 0; word < previous_.size(); ++word) changed |= now[word] ^ previous_[word];
        if (!changed) return;
        for (size_t word = 0; word < previous_.size(); ++word) {
            if (started_ && now[word] == previous_[word]) continue;
            for (size_t i : touching_[word]) {
                const uint32_t state = field(now, taps_[i]);
                BlockDwell& block = blocks_[i];
                if (block.known && state == block.state) continue;
                if (block.known) {
                    leave(block, cycle);
                    move(block, state);
                }
                block.known = true;
                block.state = state;
                block.since = cycle;
                if (block.first[state] < 0) block.first[state] = cycle;
                if (trace_) report(cycle, taps_[i].block, state);
            }
        }
        std::memcpy(previous_.data(), now, previous_.size() * 4);
        started_ = true;
    }

    // Close every stay at cycle `cycle` (the first one not seen), and write histograms, transitions and first cycles.
    void finish(int64_t cycle, RecordFile& out, RecordFile& transitions, RecordFile& firsts) {
        for (size_t i = 0; i < taps_.size(); ++i) {
            BlockDwell& block = blocks_[i];
            if (block.known && cycle > block.since) leave(block, cycle);
            write_transitions(taps_[i].block, block, transitions);
            for (size_t state = 0; state < block.first.size(); ++state) {
                const rcw_first_record record{taps_[i].block, int32_t(state), block.first[state]};
                if (record.cycle >= 0) firsts.add(&record, sizeof record);
            }
            for (size_t state = 0; state < block.bins.size(); ++state)
                for (int bin = 0; bin < bin_count; ++bin) {
                    const Bin& b = block.bins[state].bin[bin];
                    if (!b.count) continue;
                    rcw_dwell_record record{};
                    record.block = taps_[i].block;
                    record.state = int32_t(state);
                    record.log2_cycles = bin;
                    record.count = b.count;
                    record.cycles = b.cycles;
                    out.add(&record, sizeof record);
                }
        }
    }

private:
    static constexpr int bin_count = 48;
    struct Bin {
        int64_t count = 0;
        int64_t cycles = 0;
    };
    struct StateDwell {
        Bin bin[bin_count];
    };
    struct BlockDwell {
        bool known = false;
        uint32_t state = 0;
        int64_t since = 0;
        std::vector<StateDwell> bins;
        std::vector<int64_t> first;  // by state: the cycle; -1 where never
        std::vector<std::vector<int64_t>> left;  // by state: how often for which; empty where never
    };

    static uint32_t field(const uint32_t* words, const Tap& tap) {
        const int word = tap.lsb / 32, shift = tap.lsb % 32;
        uint64_t value = words[word];
        if (shift + tap.width > 32) value |= uint64_t(words[word + 1]) << 32;
        return uint32_t(value >> shift) & ((uint32_t{1} << tap.width) - 1);
    }

    static void leave(BlockDwell& block, int64_t cycle) {
        const int64_t length = cycle - block.since;
        Bin& bin = block.bins[block.state].bin[63 - __builtin_clzll(uint64_t(length))];
        ++bin.count;
        bin.cycles += length;
    }

    static void move(BlockDwell& block, uint32_t state) {
        std::vector<int64_t>& row = block.left[block.state];
        if (row.empty()) row.resize(block.left.size());
        ++row[state];
    }

    static void write_transitions(int number, const BlockDwell& block, RecordFile& out) {
        for (size_t from = 0; from < block.left.size(); ++from)
            for (size_t to = 0; to < block.left[from].size(); ++to) {
                rcw_transition_record record{};
                record.block = number;
                record.from_state = int32_t(from);
                record.to_state = int32_t(to);
                record.count = block.left[from][to];
                if (record.count) out.add(&record, sizeof record);
            }
    }

    void report(int64_t cycle, int block, uint32_t state) {
        rcw_tap_record record{};
        record.cycle = cycle;
        record.block = block;
        record.state = int32_t(state);
        trace_->add(&record, sizeof record);
    }

    std::vector<Tap> taps_;
    std::vector<std::vector<size_t>> touching_;
    std::vector<uint32_t> previous_;
    std::vector<BlockDwell> blocks_;
    RecordFile* trace_;
    bool started_ = false;
};
