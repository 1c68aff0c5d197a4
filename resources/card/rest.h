// Whether a design is at rest: a whole cycle, with nothing new from outside, left all that it remembers as it was. Then
// so does every further one, until something comes, and they need not be evaluated.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "design.h"

class Rest {
public:
    Rest(const Design& design, bool wanted)
        : design_(design), size_(wanted ? design.size() : 0), least_gap_(int64_t(size_ / 128) + look_each) {}

    // Whether it is time to look.
    bool due(int64_t cycle) const { return size_ && cycle >= next_; }

    // Whether the cycle that comes is to be compared; `ahead` is for how many nothing is expected from outside.
    bool look(int64_t cycle, int64_t ahead) {
        if (ahead < 16 + int64_t(size_ / 512)) {
            next_ = cycle + std::max<int64_t>(ahead, 8);
            return false;
        }
        bytes_.assign(from(), from() + length());
        effects_ = effects;
        return true;
    }
    // The next cycle in which to look, where nothing happens before.
    int64_t next() const { return next_; }

    // After that cycle: whether it left all as it was.
    bool same(int64_t cycle) {
        size_t at = 0;  // the first place that is not as it was
        while (at < length() && !std::memcmp(from() + at, bytes_.data() + at, std::min(place, length() - at))) at += place;
        const bool whole = !watched_, same = at >= length() && effects_ == effects;
        next_ = cycle + look_each;
        if (same) {  // where one place stayed as it was, all are looked at next
            watched_ = 0;
            if (!whole) next_ = cycle;
            else gap_ = least_gap_;
            return whole;
        }
        if (whole) {  // what moved last is the first to be looked at
            start_ = at < length() ? at : 0;
            watched_ = std::min(place, size_ - start_);
            next_ = cycle + gap_;
            gap_ = std::min(2 * gap_, 16 * least_gap_);
        }
        return false;
    }

    // Of the design's: what it tells beside its state, such as a text that it prints.
    static inline int64_t effects = 0;
    static constexpr int64_t look_each = 32;  // cycles

private:
    static constexpr size_t place = 64;  // bytes
    const uint8_t* from() const { return design_.bytes() + (watched_ ? start_ : 0); }
    size_t length() const { return watched_ ? watched_ : size_; }

    const Design& design_;
    const size_t size_;
    const int64_t least_gap_;  // between looks at all of it, which take so long
    int64_t next_ = 0, gap_ = least_gap_, effects_ = 0;
    size_t start_ = 0, watched_ = 0;  // the place that moved last; none: all
    std::vector<uint8_t> bytes_;
};
