// What a thread of the run-time says of itself: the core it runs on, and what it is called in the run.
#pragma once
#include <cstring>
#include <pthread.h>
#include <sched.h>

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

} // namespace streaming
