#pragma once
#include <nova/device.hpp>
#include <vector>

namespace reg {
inline constexpr std::uint32_t kStart = 0x2000;
inline constexpr std::uint32_t kStatus = 0x2004;
inline constexpr std::uint32_t kCount = 0x2008;
}  // namespace reg

class Histogram {
 public:
  explicit Histogram(nova::Device& device);
  std::vector<std::uint32_t> run(const std::vector<std::uint32_t>& image);

 private:
  nova::Device& device_;
  nova::Region pixels_;
  nova::Region bins_;
};
