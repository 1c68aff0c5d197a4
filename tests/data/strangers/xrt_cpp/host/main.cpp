// Scales blocks of samples on an accelerator card, as AMD's XRT examples are written.
#include <cstdint>
#include <iostream>
#include <vector>

#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>

int main()
{
    constexpr unsigned words = 256, blocks = 8;
    auto device = xrt::device(0);
    auto uuid = device.load_xclbin("scale.xclbin");
    auto kernel = xrt::kernel(device, uuid, "scale");
    auto from = xrt::bo(device, words * sizeof(std::uint32_t), kernel.group_id(0));
    auto to = xrt::bo(device, words * sizeof(std::uint32_t), kernel.group_id(1));
    std::vector<std::uint32_t> samples(words);
    std::uint64_t sum = 0;
    for (unsigned block = 0; block < blocks; block++) {
        for (unsigned i = 0; i < words; i++)
            samples[i] = block * words + i;
        from.write(samples.data());
        from.sync(XCL_BO_SYNC_BO_TO_DEVICE);
        auto run = kernel(from, to, 3u, words);
        run.wait();
        to.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
        to.read(samples.data());
        for (auto sample : samples)
            sum += sample;
    }
    std::cout << sum << '\n';
}
