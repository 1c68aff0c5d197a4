// The vendor's library, on that in C.
#include "link.hpp"

#include "../fpga.h"

namespace link {

Link::Link(int card) : card_(fpgaOpen(card)) {}
Link::~Link() { fpgaClose(static_cast<fpga_t *>(card_)); }
int Link::send(const uint16_t *data, int words) { return fpgaSend(static_cast<fpga_t *>(card_), data, words); }
int Link::send(const std::vector<uint16_t> &data) { return send(data.data(), static_cast<int>(data.size())); }
int Link::receive(uint16_t *data, int words) { return fpgaReceive(static_cast<fpga_t *>(card_), data, words); }

} // namespace link
