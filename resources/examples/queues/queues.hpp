#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <thread>

#include "streaming.hpp"

// Random times of a law, in cycles of 10 ns.
class Times {
public:
    Times(const std::string& law, double mean, unsigned seed) : law_(law), mean_(mean), random_(seed) {}

    uint32_t next()
    {
        if (law_ == "constant") return uint32_t(mean_);
        double mean = mean_;
        if (law_ == "correlated") { // a hundred elements or so at half the rate, then so many at one and a half times it
            if (uniform() < 0.01) slow_ = !slow_;
            mean *= slow_ ? 1.5 : 0.5;
        }
        return uint32_t(std::max(1.0, -mean * std::log(1 - uniform())));
    }

private:
    double uniform() { return double(random_() >> 11) / 9007199254740992.0; }

    std::string law_;
    double mean_;
    std::mt19937_64 random_;
    bool slow_ = true;
};

// Time passes on the virtual clock, up to a moment, not for a while: nothing adds up.
class Pace {
public:
    void pass(uint32_t cycles)
    {
        moment_ = std::max(moment_, std::chrono::steady_clock::now()) + std::chrono::nanoseconds(10 * int64_t(cycles));
        std::this_thread::sleep_until(moment_);
    }
    void arrive(uint32_t cycles)
    {
        moment_ += std::chrono::nanoseconds(10 * int64_t(cycles));
        std::this_thread::sleep_until(moment_);
    }

private:
    std::chrono::steady_clock::time_point moment_ = std::chrono::steady_clock::now();
};

struct Arrive {
    streaming::Out<uint32_t> y;
    std::string arrivals, services;
    double interval, service;
    uint32_t count;

    void run()
    {
        Times between(arrivals, interval, 1), lasting(services, service, 2);
        Pace pace;
        for (uint32_t i = 0; i < count; i++) {
            pace.arrive(between.next());
            if (!y.push(lasting.next())) return;
        }
    }
};

struct Draw {
    streaming::Out<uint32_t> y;
    std::string arrivals;
    double interval;
    uint32_t count;

    void run()
    {
        Times between(arrivals, interval, 1);
        for (uint32_t i = 0; i < count; i++)
            if (!y.push(between.next())) return;
    }
};

struct Wait {
    streaming::In<uint32_t> x;
    streaming::Out<uint32_t> y;

    void run()
    {
        Pace pace;
        for (uint32_t cycles; x.pop(cycles);) {
            pace.pass(cycles);
            if (!y.push(cycles)) return;
        }
    }
};

struct Serve {
    streaming::In<uint32_t> x;
    streaming::Out<uint32_t> y;
    std::string services;
    double service;

    void run()
    {
        Times lasting(services, service, 2);
        Pace pace;
        for (uint32_t value; x.pop(value);) {
            pace.pass(lasting.next());
            if (!y.push(value)) return;
        }
    }
};

struct Sink {
    streaming::In<uint32_t> x;

    void run()
    {
        unsigned long count = 0, sum = 0;
        for (uint32_t value; x.pop(value); count++) sum += value;
        std::printf("%lu elements, sum %lu\n", count, sum);
    }
};
