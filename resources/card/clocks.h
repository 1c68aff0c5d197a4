/* The program's clocks, sleeps, processors and output on the virtual clock. */
#ifndef RCW_CLOCKS_H
#define RCW_CLOCKS_H
#include <stdint.h>
#include <time.h>

#include "vcores.h"

/* A time of one of the program's clocks, and a span from now on, as picoseconds on the virtual clock. */
int64_t clocks_time_ps(clockid_t clock, const struct timespec *time);
int64_t clocks_after_ps(const struct timespec *span);

/* sync.c: a call at which a thread may be cancelled; its start, in the main thread. */
vc_result sync_wait(vc_what what, const void *object, int64_t until_ps, const void *where);
void sync_start(void);

/* The rest of the start. */
void clocks_start(void);
#endif
