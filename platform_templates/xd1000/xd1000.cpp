// xd1000.hpp on the simulated card, and the C library's open and close, which tell the FPGA's device file from others. Transfer
// tables: write, read.
#include "xd1000.hpp"

#include <cstdarg>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

#include <sys/syscall.h>

#include "wbcard.h"

static std::map<int, wbcard_t*>& opened()
{
    static std::map<int, wbcard_t*> every; // by descriptor
    return every;
}

extern "C" int open(const char* path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    const bool is_fpga = std::strcmp(path, XD1000_DEVICE) == 0;
    const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, is_fpga ? "/dev/null" : path, flags, mode));
    if (is_fpga && fd >= 0) opened()[fd] = wbcard_open(0);
    return fd;
}

extern "C" int close(int fd)
{
    const auto there = opened().find(fd);
    if (there != opened().end()) {
        wbcard_close(there->second);
        opened().erase(there);
    }
    return static_cast<int>(syscall(SYS_close, fd));
}

namespace xd1000 {

static wbcard_t* card(int fd)
{
    const auto there = opened().find(fd);
    return there == opened().end() ? nullptr : there->second;
}

static void need(int status, const char* what)
{
    if (status) throw std::runtime_error(std::string("the FPGA refused ") + what);
}

Dma::Dma(int descriptor) : fd(descriptor)
{
    if (!card(fd)) throw std::invalid_argument("no open " XD1000_DEVICE);
}

Dma::~Dma()
{
    if (card(fd)) wbcard_wait(card(fd));
}

void Dma::send(uint32_t address, const void* data, size_t bytes)
{
    need(wbcard_send(card(fd), "write", data, address, static_cast<int64_t>(bytes)), "to take data");
}

void Dma::receive(uint32_t address, void* data, size_t bytes)
{
    need(wbcard_receive(card(fd), "read", data, address, static_cast<int64_t>(bytes)), "to give data");
}

void Dma::start(uint32_t address, const void* data, size_t bytes)
{
    need(wbcard_send_async(card(fd), "write", data, address, static_cast<int64_t>(bytes)), "to take data");
}

void Dma::wait() { need(wbcard_wait(card(fd)), "to wait"); }
void Dma::waitInterrupt() { need(wbcard_wait_irq(card(fd)), "to wait for its interrupt"); }

} // namespace xd1000
