// The two ends of a link between FPGAs: words leave one design and come to another. See README.md, Links.
#pragma once
#include "port.h"

// Words that left one FPGA and were not yet taken by the other. Times are on the virtual clock.
struct Link {
    struct Word {
        int64_t there_ps;  // when it has arrived
        bool last;
        std::vector<uint8_t> data;
    };
    int64_t latency_ps = 0, gap_ps = 0, byte_fs = 0, words = 0;
    std::deque<Word> under_way;   // and those that wait to be taken
    std::deque<int64_t> freed_ps;  // when its beginning knows of the room that a word left
    int64_t held = 0;              // as its beginning knows
    int64_t free_ps = 0;           // from when on the next word may leave
    struct Change {
        int64_t ps;
        int by;
    };
    std::vector<Change> changes;  // of what it holds, each FPGA's in order

    bool room(int64_t now_ps) {
        while (!freed_ps.empty() && freed_ps.front() <= now_ps) {
            freed_ps.pop_front();
            --held;
        }
        return held < words;
    }
    void leave(int64_t now_ps, Word word) {
        const int64_t bytes_ps = (int64_t(word.data.size()) * byte_fs + 999) / 1000;
        const int64_t begun_ps = std::max(now_ps, free_ps);
        free_ps = begun_ps + std::max(gap_ps, bytes_ps);
        word.there_ps = begun_ps + bytes_ps + latency_ps;
        under_way.push_back(std::move(word));
        changes.push_back({now_ps, 1});
        ++held;
    }
    void take(int64_t now_ps) {
        under_way.pop_front();
        freed_ps.push_back(now_ps + latency_ps);
        changes.push_back({now_ps, -1});
    }
};

// One that stands where a link begins or ends.
class LinkEnd : public Port {
public:
    using Port::Port;
    bool addressed() const override { return false; }
    void attach(Link& link) { link_ = &link; }
    void forget() override {  // the run is over
        Port::forget();
        link_ = nullptr;
    }

protected:
    // The first cycle that begins at a time, or after it.
    int64_t cycle_from(int64_t ps) const {
        const int64_t cycle = clock_.cycles_before(ps);
        return cycle + (clock_.start(cycle) < ps);
    }

    Link* link_ = nullptr;
};

template <class Pins> class LinkOutPort : public LinkEnd {
public:
    LinkOutPort(Pins pins, ClockDomain& clock) : LinkEnd(clock, (Pins::data_bits + 7) / 8, 0, 0, 0), pins_(pins) {
        pins_.ready() = 0;
    }
    int64_t rests_until() const override {
        if (moved_) return 0;
        return !link_ || ready_ || link_->freed_ps.empty() ? never : cycle_from(link_->freed_ps.front());
    }
    bool to_come() const override { return link_ && !ready_ && !link_->freed_ps.empty(); }

    void put() override {
        ready_ = link_ && link_->room(clock_.start(clock_.cycle));
        pins_.ready() = ready_;
    }

    void look() override {
        moved_ = ready_ && pins_.valid();
        if (!moved_) return;
        Link::Word word{0, Pins::has_last && pins_.last(), std::vector<uint8_t>(size_t(word_bytes_))};
        get_word(pins_.data(), word.data.data(), word_bytes_);
        link_->leave(clock_.start(clock_.cycle + 1), std::move(word));
    }

private:
    Pins pins_;
    bool ready_ = false, moved_ = true;
};

template <class Pins> class LinkInPort : public LinkEnd {
public:
    LinkInPort(Pins pins, ClockDomain& clock) : LinkEnd(clock, (Pins::data_bits + 7) / 8, 0, 0, 0), pins_(pins) {
        pins_.valid() = 0;
    }
    int64_t busy_from() const override { return shown_ || taken_ ? 0 : next(); }
    int64_t rests_until() const override { return taken_ ? 0 : shown_ ? never : next(); }
    bool to_come() const override { return !shown_ && next() != never; }

    void put() override {
        if (taken_) shown_ = taken_ = false;
        if (!shown_ && next() <= clock_.cycle) {
            const Link::Word& word = link_->under_way.front();
            put_word(pins_.data(), word.data.data(), word_bytes_);
            pins_.last() = word.last;
            shown_ = true;
        }
        pins_.valid() = shown_;
    }

    void look() override {
        if (!shown_ || !pins_.ready()) return;
        taken_ = true;
        if (link_) link_->take(clock_.start(clock_.cycle + 1));
    }
    void forget() override {
        LinkEnd::forget();
        shown_ = taken_ = false;
        pins_.valid() = 0;
    }

private:
    int64_t next() const { return link_ && !link_->under_way.empty() ? cycle_from(link_->under_way.front().there_ps) : never; }

    Pins pins_;
    bool shown_ = false, taken_ = false;  // the word that is at the port; it was taken in the cycle that ended
};
