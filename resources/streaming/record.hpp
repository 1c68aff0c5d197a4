// What a traced run keeps of each edge: every push and pop, on the virtual clock. Beyond the calls it takes no virtual time.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

extern "C" {
// The card's client library (resources/card/wbcard.h); elsewhere nothing is recorded.
int64_t rcw_now_ps(void) __attribute__((weak));
int64_t rcw_skip_ps(void) __attribute__((weak));
void rcw_aside(int aside) __attribute__((weak));
}

namespace streaming {

// Not counted as the program's work, nor seen as its accesses to memory.
#define STREAMING_ASIDE __attribute__((noinline, no_sanitize_coverage, no_sanitize("thread")))

STREAMING_ASIDE inline int64_t now_ps() { return rcw_now_ps ? rcw_now_ps() : 0; }

STREAMING_ASIDE inline bool recording() {
    static const bool traced = rcw_now_ps && std::getenv("RCW_TRACE");
    return traced;
}

enum class Event : int32_t { push, pop, blocked, waiting };

// stream_host.bin, read by rc_workbench_plugins/streaming/recorded.py: `since_ps` is from when on the thread waited, -1
// where it did not. From a reader's `waiting` on it gets no more.
struct EventRecord {
    int32_t edge;
    Event event;
    int64_t at_ps, since_ps;
    uint64_t bits; // the element: a whole number with its sign carried on, or a float64
};

// Events of one thread; they go to the file when there are many, and at the end.
class Recorder {
public:
    template <class T> STREAMING_ASIDE void add(int edge, Event event, int64_t at_ps, int64_t since_ps, const T& value) {
        if (!events_) events_ = static_cast<EventRecord*>(std::calloc(most_, sizeof *events_));
        events_[count_++] = {edge, event, at_ps, since_ps, bits(value)};
        if (count_ == most_) write();
        if (rcw_skip_ps) rcw_skip_ps();
    }

    STREAMING_ASIDE void write() {
        if (!count_) return;
        if (rcw_aside) rcw_aside(1);
        const char* raw = std::getenv("RCW_RAW");
        if (FILE* file = std::fopen((std::string(raw ? raw : ".") + "/stream_host.bin").c_str(), "ab")) {
            std::fwrite(events_, sizeof *events_, count_, file);
            std::fclose(file);
        }
        if (rcw_aside) rcw_aside(0);
        count_ = 0;
    }

    ~Recorder() { std::free(events_); }

private:
    static constexpr size_t most_ = 1 << 14;

    template <class T> STREAMING_ASIDE static uint64_t bits(const T& value) {
        if constexpr (std::is_floating_point_v<T>) {
            const double wide = double(value);
            uint64_t found;
            std::memcpy(&found, &wide, sizeof found);
            return found;
        } else {
            return uint64_t(int64_t(value));
        }
    }

    EventRecord* events_ = nullptr; // a plain array: a vector's functions would be counted
    size_t count_ = 0;
};

} // namespace streaming
