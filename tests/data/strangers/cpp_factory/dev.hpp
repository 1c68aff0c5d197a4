#pragma once
#include <cstdint>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>
#include <stdexcept>
namespace acme {
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};
class Dev {
public:
    static std::unique_ptr<Dev> open(const std::string &path);
    ~Dev();
    void write(uint32_t addr, const uint32_t *data, std::size_t words);
    void read(uint32_t addr, uint32_t *data, std::size_t words);
    void write_reg(uint32_t reg, uint32_t value);
    uint32_t read_reg(uint32_t reg);
private:
    Dev();
    struct Impl;
    std::unique_ptr<Impl> impl_;
};
}
