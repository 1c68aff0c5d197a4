#ifndef CARD_H
#define CARD_H
#include <stdint.h>
#include <stddef.h>
typedef int card_t;
enum { CARD_OK = 0, CARD_ERR = -1 };
int card_open(const char *path, card_t *card);
int card_wr32(card_t card, uint32_t off, uint32_t val);
int card_rd32(card_t card, uint32_t off, uint32_t *val);
int card_wr_block(card_t card, uint32_t off, const uint32_t *src, size_t number);
int card_rd_block(card_t card, uint32_t off, uint32_t *dst, size_t number);
int card_close(card_t card);
const char *card_strerror(int err);
#endif
