/* The host API of the card that the applications of rules.py run on. Sizes are 32-bit words, addresses count words. */
#ifndef BOARD_H
#define BOARD_H
#include <stdint.h>

typedef struct wbcard board;

board *boardOpen(int card);
int boardConfigure(board *card, const char *file);
int boardWrite(board *card, uint32_t at, const uint32_t *data, int words);
int boardRead(board *card, uint32_t at, uint32_t *data, int words);
int boardWriteReg(board *card, uint32_t at, uint32_t value);
uint32_t boardReadReg(board *card, uint32_t at);

/* Returns at once; boardWait returns when all that was begun is there. */
int boardBegin(board *card, uint32_t at, const uint32_t *data, int words);
int boardWait(board *card);

int boardWaitIrq(board *card);

/* Puts the card to rest until the next boardOpen. */
void boardRelease(board *card);
#endif
