// What a thread of the run-time says of itself: the core it runs on, and what it is called in the run.
#pragma once
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <pthread.h>
#include <sched.h>
#include <string>

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
inline thread_local const char* block = nullptr; // the calling thread's, by its name

// The calling thread is a block's, as long as this lasts.
struct Awake {
    STREAMING_ASIDE explicit Awake(const char* name) { block = name, ++awake, ++done; }
    STREAMING_ASIDE ~Awake() { --awake; }
    Awake(const Awake&) = delete;
    Awake& operator=(const Awake&) = delete;
};
STREAMING_ASIDE inline void falls_asleep(int64_t since_ps) {
    if (rcw_waits) rcw_waits(since_ps);
    if (block) --awake;
}
STREAMING_ASIDE inline void wakes() {
    if (block) ++awake, ++done;
    if (rcw_waits) rcw_waits(-1);
}
STREAMING_ASIDE inline void moves() { ++done; }

// Somebody looked at a bus in vain, and soon looks again: where all blocks here wait, only the design can go on.
STREAMING_ASIDE inline void looks_again() {
    if (rcw_polls && !awake) rcw_polls(done);
}

// What ends the program is told with the block that it comes of: on standard error, and in stream_ended.txt for the run;
// the first time.
STREAMING_ASIDE inline void tell_what_ends(const char* why) {
    if (!block) return;
    if (rcw_aside) rcw_aside(1);
    static char told[4096], path[4096];
    const int length = std::snprintf(told, sizeof told, "%s\n%s\n", block, why);
    const char* raw = std::getenv("RCW_RAW");
    std::snprintf(path, sizeof path, "%s/stream_ended.txt", raw ? raw : "");
    const int fd = raw ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (fd >= 0 || !raw) std::fprintf(stderr, "block %s: %s\n", block, why);
    if (fd >= 0 && write(fd, told, std::min(size_t(length), sizeof told - 1)) >= 0) close(fd);
    if (rcw_aside) rcw_aside(0);
}

inline std::terminate_handler usual_end = nullptr;
STREAMING_ASIDE inline void tell_what_was_thrown() {
    std::string why = "it ended the program";
    if (const std::exception_ptr thrown = std::current_exception()) try {
            std::rethrow_exception(thrown);
        } catch (const std::exception& known) {
            why = known.what();
        } catch (...) {
            why = "it threw what is no std::exception";
        }
    tell_what_ends(why.c_str());
    usual_end();
}

inline struct sigaction usual_action[NSIG];
STREAMING_ASIDE inline void tell_signal(int number) {
    tell_what_ends(number == SIGSEGV  ? "it reached for memory that is not its (SIGSEGV)"
                   : number == SIGFPE ? "it divided a whole number by zero (SIGFPE)"
                   : number == SIGBUS ? "it reached for memory that is not there (SIGBUS)"
                   : number == SIGILL ? "it came to what is no instruction (SIGILL)"
                                      : "it gave up (SIGABRT)");
    if (rcw_aside) rcw_aside(1);
    sigaction(number, &usual_action[number], nullptr);
    raise(number); // once this has returned
}

inline const bool tells_what_ends = [] {
    usual_end = std::set_terminate(tell_what_was_thrown);
    struct sigaction tell = {};
    tell.sa_handler = tell_signal;
    for (int number : {SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGABRT}) sigaction(number, &tell, &usual_action[number]);
    return true;
}();

} // namespace streaming
