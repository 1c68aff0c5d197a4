#include "board.h"

#include "wbcard.h"

enum { REST = 0x7000 }; /* the register that puts the card to rest */

board *boardOpen(int card) { return wbcard_open(card); }

int boardConfigure(board *card, const char *file) { return wbcard_configure(card, "configure", file); }

int boardWrite(board *card, uint32_t at, const uint32_t *data, int words)
{
    return wbcard_send(card, "write", data, at, 4 * (int64_t)words);
}

int boardRead(board *card, uint32_t at, uint32_t *data, int words)
{
    return wbcard_receive(card, "read", data, at, 4 * (int64_t)words);
}

int boardWriteReg(board *card, uint32_t at, uint32_t value) { return wbcard_send(card, "write_reg", &value, at, 4); }

uint32_t boardReadReg(board *card, uint32_t at)
{
    uint32_t value = 0;
    wbcard_receive(card, "read_reg", &value, at, 4);
    return value;
}

int boardBegin(board *card, uint32_t at, const uint32_t *data, int words)
{
    return wbcard_send_async(card, "begin", data, at, 4 * (int64_t)words);
}

int boardWait(board *card) { return wbcard_wait(card); }

int boardWaitIrq(board *card) { return wbcard_wait_irq(card); }

void boardRelease(board *card)
{
    uint32_t zero = 0;
    wbcard_send(card, "release", &zero, REST, 4);
    wbcard_close(card);
}
