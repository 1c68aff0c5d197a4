// Every call of the SYCL template: words multiplied on the device by tasks, with copies that are waited for in every way.
#include <cstdio>
#include <numeric>
#include <vector>

#include <sycl/sycl.hpp>

constexpr size_t words = 64, bytes = words * sizeof(uint32_t);

// What the design does to memory; its members are the kernel's arguments, in this order.
struct Scale {
    const uint32_t* from;
    uint32_t *to, factor, count;

    void operator()() const
    {
        for (uint32_t i = 0; i < count; i++) to[i] = from[i] * factor;
    }
};

static unsigned long sum(const std::vector<uint32_t>& all) { return std::accumulate(all.begin(), all.end(), 0ul); }

int main()
{
    std::vector<uint32_t> data(words), got(words);
    std::iota(data.begin(), data.end(), 1);

    sycl::queue queue(sycl::accelerator_selector_v);
    uint32_t* from = sycl::malloc_device<uint32_t>(words, queue);
    uint32_t* to = sycl::malloc_device<uint32_t>(words, queue);
    sycl::event sent = queue.memcpy(from, data.data(), bytes);
    sycl::event ran = queue.single_task<class scaling>(sent, Scale{from, to, 3, words});
    queue.memcpy(got.data(), to, bytes, ran).wait();
    std::printf("task %lu\n", sum(got));

    for (uint32_t round = 1; round <= 3; round++) {
        sent = queue.memcpy(from, got.data(), bytes / 2, ran);
        const std::vector<sycl::event> first{sent};
        const std::vector<sycl::event> both{queue.memcpy(from + words / 2, data.data(), bytes / 2, first), sent};
        sycl::event::wait(both);
        ran = queue.submit([&](sycl::handler& group) {
            group.depends_on(both);
            group.single_task<class scaling>(Scale{from, to, round, words});
        });
        queue.memcpy(got.data(), to, bytes, std::vector<sycl::event>{ran});
        queue.wait();
        std::printf("round %u %lu\n", round, sum(got));
    }

    sycl::queue ordered{sycl::property::queue::in_order()};
    ordered.copy(data.data(), from, words);
    ordered.single_task<class scaling>(Scale{from, to, 10, words});
    ordered.copy(to, got.data(), words / 2);
    ordered.memcpy(got.data() + words / 2, to + words / 2, bytes / 2);
    ordered.wait_and_throw();
    std::printf("ordered %lu\n", sum(got));
    sycl::free(from, queue);
    sycl::free(to, queue);
    return 0;
}
