// What the host's agent (Lancaster 2011, section 4.4) is told of each edge that it watches, by the thread that pushes
// or pops, which never waits for it: where there is no room the application goes on, and the event is counted as lost.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "aside.hpp"

namespace streaming::agent {

struct Event {
    int64_t at_ps;
    uint64_t bits; // of the element that is pushed
    bool waits;    // the thread begins to wait; else an element passes
};

// One end of an edge: its thread tells, the agent's reads what was told in its place, and then takes it.
class End {
public:
    End(size_t room, bool waits) : waits(waits), room_(room), events_(new Event[room]) {}

    const bool waits; // whether it is told from when on the thread waits
    int64_t lost = 0;

    void tell(const Event& event) {
        const size_t number = told_.load(std::memory_order_relaxed);
        if (number - taken_.load(std::memory_order_acquire) == room_) {
            ++lost;
            return;
        }
        events_[number & (room_ - 1)] = event;
        told_.store(number + 1, std::memory_order_release);
    }

    // The agent's: events have numbers from 0 on.
    size_t told() const { return told_.load(std::memory_order_acquire); }
    size_t taken() const { return taken_.load(std::memory_order_relaxed); }
    const Event& operator[](size_t number) const { return events_[number & (room_ - 1)]; }
    void take(size_t until) { taken_.store(until, std::memory_order_release); }

private:
    const size_t room_; // a power of two
    const std::unique_ptr<Event[]> events_;
    std::atomic<size_t> told_{0}, taken_{0};
};

enum Way : bool { pushes, pops };
struct Ends {
    std::unique_ptr<End> of[2]; // by way
};
inline std::vector<Ends> watched; // by edge

// nullptr where nobody asks what happens there.
inline End* end_of(int edge, Way way) {
    return size_t(edge) < watched.size() ? watched[size_t(edge)].of[way].get() : nullptr;
}

} // namespace streaming::agent
