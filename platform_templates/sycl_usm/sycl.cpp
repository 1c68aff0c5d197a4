// SYCL queues on the simulated card: its first card is the device, with one kernel, the design, whatever the source of a kernel
// says. `kernels.h` tells how the design takes a kernel's arguments, and when commands begin.
#include "sycl/sycl.hpp"

#include <cstring>
#include <stdexcept>

#include <sys/mman.h>

#include "kernels.h"

namespace sycl {

namespace {

// Device memory has addresses of the host's that nothing lies behind, as on a real device.
constexpr size_t most_device_bytes = size_t{1} << 32;

unsigned char* device_base()
{
    static void* base = mmap(nullptr, most_device_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return static_cast<unsigned char*>(base);
}

bool on_device(const void* at)
{
    const auto address = reinterpret_cast<uintptr_t>(at), base = reinterpret_cast<uintptr_t>(device_base());
    return address >= base && address - base < most_device_bytes;
}

int64_t address_of(const void* at) { return static_cast<const unsigned char*>(at) - device_base(); }

wbk_card* the_card()
{
    static wbk_card* card = wbk_open(0);
    if (!card) throw std::runtime_error("no device");
    return card;
}

} // namespace

class command_impl {
public:
    wbk_command* command;
    explicit command_impl(wbk_command* one) : command(one) {}
    ~command_impl() { wbk_drop(command); }
    command_impl(const command_impl&) = delete;
    command_impl& operator=(const command_impl&) = delete;
};

class queue_impl {
public:
    wbk_card* card = the_card();
    bool in_order;
    std::vector<event> all; // that may not have ended
    explicit queue_impl(bool ordered) : in_order(ordered) {}
};

void event::wait()
{
    if (made && wbk_wait(made->command)) throw std::runtime_error("the card refused the command");
}

void event::wait(const std::vector<event>& eventList)
{
    for (event one : eventList) one.wait();
}

void handler::depends_on(event depEvent) { after.push_back(std::move(depEvent)); }
void handler::depends_on(const std::vector<event>& depEvents) { after.insert(after.end(), depEvents.begin(), depEvents.end()); }

std::vector<wbk_command*> handler::waits_for() const
{
    std::vector<wbk_command*> found;
    for (const event& one : after)
        if (one.made) found.push_back(one.made->command);
    if (of.in_order && !of.all.empty() && of.all.back().made) found.push_back(of.all.back().made->command);
    return found;
}

void handler::start(const void* captured, size_t bytes)
{
    wbk_arguments arguments{};
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, static_cast<const unsigned char*>(captured) + at, bytes - at < 8 ? bytes - at : 8);
        const void* pointer = reinterpret_cast<const void*>(static_cast<uintptr_t>(word));
        if (on_device(pointer)) word = static_cast<uint64_t>(address_of(pointer));
        if (wbk_set_argument(&arguments, static_cast<unsigned>(at / 8), &word, sizeof word))
            throw std::length_error("the kernel captures more than the card's registers hold");
    }
    const auto before = waits_for();
    wbk_command* begun = wbk_run(of.card, &arguments, before.data(), static_cast<int>(before.size()));
    last.made = std::make_shared<command_impl>(begun);
}

void handler::memcpy(void* dest, const void* src, size_t numBytes)
{
    const auto before = waits_for();
    const int count = static_cast<int>(before.size());
    if (on_device(dest) == on_device(src)) throw std::invalid_argument("one side of a copy has to be the device's");
    wbk_command* begun = on_device(dest) ? wbk_write(of.card, address_of(dest), src, numBytes, before.data(), count)
                                         : wbk_read(of.card, dest, address_of(src), numBytes, before.data(), count);
    last.made = std::make_shared<command_impl>(begun);
}

queue::queue(const property_list& propList) : made(std::make_shared<queue_impl>(propList.ordered)) {}
queue::queue(const async_handler&, const property_list& propList) : queue(propList) {}

event queue::keep(const event& one)
{
    auto& all = made->all;
    for (size_t i = 0; i < all.size();)
        if (!all[i].made || wbk_was_done(all[i].made->command))
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
        else
            i++;
    all.push_back(one);
    return one;
}

event queue::memcpy(void* dest, const void* src, size_t numBytes)
{
    return submit([=](handler& h) { h.memcpy(dest, src, numBytes); });
}

event queue::memcpy(void* dest, const void* src, size_t numBytes, event depEvent)
{
    return memcpy(dest, src, numBytes, std::vector<event>{std::move(depEvent)});
}

event queue::memcpy(void* dest, const void* src, size_t numBytes, const std::vector<event>& depEvents)
{
    return submit([&](handler& h) {
        h.depends_on(depEvents);
        h.memcpy(dest, src, numBytes);
    });
}

void queue::wait()
{
    event::wait(made->all);
    made->all.clear();
}
void queue::wait_and_throw() { wait(); }

void* malloc_device(size_t numBytes, const queue&, const property_list&)
{
    const int64_t at = wbk_allocate(the_card(), numBytes);
    return device_base() + at;
}

void free(void* ptr, const queue&) { wbk_free(the_card(), address_of(ptr)); }

usm::alloc get_pointer_type(const void* ptr, const context&) { return on_device(ptr) ? usm::alloc::device : usm::alloc::unknown; }

} // namespace sycl
