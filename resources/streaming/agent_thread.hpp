// What the threads of agents have in common: the clock, rounds that come again after some time, and files in $RCW_RAW that
// may fail, which the application is not told.
#pragma once
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <semaphore.h>
#include <string>
#include <thread>

#include "thread.hpp"

namespace streaming::agent {

// What takes no virtual time.
template <class Body> void aside(Body body) {
    if (rcw_aside) rcw_aside(1);
    body();
    if (rcw_aside) rcw_aside(0);
}

// What an agent's thread says of itself: it runs on `core`, where that is not -1.
inline void begin_as(const std::string& name, int core) {
    name_this(name.c_str());
    if (core >= 0) bind_to(core);
    if (rcw_background) rcw_background();
}

class Rounds {
public:
    Rounds() { sem_init(&ends_, 0, 0); }
    Rounds(const Rounds&) = delete;
    void end() { sem_post(&ends_); }

    // Waits for the next round, or for the end: true.
    bool over(int64_t period_ps) {
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        const int64_t ns = until.tv_nsec + period_ps / 1000;
        until = {until.tv_sec + ns / 1000000000, ns % 1000000000};
        while (sem_timedwait(&ends_, &until))
            if (errno == ETIMEDOUT) return false;
        return true;
    }

private:
    sem_t ends_;
};

// The first thing that went wrong is kept in `why`.
class File {
public:
    explicit File(const std::string& name) : name_(name) {
        const char* raw = std::getenv("RCW_RAW");
        aside([&] { file_ = std::fopen((std::string(raw ? raw : ".") + "/" + name_).c_str(), "w"); });
        if (!file_) failed();
    }
    File(const File&) = delete;

    bool write(const void* data, size_t bytes) {
        if (!file_ || !why_.empty()) return false;
        aside([&] {
            if (std::fwrite(data, 1, bytes, file_) != bytes || std::fflush(file_)) failed();
        });
        return why_.empty();
    }

    void close() {
        aside([&] {
            if (file_ && std::fclose(file_)) failed();
        });
        file_ = nullptr;
    }

    const std::string& why() const { return why_; }

private:
    void failed() {
        if (why_.empty()) why_ = name_ + ": " + std::strerror(errno);
    }

    const std::string name_;
    std::FILE* file_ = nullptr;
    std::string why_;
};

} // namespace streaming::agent
