// What the run-time does beside the program: it takes no virtual time, and what it writes is there however the run ends.
#pragma once
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <ctime>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>

extern "C" {
// The recorder's (resources/host/recap.h), and the simulated card's client library (resources/card/wbcard.h), where they
// are linked.
int64_t rcw_now_ps(void) __attribute__((weak));
int64_t rcw_skip_ps(void) __attribute__((weak));
void rcw_aside(int aside) __attribute__((weak));
void rcw_note(const char* text) __attribute__((weak));
void rcw_polls(int64_t done) __attribute__((weak));
void rcw_background(void) __attribute__((weak));
void rcw_waits(int64_t since_ps) __attribute__((weak));
}

namespace streaming {

// Not counted as the program's work, nor seen as its accesses to memory.
#define STREAMING_ASIDE __attribute__((noinline, no_sanitize_coverage, no_sanitize("thread")))

inline bool on_simulated_card() { return rcw_polls; }

// The clock of the run's records: virtual time on a simulated card, real time elsewhere.
STREAMING_ASIDE inline int64_t now_ps() {
    if (rcw_now_ps) return rcw_now_ps();
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t(now.tv_sec) * 1000000000 + now.tv_nsec) * 1000;
}

STREAMING_ASIDE inline bool recording() {
    static const bool traced = [] {
        const char* asked = std::getenv("RCW_TRACE");
        return asked && *asked;
    }();
    return traced;
}

// An element as it is kept: a whole number with its sign carried on, or a float64.
template <class T> STREAMING_ASIDE uint64_t bits_of(const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
        const double wide = double(value);
        uint64_t found;
        std::memcpy(&found, &wide, sizeof found);
        return found;
    } else {
        return uint64_t(int64_t(value));
    }
}

// Room for records at the end of a file of the run's, as memory, all zero. nullptr, and a note of the run's, where there is
// none left on the disk.
STREAMING_ASIDE inline void* room_in(const char* name, size_t bytes) {
    const char* raw = std::getenv("RCW_RAW");
    if (!raw) return nullptr;
    if (rcw_aside) rcw_aside(1);
    void* room = MAP_FAILED;
    const int fd = open((std::string(raw) + "/" + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    struct stat now{};
    const int why = fd < 0 || fstat(fd, &now) ? errno : posix_fallocate(fd, now.st_size, off_t(bytes));
    if (!why) room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, now.st_size);
    if (fd >= 0) close(fd);
    if (room == MAP_FAILED && rcw_note)
        rcw_note(("what streams did from then on is not kept: cannot write " + std::string(name) + ": " + std::strerror(why ? why : errno)).c_str());
    if (rcw_aside) rcw_aside(0);
    return room == MAP_FAILED ? nullptr : room;
}

} // namespace streaming
