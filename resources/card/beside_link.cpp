// What the simulator of the design's own language loads (GHDL, by VHPIDIRECT): at each step it hands the card what the
// design gives and waits to be told how it goes on (beside.h). Ends with the card.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

#include "beside_step.h"

namespace {

// A `std_ulogic_vector (n - 1 downto 0)`: a byte an element, the highest first.
struct Bounds {
    int32_t left, right;
    uint8_t direction;
    int32_t length;
};
struct Vector {
    uint8_t* elements;
    const Bounds* bounds;
};
enum : uint8_t { zero = 2, one = 3, high = 7 };  // of std_ulogic: '0', '1', 'H'

int from_card, to_card;

bool whole(ssize_t (*move)(int, void*, size_t), int fd, void* data, size_t bytes) {
    for (auto* at = static_cast<char*>(data); bytes;) {
        const ssize_t moved = move(fd, at, bytes);
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) return false;
        at += moved;
        bytes -= size_t(moved);
    }
    return true;
}

// What the card has not been told yet: told at the end, too, where the design ends the simulation.
struct Answers {
    std::vector<uint32_t> words;
    bool tell() {
        const auto to = [](int fd, void* at, size_t n) { return write(fd, at, n); };
        const bool told = whole(to, to_card, words.data(), words.size() * sizeof words[0]);
        words.clear();
        return told;
    }
    ~Answers() { tell(); }
};

void receive(void* data, size_t bytes) {
    if (!whole(read, from_card, data, bytes)) std::exit(0);  // the card has ended: what the design has in files is written
}

size_t words(const Vector& vector) { return size_t(vector.bounds->length + 31) / 32; }

const uint32_t* unpack(const uint32_t* from, const Vector& to) {
    for (int32_t i = 0, n = to.bounds->length; i < n; ++i)
        to.elements[n - 1 - i] = from[i / 32] >> (i % 32) & 1 ? one : zero;
    return from + words(to);
}

}  // namespace

extern "C" void recap_exchange(const Vector* seen, int64_t now_fs, Vector* clocks, Vector* given, uint8_t* given_first,
                               int64_t* wait_fs, int64_t* look_fs) {
    static Answers answers;
    static std::vector<uint32_t> in;
    static uint32_t steps = 0;
    if (in.empty()) {
        std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what it reports is seen though it may be killed
        std::signal(SIGPIPE, SIG_IGN);
        const char* fds = std::getenv("RECAP_BESIDE");
        if (!fds || std::sscanf(fds, "%d %d", &from_card, &to_card) != 2) std::exit(2);
        in.resize(words(*clocks) + words(*given));
        answers.words = {uint32_t(words(*clocks)), uint32_t(words(*given)), uint32_t(words(*seen))};
    } else {
        const size_t first = answers.words.size();
        answers.words.resize(first + words(*seen));
        for (int32_t i = 0, n = seen->bounds->length; i < n; ++i) {
            const uint8_t value = seen->elements[n - 1 - i];
            answers.words[first + size_t(i / 32)] |= uint32_t(value == one || value == high) << (i % 32);
        }
    }
    if (!steps) {
        answers.tell();
        receive(&steps, sizeof steps);
    }
    --steps;
    BesideStep step{};
    receive(&step, sizeof step);
    receive(in.data(), in.size() * sizeof in[0]);
    unpack(unpack(in.data(), *clocks), *given);
    *given_first = step.given_first;
    *wait_fs = step.at_fs > now_fs ? step.at_fs - now_fs : 0;
    const int64_t settled_fs = now_fs + *wait_fs + 2;
    *look_fs = step.look_fs > settled_fs ? step.look_fs - settled_fs : 0;
}
