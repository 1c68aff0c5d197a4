/* example.h on the simulated card, with the transfer tables `send` and `receive` of example_card.yaml. */
#include "example.h"

#include "wbcard.h"

static wbcard_t *card(void)
{
    static wbcard_t *opened;
    return opened ? opened : (opened = wbcard_open(0));
}

int exampleSend(const void *data, unsigned address, unsigned bytes)
{
    return wbcard_send(card(), "send", data, address, bytes);
}

int exampleReceive(void *data, unsigned address, unsigned bytes)
{
    return wbcard_receive(card(), "receive", data, address, bytes);
}
