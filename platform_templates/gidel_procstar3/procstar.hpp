// A PROCStar III card by its "C++, simple memory" API (ReCAP, Table I), as this workbench writes it down: the vendor's own
// header is not public. FPGAs are numbered from 0, four on a card; addresses count 32-bit words.
#ifndef PROCSTAR_HPP
#define PROCSTAR_HPP
#include <cstddef>
#include <cstdint>
#include <memory>

namespace procstar {

enum class Mode { blocking, nonblocking };

class Fpga {
public:
    // Open and configure; throws std::runtime_error where there is no such FPGA.
    Fpga(int number, const char* configuration);
    virtual ~Fpga();
    Fpga(const Fpga&) = delete;
    Fpga& operator=(const Fpga&) = delete;

    virtual void write(uint32_t address, const uint32_t* data, size_t words, Mode mode = Mode::blocking);
    virtual void read(uint32_t address, uint32_t* data, size_t words);
    void write(uint32_t address, uint32_t value); // a register
    uint32_t read(uint32_t address) const;
    void wait();          // until all that was written without blocking is there
    void waitInterrupt(); // until the FPGA's interrupt is high

private:
    struct State;
    std::unique_ptr<State> state;
};

std::unique_ptr<Fpga> open(int number, const char* configuration);

} // namespace procstar
#endif
