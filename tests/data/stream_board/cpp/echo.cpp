#include <cstdio>

#include "link.hpp"

// As echo.c does, by methods of an object.
int main()
{
    link::Link card(0);
    std::vector<uint16_t> words(12), three;
    uint16_t word = 0;
    unsigned sum = 0, wrong = 0;
    for (int i = 0; i < 12; i++) {
        words[i] = word = uint16_t(0x414e + i);
        if (card.send(&word, 1) < 0 || card.receive(&word, 1) < 0) return 1;
        wrong += word != 0x414f + i;
    }
    three.assign(words.begin(), words.begin() + 3);
    if (card.send(three) < 0 || card.receive(three.data(), 3) < 0) return 1;
    for (uint16_t one : three) sum += one;
    if (card.send(words.data() + 3, 2) < 0) return 1; // and does not ask for what comes of it
    std::printf("%u %u\n", wrong, sum);
}
