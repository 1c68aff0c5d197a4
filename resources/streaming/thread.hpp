// What a thread of the run-time says of itself: the core it runs on, and what it is called in the run.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <pthread.h>
#include <sched.h>

#include "aside.hpp"

namespace streaming {

// The calling thread runs on this core alone.
inline void bind_to(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

// What the calling thread is called in the run: `name`, or its end where the system takes no more of it.
inline void name_this(const char* name) {
    const size_t most = 15, length = std::strlen(name);
    pthread_setname_np(pthread_self(), length > most ? name + length - most : name);
}

// How many threads of blocks do not wait at an edge, and what changes with all that they or the buses do.
inline std::atomic<int> awake{0};
inline std::atomic<int64_t> done{0};
inline thread_local bool is_block = false;

// The calling thread is a block's, as long as this lasts.
struct Awake {
    STREAMING_ASIDE Awake() { is_block = true, ++awake, ++done; }
    STREAMING_ASIDE ~Awake() { --awake; }
    Awake(const Awake&) = delete;
    Awake& operator=(const Awake&) = delete;
};
STREAMING_ASIDE inline void falls_asleep() {
    if (is_block) --awake;
}
STREAMING_ASIDE inline void wakes() {
    if (is_block) ++awake, ++done;
}
STREAMING_ASIDE inline void moves() { ++done; }

// Somebody looked at a bus in vain, and soon looks again: where all blocks here wait, only the design can go on.
STREAMING_ASIDE inline void looks_again() {
    if (rcw_polls && !awake) rcw_polls(done);
}

} // namespace streaming
