/* Buffers in a card's memory, and a kernel that works on them: what stand-ins of OpenCL, XRT and the like are written on.
 *
 * The design has a port of its own into memory on the card, and the control registers of a Vitis kernel (AMD UG1399,
 * "S_AXILITE Control Register Map"): 0x00 starts it (bit 0), 0x04 and 0x08 enable its interrupt, 0x0c clears it; arguments
 * follow from 0x10 on, each on as many words as it has, and one more that is reserved. Its interrupt is high when it is done.
 * Of the platform's tables `write` and `read` move data between host and memory, `write_reg` the registers; all through one
 * resource, so that what begins on the bus later comes later.
 *
 * A command begins when what it comes after is done. Where nobody waits, the kernel's end is seen in the host's next call that
 * waits for something; reading begins when somebody waits for it. Calls of several threads go one after another.
 * Functions that return int return 0, or -1 where the card refused what was asked for. */
#ifndef WBK_KERNELS_H
#define WBK_KERNELS_H
#include "wbcard.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WBK_MOST_ARGUMENTS = 32, WBK_MOST_ARGUMENT_BYTES = 256 };

typedef struct wbk_card wbk_card;
typedef struct wbk_command wbk_command;
typedef struct {
    size_t bytes[WBK_MOST_ARGUMENTS];
    unsigned char values[WBK_MOST_ARGUMENTS][WBK_MOST_ARGUMENT_BYTES];
} wbk_arguments;

wbk_card *wbk_open(int number);
void wbk_close(wbk_card *card);

/* The byte address of memory for so much, in pages of 4 KiB. A buffer that lies beyond the memory's end ends the run when it is
 * used. */
int64_t wbk_allocate(wbk_card *card, size_t bytes);
void wbk_free(wbk_card *card, int64_t address);

int wbk_set_argument(wbk_arguments *arguments, unsigned index, const void *value, size_t bytes);

/* Commands, after those `after` of which there are `count`. What is returned has to be dropped; data stay the caller's, and
 * must stay as they are until the command is done. */
wbk_command *wbk_write(wbk_card *card, int64_t to, const void *from, size_t bytes, wbk_command *const *after, int count);
wbk_command *wbk_read(wbk_card *card, void *to, int64_t from, size_t bytes, wbk_command *const *after, int count);
wbk_command *wbk_run(wbk_card *card, const wbk_arguments *arguments, wbk_command *const *after, int count);

int wbk_wait(wbk_command *command);
int wbk_is_done(wbk_command *command);         /* reads the kernel's interrupt status, where it has begun */
int wbk_was_done(const wbk_command *command); /* as far as is known */
wbk_command *wbk_keep(wbk_command *command);
void wbk_drop(wbk_command *command);

#ifdef __cplusplus
}
#endif
#endif
