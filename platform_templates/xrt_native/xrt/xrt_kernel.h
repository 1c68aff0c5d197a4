// XRT's native C++ API, as far as the stand-in library on the simulated card has it: names, types and prototypes are those of
// XRT's public headers.
#ifndef XRT_KERNEL_H_
#define XRT_KERNEL_H_
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE = 0, XCL_BO_SYNC_BO_FROM_DEVICE };

enum ert_cmd_state {
    ERT_CMD_STATE_NEW = 1,
    ERT_CMD_STATE_QUEUED = 2,
    ERT_CMD_STATE_RUNNING = 3,
    ERT_CMD_STATE_COMPLETED = 4,
    ERT_CMD_STATE_ERROR = 5,
    ERT_CMD_STATE_ABORT = 6,
    ERT_CMD_STATE_SUBMITTED = 7,
    ERT_CMD_STATE_TIMEOUT = 8
};

typedef uint32_t xrtMemoryGroup;

namespace xrt {

using memory_group = xrtMemoryGroup;

class uuid {
    std::array<unsigned char, 16> value{};

public:
    uuid() = default;
    explicit uuid(const std::string& uuid_str);
    bool operator==(const uuid& rhs) const { return value == rhs.value; }
};

class xclbin {
    std::string name;

public:
    xclbin() = default;
    explicit xclbin(const std::string& filename);
    uuid get_uuid() const;
    const std::string& file() const { return name; }
};

class device_impl;
class device {
    std::shared_ptr<device_impl> handle;

public:
    device() = default;
    explicit device(unsigned int didx);
    explicit device(int didx) : device(static_cast<unsigned int>(didx)) {}
    device(const device& rhs) = default;
    device(device&& rhs) = default;
    device& operator=(const device& rhs) = default;
    device& operator=(device&& rhs) = default;
    ~device();

    uuid register_xclbin(const xrt::xclbin& xclbin);
    uuid load_xclbin(const std::string& xclbin_fnm);
    uuid load_xclbin(const xrt::xclbin& xclbin);
    const std::shared_ptr<device_impl>& get_handle() const { return handle; }
    explicit operator bool() const { return handle != nullptr; }
};

class hw_context {
    xrt::device on;

public:
    using cfg_param_type = std::map<std::string, uint32_t>;
    enum class access_mode : uint8_t { exclusive = 0, shared = 1 };

    hw_context() = default;
    hw_context(const xrt::device& device, const xrt::uuid& xclbin_id, const cfg_param_type& cfg_param);
    hw_context(const xrt::device& device, const xrt::uuid& xclbin_id, access_mode mode);
    hw_context(const xrt::device& device, const xrt::uuid& xclbin_id) : hw_context{device, xclbin_id, access_mode::shared} {}
    hw_context(const hw_context&) = default;
    hw_context(hw_context&&) = default;
    hw_context& operator=(const hw_context&) = default;
    hw_context& operator=(hw_context&&) = default;
    ~hw_context();

    xrt::device get_device() const { return on; }
};

class bo_impl;
class bo {
    std::shared_ptr<bo_impl> handle;

public:
    enum class flags : uint32_t { normal = 0, cacheable = 1u << 24, device_only = 1u << 28, host_only = 1u << 29, p2p = 1u << 30 };

    bo() {}
    bo(const xrt::device& device, void* userptr, size_t sz, bo::flags flags, memory_group grp);
    bo(const xrt::device& device, void* userptr, size_t sz, memory_group grp);
    bo(const xrt::device& device, size_t sz, bo::flags flags, memory_group grp);
    bo(const xrt::device& device, size_t sz, memory_group grp);
    bo(const xrt::hw_context& hwctx, void* userptr, size_t sz, bo::flags flags, memory_group grp);
    bo(const xrt::hw_context& hwctx, void* userptr, size_t sz, memory_group grp);
    bo(const xrt::hw_context& hwctx, size_t sz, bo::flags flags, memory_group grp);
    bo(const xrt::hw_context& hwctx, size_t sz, memory_group grp);
    bo(const bo& parent, size_t size, size_t offset);
    bo(const bo& rhs) = default;
    bo(bo&& rhs) = default;
    bo& operator=(const bo& rhs) = default;
    bo& operator=(bo&& rhs) = default;
    ~bo();

    bool operator==(const bo& rhs) const { return handle == rhs.handle; }
    explicit operator bool() const { return handle != nullptr; }
    size_t size() const;
    uint64_t address() const;
    memory_group get_memory_group() const;

    void sync(xclBOSyncDirection dir, size_t sz, size_t offset);
    void sync(xclBOSyncDirection dir) { sync(dir, size(), 0); }
    void* map();
    const void* map() const;
    template <typename MapType> MapType map() { return reinterpret_cast<MapType>(map()); }
    template <typename MapType> MapType map() const { return reinterpret_cast<MapType>(map()); }
    void write(const void* src, size_t size, size_t seek);
    void write(const void* src) { write(src, size(), 0); }
    void read(void* dst, size_t size, size_t skip);
    void read(void* dst) { read(dst, size(), 0); }
};

class run;
class kernel_impl;
class kernel {
    std::shared_ptr<kernel_impl> handle;

public:
    enum class cu_access_mode : uint8_t { exclusive = 0, shared = 1, none = 2 };

    kernel() = default;
    kernel(const xrt::device& device, const xrt::uuid& xclbin_id, const std::string& name,
           cu_access_mode mode = cu_access_mode::shared);
    kernel(const xrt::hw_context& ctx, const std::string& name);
    kernel(const kernel&) = default;
    kernel(kernel&&) = default;
    kernel& operator=(const kernel&) = default;
    kernel& operator=(kernel&&) = default;
    ~kernel();

    template <typename... Args> run operator()(Args&&... args);
    int group_id(int argno) const;
    std::string get_name() const;
    const std::shared_ptr<kernel_impl>& get_handle() const { return handle; }
    explicit operator bool() const { return handle != nullptr; }
};

class run_impl;
class run {
    std::shared_ptr<run_impl> handle;

    void set_arg_at_index(int index, const void* value, size_t bytes);
    void set_arg_at_index(int index, const xrt::bo& boh);

    template <typename ArgType, typename... Args> void set_arg(int argno, ArgType&& arg, Args&&... args)
    {
        set_arg(argno, std::forward<ArgType>(arg));
        set_arg(++argno, std::forward<Args>(args)...);
    }

public:
    run() = default;
    explicit run(const kernel& krnl);
    run(const run&) = default;
    run(run&&) = default;
    run& operator=(const run&) = default;
    run& operator=(run&&) = default;
    ~run();

    void start();
    ert_cmd_state wait(const std::chrono::milliseconds& timeout = std::chrono::milliseconds{0}) const;
    ert_cmd_state wait(unsigned int timeout_ms) const { return wait(timeout_ms * std::chrono::milliseconds{1}); }
    ert_cmd_state state() const;
    explicit operator bool() const { return handle != nullptr; }

    template <typename ArgType> void set_arg(int index, ArgType&& arg) { set_arg_at_index(index, &arg, sizeof(arg)); }
    void set_arg(int index, xrt::bo& boh) { set_arg_at_index(index, boh); }
    void set_arg(int index, const xrt::bo& boh) { set_arg_at_index(index, boh); }
    void set_arg(int index, xrt::bo&& boh) { set_arg_at_index(index, boh); }
    template <typename... Args> void operator()(Args&&... args)
    {
        set_arg(0, std::forward<Args>(args)...);
        start();
    }
};

template <typename... Args> run kernel::operator()(Args&&... args)
{
    run r(*this);
    r(std::forward<Args>(args)...);
    return r;
}

} // namespace xrt
#endif
