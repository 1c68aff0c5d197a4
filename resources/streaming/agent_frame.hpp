// A frame of a measure: what was collected in it, what that is worth, and the line that tells it.
#pragma once
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "agent_plan.hpp"

namespace streaming::agent {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

inline std::string digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

inline std::string digits(__int128 value) {
    if (value < 0) return "-" + digits(-value);
    const std::string low(1, char('0' + int(value % 10)));
    return value < 10 ? low : digits(value / 10) + low;
}

struct Frame {
    explicit Frame(const Measure& asked) : histogram(asked.bins.empty() ? 0 : asked.bins.size() + 1) {}

    // `whole`: the value, of those that are whole numbers.
    void add(const Measure& asked, int64_t at_ps, double value, int64_t weight, int64_t whole) {
        const auto& bins = asked.bins;
        switch (asked.statistic) {
            case Statistic::min: least = least <= value ? least : value; break;
            case Statistic::max: largest = largest >= value ? largest : value; break;
            case Statistic::hist:
                histogram[size_t(std::upper_bound(bins.begin(), bins.end(), value) - bins.begin())] += weight;
                break;
            case Statistic::trace: samples.emplace_back(at_ps, value); break;
            case Statistic::mean:
            case Statistic::sum:
                sum += __int128(whole) * weight;
                real_sum += value * double(weight);
        }
    }

    // `real`: it is of values that are no whole numbers.
    double worth(const Measure& asked, bool real) const {
        switch (asked.metric) {
            case Metric::rate: return collected ? double(count) * 1e12 / double(collected) : unknown;
            case Metric::util: return collected ? double(collected - on) / double(collected) : unknown;
            case Metric::backpressure: return collected ? double(on) / double(collected) : unknown;
            default: break;
        }
        const double total = real ? real_sum : double(sum);
        const double over = double(asked.metric == Metric::occupancy ? collected : count);
        switch (asked.statistic) {
            case Statistic::sum: return total;
            case Statistic::mean: return over > 0 ? total / over : unknown;
            case Statistic::min: return least;
            default: return largest;
        }
    }

    std::string line(const Measure& asked, bool real, int64_t start_ps, int64_t end_ps) const {
        std::string found = "frame " + std::to_string(asked.number);
        for (int64_t part : {start_ps, end_ps, collected, count}) found += " " + std::to_string(part);
        found += " " + (real ? digits(real_sum) : digits(sum));
        found += " " + digits(least) + " " + digits(largest) + " " + std::to_string(on);
        if (!histogram.empty()) found += " b";
        for (int64_t count : histogram) found += " " + std::to_string(count);
        if (!samples.empty()) found += " s";
        for (const auto& [time, value] : samples) found += " " + std::to_string(time) + " " + digits(value);
        return found + "\n";
    }

    int64_t collected = 0, count = 0, on = 0; // `on`: blocked, or waiting
    __int128 sum = 0;
    double real_sum = 0, least = unknown, largest = unknown;
    std::vector<int64_t> histogram;
    std::vector<std::pair<int64_t, double>> samples;
};

} // namespace streaming::agent
