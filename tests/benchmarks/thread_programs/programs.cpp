// C++ programs of a few threads, and of atomics, whose times are known by hand: threads.py has them.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <future>
#include <iostream>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "work.h"

namespace {

using namespace std::chrono_literals;

void future() {
    auto answer = std::async(std::launch::async, [] { work(4); return 42; });
    work(2);
    if (answer.get() != 42) std::exit(1);
    work(3);
}

std::atomic<int> value;

void atomic_wait() {
    std::jthread other([] { value.wait(0); work(2); });
    work(4);
    value = 1;
    value.notify_one();
}

std::counting_semaphore<8> permits(0);

void semaphore() {
    std::jthread other([] { for (int i = 0; i < 3; ++i) permits.acquire(), work(1); });
    for (int i = 0; i < 3; ++i) work(2), permits.release();
    work(2);
}

std::latch all_done(3);

void latch() {
    std::vector<std::jthread> threads;
    for (int i = 1; i <= 3; ++i) threads.emplace_back([i] { work(i); all_done.count_down(); });
    all_done.wait();
}

std::barrier meeting(3);

void cpp_barrier() {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([i] {
            for (int round = 0; round < 2; ++round) work(1 + (i + round) % 3), meeting.arrive_and_wait();
            work(1);
        });
}

void stopped() {
    std::jthread other([](std::stop_token stop) { while (!stop.stop_requested()) work(1); });
    work(5);
}

int prepare() { work(3); return 1; }

void use() {
    static int prepared = prepare();
    work(prepared);
}

void local_static() {
    std::jthread one(use), two(use);
}

std::mutex lock;
std::condition_variable condition;

void wait_for() {
    std::unique_lock held(lock);
    const auto began = std::chrono::steady_clock::now();
    std::jthread other([] { std::this_thread::sleep_for(20us); });
    if (condition.wait_for(held, 30us, [] { return false; })) std::exit(1);
    if (std::chrono::steady_clock::now() - began != 30us) std::exit(1);
}

std::shared_mutex many;

void shared() {
    const auto reads = [](int us) { std::shared_lock held(many); work(us); };
    std::jthread one(reads, 4), two(reads, 6), three([] { work(1); std::unique_lock held(many); work(5); });
}

std::atomic<bool> flag;

// polls every 6 ns until it is set after 10 us
void spin() {
    std::jthread other([] { work(10); flag.store(true, std::memory_order_release); });
    while (!flag.load(std::memory_order_acquire)) work_ns(6);
}

volatile int plain_flag;

void spin_volatile() {
    std::jthread other([] { work(10); plain_flag = 1; });
    while (!plain_flag) work_ns(6);
}

std::atomic_flag busy = ATOMIC_FLAG_INIT;

// a lock of one's own, tried every 10 ns
void own_lock() {
    const auto holds = [] {
        while (busy.test_and_set(std::memory_order_acquire)) work_ns(10);
        work(5);
        busy.clear(std::memory_order_release);
    };
    std::jthread one(holds), two(holds);
}

// a queue of one writer and one reader, who polls every 6 ns
constexpr unsigned slots = 4, items = 10;
std::atomic<unsigned> head, tail;
int ring[slots];

void lock_free_queue() {
    std::jthread reader([] {
        int sum = 0;
        for (unsigned n = 0; n < items; ++n) {
            while (tail.load(std::memory_order_acquire) == n) work_ns(6);
            sum += ring[n % slots];
            head.store(n + 1, std::memory_order_release);
            work(1);
        }
        if (sum != 45) std::exit(1);
    });
    for (unsigned n = 0; n < items; ++n) {
        work(3);
        while (n - head.load(std::memory_order_acquire) == slots) work_ns(6);
        ring[n % slots] = int(n);
        tail.store(n + 1, std::memory_order_release);
    }
}

// the same queue between four stages of 1, 3, 2 and 1 us, each of which waits by polling
struct Ring {
    std::atomic<unsigned> head{0}, tail{0};
    int slots[4];
    void put(int item) {
        while (tail.load(std::memory_order_relaxed) - head.load(std::memory_order_acquire) == 4) work_ns(6);
        slots[tail % 4] = item;
        tail.store(tail + 1, std::memory_order_release);
    }
    int get() {
        while (tail.load(std::memory_order_acquire) == head.load(std::memory_order_relaxed)) work_ns(6);
        int item = slots[head % 4];
        head.store(head + 1, std::memory_order_release);
        return item;
    }
} rings[3];

void spinning_pipeline() {
    std::vector<std::jthread> stages;
    for (int n = 0; n < 4; ++n)
        stages.emplace_back([n] {
            const int us[] = {1, 3, 2, 1};
            for (int i = 0; i < 100; ++i) {
                int item = n ? rings[n - 1].get() : i;
                work(us[n]);
                if (n < 3) rings[n].put(item + 1);
                else if (item != i + 3) std::exit(1);
            }
        });
}

std::atomic<int> turn;

// four threads, of which each waits for its turn, gives up its core while it waits, and counts its polls in a plain variable
int polls[4];

void take_turns() {
    std::vector<std::jthread> threads;
    for (int n = 0; n < 4; ++n)
        threads.emplace_back([n] {
            for (int i = 0; i < 5; ++i) {
                for (int expected; expected = n, !turn.compare_exchange_strong(expected, -1);) {
                    work_ns(20);
                    if (n & 1) std::this_thread::yield();
                    if (n & 2) ++polls[n];
                }
                work(n + 1);
                turn.store((n + 1) % 4);
            }
        });
    threads.clear();
    std::cout << polls[0] << ' ' << polls[1] << ' ' << polls[2] << ' ' << polls[3] << '\n';
}

// four threads that wait for one another's steps in loops of five kinds, as a random number has it
std::atomic<int> steps[4];
volatile int plain_steps[4];

void random_steps(unsigned seed) {
    std::vector<std::jthread> threads;
    for (int n = 0; n < 4; ++n)
        threads.emplace_back([n, random = seed * 4 + unsigned(n)]() mutable {
            const auto below = [&random](unsigned most) { return (random = random * 1664525 + 1013904223) >> 8 & (most - 1); };
            for (int step = 1; step <= 20; ++step) {
                work_ns(2 * below(2048));
                ++steps[n];
                plain_steps[n] = step;
                const int other = int(below(4)), third = int(below(4)), before = step - int(below(2));
                const int poll_ns = 2 * int(below(8)) + 2;
                int seen;
                switch (below(8)) {
                case 0: while (steps[other].load() < before) work_ns(poll_ns); break;
                case 1: while (steps[other].load() < before || steps[third].load() < before) work_ns(poll_ns); break;
                case 2: while (steps[other].load() < before) std::this_thread::yield(), work_ns(poll_ns); break;
                case 3:
                    for (seen = before; !steps[other].compare_exchange_strong(seen, seen) && seen < before; seen = before)
                        work_ns(poll_ns);
                    break;
                case 4: while (plain_steps[other] < before || (work_ns(2), plain_steps[third] < before)) work_ns(poll_ns); break;
                default: while (plain_steps[other] < before) work_ns(poll_ns);
                }
            }
        });
}

// nobody sets it
void spin_forever() {
    std::jthread other([] { work(3); while (!value.load()) work_ns(6); });
    other.join();
}

struct Said {
    ~Said() { std::cout << "ended\n"; }
};
thread_local Said said;

// destructors of a thread's own objects, and output through streams, in the order of virtual time
void streams() {
    const auto speak = [](int n) { (void)&said; work(3 - n); std::cout << "thread " << n << '\n'; };
    std::jthread zero(speak, 0), one(speak, 1), two(speak, 2);
}

const struct {
    const char* name;
    void (*program)();
} programs[] = {
    {"future", future}, {"atomic_wait", atomic_wait}, {"semaphore", semaphore}, {"latch", latch},
    {"cpp_barrier", cpp_barrier}, {"stopped", stopped}, {"local_static", local_static}, {"wait_for", wait_for},
    {"shared", shared}, {"spin", spin}, {"spin_volatile", spin_volatile}, {"own_lock", own_lock},
    {"lock_free_queue", lock_free_queue}, {"streams", streams}, {"spinning_pipeline", spinning_pipeline},
    {"take_turns", take_turns}, {"spin_forever", spin_forever},
};

}  // namespace

int main(int argc, char** argv) {
    for (const auto& [name, program] : programs)
        if (argc > 1 && !std::strcmp(argv[1], name)) {
            program();
            return 0;
        }
    if (argc > 2 && !std::strcmp(argv[1], "random_steps")) {
        random_steps(unsigned(std::atoi(argv[2])));
        return 0;
    }
    std::cerr << "no such program\n";
    return 2;
}
