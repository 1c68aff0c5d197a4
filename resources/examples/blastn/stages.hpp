#pragma once
#include <algorithm>
#include <array>

#include "blastn.hpp"

// Many queries, each against the whole database (Lancaster 2011, Fig. 6.16): a pass of the database for each.
namespace blastn {

constexpr uint32_t gapped = 48, band = 6, drop = 6, gap = 2, most_queries = 1024;
constexpr uint64_t least_ungapped = 24;

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
    uint32_t last, place; // the word's last base in the database, its first one in the query
    int score;
};

// By queries: each belongs to the thread that has the query.
inline std::vector<Alignment>& alignments_of(uint64_t query)
{
    static std::array<std::vector<Alignment>, most_queries> all;
    return all[query];
}

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

// Streams the database, once for each query: a thread for each pipeline, which takes the next query.
struct ReadDatabase {
    streaming::In<uint32_t> x;
    streaming::Out<uint64_t> y;
    uint32_t bases, queries, seed;

    void run() { stream_to(y); }

protected:
    void stream_to(streaming::Out<uint64_t>& pipeline)
    {
        std::vector<uint64_t> database(bases), pass(bases);
        for (uint32_t at = 0; at < bases; at++) database[at] = uint64_t(at) << 2 | blastn::genome_base(seed, queries, at);
        database[bases - 1] |= blastn::last_base;
        for (uint32_t query; x.pop(query);) {
            for (uint32_t at = 0; at < bases; at++) pass[at] = uint64_t(query) << 34 | database[at];
            if (!pipeline.push(pass.data(), bases)) return;
        }
    }
};

struct ReadForTwo : private ReadDatabase {
    using ReadDatabase::x, ReadDatabase::bases, ReadDatabase::queries, ReadDatabase::seed;
    streaming::Out<uint64_t> left, right;

    void run() { stream_to(streaming::thread_number ? right : left); }
};

// Stage 2b: as far as the score holds, without gaps. A message of nothing, the end of a pass, goes on as it is.
struct Beyond {
    streaming::In<uint64_t> x;
    streaming::Out<uint64_t> y;
    uint32_t bases, queries, seed;

    void run()
    {
        for (uint64_t message; x.pop(message);) {
            if (!(message & blastn::nothing)) {
                const uint64_t total = uint64_t(score(message));
                if (total < blastn::least_ungapped) continue;
                message = (message & ~uint64_t(0xff00)) | total << 8;
            }
            if (!y.push(message)) return;
        }
    }

private:
    int score(uint64_t message) const
    {
        const auto base = [this](int64_t i) { return blastn::genome_base(seed, queries, uint32_t(i)); };
        const int64_t at = int64_t(uint32_t(blastn::at_of(message))) + 1, place = blastn::place_of(message);
        const uint32_t asked = blastn::seed_of(seed, blastn::query_of(blastn::at_of(message)));
        return int(blastn::word_bases) + blastn::ungapped(base, asked, place + blastn::word_bases, at, bases, 1)
            + blastn::ungapped(base, asked, place - 1, at - blastn::word_bases - 1, bases, -1);
    }
};

// Packages ungapped alignments by query: a thread for each pipeline.
struct Package {
    streaming::In<uint64_t> x;
    streaming::Out<uint32_t> y;

    void run() { package(x); }

protected:
    void package(streaming::In<uint64_t>& pipeline)
    {
        for (uint64_t message; pipeline.pop(message);) {
            const uint64_t at = blastn::at_of(message);
            const uint32_t query = blastn::query_of(at);
            if (message & blastn::nothing) {
                if (!y.push(query)) return;
            } else {
                blastn::alignments_of(query).push_back({uint32_t(at), blastn::place_of(message), 0});
            }
        }
    }
};

struct PackageOfTwo : private Package {
    using Package::y;
    streaming::In<uint64_t> left, right;

    void run() { package(streaming::thread_number ? right : left); }
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
    int score(uint32_t query, const blastn::Alignment& one) const
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
        return best;
    }
};

struct Results {
    streaming::In<uint32_t> x;

    void run()
    {
        for (uint32_t query; x.pop(query);) {
            int best = 0;
            for (const blastn::Alignment& one : blastn::alignments_of(query)) best = std::max(best, one.score);
            std::printf("query %u alignments %zu best %d\n", query, blastn::alignments_of(query).size(), best);
        }
    }
};
