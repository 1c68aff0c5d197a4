// Coyote's operations and scatter-gather entries, as far as the stand-in library on the simulated card has them: names, types
// and values are those of Coyote's public headers.
#ifndef _COYOTE_COPS_HPP_
#define _COYOTE_COPS_HPP_
#include <cstdint>

namespace coyote {

constexpr unsigned long const STRM_CARD = 0;
constexpr unsigned long const STRM_HOST = 1;

enum class CoyoteOper {
    NOOP = 0,
    LOCAL_READ = 1,     // memory to the vFPGA's stream
    LOCAL_WRITE = 2,    // the vFPGA's stream to memory
    LOCAL_TRANSFER = 3, // both
    LOCAL_OFFLOAD = 4,  // the host's memory to the card's
    LOCAL_SYNC = 5,     // the card's memory to the host's
    REMOTE_RDMA_READ = 6,
    REMOTE_RDMA_WRITE = 7,
    REMOTE_RDMA_SEND = 8,
    REMOTE_TCP_SEND = 9
};

enum class CoyoteAllocType { REG = 0, THP = 1, HPF = 2, PRM = 3, GPU = 4 };

struct CoyoteAlloc {
    CoyoteAllocType alloc = {CoyoteAllocType::REG};
    uint32_t size = {0};
    bool remote = {false};
    uint32_t gpu_dev_id = {0};
    int32_t gpu_dmabuf_fd = {0};
    int32_t mem_block = {-1};
    void* mem = {nullptr};
};

struct syncSg {
    void* addr = {nullptr};
    uint64_t len = {0};
};

struct localSg {
    void* addr = {nullptr};
    uint32_t len = {0};
    uint32_t stream = {STRM_HOST};
    uint32_t dest = {0};
};

} // namespace coyote
#endif
