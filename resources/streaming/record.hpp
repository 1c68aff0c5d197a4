// What a run keeps of each edge: of a traced one every push and pop, on the virtual clock; of any the threads that wait.
#pragma once
#include <cstdio>
#include <sys/mman.h>

#include "aside.hpp"

namespace streaming {

enum class Event : int16_t { push, pop, blocked, waiting };

// stream_host.bin, read by rc_workbench_plugins/streaming/recorded.py: `since_ps` is from when on the thread waited, -1
// where it did not. From a reader's `waiting` on it gets no more. `thread` is its number within its block. Records that
// are all zero were never written.
struct EventRecord {
    int32_t edge;
    Event event;
    int16_t thread;
    int64_t at_ps, since_ps;
    uint64_t bits;
};

// Which of its block's threads the calling one is.
inline thread_local int thread_number = 0;

// Events of one end of an edge.
class Recorder {
public:
    template <class T> STREAMING_ASIDE void add(int edge, Event event, int64_t at_ps, int64_t since_ps, const T& value) {
        if (count_ == most_) begin_piece();
        if (piece_) piece_[count_++] = {edge, event, int16_t(thread_number), at_ps, since_ps < at_ps ? since_ps : -1, bits_of(value)};
        if (rcw_skip_ps) rcw_skip_ps();
    }
    Recorder() = default;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    STREAMING_ASIDE ~Recorder() { end_piece(); }

private:
    static constexpr size_t most_ = 1 << 12;

    STREAMING_ASIDE void end_piece() {
        if (piece_) munmap(piece_, most_ * sizeof *piece_);
        piece_ = nullptr;
    }
    STREAMING_ASIDE void begin_piece() {
        end_piece();
        if (full_) return;
        piece_ = static_cast<EventRecord*>(room_in("stream_host.bin", most_ * sizeof *piece_));
        full_ = !piece_;
        count_ = full_ ? most_ : 0;
    }

    EventRecord* piece_ = nullptr;
    size_t count_ = most_;
    bool full_ = false;
};

// stream_now.bin, read by rc_workbench_plugins/streaming/stuck.py: since when (and one ps) a thread waits for room in each
// edge's queue, and one for an element; 0 where none does.
struct Waits {
    int64_t room_ps, element_ps;
};
inline Waits* waits_of = nullptr;

STREAMING_ASIDE inline void show_waits(size_t edges) {
    waits_of = static_cast<Waits*>(room_in("stream_now.bin", edges * sizeof *waits_of));
}
STREAMING_ASIDE inline void show_wait(int edge, bool for_room, int64_t since_ps) {
    if (waits_of) (for_room ? waits_of[edge].room_ps : waits_of[edge].element_ps) = since_ps;
}

// stream_lives.bin, of a traced run on a machine itself, read as LIFE by rc_workbench_plugins/streaming/recorded.py.
struct Lived {
    int64_t began_ps, ended_ps, ready_ps;
};
inline Lived* lives_of = nullptr;

STREAMING_ASIDE inline void show_lives(size_t threads) {
    if (recording() && !on_simulated_card()) lives_of = static_cast<Lived*>(room_in("stream_lives.bin", threads * sizeof *lives_of));
}

// The calling thread is that of this number, in the order of the blocks, as long as this lasts.
class Life {
public:
    STREAMING_ASIDE explicit Life(size_t number) : number_(number) {
        if (lives_of) lives_of[number_].began_ps = now_ps() + 1;
    }
    STREAMING_ASIDE ~Life() {
        if (lives_of) lives_of[number_] = {lives_of[number_].began_ps, now_ps() + 1, ready_ps()};
    }
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;

private:
    // How long the system says that the thread was ready and others had its core.
    static int64_t ready_ps() {
        long long ran_ns = 0, ready_ns = 0;
        if (std::FILE* file = std::fopen("/proc/thread-self/schedstat", "r")) {
            if (std::fscanf(file, "%lld %lld", &ran_ns, &ready_ns) != 2) ready_ns = 0;
            std::fclose(file);
        }
        return ready_ns * 1000;
    }

    const size_t number_;
};

// All blocks have ended, and all that moves data over a bus: what follows is no time of the application's.
STREAMING_ASIDE inline void ended() {
    if (!recording()) return;
    if (void* room = room_in("stream_end.bin", sizeof(int64_t))) *static_cast<int64_t*>(room) = now_ps();
}

} // namespace streaming
