// A model under the inputs that the rows of a file hold, three times over: what is not known as it begins is zeros, ones,
// and at random. Tells the outputs after each row; what the three do not agree on is '?'.
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "Vmade.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

template <typename T> static typename std::enable_if<std::is_integral<T>::value>::type set(T &value, const char *bits, unsigned width) {
    value = 0;
    for (unsigned at = 0; at < width; ++at) value = static_cast<T>(value << 1 | T(bits[at] == '1'));
}

template <std::size_t N> static void set(VlWide<N> &value, const char *bits, unsigned width) {
    for (std::size_t word = 0; word < N; ++word) value[word] = 0;
    for (unsigned at = 0; at < width; ++at)
        if (bits[width - 1 - at] == '1') value[at / 32] |= 1u << at % 32;
}

template <typename T> static bool bit(const T &value, unsigned at) { return value >> at & 1; }

template <std::size_t N> static bool bit(const VlWide<N> &value, unsigned at) { return value[at / 32] >> at % 32 & 1; }

int main(int argc, char **argv) {
    std::vector<std::unique_ptr<VerilatedContext>> contexts;
    std::vector<std::unique_ptr<Vmade>> models;
    for (int unknown = 0; unknown < 3; ++unknown) {
        contexts.emplace_back(new VerilatedContext);
        contexts.back()->randReset(unknown);
        contexts.back()->randSeed(1);
        contexts.back()->commandArgs(0, static_cast<const char **>(nullptr));
        models.emplace_back(new Vmade(contexts.back().get()));
    }
    std::ifstream rows(argv[1]);
    std::string row, told;
    while (std::getline(rows, row)) {
        for (auto &model : models) {
#define INPUT(name, width, from) set(model->name, row.data() + from, width);
#include "ports.inc"
#undef INPUT
            model->eval();
        }
        told.clear();
#define OUTPUT(name, width)                                                                                     \
    for (unsigned at = width; at-- > 0;) {                                                                      \
        const bool zeros = bit(models[0]->name, at), ones = bit(models[1]->name, at), any = bit(models[2]->name, at); \
        told += zeros == ones && zeros == any ? char('0' + zeros) : '?';                                        \
    }
#include "ports.inc"
#undef OUTPUT
        std::puts(told.c_str());
        bool over = false;
        for (auto &context : contexts) over |= context->gotFinish();
        if (over) break;
    }
    std::fflush(stdout);
    std::_Exit(0);
}
