#include "meter.hpp"

constexpr uint32_t start = 0x400, done = 0x401, results = 0x402;

Level Meter::measure(const std::vector<int32_t> &samples)
{
    #pragma recap upload send(data, level.port, samples)
    board_.write(0, samples);
    board_.set_register(start, 1);
    #pragma recap wait wait_recv(late_sender, level.scan, done)
    while (board_.get_register(done) == 0) {}
    #pragma recap fetch recv(data, level.scan, result)
    const std::vector<int32_t> found = board_.read(results, 2);
    return {found[0], static_cast<uint32_t>(found[1])};
}
