// XRT's native C++ API on the simulated card: every card is a device with one kernel, the design, in whatever xclbin.
// `kernels.h` tells how the design takes a kernel's arguments, and when commands begin.
#include "xrt/xrt_kernel.h"

#include <cstring>
#include <stdexcept>
#include <vector>

#include "kernels.h"

namespace xrt {

class device_impl {
public:
    int number;
    wbk_card* card;

    explicit device_impl(int which) : number(which), card(wbk_open(which))
    {
        if (!card) throw std::runtime_error("no device found with index " + std::to_string(which));
    }
    ~device_impl() { wbk_close(card); }
    device_impl(const device_impl&) = delete;
    device_impl& operator=(const device_impl&) = delete;
};

class bo_impl {
public:
    std::shared_ptr<device_impl> on;
    std::shared_ptr<bo_impl> parent;
    std::vector<unsigned char> own;
    unsigned char* host;
    size_t bytes;
    int64_t address;
    memory_group group;

    bo_impl(std::shared_ptr<device_impl> device, void* user, size_t size, memory_group grp)
        : on(std::move(device)), own(user ? 0 : size), host(user ? static_cast<unsigned char*>(user) : own.data()), bytes(size),
          address(wbk_allocate(on->card, size)), group(grp)
    {
    }
    bo_impl(std::shared_ptr<bo_impl> whole, size_t size, size_t offset)
        : on(whole->on), parent(std::move(whole)), host(parent->host + offset), bytes(size),
          address(parent->address + static_cast<int64_t>(offset)), group(parent->group)
    {
    }
    ~bo_impl()
    {
        if (!parent) wbk_free(on->card, address);
    }
    bo_impl(const bo_impl&) = delete;
    bo_impl& operator=(const bo_impl&) = delete;

    void must_hold(size_t size, size_t offset) const
    {
        if (offset > bytes || size > bytes - offset) throw std::out_of_range("beyond the buffer's end");
    }
};

class kernel_impl {
public:
    std::shared_ptr<device_impl> on;
    std::string name;
};

class run_impl {
public:
    std::shared_ptr<kernel_impl> of;
    wbk_arguments arguments{};
    std::vector<bo> buffers; // that are in use while it runs
    wbk_command* begun = nullptr;

    ~run_impl()
    {
        if (begun) wbk_drop(begun);
    }
};

static std::shared_ptr<device_impl> opened(unsigned int number)
{
    static std::map<unsigned int, std::weak_ptr<device_impl>> every;
    auto there = every[number].lock();
    if (!there) every[number] = there = std::make_shared<device_impl>(static_cast<int>(number));
    return there;
}

uuid::uuid(const std::string& uuid_str)
{
    for (size_t i = 0; i < uuid_str.size(); i++) value[i % value.size()] ^= static_cast<unsigned char>(uuid_str[i]);
}

xclbin::xclbin(const std::string& filename) : name(filename) {}
uuid xclbin::get_uuid() const { return uuid(name); }

device::device(unsigned int didx) : handle(opened(didx)) {}
device::~device() = default;
uuid device::register_xclbin(const xrt::xclbin& xclbin) { return load_xclbin(xclbin.file()); }
uuid device::load_xclbin(const xrt::xclbin& xclbin) { return load_xclbin(xclbin.file()); }

// What is there already is not loaded again.
uuid device::load_xclbin(const std::string& xclbin_fnm)
{
    static std::map<int, std::string> loaded;
    std::string& there = loaded[handle->number];
    if (there == xclbin_fnm) return uuid(xclbin_fnm);
    there = xclbin_fnm;
    wbcard_t* card = wbcard_open(handle->number);
    const int failed = wbcard_configure(card, "configure", xclbin_fnm.c_str());
    wbcard_close(card);
    if (failed) throw std::runtime_error("failed to load xclbin " + xclbin_fnm);
    return uuid(xclbin_fnm);
}

hw_context::hw_context(const xrt::device& device, const xrt::uuid&, access_mode) : on(device) {}
hw_context::hw_context(const xrt::device& device, const xrt::uuid&, const cfg_param_type&) : on(device) {}
hw_context::~hw_context() = default;

bo::bo(const xrt::device& device, void* userptr, size_t sz, bo::flags, memory_group grp)
    : handle(std::make_shared<bo_impl>(device.get_handle(), userptr, sz, grp))
{
}
bo::bo(const xrt::device& device, void* userptr, size_t sz, memory_group grp) : bo(device, userptr, sz, flags::normal, grp) {}
bo::bo(const xrt::device& device, size_t sz, bo::flags kind, memory_group grp) : bo(device, nullptr, sz, kind, grp) {}
bo::bo(const xrt::device& device, size_t sz, memory_group grp) : bo(device, nullptr, sz, flags::normal, grp) {}
bo::bo(const xrt::hw_context& hwctx, void* userptr, size_t sz, bo::flags kind, memory_group grp)
    : bo(hwctx.get_device(), userptr, sz, kind, grp)
{
}
bo::bo(const xrt::hw_context& hwctx, void* userptr, size_t sz, memory_group grp) : bo(hwctx, userptr, sz, flags::normal, grp) {}
bo::bo(const xrt::hw_context& hwctx, size_t sz, bo::flags kind, memory_group grp) : bo(hwctx, nullptr, sz, kind, grp) {}
bo::bo(const xrt::hw_context& hwctx, size_t sz, memory_group grp) : bo(hwctx, nullptr, sz, flags::normal, grp) {}

bo::bo(const bo& parent, size_t size, size_t offset)
{
    parent.handle->must_hold(size, offset);
    handle = std::make_shared<bo_impl>(parent.handle, size, offset);
}
bo::~bo() = default;

size_t bo::size() const { return handle->bytes; }
uint64_t bo::address() const { return static_cast<uint64_t>(handle->address); }
memory_group bo::get_memory_group() const { return handle->group; }
void* bo::map() { return handle->host; }
const void* bo::map() const { return handle->host; }

void bo::sync(xclBOSyncDirection dir, size_t sz, size_t offset)
{
    handle->must_hold(sz, offset);
    wbk_card* card = handle->on->card;
    const int64_t at = handle->address + static_cast<int64_t>(offset);
    wbk_command* moved = dir == XCL_BO_SYNC_BO_TO_DEVICE ? wbk_write(card, at, handle->host + offset, sz, nullptr, 0)
                                                         : wbk_read(card, handle->host + offset, at, sz, nullptr, 0);
    const int failed = wbk_wait(moved);
    wbk_drop(moved);
    if (failed) throw std::runtime_error("the card refused to move " + std::to_string(sz) + " bytes");
}

void bo::write(const void* src, size_t size, size_t seek)
{
    handle->must_hold(size, seek);
    std::memcpy(handle->host + seek, src, size);
}

void bo::read(void* dst, size_t size, size_t skip)
{
    handle->must_hold(size, skip);
    std::memcpy(dst, handle->host + skip, size);
}

kernel::kernel(const xrt::device& device, const xrt::uuid&, const std::string& name, cu_access_mode)
    : handle(std::make_shared<kernel_impl>(kernel_impl{device.get_handle(), name}))
{
}
kernel::kernel(const xrt::hw_context& ctx, const std::string& name)
    : handle(std::make_shared<kernel_impl>(kernel_impl{ctx.get_device().get_handle(), name}))
{
}
kernel::~kernel() = default;
int kernel::group_id(int) const { return 0; }
std::string kernel::get_name() const { return handle->name; }

run::run(const kernel& krnl) : handle(std::make_shared<run_impl>()) { handle->of = krnl.get_handle(); }
run::~run() = default;

void run::set_arg_at_index(int index, const void* value, size_t bytes)
{
    if (wbk_set_argument(&handle->arguments, static_cast<unsigned>(index), value, bytes))
        throw std::out_of_range("a kernel has no argument " + std::to_string(index) + " of that size");
}

void run::set_arg_at_index(int index, const xrt::bo& boh)
{
    const uint64_t address = boh.address();
    set_arg_at_index(index, &address, sizeof address);
    handle->buffers.push_back(boh);
}

void run::start()
{
    if (handle->begun) wbk_drop(handle->begun);
    handle->begun = wbk_run(handle->of->on->card, &handle->arguments, nullptr, 0);
}

ert_cmd_state run::wait(const std::chrono::milliseconds&) const
{
    return handle->begun && !wbk_wait(handle->begun) ? ERT_CMD_STATE_COMPLETED : ERT_CMD_STATE_ERROR;
}

ert_cmd_state run::state() const
{
    if (!handle->begun) return ERT_CMD_STATE_NEW;
    return wbk_is_done(handle->begun) ? ERT_CMD_STATE_COMPLETED : ERT_CMD_STATE_RUNNING;
}

} // namespace xrt
