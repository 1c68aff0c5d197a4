// SYCL 2020, as far as the stand-in library on the simulated card has it: queues, events, device memory by pointers (USM) and
// single tasks. Names, types and prototypes are those of the Khronos specification.
#ifndef SYCL_SYCL_HPP
#define SYCL_SYCL_HPP
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#define SYCL_LANGUAGE_VERSION 202012L

struct wbk_command;

namespace sycl {

class queue;
class handler;
class queue_impl;
class command_impl;

class exception : public std::exception {};
class exception_list {};
using async_handler = std::function<void(exception_list)>;
namespace property::queue {
class in_order {};
} // namespace property::queue
class property_list {
    bool ordered = false;
    friend class queue;

public:
    property_list() = default;
    property_list(property::queue::in_order) : ordered(true) {}
};

class device {};
class context {};
namespace usm {
enum class alloc : char { host = 0, device = 1, shared = 2, unknown = 3 };
} // namespace usm

inline int default_selector_v(const device&) { return 1; }
inline int accelerator_selector_v(const device&) { return 1; }
namespace ext::intel {
inline int fpga_selector_v(const device&) { return 1; }
} // namespace ext::intel

class event {
    std::shared_ptr<command_impl> made;
    friend class queue;
    friend class handler;

public:
    event() = default;
    void wait();
    static void wait(const std::vector<event>& eventList);
};

class handler {
    queue_impl& of;
    std::vector<event> after;
    event last;
    friend class queue;

    explicit handler(queue_impl& q) : of(q) {}
    std::vector<wbk_command*> waits_for() const;
    // A kernel's arguments are what it captured, in units of 8 bytes.
    void start(const void* captured, size_t bytes);

public:
    void depends_on(event depEvent);
    void depends_on(const std::vector<event>& depEvents);
    void memcpy(void* dest, const void* src, size_t numBytes);
    template <typename KernelName = void, typename KernelType> void single_task(const KernelType& kernelFunc)
    {
        static_assert(std::is_trivially_copyable<KernelType>::value, "a kernel captures plain values and pointers");
        start(&kernelFunc, sizeof kernelFunc);
    }
};

class queue {
    std::shared_ptr<queue_impl> made;

public:
    explicit queue(const property_list& propList = {});
    explicit queue(const async_handler& asyncHandler, const property_list& propList = {});
    template <typename DeviceSelector,
              typename = std::enable_if_t<std::is_invocable_r<int, const DeviceSelector&, const device&>::value>>
    explicit queue(const DeviceSelector&, const property_list& propList = {}) : queue(propList)
    {
    }

    device get_device() const { return {}; }
    context get_context() const { return {}; }

    template <typename T> event submit(T cgf)
    {
        handler made_for(*made);
        cgf(made_for);
        return keep(made_for.last);
    }
    template <typename KernelName = void, typename KernelType> event single_task(const KernelType& kernelFunc)
    {
        return submit([&](handler& h) { h.single_task<KernelName>(kernelFunc); });
    }
    template <typename KernelName = void, typename KernelType>
    event single_task(event depEvent, const KernelType& kernelFunc)
    {
        return submit([&](handler& h) {
            h.depends_on(depEvent);
            h.single_task<KernelName>(kernelFunc);
        });
    }
    event memcpy(void* dest, const void* src, size_t numBytes);
    event memcpy(void* dest, const void* src, size_t numBytes, event depEvent);
    event memcpy(void* dest, const void* src, size_t numBytes, const std::vector<event>& depEvents);
    template <typename T> event copy(const T* src, T* dest, size_t count) { return memcpy(dest, src, count * sizeof(T)); }
    void wait();
    void wait_and_throw();

private:
    event keep(const event& one);
};

template <typename T> T* malloc_device(size_t count, const queue& syclQueue, const property_list& propList = {});
void* malloc_device(size_t numBytes, const queue& syclQueue, const property_list& propList = {});
template <typename T> T* malloc_device(size_t count, const queue& syclQueue, const property_list& propList)
{
    return static_cast<T*>(malloc_device(count * sizeof(T), syclQueue, propList));
}
void free(void* ptr, const queue& syclQueue);
usm::alloc get_pointer_type(const void* ptr, const context& syclContext);

} // namespace sycl
#endif
