#include <stdio.h>
#include <stdlib.h>
#include "card.h"
#define CHECK(call) do { int e_ = (call); if (e_ != CARD_OK) { fprintf(stderr, "%s: %s\n", #call, card_strerror(e_)); exit(1); } } while (0)
int main(void)
{
    card_t card;
    uint32_t words[256], done = 0, sum;
    CHECK(card_open("/dev/card0", &card));
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < 256; i++) words[i] = i + round;
        CHECK(card_wr_block(card, 0, words, 256));
        CHECK(card_wr32(card, 0x200, 1));
        do CHECK(card_rd32(card, 0x200, &done)); while (!done);
    }
    CHECK(card_rd32(card, 0x201, &sum));
    printf("%u\n", sum);
    CHECK(card_close(card));
    return 0;
}
