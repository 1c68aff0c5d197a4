/* The example card's API, as a host program includes it. Addresses count words of 4 bytes. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

int exampleSend(const void *data, unsigned address, unsigned bytes);
int exampleReceive(void *data, unsigned address, unsigned bytes);

#endif
