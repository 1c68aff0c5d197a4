// The library of the board of `resources/examples/own_board`, on the board that stands in for one (`tests/data/board`).
#include "board.hpp"

#include "fpga.h"

namespace lx {

struct Board::Connection {
    fpga_t *fpga;
};

Board::Board(int slot) : connection_(new Connection{fpgaOpen(slot)}) {}
Board::~Board() { fpgaClose(connection_->fpga); }

void Board::write(uint32_t address, const void *data, std::size_t bytes)
{
    fpgaWrite(connection_->fpga, static_cast<const uint32_t *>(data), address, static_cast<int>(bytes / 4));
}

std::vector<int32_t> Board::read(uint32_t address, std::size_t words) const
{
    std::vector<int32_t> found(words);
    fpgaRead(connection_->fpga, reinterpret_cast<uint32_t *>(found.data()), address, static_cast<int>(words));
    return found;
}

void Board::set_register(uint32_t reg, uint32_t value) { fpgaWriteReg(connection_->fpga, reg, value); }
uint32_t Board::get_register(uint32_t reg) const { return fpgaReadReg(connection_->fpga, reg); }

} // namespace lx
