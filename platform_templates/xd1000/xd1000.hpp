// An XD1000 by its "C++, DMA" API (ReCAP, Table I), as this workbench writes it down: the vendor's own header is not public.
// The FPGA is initialised by opening its device file (section 3.1); addresses count 32-bit words.
#ifndef XD1000_HPP
#define XD1000_HPP
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define XD1000_DEVICE "/dev/xd1000"

namespace xd1000 {

class Dma {
public:
    explicit Dma(int fd); // throws std::invalid_argument for what is no open XD1000
    ~Dma();               // waits for what was started
    Dma(const Dma&) = delete;
    Dma& operator=(const Dma&) = delete;

    void send(uint32_t address, const void* data, size_t bytes);
    void receive(uint32_t address, void* data, size_t bytes);
    template <typename T> void send(uint32_t address, const std::vector<T>& data)
    {
        send(address, data.data(), data.size() * sizeof(T));
    }
    template <typename T> void receive(uint32_t address, std::vector<T>& data)
    {
        receive(address, data.data(), data.size() * sizeof(T));
    }
    void start(uint32_t address, const void* data, size_t bytes); // sends; returns at once
    void wait();                                                  // until all that was started is there
    void waitInterrupt();

private:
    int fd;
};

} // namespace xd1000
#endif
