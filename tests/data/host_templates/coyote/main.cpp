// Every call of the Coyote template: words through a vFPGA that adds to them, and buffers to the card's memory and back.
#include <cstdio>
#include <cstring>
#include <numeric>

#include "cThread.hpp"

using coyote::CoyoteAlloc;
using coyote::CoyoteAllocType;
using coyote::CoyoteOper;

enum Register : uint32_t { ADDED = 0, COUNT = 1 };
constexpr uint32_t words = 32, bytes = words * sizeof(uint32_t);

static unsigned long sum(const uint32_t* first) { return std::accumulate(first, first + words, 0ul); }

int main()
{
    coyote::cThread thread(0, getpid());
    auto* from = static_cast<uint32_t*>(thread.getMem({CoyoteAllocType::REG, bytes}));
    auto* to = static_cast<uint32_t*>(thread.getMem({CoyoteAllocType::REG, bytes}));
    std::iota(from, from + words, 0u);

    for (uint64_t round = 1; round <= 3; round++) {
        thread.setCSR(round * 100, ADDED);
        thread.invoke(CoyoteOper::LOCAL_READ, coyote::localSg{from, bytes});
        thread.invoke(CoyoteOper::LOCAL_WRITE, coyote::localSg{to, bytes / 2}, false);
        thread.invoke(CoyoteOper::LOCAL_WRITE, coyote::localSg{to + words / 2, bytes / 2});
        while (thread.checkCompleted(CoyoteOper::LOCAL_WRITE) < round) {}
        std::printf("round %u %lu\n", static_cast<unsigned>(round), sum(to));
    }
    thread.clearCompleted();

    const coyote::localSg source{from, bytes}, result{to, bytes};
    thread.invoke(CoyoteOper::LOCAL_TRANSFER, source, result);
    while (thread.checkCompleted(CoyoteOper::LOCAL_TRANSFER) != 1) {}
    std::printf("transfer %lu of %lu words\n", sum(to), static_cast<unsigned long>(thread.getCSR(COUNT)));

    static uint32_t own[words];
    thread.userMap(own, bytes);
    std::memcpy(own, to, bytes);
    thread.invoke(CoyoteOper::LOCAL_OFFLOAD, coyote::syncSg{own, bytes});
    std::memset(own, 0, bytes);
    thread.invoke(CoyoteOper::LOCAL_SYNC, coyote::syncSg{own, bytes});
    std::printf("back %lu\n", sum(own));
    thread.userUnmap(own);
    thread.freeMem(to);
    thread.freeMem(from);
    return 0;
}
