#pragma once
#include <cstdio>
#include <deque>
#include <utility>
#include <vector>

#include "streaming.hpp"

namespace blastn {

constexpr uint32_t query_bases = 128, word_bases = 8, reach = 16, match = 1, mismatch = 3, least_score = 14;
constexpr uint32_t every = 701, planted = 24; // pieces of the query in the database
constexpr uint64_t nothing = uint64_t(1) << 63;

inline uint32_t mixed(uint32_t x) // a number like a random one
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

inline uint32_t query_base(uint32_t seed, uint32_t at) { return mixed(seed * 0x10001u + at) & 3; }

inline uint32_t database_base(uint32_t seed, uint32_t at)
{
    const uint32_t piece = at / every, inside = at % every;
    if (inside < planted) {
        const uint32_t from = mixed(piece + 77u * seed) % (query_bases - planted);
        if (mixed(at + 991u * seed) % 16) return query_base(seed, from + inside); // now and then another base
    }
    return mixed(seed * 0x20003u + 0x5000000u + at) & 3;
}

constexpr uint32_t word_mask = (1u << 2 * word_bases) - 1;

// The two places of a word in the Bloom filter's 4096 bits.
inline uint32_t first_place(uint32_t word) { return (word ^ (word >> 4)) & 4095; }
inline uint32_t second_place(uint32_t word) { return (word * 5 + (word >> 7)) & 4095; }

inline std::vector<uint32_t> query_words(uint32_t seed)
{
    std::vector<uint32_t> words;
    for (uint32_t at = 0, word = 0; at < query_bases; at++) {
        word = (word << 2 | query_base(seed, at)) & word_mask;
        if (at + 1 >= word_bases) words.push_back(word);
    }
    return words;
}

inline std::vector<bool> query_filter(uint32_t seed)
{
    std::vector<bool> filter(4096);
    for (const uint32_t word : query_words(seed)) filter[first_place(word)] = filter[second_place(word)] = true;
    return filter;
}

// Whether a message without a match is due at a place, where one with a match is `sent` or not.
class Silence {
public:
    Silence(uint32_t algorithm, uint32_t interval) : algorithm_(algorithm), interval_(interval) {}

    bool due(uint64_t place, bool sent)
    {
        if (sent && algorithm_ == 3) since_ = place;
        if (algorithm_ == 1) return !sent;
        if (algorithm_ < 2 || place - since_ < interval_) return false;
        since_ = place;
        return true;
    }

private:
    uint32_t algorithm_, interval_;
    uint64_t since_ = 0;
};

} // namespace blastn

struct Database {
    streaming::Out<uint64_t> y;
    uint32_t bases, seed;

    void run()
    {
        for (uint32_t at = 0; at < bases; at++)
            if (!y.push(uint64_t(at) << 2 | blastn::database_base(seed, at))) return;
    }
};

// Stage 1a
struct Seeds {
    streaming::In<uint64_t> x;
    streaming::Out<uint64_t> words, db;
    uint32_t algorithm, interval, seed;

    void run()
    {
        const std::vector<bool> filter = blastn::query_filter(seed);
        blastn::Silence silence(algorithm, interval);
        uint32_t word = 0;
        for (uint64_t base; x.pop(base);) {
            const uint64_t at = base >> 2;
            word = (word << 2 | uint32_t(base & 3)) & blastn::word_mask;
            const bool passes = at + 1 >= blastn::word_bases && filter[blastn::first_place(word)] && filter[blastn::second_place(word)];
            if (passes && !words.push(at << 16 | word)) return;
            if (silence.due(at, passes) && !words.push(blastn::nothing | at << 16)) return;
            if (!db.push(base)) return;
        }
    }
};

// Stage 1b
struct Lookup {
    streaming::In<uint64_t> x;
    streaming::Out<uint64_t> y;
    uint32_t algorithm, interval, seed;

    void run()
    {
        std::vector<std::vector<uint16_t>> places(blastn::word_mask + 1);
        const std::vector<uint32_t> words = blastn::query_words(seed);
        for (uint32_t i = 0; i < words.size(); i++) places[words[i]].push_back(uint16_t(i));
        blastn::Silence silence(algorithm, interval);
        for (uint64_t message; x.pop(message);) {
            const uint64_t at = (message & ~blastn::nothing) >> 16;
            bool sent = message & blastn::nothing;
            if (sent && !y.push(message)) return; // goes on as it is
            if (!sent)
                for (const uint16_t place : places[message & blastn::word_mask]) {
                    if (!y.push(at << 16 | place)) return;
                    sent = true;
                }
            if (silence.due(at, sent) && !y.push(blastn::nothing | at << 16)) return;
        }
    }
};

// Stage 2a: without gaps, as far as the score of a side grows.
struct Extend {
    streaming::In<uint64_t> hits, db;
    streaming::Out<uint64_t> y;
    uint32_t seed;

    void run()
    {
        std::deque<std::pair<uint64_t, uint32_t>> waiting; // matches whose surroundings are not all there yet
        std::vector<uint8_t> seen;
        uint64_t message, known = 0;
        bool more = true;
        for (uint64_t base; true;) {
            while (more && known <= seen.size()) {
                if (!(more = hits.pop(message))) break;
                known = (message & ~blastn::nothing) >> 16;
                if (!(message & blastn::nothing)) waiting.emplace_back(known, uint32_t(message & 0xffff));
            }
            const bool got = db.pop(base);
            if (got) seen.push_back(uint8_t(base & 3));
            while (!waiting.empty() && (!got || waiting.front().first + blastn::reach < seen.size())) {
                if (!report(seen, waiting.front().first, waiting.front().second)) return;
                waiting.pop_front();
            }
            if (!got) return;
        }
    }

private:
    bool report(const std::vector<uint8_t>& seen, uint64_t last, uint32_t place)
    {
        const int64_t shift = int64_t(last) + 1 - blastn::word_bases - place; // from the query to the database
        const int score = int(blastn::word_bases) + side(seen, place - 1, -1, shift)
            + side(seen, place + blastn::word_bases, 1, shift);
        return score < int(blastn::least_score) || y.push(uint64_t(score) << 48 | last << 16 | place);
    }

    int side(const std::vector<uint8_t>& seen, int64_t place, int step, int64_t shift) const
    {
        int score = 0, best = 0;
        for (uint32_t i = 0; i < blastn::reach; i++, place += step) {
            const int64_t at = place + shift;
            if (place < 0 || place >= blastn::query_bases || at < 0 || at >= int64_t(seen.size())) break;
            score += seen[size_t(at)] == blastn::query_base(seed, uint32_t(place)) ? int(blastn::match) : -int(blastn::mismatch);
            if (score > best) best = score;
        }
        return best;
    }
};

struct Report {
    streaming::In<uint64_t> x;

    void run()
    {
        for (uint64_t found; x.pop(found);)
            std::printf("database %llu query %llu score %llu\n", (unsigned long long)(found >> 16 & 0xffffffff),
                        (unsigned long long)(found & 0xffff), (unsigned long long)(found >> 48));
    }
};
