// How long a memory takes for a burst: channels with a bus each, banks with an open row each, refreshes. Whole
// picoseconds, in the order in which it is asked; nothing else is looked at. README.md has the rules.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

struct DramTiming {
    int64_t channels, interleave_bytes;  // consecutive pieces of so many bytes lie in the channels by turns
    int64_t banks, row_bytes;            // of a channel
    int64_t bank_rows;                   // rows that lie together in a bank; 0: consecutive ones lie in the banks by turns
    int64_t fixed_ps, cas_ps, rcd_ps, rp_ps, turnaround_ps;
    int64_t refresh_ps, refreshing_ps;   // how often, and for how long; 0: never
    int64_t rate_bytes, rate_ps;         // so many bytes in so many picoseconds over the bus of a channel
};

// What accesses found: their row open, none, or another one; and how long they had a bus.
struct DramCounts {
    int64_t hits = 0, opened = 0, conflicts = 0, bus_ps = 0;
};

class Dram {
public:
    // A part of a burst within a row: when it is on the bus, and the bytes of the burst up to its end.
    struct Piece {
        int64_t to_byte, begin_ps, end_ps;
    };

    explicit Dram(const DramTiming& timing) : timing_(timing), channels_(size_t(timing.channels)) {
        for (Channel& channel : channels_) channel.banks.resize(size_t(timing.banks));
    }

    // A burst of `bytes` from `offset` on, asked for at `asked_ps`.
    std::vector<Piece> grant(int64_t asked_ps, int64_t offset, int64_t bytes, bool write, DramCounts& counts) {
        std::vector<Piece> pieces;
        for (int64_t done = 0; done < bytes;) {
            const int64_t at = offset + done, turn = at / timing_.interleave_bytes;
            const int64_t inner = turn / timing_.channels * timing_.interleave_bytes + at % timing_.interleave_bytes;
            int64_t room = timing_.row_bytes - inner % timing_.row_bytes;
            if (timing_.channels > 1) room = std::min(room, timing_.interleave_bytes - at % timing_.interleave_bytes);
            const int64_t size = std::min(room, bytes - done);
            done += size;
            Channel& channel = channels_[size_t(turn % timing_.channels)];
            pieces.push_back(access(channel, asked_ps, inner / timing_.row_bytes, size, write, counts));
            pieces.back().to_byte = done;
        }
        return pieces;
    }

private:
    struct Bank {
        int64_t row = -1, command_ps = 0, end_ps = 0, refreshes = 0;
    };
    struct Channel {
        std::vector<Bank> banks;
        int64_t free_ps = 0;
        int wrote = -1;  // whether its bus did last
    };

    Piece access(Channel& channel, int64_t asked_ps, int64_t row, int64_t bytes, bool write, DramCounts& counts) {
        Bank& bank = channel.banks[size_t(timing_.bank_rows ? row / timing_.bank_rows : row % timing_.banks)];
        int64_t at = std::max(asked_ps + timing_.fixed_ps, bank.command_ps);
        if (timing_.refresh_ps && at / timing_.refresh_ps > bank.refreshes) {
            bank.refreshes = at / timing_.refresh_ps;
            bank.row = -1;
            at = std::max(at, bank.refreshes * timing_.refresh_ps + timing_.refreshing_ps);
        }
        if (bank.row == row) {
            ++counts.hits;
        } else if (bank.row < 0) {
            ++counts.opened;
            at += timing_.rcd_ps;
        } else {
            ++counts.conflicts;
            at = std::max(at, bank.end_ps) + timing_.rp_ps + timing_.rcd_ps;
        }
        const int64_t turned = channel.wrote >= 0 && channel.wrote != int(write) ? timing_.turnaround_ps : 0;
        const int64_t begin = std::max(at + timing_.cas_ps, channel.free_ps + turned);
        const int64_t end = begin + int64_t((static_cast<__int128>(bytes) * timing_.rate_ps + timing_.rate_bytes - 1) / timing_.rate_bytes);
        counts.bus_ps += end - begin;
        bank.row = row;
        bank.end_ps = channel.free_ps = end;
        bank.command_ps = end - timing_.cas_ps;  // the words of the next may follow at once
        channel.wrote = write;
        return {0, begin, end};
    }

    const DramTiming timing_;
    std::vector<Channel> channels_;
};
