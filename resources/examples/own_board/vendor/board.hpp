// The library of the board's maker, as its customers get it: a class in place of C functions. Its sources are not here, and
// no board is needed: the workbench makes a library for the simulated card of the calls in board.yaml.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lx {

class Board {
public:
    explicit Board(int slot = 0);
    ~Board();
    Board(const Board &) = delete;
    Board &operator=(const Board &) = delete;

    void write(uint32_t address, const void *data, std::size_t bytes);
    void write(uint32_t address, const std::vector<int32_t> &words) { write(address, words.data(), words.size() * sizeof words[0]); }
    std::vector<int32_t> read(uint32_t address, std::size_t words) const;
    void set_register(uint32_t reg, uint32_t value);
    uint32_t get_register(uint32_t reg) const;

private:
    struct Connection;
    std::unique_ptr<Connection> connection_;
};

} // namespace lx
