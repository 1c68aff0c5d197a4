// A query as the host's agent counts it, made by rc_workbench_plugins/streaming/agents/host.py. Times are ps.
#pragma once
#include <cstdint>
#include <vector>

#include "agent.hpp"

namespace streaming::agent {

enum class Metric { rate, util, occupancy, latency, backpressure, value, interval };
enum class Statistic { min, max, mean, sum, hist, trace };

// A condition, operands before what joins them. Comparisons are worth 1, -1 or, where a side is not known, 0;
// `neither`, `both` and `either` are Kleene's not, and, or.
enum class Code {
    number, occupancy, latency, value, interval, frame, blocked, gt, ge, lt, le, eq, ne, neither, both, either, gated
};
struct Step {
    Code code;
    double number = 0;
    int at = 0; // edge, path or measure; of an interval twice the edge, and one more where elements leave it
};
using Condition = std::vector<Step>;

struct Measure {
    int number; // in the query; -1: an operand of conditions only
    Metric metric;
    Statistic statistic;
    int edge, path; // its last edge; of latency the path
    Way tap;        // transfers are counted where they enter the edge, or leave it
    int64_t frame_ps, frame_elements;
    std::vector<double> bins;
    Condition when;
};
struct Assertion {
    int number;
    Condition condition;
    std::vector<size_t> compared; // the steps of it that are measures
};

struct Path { // edges, in the order of the data; what blocks between them do with elements is not seen
    int number;
    std::vector<int> edges;
};
struct Watched {
    int edge;
    bool real; // its elements are no whole numbers
};

// Statements that ask of one another's edges, and of no other's: what happens at these is put in order.
struct Plan {
    std::vector<Watched> edges;
    std::vector<Path> paths;
    std::vector<Measure> measures;
    std::vector<Assertion> asserts;
};
struct Query {
    std::vector<Plan> parts;
    int64_t period_ps = 1000000000; // from one look at the events to the next
    size_t room = 1 << 16;          // events that may wait at each end of an edge: a power of two
};

} // namespace streaming::agent
