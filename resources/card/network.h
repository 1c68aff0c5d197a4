/* The network between ranks, as the project's template has it. */
#ifndef RCW_NETWORK_H
#define RCW_NETWORK_H
#include <stdint.h>

enum { WB_MAX_RANKS = 64 };

/* By rank, and by rank that sends and rank that receives. */
typedef struct {
    int64_t overhead_ps[WB_MAX_RANKS], gap_ps[WB_MAX_RANKS];                              /* o, g */
    int64_t latency_ps[WB_MAX_RANKS][WB_MAX_RANKS], byte_fs[WB_MAX_RANKS][WB_MAX_RANKS]; /* L, and G of a byte */
    int64_t reduction_fs;                                                                 /* gamma of a byte */
    int64_t eager_bytes; /* a longer standard send ends when its receiver has asked for it; -1: none does */
} wb_network_times;
extern wb_network_times wb_network; /* no network is named: 0, and no such send */

static inline int64_t wb_network_bytes_ps(int from, int to, int64_t bytes)
{
    return (int64_t)((__int128)bytes * wb_network.byte_fs[from][to] / 1000);
}

static inline int64_t wb_network_reduced_ps(int64_t bytes)
{
    return (int64_t)((__int128)bytes * wb_network.reduction_fs / 1000);
}
#endif
