// Coyote's thread of a vFPGA, as far as the stand-in library on the simulated card has it: names and prototypes are those of
// Coyote's public headers.
#ifndef _COYOTE_CTHREAD_HPP_
#define _COYOTE_CTHREAD_HPP_
#include <cstdint>
#include <functional>
#include <memory>

#include <sys/types.h>
#include <unistd.h>

#include "cOps.hpp"

namespace coyote {

class cThread {
public:
    cThread(int32_t vfid, pid_t hpid, uint32_t device = 0, std::function<void(int)> uisr = nullptr);
    ~cThread();
    cThread(const cThread&) = delete;
    cThread& operator=(const cThread&) = delete;

    void userMap(void* vaddr, uint32_t len, int32_t mem_block = -1);
    void userUnmap(void* vaddr);
    void* getMem(CoyoteAlloc&& alloc);
    void freeMem(void* vaddr);
    void setCSR(uint64_t val, uint32_t offs);
    uint64_t getCSR(uint32_t offs) const;
    void invoke(CoyoteOper oper, syncSg sg);
    void invoke(CoyoteOper oper, localSg sg, bool last = true);
    void invoke(CoyoteOper oper, localSg src_sg, localSg dst_sg, bool last = true);
    uint32_t checkCompleted(CoyoteOper oper) const;
    void clearCompleted();
    int32_t getVfid() const;
    pid_t getHpid() const;

private:
    class AdditionalState;
    std::unique_ptr<AdditionalState> additional_state;
};

} // namespace coyote
#endif
