// What the host's agent (Lancaster 2011, section 4.4) is told of each edge that it watches, by the thread that pushes
// or pops: each event goes to a queue of its own, without a lock and without ever waiting (ReaderWriterQueue). Where
// there is no room the application goes on, and the event is counted as lost.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <readerwriterqueue/readerwriterqueue.h>

#include "aside.hpp"

namespace streaming::agent {

enum class Kind : int32_t { push, pop, blocked, waiting };
struct Event {
    int64_t at_ps, since_ps;
    uint64_t bits;
    int32_t edge;
    Kind kind;
};

// One end of an edge: its thread writes, the agent's reads.
struct End {
    End(size_t room, int number) : events(room), number(number) {}
    moodycamel::ReaderWriterQueue<Event> events;
    const int number;
    int64_t lost = 0;

    void tell(const Event& event) {
        if (!events.try_enqueue(event)) ++lost;
    }
};

struct Ends {
    std::unique_ptr<End> pushes, pops;
};
inline std::vector<Ends> watched; // by edge; empty where nobody measures

inline bool wants(int edge) { return size_t(edge) < watched.size() && watched[size_t(edge)].pushes; }

// `blocked_ps` and `waiting_ps`: from when on the thread waited for room or for an element; -1 where it did not.
template <class T> inline void pushed(int edge, int64_t at_ps, int64_t blocked_ps, const T& value) {
    if (wants(edge)) watched[size_t(edge)].pushes->tell({at_ps, blocked_ps, bits_of(value), edge, Kind::push});
}
template <class T> inline void popped(int edge, int64_t at_ps, int64_t waiting_ps, const T&) {
    if (wants(edge)) watched[size_t(edge)].pops->tell({at_ps, waiting_ps, 0, edge, Kind::pop});
}
// The thread begins to wait.
inline void blocks(int edge, int64_t at_ps) {
    if (wants(edge)) watched[size_t(edge)].pushes->tell({at_ps, at_ps, 0, edge, Kind::blocked});
}
inline void waits(int edge, int64_t at_ps) {
    if (wants(edge)) watched[size_t(edge)].pops->tell({at_ps, at_ps, 0, edge, Kind::waiting});
}

} // namespace streaming::agent
