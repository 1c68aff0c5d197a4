#include "histogram.hpp"

Histogram::Histogram(nova::Device& device)
    : device_(device), pixels_(device.map(0x0000, 1024 * 4)), bins_(device.map(0x1000, 64 * 4)) {}

std::vector<std::uint32_t> Histogram::run(const std::vector<std::uint32_t>& image) {
  pixels_.upload(std::span(image));
  device_.poke(reg::kCount, static_cast<std::uint32_t>(image.size()));
  device_.poke(reg::kStart, 1);
  while ((device_.peek(reg::kStatus) & 1u) == 0) {
  }
  std::vector<std::uint32_t> bins(64);
  bins_.download(bins);
  return bins;
}
