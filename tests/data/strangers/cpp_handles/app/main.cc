#include <iostream>
#include "../sdk/hx.hpp"

namespace csr { constexpr std::uint64_t go = 0x0, busy = 0x4, seed = 0x8, hits = 0xc; }

int main(int argc, char **argv)
{
    auto tokens = hx::token::enumerate("accelerator");
    if (tokens.empty()) {
        std::cerr << "no device\n";
        return 1;
    }
    auto board = hx::handle::open(tokens[0]);
    std::uint64_t total = 0;
    bool fired = false;
    board->register_interrupt(0, [&](const hx::event &e) { fired = e.vector == 0; });
    for (std::uint32_t round = 0; round < 10; ++round) {
        board->write_csr32(csr::seed, 0xace1u + round);
        board->write_csr32(csr::go, 1);
        while (board->read_csr32(csr::busy) != 0) { }
        total += board->read_csr32(csr::hits);
    }
    std::cout << "hits " << total << "\n";
    board->close();
    return 0;
}
