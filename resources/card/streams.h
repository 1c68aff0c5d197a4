// What the design's streams do, cycle by cycle: transfers, stalls and whose they are, how full FIFOs are.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "record_file.h"
#include "records.h"

// 64 words of 64 bits: bit b of word w becomes bit w of word b.
inline void transpose(uint64_t* words) {
    uint64_t mask = 0x00000000ffffffff;
    for (int j = 32; j; j >>= 1, mask ^= mask << j)
        for (int k = 0; k < 64; k = ((k | j) + 1) & ~j) {
            const uint64_t swapped = ((words[k] >> j) ^ words[k | j]) & mask;
            words[k] ^= swapped << j;
            words[k | j] ^= swapped;
        }
}

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

// One that takes on a clock and gives on another.
struct StreamCrossing {
    StreamFifo fifo;
    size_t takes, gives;  // clocks
};

// How many words a FIFO holds, by cycles of the clock that it takes on.
struct Held {
    static constexpr int64_t most_words = 1 << 20;  // more than that share the last row
    int64_t words = 0, since = 0;
    bool below = false;  // it gave more than it took: it is no FIFO
    std::vector<int64_t> cycles;

    void change(int64_t cycle, int by) {  // as of the next cycle: a word is held from the edge on that takes it
        const size_t row = size_t(words < 0 ? 0 : words < most_words ? words : most_words);
        if (cycles.size() <= row) cycles.resize(row + 1);
        const int64_t until = by ? cycle + 1 : cycle;
        cycles[row] += until - since;
        since = until;
        words += by;
        below |= words < 0;
    }

    // It stays as it is until `cycle`, the first one not seen.
    void finish(int64_t cycle, int number, RecordFile& occupancy) {
        change(cycle, 0);
        for (size_t held = 0; held < cycles.size(); ++held) {
            rcw_occupancy_record record{};
            record.fifo = number;
            record.words = int32_t(held);
            record.cycles = cycles[held];
            if (record.cycles && !below) occupancy.add(&record, sizeof record);
        }
    }
};

struct StreamPlan {
    std::vector<int> streams;  // bits of the packed ports
    std::vector<StreamFifo> fifos;
    std::vector<StreamWait> waits;
};

// When a stream's transfers were, and for how long each had been offered, or would have been taken.
class TransferTrace {
public:
    // Cycles of `valid` and `ready`, the first, cycle `first`, in bit 0; `kept` of them.
    void see(int64_t first, int kept, uint64_t valid, uint64_t ready, uint16_t stream, RecordFile& out) {
        uint64_t moves = valid & ready;
        while (moves) {
            const int at = __builtin_ctzll(moves);
            const uint64_t behind = moves >> at >> 1;  // what follows at once is told together
            const int more = __builtin_ctzll(~behind);
            const uint64_t before = (uint64_t{1} << at) - 1;
            const int64_t offered = std::max(since(valid_, first, ~valid & before), last_ + 1);
            const int64_t taken = std::max(since(ready_, first, ~ready & before), last_ + 1);
            add(first + at, taken - offered, stream, out);
            if (more) write({uint32_t(more), RCW_AS_MANY_MORE, stream}, out);
            last_ += more;
            moves &= ~(((uint64_t{2} << more) - 1) << at);
        }
        const uint64_t all = kept < 64 ? (uint64_t{1} << kept) - 1 : ~uint64_t{0};
        valid_ = since(valid_, first, ~valid & all);
        ready_ = since(ready_, first, ~ready & all);
    }

    // All as it was in the cycle seen last, up to cycle `next`.
    void stay(int64_t next, bool valid, bool ready) {
        if (!valid) valid_ = next;
        if (!ready) ready_ = next;
    }

private:
    // From which cycle on it is high: `low` are the cycles in which it was not.
    static int64_t since(int64_t before, int64_t first, uint64_t low) {
        return low ? first + 64 - __builtin_clzll(low) : before;
    }

    void add(int64_t cycle, int64_t early, uint16_t stream, RecordFile& out) {
        const int64_t since = cycle - last_;
        const bool small = early > RCW_AS_MANY_MORE && early <= INT16_MAX;
        if (!small) {
            const int64_t most = std::clamp<int64_t>(early, INT32_MIN, INT32_MAX);
            write({uint32_t(int32_t(most)), RCW_EARLY_FOLLOWS, stream}, out);
        }
        if (since >> 32) write({uint32_t(since >> 32), RCW_SINCE_FOLLOWS, stream}, out);
        write({uint32_t(since), int16_t(small ? early : 0), stream}, out);
        last_ = cycle;
    }
    static void write(const rcw_stream_transfer_record& record, RecordFile& out) { out.add(&record, sizeof record); }

    int64_t last_ = -1, valid_ = 0, ready_ = 0;
};

// The streams of one clock. Cycles are kept until there are 64 of them, and then counted for each stream at once.
class Streams {
public:
    // Transfers are written to `trace`, where there is one; `base` is the number of this card's first stream.
    Streams(const StreamPlan& plan, size_t bits, int base, RecordFile* trace)
        : plan_(plan), lanes_((bits + 63) / 64), counts_(bits), waited_(plan.waits.size()), fifos_(plan.fifos.size()), base_(base),
          trace_(base + int(bits) <= UINT16_MAX + 1 ? trace : nullptr), traces_(trace_ ? bits : 0) {
        for (int bit : plan_.streams) lanes_[size_t(bit) / 64].mask |= uint64_t{1} << bit % 64;
    }

    bool any() const { return !plan_.streams.empty(); }
    int64_t last_transfer() const { return last_transfer_; }

    // Valid and ready of all streams in cycle `cycle`, as words of the packed ports; cycles come in order, without gaps.
    void see(int64_t cycle, const uint32_t* valid, const uint32_t* ready, size_t words) {
        if (!kept_) first_cycle_ = cycle;
        uint64_t moved = 0;
        for (size_t i = 0; i < lanes_.size(); ++i) {
            Lanes& lanes = lanes_[i];
            const uint64_t v = word(valid, i, words) & lanes.mask, r = word(ready, i, words) & lanes.mask;
            lanes.now_valid = lanes.valid[kept_] = v;
            lanes.now_ready = lanes.ready[kept_] = r;
            moved |= v & r;
        }
        if (moved) last_transfer_ = cycle;
        if (++kept_ == 64) count();
    }

    // So many more cycles are as the one seen last, in which nothing passed.
    void stay(int64_t cycles) {
        count();
        first_cycle_ += cycles;
        for (int bit : plan_.streams) {
            rcw_stream_record& record = counts_[size_t(bit)];
            record.valid += valid(bit) * cycles;
            record.ready += ready(bit) * cycles;
            if (trace_) traces_[size_t(bit)].stay(first_cycle_, valid(bit), ready(bit));
        }
        for (size_t i = 0; i < waited_.size(); ++i) {
            const StreamWait& wait = plan_.waits[i];
            const bool own = valid(wait.stream), taken = ready(wait.stream);
            const bool stalled = wait.valid ? taken && !own : own && !taken;
            if (stalled && !(wait.by_valid ? valid(wait.other) : ready(wait.other))) waited_[i] += cycles;
        }
        cycles_ += cycles;
    }

    // Whether something passed in the cycle that was seen last.
    bool moving() const {
        for (const Lanes& lanes : lanes_)
            if (lanes.now_valid & lanes.now_ready) return true;
        return false;
    }

    // Write the counts; FIFOs stay as they are until `cycle`, the first one not seen. `fifo_base` is the number of this
    // card's first one.
    void finish(int64_t cycle, int fifo_base, RecordFile& counts, RecordFile& waits, RecordFile& occupancy) {
        count();
        for (int bit : plan_.streams) {
            rcw_stream_record record = counts_[size_t(bit)];
            record.stream = base_ + bit;
            record.cycles = cycles_;
            counts.add(&record, sizeof record);
        }
        for (size_t i = 0; i < waited_.size(); ++i) {
            rcw_stream_wait_record record{};
            record.stream = base_ + plan_.waits[i].stream;
            record.wait = plan_.waits[i].number;
            record.cycles = waited_[i];
            if (record.cycles) waits.add(&record, sizeof record);
        }
        for (size_t i = 0; i < fifos_.size(); ++i) fifos_[i].finish(cycle, fifo_base + plan_.fifos[i].number, occupancy);
    }

    // Whether a stream offers, and takes, in the cycle that was seen last.
    bool valid(int stream) const { return lanes_[size_t(stream) / 64].now_valid >> stream % 64 & 1; }
    bool ready(int stream) const { return lanes_[size_t(stream) / 64].now_ready >> stream % 64 & 1; }
    bool moves(int stream) const { return valid(stream) && ready(stream); }
    const std::vector<int>& numbers() const { return plan_.streams; }

private:
    struct Lanes {
        uint64_t mask = 0, now_valid = 0, now_ready = 0;
        uint64_t valid[64] = {}, ready[64] = {};  // by cycle; while they are counted, by stream
    };
    static uint64_t word(const uint32_t* words, size_t i, size_t count) {
        const uint64_t low = words[2 * i];
        return 2 * i + 1 < count ? low | uint64_t(words[2 * i + 1]) << 32 : low;
    }

    // The cycles kept, the first in bit 0, in which a stream was valid, or ready.
    uint64_t valids(int stream) const { return lanes_[size_t(stream) / 64].valid[stream % 64]; }
    uint64_t readies(int stream) const { return lanes_[size_t(stream) / 64].ready[stream % 64]; }
    uint64_t transfers(int stream) const { return valids(stream) & readies(stream); }

    void count() {
        if (!kept_) return;
        for (Lanes& lanes : lanes_)
            for (uint64_t* words : {lanes.valid, lanes.ready}) {
                for (int i = kept_; i < 64; ++i) words[i] = 0;
                transpose(words);
            }
        for (int stream : plan_.streams) {
            rcw_stream_record& record = counts_[size_t(stream)];
            record.transfers += __builtin_popcountll(transfers(stream));
            record.valid += __builtin_popcountll(valids(stream));
            record.ready += __builtin_popcountll(readies(stream));
            if (trace_)
                traces_[size_t(stream)].see(first_cycle_, kept_, valids(stream), readies(stream), uint16_t(base_ + stream), *trace_);
        }
        for (size_t i = 0; i < waited_.size(); ++i) {
            const StreamWait& wait = plan_.waits[i];
            const uint64_t own = valids(wait.stream), taken = readies(wait.stream);
            const uint64_t stalled = wait.valid ? taken & ~own : own & ~taken;
            waited_[i] += __builtin_popcountll(stalled & ~(wait.by_valid ? valids(wait.other) : readies(wait.other)));
        }
        for (size_t i = 0; i < fifos_.size(); ++i) {
            const uint64_t in = transfers(plan_.fifos[i].input), out = transfers(plan_.fifos[i].output);
            for (uint64_t changes = in ^ out; changes; changes &= changes - 1) {
                const int at = __builtin_ctzll(changes);
                fifos_[i].change(first_cycle_ + at, in >> at & 1 ? 1 : -1);
            }
        }
        cycles_ += kept_;
        first_cycle_ += kept_;  // of those that come
        kept_ = 0;
    }

    StreamPlan plan_;
    std::vector<Lanes> lanes_;
    std::vector<rcw_stream_record> counts_;
    std::vector<int64_t> waited_;
    std::vector<Held> fifos_;
    int base_;
    RecordFile* trace_;
    std::vector<TransferTrace> traces_;
    int kept_ = 0;  // cycles
    int64_t first_cycle_ = 0, cycles_ = 0, last_transfer_ = -1;
};
