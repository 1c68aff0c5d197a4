// What drives a port of the design. A driver puts its inputs before the design settles (`put`) and looks after it
// (`look`); between settling and the edge nothing changes. See README.md for when a word is at the port.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "../clock.h"

// What a driver throws where the simulated card cannot go on: the run ends with this text.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The clock that a port belongs to: its cycles on the card's virtual time.
struct ClockDomain {
    rcw_clock clock{1, 1, 0};
    int64_t cycle = 0;  // cycles clocked so far: the number of the one that runs

    int64_t cycles_before(int64_t ps) const { return rcw_cycles_before(&clock, ps); }
    int64_t start(int64_t of) const { return rcw_cycle_start(&clock, of); }  // the first whole picosecond in it
};

// A transfer of the host's through a port. Word `i` is due as the table says; the link lets it to the port later where
// the design stalled it (`level`).
struct Transfer {
    bool send = false, failed = false, done = false;
    bool forgotten = false;  // nobody asks for its end
    bool off_clock = false;  // of the monitors', after the run
    bool announced = false;  // the design's monitors know that its words are data
    int32_t ticket = 0, port = 0;
    int64_t start_ps = 0, duration_ps = 0, address = 0, words = 0;
    int64_t asked = 0;  // words that had their cycle at the port
    int64_t there = 0;  // words of which nothing more is awaited
    int64_t first_cycle = -1, last_cycle = -1;
    int64_t end_ps = 0;
    int64_t change_until_ps = 0;  // a receive: again until then, as long as its first 8 bytes are `unwanted`, or as at first
    uint64_t unwanted = 0;
    bool known = false;           // what is unwanted
    int64_t seen = -1, seen_cycle = 0;  // words that had moved when it was last looked at, and since when
    int64_t level = 0, level_due = 0;  // of the word put last
    std::vector<int64_t> taken;        // the cycles in which the last `buffer` words were taken
    int64_t taken_count = 0;
    std::vector<uint8_t> data;
};

struct MasterCounts;  // memory_bank.h

// The base of every driver. `put` and `look` are called in each cycle in which the port may have something to do.
class Port {
public:
    explicit Port(ClockDomain& clock, int64_t word_bytes, int64_t buffer_words, int64_t send_lead, int64_t receive_lead)
        : clock_(clock), word_bytes_(word_bytes), buffer_(buffer_words), lead_{receive_lead, send_lead} {}
    virtual ~Port() = default;

    virtual void put() = 0;
    virtual void look() = 0;
    virtual void edge() {}  // right after the edge that ends the cycle
    virtual bool always_looks() const { return false; }  // in cycles, too, in which it has nothing to do
    // The first cycle in which it may have something to do: until then it need not be asked.
    virtual int64_t busy_from() const { return 0; }
    // The first cycle in which it may do something, where the design's signals stay as they were when it looked last.
    virtual int64_t rests_until() const { return always_looks() ? 0 : busy_from(); }
    // Whether it will do something though the design does nothing: a word that is not due yet, a memory's answer.
    virtual bool to_come() const {
        const int64_t due = next_due();
        return due != never && due > clock_.cycle;
    }
    virtual bool addressed() const { return true; }
    // Of a port by which the design asks the card's memory: what it did so far.
    virtual const MasterCounts* master() { return nullptr; }
    // The monitors read eight words from `marks` on as theirs, where they do not stand in data that were announced.
    virtual void reserve(uint64_t) {}
    virtual int64_t address_step() const { return word_bytes_; }

    void begin(Transfer& transfer) {
        if (buffer_ > 0) transfer.taken.assign(size_t(buffer_), 0);
        queue_.push_back(&transfer);
        begun(transfer);
    }
    virtual void forget() { queue_.clear(); }

    ClockDomain& clock() const { return clock_; }
    int64_t word_bytes() const { return word_bytes_; }
    int64_t conflicts() const { return conflicts_; }
    int64_t last_moved() const { return last_moved_; }  // the cycle of the last handshake

protected:
    static constexpr int64_t never = INT64_MAX;

    virtual void begun(Transfer&) {}

    int64_t due(const Transfer& t, int64_t index) const {
        const int64_t window = t.duration_ps - clock_.start(lead_[t.send]);
        const auto passed = static_cast<__int128>(index + 1) * window / t.words;
        return clock_.cycles_before(t.start_ps + int64_t(passed)) - 1;
    }

    // The cycle from which the next word is at the port; `never` while the link's buffer has no room for it.
    int64_t level(const Transfer& t) const {
        const int64_t index = t.asked, now = due(t, index);
        int64_t from = now;
        if (index && t.level + now - t.level_due > from) from = t.level + now - t.level_due;
        if (buffer_ > 0 && index >= buffer_) {
            if (t.taken_count <= index - buffer_) return never;
            const int64_t room = t.taken[size_t(index % buffer_)] + 1;
            if (room > from) from = room;
        }
        return from;
    }

    // The transfer whose next word is at the port now (or `ahead` cycles later), the one granted first where there are
    // several.
    Transfer* next(int64_t ahead = 0) {
        Transfer* found = nullptr;
        for (Transfer* t : queue_) {
            if (t->asked == t->words || level(*t) > clock_.cycle + ahead) continue;
            if (found) ++conflicts_;
            else found = t;
        }
        return found;
    }

    int64_t next_due() const {
        int64_t first = never;
        for (const Transfer* t : queue_)
            if (t->asked < t->words) first = std::min(first, level(*t));
        return first;
    }

    // The next word has its cycle at the port: returns its number.
    int64_t ask(Transfer& t, int64_t at_level) {
        t.level_due = due(t, t.asked);
        t.level = at_level;
        if (t.first_cycle < 0) t.first_cycle = clock_.cycle;
        t.last_cycle = clock_.cycle;
        return t.asked++;
    }

    // The oldest word not yet taken was taken in this cycle.
    void take(Transfer& t) {
        if (buffer_ > 0) t.taken[size_t(t.taken_count % buffer_)] = clock_.cycle;
        ++t.taken_count;
        last_moved_ = clock_.cycle;
    }

    // `words` more words need nothing further; the transfer ends with the last of them.
    void arrive(Transfer& t, int64_t words) {
        t.there += words;
        last_moved_ = clock_.cycle;
        if (t.there < t.words) return;
        t.end_ps = std::max(t.start_ps + t.duration_ps, clock_.start(clock_.cycle + 1));
        t.done = true;
        queue_.remove(&t);
    }

    // The transfer is one of `words` words only, at the same pace.
    void cut(Transfer& t, int64_t words) {
        t.duration_ps = int64_t(static_cast<__int128>(t.duration_ps) * words / t.words);
        t.words = words;
        t.data.resize(size_t(words * word_bytes_));
    }

    uint8_t* word(Transfer& t, int64_t index) const { return t.data.data() + index * word_bytes_; }

    ClockDomain& clock_;
    std::list<Transfer*> queue_;  // in the order of their grants
    const int64_t word_bytes_, buffer_;
    const int64_t lead_[2];
    int64_t conflicts_ = 0, last_moved_ = 0;
};

// The marks of the monitors in a stream into the design (workbench/model/read_out.py).
enum StreamMark { mark_data = 4, mark_read = 5 };

// A signal that the design does not have.
struct Absent {
    template <class T> Absent& operator=(const T&) { return *this; }
    operator uint64_t() const { return 0; }
};

// Words of any width in and out of a pin: up to 64 bits it is a number, above that Verilator's words, lowest first.
template <class Pin> void put_word(Pin& pin, const uint8_t* from, int64_t bytes) {
    if constexpr (std::is_same_v<Pin, Absent>) {
    } else if constexpr (std::is_integral_v<Pin>) {
        uint64_t value = 0;
        std::memcpy(&value, from, size_t(std::min<int64_t>(bytes, 8)));
        pin = Pin(value);
    } else {
        std::memcpy(pin.data(), from, size_t(bytes));
    }
}
// The same the other way.
template <class Pin> void get_word(const Pin& pin, uint8_t* to, int64_t bytes) {
    if constexpr (std::is_same_v<Pin, Absent>) {
        std::memset(to, 0, size_t(bytes));
    } else if constexpr (std::is_integral_v<Pin>) {
        const uint64_t value = pin;
        std::memcpy(to, &value, size_t(std::min<int64_t>(bytes, 8)));
    } else {
        std::memcpy(to, pin.data(), size_t(bytes));
    }
}
// Every bit of a pin: byte enables and strobes.
template <class Pin> void put_ones(Pin& pin, int64_t bits) {
    static const std::vector<uint8_t> ones(256, 0xff);
    if constexpr (std::is_integral_v<Pin>) pin = Pin(bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
    else put_word(pin, ones.data(), (bits + 7) / 8);
}
// The lowest bits of a value.
inline uint64_t low_bits(uint64_t value, int64_t bits) { return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1); }
