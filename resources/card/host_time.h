/* What a thread's own code cost: its CPU time, or the basic blocks that it ran. See README.md, "The host's time". */
#ifndef RCW_HOST_TIME_H
#define RCW_HOST_TIME_H
#include <stdint.h>

typedef struct {
    int deterministic;
    int64_t basic_block_ps;
    double factor;
} host_time_settings;
extern host_time_settings host_time;

/* Once, at the start: what reading the clocks adds to what they tell. */
void host_time_calibrate(void);

/* The cost, in picoseconds, of what the calling thread, of this number, did since this was last called or since
 * host_time_forget. */
int64_t host_time_charge(int thread);

/* A thread's code, or with -1 every thread's, costs so many thousand millionths of what it would. */
void host_time_scale(int thread, int64_t parts);

/* What the calling thread did before this is the library's own, and costs nothing. */
void host_time_forget(void);

/* The calling thread is in rcw_access: what that takes is taken off its next stretch. */
void host_time_owe(void);

/* Work that a thread is known to do. */
void host_time_add(int64_t work_ps);

/* What all threads together were charged. */
int64_t host_time_total_ps(void);
#endif
