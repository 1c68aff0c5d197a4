// What the design's streams do, cycle by cycle: transfers, stalls and whose they are, how full FIFOs are.
#pragma once
#include <cstdint>
#include <vector>

#include "record_file.h"
#include "records.h"

// How often each of 64 lanes was high: a counter's bits lie one below the other, so that all lanes count at once.
class LaneCounter {
public:
    void add(uint64_t lanes) {
        for (uint64_t& plane : planes_) {
            if (!lanes) return;
            const uint64_t carry = plane & lanes;
            plane ^= lanes;
            lanes = carry;
        }
        for (; lanes; lanes &= lanes - 1) spilled_[__builtin_ctzll(lanes)] += int64_t{1} << plane_count;
    }
    int64_t count(int lane) const {
        int64_t sum = spilled_[lane];
        for (int p = 0; p < plane_count; ++p) sum += int64_t(planes_[p] >> lane & 1) << p;
        return sum;
    }

private:
    static constexpr int plane_count = 16;
    uint64_t planes_[plane_count] = {};
    int64_t spilled_[64] = {};
};

// Other streams hold a stream's valid, or its ready, low by theirs through logic alone.
struct StreamWait {
    int stream, number;  // of that stream's waits
    bool valid;
    int other;
    bool by_valid;
};

struct StreamFifo {
    int number, input, output;
};

struct StreamPlan {
    std::vector<int> streams;  // bits of the packed ports
    std::vector<StreamFifo> fifos;
    std::vector<StreamWait> waits;
};

// The streams of one clock.
class Streams {
public:
    Streams(const StreamPlan& plan, size_t bits) : plan_(plan), lanes_((bits + 63) / 64), fifos_(plan.fifos.size()) {
        for (int bit : plan_.streams) lanes_[size_t(bit) / 64].mask |= uint64_t{1} << bit % 64;
        for (const StreamWait& wait : plan_.waits) {
            lanes_[size_t(wait.stream) / 64].waiting |= uint64_t{1} << wait.stream % 64;
            if (waits_of_.size() <= size_t(wait.stream)) waits_of_.resize(size_t(wait.stream) + 1);
            waits_of_[size_t(wait.stream)].push_back(waited_.size());
            waited_.push_back(0);
        }
    }

    bool any() const { return !plan_.streams.empty(); }
    int64_t last_transfer() const { return last_transfer_; }

    // Valid and ready of all streams in cycle `cycle`, as words of the packed ports; cycles come in order, without gaps.
    void see(int64_t cycle, const uint32_t* valid, const uint32_t* ready, size_t words) {
        uint64_t moved = 0;
        for (size_t i = 0; i < lanes_.size(); ++i) {
            Lanes& lanes = lanes_[i];
            lanes.valid = word(valid, i, words) & lanes.mask;
            lanes.ready = word(ready, i, words) & lanes.mask;
            const uint64_t both = lanes.valid & lanes.ready;
            lanes.valids.add(lanes.valid);
            lanes.readies.add(lanes.ready);
            lanes.transfers.add(both);
            moved |= both;
        }
        if (moved) last_transfer_ = cycle;
        for (size_t i = 0; i < lanes_.size(); ++i)
            for (uint64_t stalled = (lanes_[i].valid ^ lanes_[i].ready) & lanes_[i].waiting; stalled; stalled &= stalled - 1)
                blame(int(i * 64) + __builtin_ctzll(stalled));
        if (moved)
            for (size_t i = 0; i < fifos_.size(); ++i) {
                const int change = moves(plan_.fifos[i].input) - moves(plan_.fifos[i].output);
                if (change) fifos_[i].change(cycle, change);
            }
        ++cycles_;
    }

    // Write the counts; FIFOs stay as they are until `cycle`, the first one not seen. `base` and `fifo_base` are the
    // numbers of this card's first ones.
    void finish(int64_t cycle, int base, int fifo_base, RecordFile& counts, RecordFile& waits, RecordFile& occupancy) {
        for (int bit : plan_.streams) {
            const Lanes& lanes = lanes_[size_t(bit) / 64];
            rcw_stream_record record{};
            record.stream = base + bit;
            record.cycles = cycles_;
            record.transfers = lanes.transfers.count(bit % 64);
            record.valid = lanes.valids.count(bit % 64);
            record.ready = lanes.readies.count(bit % 64);
            counts.add(&record, sizeof record);
        }
        for (size_t i = 0; i < waited_.size(); ++i) {
            rcw_stream_wait_record record{};
            record.stream = base + plan_.waits[i].stream;
            record.wait = plan_.waits[i].number;
            record.cycles = waited_[i];
            if (record.cycles) waits.add(&record, sizeof record);
        }
        for (size_t i = 0; i < fifos_.size(); ++i) {
            fifos_[i].change(cycle, 0);
            for (size_t held = 0; held < fifos_[i].cycles.size(); ++held) {
                rcw_occupancy_record record{};
                record.fifo = fifo_base + plan_.fifos[i].number;
                record.words = int32_t(held);
                record.cycles = fifos_[i].cycles[held];
                if (record.cycles && !fifos_[i].below) occupancy.add(&record, sizeof record);
            }
        }
    }

    // Bits of the streams that offer, and of those that take, in the cycle that was seen last.
    bool valid(int stream) const { return lanes_[size_t(stream) / 64].valid >> stream % 64 & 1; }
    bool ready(int stream) const { return lanes_[size_t(stream) / 64].ready >> stream % 64 & 1; }
    const std::vector<int>& numbers() const { return plan_.streams; }

private:
    static constexpr size_t most_words = 1 << 20;  // of a FIFO; more than that share the last row
    struct Lanes {
        uint64_t mask = 0, waiting = 0, valid = 0, ready = 0;
        LaneCounter valids, readies, transfers;
    };
    struct Held {
        int64_t words = 0, since = 0;
        bool below = false;  // it gave more than it took: it is no FIFO
        std::vector<int64_t> cycles;
        void change(int64_t cycle, int by) {  // as of the next cycle: a word is held from the edge on that takes it
            const size_t row = size_t(words < 0 ? 0 : words) < most_words ? size_t(words < 0 ? 0 : words) : most_words;
            if (cycles.size() <= row) cycles.resize(row + 1);
            const int64_t until = by ? cycle + 1 : cycle;
            cycles[row] += until - since;
            since = until;
            words += by;
            below |= words < 0;
        }
    };

    static uint64_t word(const uint32_t* words, size_t i, size_t count) {
        const uint64_t low = words[2 * i];
        return 2 * i + 1 < count ? low | uint64_t(words[2 * i + 1]) << 32 : low;
    }
    int moves(int stream) const { return valid(stream) && ready(stream); }

    void blame(int stream) {
        const bool offers = valid(stream);  // and is not taken; else it is waited for
        for (size_t i : waits_of_[size_t(stream)]) {
            const StreamWait& wait = plan_.waits[i];
            if (wait.valid != offers && !(wait.by_valid ? valid(wait.other) : ready(wait.other))) ++waited_[i];
        }
    }

    StreamPlan plan_;
    std::vector<Lanes> lanes_;
    std::vector<Held> fifos_;
    std::vector<std::vector<size_t>> waits_of_;  // by stream
    std::vector<int64_t> waited_;
    int64_t cycles_ = 0, last_transfer_ = -1;
};
