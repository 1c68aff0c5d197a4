// Every call of the XRT template: words multiplied on the device, by buffers of several makes and by kernels that are called,
// and by runs whose arguments are set one by one.
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"
#include "xrt/xrt_hw_context.h"
#include "xrt/xrt_kernel.h"

constexpr size_t words = 64, bytes = words * sizeof(uint32_t);
constexpr int rounds = 3;

static unsigned long sum(const uint32_t* first) { return std::accumulate(first, first + words, 0ul); }

// By hand: a run that is made once, whose factor changes.
static void by_runs(const xrt::kernel& scale, xrt::bo& from, const xrt::bo& to)
{
    xrt::run run(scale);
    run.set_arg(0, from);
    run.set_arg(1, to);
    run.set_arg(3, static_cast<uint32_t>(words));
    for (uint32_t factor = 1; factor <= rounds; factor++) {
        run.set_arg(2, factor);
        run.start();
        run.wait(1000);
        xrt::bo half(to, bytes / 2, bytes / 2);
        half.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
        const uint32_t* there = half.map<const uint32_t*>();
        std::printf("factor %u %lu\n", factor, std::accumulate(there, there + words / 2, 0ul));
    }
}

int main()
{
    {
        xrt::device device(0);
        const xrt::uuid id = device.load_xclbin("scale.xclbin");
        xrt::hw_context context(device, id);
        xrt::kernel scale(context, "scale");
        xrt::bo from(context, bytes, scale.group_id(0)), to(context, bytes, xrt::bo::flags::normal, scale.group_id(1));
        std::vector<uint32_t> data(words), got(words);
        std::iota(data.begin(), data.end(), 1);
        from.write(data.data(), bytes, 0);
        from.sync(XCL_BO_SYNC_BO_TO_DEVICE);
        for (int round = 0; round < rounds; round++) {
            auto run = scale(from, to, 5u + static_cast<unsigned>(round), static_cast<unsigned>(words));
            while (run.state() != ERT_CMD_STATE_COMPLETED) {}
            run.wait();
            to.sync(XCL_BO_SYNC_BO_FROM_DEVICE, bytes, 0);
            to.read(got.data());
            std::printf("round %d %lu\n", round, sum(got.data()));
        }
        data.assign(words, 7);
        from.write(data.data());
        for (size_t part = 0; part < 4; part++) from.sync(XCL_BO_SYNC_BO_TO_DEVICE, bytes / 4, part * bytes / 4);
        by_runs(scale, from, to);
        to.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
        to.read(got.data(), bytes / 2, 0);
        std::printf("half %u\n", got[0]);
    }
    // The ways of before: an index that is unsigned, a kernel of the device, buffers in the program's own memory.
    alignas(4096) static uint32_t own[1024], result[1024];
    own[0] = 11;
    xrt::device device(0u);
    const xrt::xclbin file(std::string("scale.xclbin"));
    const xrt::uuid id = device.register_xclbin(file);
    xrt::hw_context context(device, id, xrt::hw_context::access_mode::exclusive);
    xrt::kernel scale(device, id, "scale");
    xrt::bo from(device, own, sizeof own, scale.group_id(0)), to(device, result, sizeof result, xrt::bo::flags::normal, 0);
    xrt::bo unused(device, bytes, 0), of_kind(device, bytes, xrt::bo::flags::normal, 0);
    from.sync(XCL_BO_SYNC_BO_TO_DEVICE, bytes, 0);
    xrt::run run(scale);
    run(from, to, 4u, 16u);
    run.wait(std::chrono::milliseconds(100));
    to.sync(XCL_BO_SYNC_BO_FROM_DEVICE, bytes, 0);
    std::printf("own %u of %zu\n", result[0], unused.size() + of_kind.size());
    return 0;
}
