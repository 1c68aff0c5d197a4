#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nova {

/// Thrown on any failure of the driver.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, int code = -1) : std::runtime_error(what), code_(code) {}
  int code() const noexcept { return code_; }
 private:
  int code_;
};

struct Options {
  unsigned slot = 0;
  std::chrono::milliseconds timeout{1000};
  bool exclusive = true;
};

namespace detail { class Session; }

class Device;

/// A region of the card's memory. Move only; freed at the end of its scope.
class Region {
 public:
  Region(Region&&) noexcept;
  Region& operator=(Region&&) noexcept;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  std::uint64_t offset() const noexcept { return offset_; }
  std::size_t size() const noexcept { return bytes_; }

  void upload(std::span<const std::uint32_t> words);
  void download(std::span<std::uint32_t> words) const;

 private:
  friend class Device;
  Region(Device& owner, std::uint64_t offset, std::size_t bytes);
  Device* owner_ = nullptr;
  std::uint64_t offset_ = 0;
  std::size_t bytes_ = 0;
};

/// The card. Opened by `open`, closed at the end of its scope.
class Device {
 public:
  [[nodiscard]] static Device open(const Options& options = {});
  static std::vector<std::string> enumerate();

  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;
  ~Device();

  void program(std::string_view bitstream);
  [[nodiscard]] Region map(std::uint64_t offset, std::size_t bytes);

  void poke(std::uint32_t reg, std::uint32_t value);
  [[nodiscard]] std::uint32_t peek(std::uint32_t reg) const;

 private:
  explicit Device(std::unique_ptr<detail::Session> session);
  std::unique_ptr<detail::Session> session_;
};

}  // namespace nova
