#pragma once
#include <algorithm>
#include <cstdio>
#include <deque>
#include <vector>

#include "streaming.hpp"

namespace blastn {

constexpr uint32_t query_bases = 128, word_bases = 8, reach = 16, match = 1, mismatch = 3, least_score = 14;
constexpr uint32_t every = 701, planted = 24; // pieces of the query in the database

// A base is {last of its pass of the database: 1 bit, query: 29, place: 32, base: 2}; a message {nothing found: 1, query: 15,
// place of the word's last base: 32, score: 8, place in the query: 8}, or with the word in the lower 16 bits.
constexpr uint64_t nothing = uint64_t(1) << 63, last_base = nothing;

inline uint64_t at_of_base(uint64_t base) { return (base & ~last_base) >> 2; } // query and place
inline uint64_t at_of(uint64_t message) { return (message & ~nothing) >> 16; }
inline uint32_t query_of(uint64_t at) { return uint32_t(at >> 32); }
inline uint32_t place_of(uint64_t message) { return uint32_t(message & 0xff); }
inline uint32_t score_of(uint64_t message) { return uint32_t(message >> 8 & 0xff); }
inline uint32_t seed_of(uint32_t seed, uint32_t query) { return seed + 101u * query; }

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
        std::vector<bool> filter;
        blastn::Silence silence(algorithm, interval);
        uint32_t word = 0, query = ~0u;
        for (uint64_t base; x.pop(base);) {
            const uint64_t at = blastn::at_of_base(base);
            if (query != blastn::query_of(at)) filter = blastn::query_filter(blastn::seed_of(seed, query = blastn::query_of(at)));
            word = (word << 2 | uint32_t(base & 3)) & blastn::word_mask;
            const bool passes = uint32_t(at) + 1 >= blastn::word_bases && filter[blastn::first_place(word)] && filter[blastn::second_place(word)];
            if (passes && !words.push(at << 16 | word)) return;
            if ((silence.due(at, passes) || base & blastn::last_base) && !words.push(blastn::nothing | at << 16)) return;
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
        std::vector<uint32_t> words;
        uint32_t query = ~0u;
        blastn::Silence silence(algorithm, interval);
        for (uint64_t message; x.pop(message);) {
            const uint64_t at = blastn::at_of(message);
            if (query != blastn::query_of(at)) {
                query = blastn::query_of(at);
                for (const uint32_t word : words) places[word].clear();
                words = blastn::query_words(blastn::seed_of(seed, query));
                for (uint32_t i = 0; i < words.size(); i++) places[words[i]].push_back(uint16_t(i));
            }
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

// Stage 2a: a window around the word, without gaps. A message of nothing says that a pass of the database has ended.
struct Extend {
    streaming::In<uint64_t> hits, db;
    streaming::Out<uint64_t> y;
    uint32_t seed;

    void run()
    {
        std::deque<uint64_t> waiting; // matches whose surroundings are not all there yet
        uint64_t message, base, complete = 0; // all matches before this place are there
        bool more = true;
        while (db.pop(base)) {
            const uint64_t at = blastn::at_of_base(base);
            const bool last = base & blastn::last_base;
            if (!uint32_t(at)) seen_.clear();
            seen_.push_back(uint8_t(base & 3));
            while (more && complete <= at && (more = hits.pop(message))) {
                complete = blastn::at_of(message) + (message >> 63);
                if (!(message & blastn::nothing)) waiting.push_back(message);
            }
            for (; !waiting.empty() && (last ? blastn::at_of(waiting.front()) <= at
                                             : blastn::at_of(waiting.front()) + blastn::reach <= at); waiting.pop_front())
                if (!extended(waiting.front())) return;
            if (last && !y.push(blastn::nothing | at << 16)) return;
        }
        for (; !waiting.empty(); waiting.pop_front())
            if (!extended(waiting.front())) return;
        while (more && (more = hits.pop(message)))
            if (!(message & blastn::nothing) && !extended(message)) return;
    }

private:
    std::vector<uint8_t> seen_; // of the pass

    bool extended(uint64_t message)
    {
        const int64_t last = uint32_t(blastn::at_of(message)), place = blastn::place_of(message);
        const int64_t shift = last + 1 - blastn::word_bases - place; // from the query to the database
        const uint32_t query = blastn::seed_of(seed, blastn::query_of(blastn::at_of(message)));
        const int score = int(blastn::word_bases) + side(query, place - 1, -1, shift)
            + side(query, place + blastn::word_bases, 1, shift);
        return score < int(blastn::least_score) || y.push(message | uint64_t(score) << 8);
    }

    int side(uint32_t query, int64_t place, int step, int64_t shift) const
    {
        int score = 0, best = 0;
        for (uint32_t i = 0; i < blastn::reach; i++, place += step) {
            const int64_t at = place + shift;
            if (place < 0 || place >= blastn::query_bases || at < 0 || at >= int64_t(seen_.size())) break;
            score += seen_[size_t(at)] == blastn::query_base(query, uint32_t(place)) ? int(blastn::match) : -int(blastn::mismatch);
            best = std::max(best, score);
        }
        return best;
    }
};

struct Report {
    streaming::In<uint64_t> x;

    void run()
    {
        for (uint64_t message; x.pop(message);)
            std::printf("database %u query %u score %u\n", uint32_t(blastn::at_of(message)), blastn::place_of(message),
                        blastn::score_of(message));
    }
};
