#include <cstdio>
#include <exception>
#include <numeric>

#include "histogram.hpp"

int main() try {
  auto device = nova::Device::open({.slot = 0});
  Histogram histogram(device);
  std::vector<std::uint32_t> image(1024);
  std::uint64_t checksum = 0;
  std::uint32_t seed = 1;
  for (int frame = 0; frame < 8; ++frame) {
    for (auto& word : image) {
      seed = seed * 1664525u + 1013904223u;
      word = seed;
    }
    auto bins = histogram.run(image);
    for (std::size_t i = 0; i < bins.size(); ++i) checksum += bins[i] * (i + 1);
  }
  std::printf("checksum %llu\n", static_cast<unsigned long long>(checksum));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
