#pragma once
#include <algorithm>
#include <array>

#include "blastn.hpp"

// Many queries, each against the whole database (Lancaster 2011, Fig. 6.16). A place counts the bases of all passes: pass q
// of the database is for query q, and has the places from q * bases on.
namespace blastn {

constexpr uint32_t gapped = 48, band = 6, drop = 6, gap = 2, most_queries = 1024;
constexpr int least_ungapped = 16;

inline uint32_t seed_of(uint32_t seed, uint64_t query) { return seed + 101u * uint32_t(query); }

// Pieces of all queries are in the database, of every second one a base is left out.
inline uint32_t genome_base(uint32_t seed, uint32_t queries, uint32_t at)
{
    const uint32_t piece = at / every, inside = at % every;
    if (inside < gapped) {
        const uint32_t query = mixed(piece + 55u * seed) % queries;
        const uint32_t from = mixed(piece + 77u * seed) % (query_bases - gapped - 1);
        const uint32_t left_out = inside >= gapped / 2 && mixed(piece + 5u * seed) % 2;
        if (mixed(at + 991u * seed) % 16) return query_base(seed_of(seed, query), from + inside + left_out);
    }
    return mixed(seed * 0x20003u + 0x5000000u + at) & 3;
}

struct Alignment {
    uint32_t last, place, score; // the word's last base in the database, its first one in the query
};

// By queries: written by the block that packages, read by those that a query was handed to since.
inline std::vector<Alignment>& alignments_of(uint64_t query)
{
    static std::array<std::vector<Alignment>, most_queries> all;
    return all[query];
}

inline uint64_t last_of(uint64_t message) { return (message & ~nothing) >> 16; }
inline uint32_t place_of(uint64_t message) { return uint32_t(message & 0xffff); }

// The score of a side without gaps, until it falls by `drop` below the best.
template <class Base> int ungapped(Base database, uint32_t seed, int64_t place, int64_t at, int64_t bases, int step)
{
    int score = 0, best = 0;
    for (; place >= 0 && place < query_bases && at >= 0 && at < bases && score > best - int(drop); place += step, at += step) {
        score += database(at) == query_base(seed, uint32_t(place)) ? int(match) : -int(mismatch);
        best = std::max(best, score);
    }
    return best;
}

} // namespace blastn

// Prepares queries: what each costs is `work` steps of a generator.
struct Prepare {
    streaming::Out<uint32_t> y;
    uint32_t queries, work, seed;

    void run()
    {
        for (uint32_t query = 0; query < queries; query++) {
            volatile uint32_t made = seed;
            for (uint32_t i = 0; i < work; i++) made = blastn::mixed(made + i);
            if (!y.push(query)) return;
        }
    }
};

// Streams the database, once for each query.
struct ReadDatabase {
    streaming::In<uint32_t> x;
    streaming::Out<uint64_t> y;
    uint32_t bases, queries, seed;

    void run()
    {
        std::vector<uint64_t> database(bases), pass(bases);
        for (uint32_t at = 0; at < bases; at++) database[at] = blastn::genome_base(seed, queries, at);
        for (uint32_t query; x.pop(query);) {
            for (uint32_t at = 0; at < bases; at++) pass[at] = (uint64_t(query) * bases + at) << 2 | database[at];
            if (!y.push(pass.data(), bases)) return;
        }
    }
};

// Stage 1a
struct FirstWords {
    streaming::In<uint64_t> x;
    streaming::Out<uint64_t> words, db;
    uint32_t bases, interval, seed;

    void run()
    {
        std::vector<bool> filter;
        blastn::Silence silence(3, interval);
        uint32_t word = 0;
        for (uint64_t base; x.pop(base);) {
            const uint64_t at = base >> 2, inside = at % bases;
            if (!inside) filter = blastn::query_filter(blastn::seed_of(seed, at / bases));
            word = (word << 2 | uint32_t(base & 3)) & blastn::word_mask;
            const bool passes = inside + 1 >= blastn::word_bases && filter[blastn::first_place(word)] && filter[blastn::second_place(word)];
            if (passes && !words.push(at << 16 | word)) return;
            if (silence.due(at, passes) && !words.push(blastn::nothing | at << 16)) return;
            if (!db.push(base)) return;
        }
    }
};

// Stage 1b
struct Lookups {
    streaming::In<uint64_t> x;
    streaming::Out<uint64_t> y;
    uint32_t bases, interval, seed;

    void run()
    {
        std::vector<std::vector<uint16_t>> places(blastn::word_mask + 1);
        std::vector<uint32_t> words;
        uint64_t query = ~uint64_t(0);
        blastn::Silence silence(3, interval);
        for (uint64_t message; x.pop(message);) {
            const uint64_t at = blastn::last_of(message);
            if (at / bases != query) {
                query = at / bases;
                for (const uint32_t word : words) places[word].clear();
                words = blastn::query_words(blastn::seed_of(seed, query));
                for (uint32_t i = 0; i < words.size(); i++) places[words[i]].push_back(uint16_t(i));
            }
            bool sent = message & blastn::nothing;
            if (sent && !y.push(message)) return;
            if (!sent)
                for (const uint16_t place : places[message & blastn::word_mask]) {
                    if (!y.push(at << 16 | place)) return;
                    sent = true;
                }
            if (silence.due(at, sent) && !y.push(blastn::nothing | at << 16)) return;
        }
    }
};

// Stage 2a: a window around the word, without gaps.
struct Window {
    streaming::In<uint64_t> hits, db;
    streaming::Out<uint64_t> y;
    uint32_t bases, seed;

    void run()
    {
        std::deque<uint64_t> waiting;
        std::vector<uint8_t> seen;
        uint64_t message, known = 0;
        bool more = true;
        for (uint64_t base; true;) {
            while (more && known <= seen.size()) {
                if (!(more = hits.pop(message))) break;
                known = blastn::last_of(message);
                if (!(message & blastn::nothing)) waiting.push_back(message);
            }
            const bool got = db.pop(base);
            if (got) seen.push_back(uint8_t(base & 3));
            while (!waiting.empty() && (!got || blastn::last_of(waiting.front()) + blastn::reach < seen.size())) {
                if (score(seen, waiting.front()) >= int(blastn::least_score) && !y.push(waiting.front())) return;
                waiting.pop_front();
            }
            if (!got) return;
        }
    }

private:
    int score(const std::vector<uint8_t>& seen, uint64_t message) const
    {
        const uint64_t last = blastn::last_of(message), query = last / bases;
        const uint32_t place = blastn::place_of(message), asked = blastn::seed_of(seed, query);
        const int64_t first = int64_t(query * bases), at = int64_t(last) + 1 - first; // behind the word, in its pass
        int64_t low = std::max<int64_t>(at - blastn::word_bases - blastn::reach, 0);
        int64_t high = std::min<int64_t>({at + blastn::reach, int64_t(bases), int64_t(seen.size()) - first});
        const auto base = [&](int64_t i) { return seen[size_t(first + i)]; };
        return int(blastn::word_bases) + blastn::ungapped(base, asked, place + blastn::word_bases, at, high, 1)
            + blastn::ungapped([&](int64_t i) { return i < low ? 4u : base(i); }, asked, int64_t(place) - 1,
                               at - blastn::word_bases - 1, high, -1);
    }
};

// Stage 2b: as far as the score holds, without gaps.
struct Beyond {
    streaming::In<uint64_t> x;
    streaming::Out<uint64_t> y;
    uint32_t bases, queries, seed;

    void run()
    {
        const auto base = [this](int64_t i) { return blastn::genome_base(seed, queries, uint32_t(i)); };
        for (uint64_t message; x.pop(message);) {
            const uint64_t last = blastn::last_of(message);
            const uint32_t asked = blastn::seed_of(seed, last / bases), place = blastn::place_of(message);
            const int64_t at = int64_t(last % bases) + 1;
            const int score = int(blastn::word_bases)
                + blastn::ungapped(base, asked, place + blastn::word_bases, at, bases, 1)
                + blastn::ungapped(base, asked, int64_t(place) - 1, at - blastn::word_bases - 1, bases, -1);
            if (score >= blastn::least_ungapped && !y.push(message)) return;
        }
    }
};

// Packages alignments by query.
struct Package {
    streaming::In<uint64_t> x;
    streaming::Out<uint32_t> y;
    uint32_t bases, queries;

    void run()
    {
        uint32_t query = 0;
        for (uint64_t message; x.pop(message);) {
            const uint64_t last = blastn::last_of(message);
            for (; query < last / bases; query++)
                if (!y.push(query)) return;
            blastn::alignments_of(query).push_back({uint32_t(last % bases), blastn::place_of(message), 0});
        }
        for (; query < queries; query++)
            if (!y.push(query)) return;
    }
};

struct Deal { // in turn
    streaming::In<uint32_t> x;
    streaming::Out<uint32_t> left, right;

    void run()
    {
        bool to_right = false;
        for (uint32_t query; x.pop(query); to_right = !to_right)
            if (!(to_right ? right : left).push(query)) return;
    }
};

struct Gather { // in turn
    streaming::In<uint32_t> left, right;
    streaming::Out<uint32_t> y;

    void run()
    {
        for (uint32_t query; left.pop(query) && y.push(query) && right.pop(query) && y.push(query);) continue;
    }
};

// Stage 3: with gaps, in a band around the word's diagonal.
struct Gapped {
    streaming::In<uint32_t> x;
    streaming::Out<uint32_t> y;
    uint32_t bases, queries, seed;

    void run()
    {
        for (uint32_t query; x.pop(query);) {
            for (blastn::Alignment& one : blastn::alignments_of(query)) one.score = score(query, one);
            if (!y.push(query)) return;
        }
    }

private:
    uint32_t score(uint32_t query, const blastn::Alignment& one) const
    {
        constexpr int width = 2 * blastn::band + 1;
        const int64_t shift = int64_t(one.last) + 1 - blastn::word_bases - one.place - blastn::band;
        std::array<int, width + 2> row{}, above{}; // row[1 + k]: the query's base i with the database's i + shift + k
        int best = 0;
        for (int64_t i = 0; i < blastn::query_bases; i++) {
            above = row;
            const uint32_t asked = blastn::query_base(blastn::seed_of(seed, query), uint32_t(i));
            for (int k = 0; k < width; k++) {
                const int64_t at = i + shift + k;
                int worth = 0;
                if (at >= 0 && at < bases) {
                    const bool same = blastn::genome_base(seed, queries, uint32_t(at)) == asked;
                    worth = std::max({0, above[1 + k] + (same ? int(blastn::match) : -int(blastn::mismatch)),
                                      row[k] - int(blastn::gap), above[2 + k] - int(blastn::gap)});
                }
                row[1 + k] = worth;
                best = std::max(best, worth);
            }
            row[width + 1] = 0;
        }
        return uint32_t(best);
    }
};

struct Results {
    streaming::In<uint32_t> x;

    void run()
    {
        for (uint32_t query; x.pop(query);) {
            uint32_t best = 0;
            for (const blastn::Alignment& one : blastn::alignments_of(query)) best = std::max(best, one.score);
            std::printf("query %u alignments %zu best %u\n", query, blastn::alignments_of(query).size(), best);
        }
    }
};
