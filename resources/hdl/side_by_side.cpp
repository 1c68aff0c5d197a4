// Two models of a design under the same random inputs. What differs first is told, as lines of words.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "Vgold.h"
#include "Vgate.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

static std::mt19937_64 source(1);

// How an input goes on for a while: what is random all the time seldom gets far into a design.
enum class Manner { RANDOM, HELD, ZERO, ONES, SMALL, SPARSE, MANNERS };

template <typename T> static void fill(T &to, const T &from) { std::memcpy(&to, &from, sizeof(T)); }

template <typename T> static typename std::enable_if<std::is_integral<T>::value>::type stir(T &value, unsigned bits, Manner manner) {
    const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    uint64_t next = source();
    switch (manner) {
    case Manner::HELD: return;
    case Manner::ZERO: next = 0; break;
    case Manner::ONES: next = ~uint64_t{0}; break;
    case Manner::SMALL: next &= 7; break;
    case Manner::SPARSE: next = (next & 15) == 0 ? source() : 0; break;
    default: break;
    }
    value = static_cast<T>(next & mask);
}

template <std::size_t N> static void stir(VlWide<N> &value, unsigned bits, Manner manner) {
    for (std::size_t word = 0; word < N; ++word) stir(value[word], bits >= 32 * (word + 1) ? 32 : bits - 32 * word, manner);
}

template <typename T, std::size_t N> static void stir(T (&value)[N], unsigned bits, Manner manner) {
    for (auto &element : value) stir(element, bits, manner);
}

template <typename T, std::size_t N> static void stir(VlUnpacked<T, N> &value, unsigned bits, Manner manner) {
    for (auto &element : value.m_storage) stir(element, bits, manner);
}

template <typename T> static void show(const T &value) {
    const auto *bytes = reinterpret_cast<const unsigned char *>(&value);
    for (std::size_t byte = sizeof(T); byte-- > 0;) std::printf("%02x", bytes[byte]);
}

// What asks for $random gets the same numbers in both.
static void eval(Vgold &gold, Vgate &gate) {
    const VlRNG numbers = VlRNG::vl_thread_rng();
    gold.eval();
    VlRNG::vl_thread_rng() = numbers;
    gate.eval();
}

int main(int argc, char **argv) {
    const long cycles = std::atol(argv[1]);
    const double limit_s = std::atof(argv[2]);
    VerilatedContext gold_context, gate_context;
    for (auto *context : {&gold_context, &gate_context}) context->commandArgs(0, static_cast<const char **>(nullptr));
    Vgold gold(&gold_context);
    Vgate gate(&gate_context);
    std::vector<Manner> manner(RCW_INPUTS + 1, Manner::RANDOM);
    const std::clock_t began = std::clock();
    long cycle = 0;
    int resetting = 8;
    const auto look = [&](long now) {
        bool differs = false;
#define OUTPUT(name, bits)                                                                             \
    if (std::memcmp(&gold.name, &gate.name, sizeof(gold.name)) != 0) {                                 \
        std::printf("differs %ld %s ", now, #name), show(gold.name), std::printf(" "), show(gate.name), \
            std::printf("\n");                                                                         \
        differs = true;                                                                                \
    }
#include "ports.inc"
#undef OUTPUT
        return differs;
    };
    bool differs = false;
    for (; cycle < cycles && !differs; ++cycle) {
        if ((cycle & 1023) == 1023 && double(std::clock() - began) / CLOCKS_PER_SEC > limit_s) break;
        if (gold_context.gotFinish() || gate_context.gotFinish()) break;
        int number = 0;
        // Often as ever at first, then for longer.
#define INPUT(name, bits)                                                                     \
    if (source() % (cycle & 4096 ? 64 : 8) == 0) manner[number] = Manner(source() % int(Manner::MANNERS)); \
    stir(gold.name, bits, manner[number]);                                                    \
    fill(gate.name, gold.name);                                                               \
    ++number;
#include "ports.inc"
#undef INPUT
        if (resetting > 0) --resetting;
        else if (source() % 1000 == 0) resetting = 1 + source() % 5;
#define RESET(name, low) gold.name = gate.name = (resetting > 0) != low;
#include "ports.inc"
#undef RESET
        eval(gold, gate);
        differs = look(cycle);
        for (int half = 0; half < 2 && !differs; ++half) {
            int clock = 0;
            // The first clock has an edge in each half cycle; others are slower or faster by chance.
#define CLOCK(name)                                                                            \
    if (clock++ == 0 || source() % 3 != 0) gold.name = gate.name = clock == 1 ? half == 0 : !gold.name;
#include "ports.inc"
#undef CLOCK
            eval(gold, gate);
            differs = look(cycle);
        }
    }
    std::printf("cycles %ld\n", cycle);
    std::fflush(stdout);
    std::_Exit(0);
}
