#include <cstdio>
#include "dev.hpp"
int main()
{
    try {
        auto board = acme::Dev::open("/dev/acme0");
        std::vector<uint32_t> words(256);
        for (uint32_t round = 0; round < 4; round++) {
            for (uint32_t i = 0; i < 256; i++) words[i] = i + round;
            board->write(0, words.data(), words.size());
            board->write_reg(0x200, 1);
            while (!board->read_reg(0x200)) {}
        }
        std::printf("%u\n", board->read_reg(0x201));
    } catch (const acme::Error &e) {
        std::printf("failed: %s\n", e.what());
        return 1;
    }
}
