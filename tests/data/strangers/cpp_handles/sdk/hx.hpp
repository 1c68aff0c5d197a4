// HX accelerator SDK: properties, handles, callbacks.
#ifndef HX_HPP
#define HX_HPP
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace hx {

enum class result { ok = 0, not_found, busy, exception };
enum class direction { host_to_device, device_to_host };

class token { public: using ptr = std::shared_ptr<token>; static std::vector<ptr> enumerate(const std::string &filter = ""); virtual ~token(); };

struct event { std::uint32_t vector; std::uint64_t timestamp; };
using callback = std::function<void(const event &)>;

class shared_buffer;

class handle : public std::enable_shared_from_this<handle> {
public:
    using ptr = std::shared_ptr<handle>;
    static ptr open(token::ptr tok, int flags = 0);
    virtual ~handle();
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;

    result reset();
    void write_csr32(std::uint64_t offset, std::uint32_t value, std::uint32_t csr_space = 0);
    std::uint32_t read_csr32(std::uint64_t offset, std::uint32_t csr_space = 0) const;
    void register_interrupt(std::uint32_t vector, callback on_event);
    void wait_interrupt(std::uint32_t vector, int timeout_ms);
    result close();

protected:
    explicit handle(void *impl);
private:
    void *impl_;
};

class shared_buffer {
public:
    using ptr = std::shared_ptr<shared_buffer>;
    static ptr allocate(handle::ptr owner, std::size_t len);
    virtual ~shared_buffer();
    std::size_t size() const { return len_; }
    std::uint64_t io_address() const { return io_address_; }
    volatile std::uint8_t *c_type() const { return virt_; }
    void transfer(direction dir);
    template <typename T> void write(const T &value, std::size_t offset) { *reinterpret_cast<volatile T *>(virt_ + offset) = value; }
    template <typename T> T read(std::size_t offset) const { return *reinterpret_cast<const volatile T *>(virt_ + offset); }
protected:
    shared_buffer(handle::ptr owner, std::size_t len, std::uint8_t *virt, std::uint64_t io_address);
    handle::ptr owner_;
    std::size_t len_ = 0;
    std::uint8_t *virt_ = nullptr;
    std::uint64_t io_address_ = 0;
};

} // namespace hx
#endif
