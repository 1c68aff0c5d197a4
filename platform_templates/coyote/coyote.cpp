// Coyote's threads on the simulated card: `device` is the card, whose design is the one vFPGA. Its registers are 64 bits, one
// after another, in the order of their numbers; streams of the host go through the ports of the tables `write` and `read`,
// whatever `dest` says; `offload` and `sync` move between memories. What comes from the vFPGA is taken when somebody asks whether
// it is there.
#include "coyote/cThread.hpp"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>

#include "wbcard.h"

namespace coyote {

class cThread::AdditionalState {
public:
    int32_t vfid;
    pid_t hpid;
    wbcard_t* card;
    std::map<CoyoteOper, uint32_t> completed;
    struct expected {
        CoyoteOper oper;
        localSg to;
        bool last;
    };
    std::deque<expected> to_come;
    std::map<void*, int64_t> places; // of buffers in the card's memory
    int64_t top = 0;

    int64_t place(void* at, uint64_t bytes)
    {
        const auto known = places.upper_bound(at);
        if (known != places.begin()) {
            const auto& [first, address] = *std::prev(known);
            const auto offset = static_cast<unsigned char*>(at) - static_cast<unsigned char*>(first);
            if (address + offset < top) return address + offset;
        }
        places[at] = top;
        top += static_cast<int64_t>((bytes + 4095) / 4096 * 4096);
        return places[at];
    }

    void need(int status, const char* what) const
    {
        if (!status) return;
        std::fprintf(stderr, "coyote: the card refused %s\n", what);
        std::exit(1);
    }
};

cThread::cThread(int32_t vfid, pid_t hpid, uint32_t device, std::function<void(int)>)
    : additional_state(new AdditionalState{vfid, hpid, wbcard_open(static_cast<int>(device)), {}, {}, {}})
{
    if (!additional_state->card) std::exit(1);
}

cThread::~cThread() { wbcard_close(additional_state->card); }

void cThread::userMap(void* vaddr, uint32_t len, int32_t) { additional_state->place(vaddr, len); }
void cThread::userUnmap(void* vaddr) { additional_state->places.erase(vaddr); }

void* cThread::getMem(CoyoteAlloc&& alloc)
{
    void* made = std::aligned_alloc(4096, (alloc.size + 4095u) / 4096u * 4096u);
    if (made) userMap(made, alloc.size);
    return made;
}

void cThread::freeMem(void* vaddr)
{
    userUnmap(vaddr);
    std::free(vaddr);
}

void cThread::setCSR(uint64_t val, uint32_t offs)
{
    additional_state->need(wbcard_send(additional_state->card, "write_reg", &val, int64_t{offs} * 8, 8), "setCSR");
}

uint64_t cThread::getCSR(uint32_t offs) const
{
    uint64_t value = 0;
    additional_state->need(wbcard_receive(additional_state->card, "read_reg", &value, int64_t{offs} * 8, 8), "getCSR");
    return value;
}

void cThread::invoke(CoyoteOper oper, syncSg sg)
{
    auto& state = *additional_state;
    const int64_t at = state.place(sg.addr, sg.len), bytes = static_cast<int64_t>(sg.len);
    if (oper == CoyoteOper::LOCAL_OFFLOAD)
        state.need(wbcard_send(state.card, "offload", sg.addr, at, bytes), "an offload");
    else
        state.need(wbcard_receive(state.card, "sync", sg.addr, at, bytes), "a sync");
    state.completed[oper]++;
}

void cThread::invoke(CoyoteOper oper, localSg sg, bool last)
{
    auto& state = *additional_state;
    if (oper == CoyoteOper::LOCAL_READ) {
        state.need(wbcard_send_async(state.card, "write", sg.addr, 0, sg.len), "a local read");
        state.completed[oper] += last;
    } else
        state.to_come.push_back({oper, sg, last});
}

void cThread::invoke(CoyoteOper oper, localSg src_sg, localSg dst_sg, bool last)
{
    auto& state = *additional_state;
    state.need(wbcard_send_async(state.card, "write", src_sg.addr, 0, src_sg.len), "a local transfer");
    state.to_come.push_back({oper, dst_sg, last});
}

uint32_t cThread::checkCompleted(CoyoteOper oper) const
{
    auto& state = *additional_state;
    for (; !state.to_come.empty(); state.to_come.pop_front()) {
        const auto& [of, to, last] = state.to_come.front();
        state.need(wbcard_receive(state.card, "read", to.addr, 0, to.len), "a local write");
        state.completed[of] += last;
    }
    if (oper == CoyoteOper::LOCAL_READ) wbcard_wait(state.card);
    return state.completed[oper];
}

void cThread::clearCompleted() { additional_state->completed.clear(); }
int32_t cThread::getVfid() const { return additional_state->vfid; }
pid_t cThread::getHpid() const { return additional_state->hpid; }

} // namespace coyote
