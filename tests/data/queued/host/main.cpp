// Jobs go through a ring to two workers, through a locked queue to the thread that feeds the FPGA, and what that read
// back through a ring without locks to the one that adds up.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "fpga.h"
#include "queues.hpp"

enum { JOBS = 24, WORDS = 4, DATA = 0x000, DONE = 0x100, SUM = 0x101 };

struct Shared {
    Ring<int, 3> jobs;
    Locked ready;
    Spsc sums;
};

static void work(Shared *shared, int number)
{
    for (int job; shared->jobs.pop(job);) {
        std::this_thread::sleep_for(std::chrono::microseconds(40 + 10 * number));
        shared->ready.put(job);
    }
}

static void feed(Locked &from, Spsc &to)
{
    fpga_t *fpga = fpgaOpen(0);
    for (int done = 0; done < JOBS;) {
        std::optional<int> job = from.take();
        if (!job) {
            std::this_thread::sleep_for(std::chrono::microseconds(5));
            continue;
        }
        uint32_t words[WORDS];
        for (int i = 0; i < WORDS; i++) words[i] = *job;
        fpgaWrite(fpga, words, DATA, WORDS);
        while (!to.push(*job)) std::this_thread::yield();
        done++;
    }
    while (!fpgaReadReg(fpga, DONE)) {}
    std::printf("%u ", fpgaReadReg(fpga, SUM));
    fpgaClose(fpga);
}

int main()
{
    Shared shared;
    std::thread workers[2] = {std::thread(work, &shared, 0), std::thread(work, &shared, 1)};
    std::thread feeder([&] { feed(shared.ready, shared.sums); });
    for (int job = 1; job <= JOBS; job++) shared.jobs.push(job);
    shared.jobs.close();
    int sum = 0;
    for (int done = 0, job; done < JOBS;)
        if (shared.sums.pop(job)) {
            std::this_thread::sleep_for(std::chrono::microseconds(60));
            sum += job, done++;
        } else
            std::this_thread::yield();
    for (std::thread &worker : workers) worker.join();
    feeder.join();
    std::printf("%d\n", sum);
}
