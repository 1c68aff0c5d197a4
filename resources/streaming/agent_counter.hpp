// What the host's agent makes of events: the frames of a query's measures, and what its assertions are worth. What a
// frame is, where events lie and what conditions compare stands in rc_workbench_plugins/streaming/query/measures.py;
// the plan is made by rc_workbench_plugins/streaming/agents/host.py, which reads the lines too. Times are ps.
//     frame MEASURE START END COLLECTED COUNT SUM LEAST LARGEST ON [b BINS... | s TIME VALUE ...]
//     broken ASSERTION BEGIN END
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

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
    Metric metric;
    Statistic statistic;
    int edge, path; // its last edge; of latency the path
    bool pops;      // transfers are counted where they leave the edge
    int64_t frame_ps, frame_elements;
    std::vector<double> bins;
    Condition when;
    bool told; // others are operands of conditions only
};

using Path = std::vector<int>; // edges, in the order of the data; what blocks between them do with elements is not seen

struct Plan {
    std::vector<int> edges; // those that are watched
    std::vector<bool> real; // of these, whether their elements are no whole numbers
    std::vector<Path> paths;
    std::vector<Measure> measures; // operands before what asks for them
    std::vector<Condition> asserts;
    int64_t period_ps = 1000000000; // from one look at the events to the next
    size_t room = 1 << 16;          // events that may wait at each end of an edge
};

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

class Counter {
public:
    explicit Counter(const Plan& plan) : plan_(plan), measures_(plan.measures.size()), asserts_(plan.asserts.size()) {
        int most = -1;
        for (int edge : plan.edges) most = std::max(most, edge);
        edges_.resize(size_t(most + 1));
        of_edge_.resize(size_t(most + 1));
        asks_edge_.resize(size_t(most + 1));
        asks_frame_.resize(measures_.size());
        touched_.resize(measures_.size() + asserts_.size());
        for (size_t i = 0; i < plan.edges.size(); ++i) edges_[size_t(plan.edges[i])].real = plan.real[i];
        paths_.resize(plan.paths.size());
        for (size_t i = 0; i < measures_.size(); ++i) {
            const Measure& asked = plan.measures[i];
            measures_[i].histogram.resize(asked.bins.empty() ? 0 : asked.bins.size() + 1);
            measures_[i].next_ps = asked.frame_ps;
            of_edge_[size_t(asked.edge)].push_back(i);
        }
        find_next_end();
    }

    // At time 0. std::logic_error where a condition is none.
    void begin() {
        for (size_t i = 0; i < measures_.size(); ++i) depends(i, plan_.measures[i].when);
        for (size_t i = 0; i < asserts_.size(); ++i) depends(measures_.size() + i, plan_.asserts[i]);
        ask_again(0);
    }

    // Everything of one time; times rise.
    void take(int64_t at_ps, const Event* events, size_t count) {
        end_frames(at_ps, false);
        for (size_t i = 0; i < count; ++i)
            for (size_t of : of_edge_[size_t(events[i].edge)]) settle(of, at_ps);
        for (size_t i = 0; i < count; ++i) {
            note(events[i]);
            touch(asks_edge_[size_t(events[i].edge)]);
        }
        end_frames(at_ps, true);
        ask_again(at_ps);
    }

    // Nothing more happens before that time.
    void go_on(int64_t at_ps) { end_frames(at_ps, false); }

    void finish(int64_t at_ps) {
        end_frames(at_ps, false);
        for (size_t i = 0; i < measures_.size(); ++i) {
            settle(i, at_ps);
            const int64_t elements = plan_.measures[i].frame_elements;
            if (at_ps > measures_[i].start_ps || (elements && measures_[i].elements % elements)) close(i, at_ps);
        }
        for (size_t i = 0; i < asserts_.size(); ++i) {
            const Asserted& one = asserts_[i];
            if (one.broken_ps >= 0) say_broken(i, one.broken_ps, at_ps);
        }
        for (size_t i = 0; i < paths_.size(); ++i)
            if (!in_order(plan_.paths[i])) lines += "unequal " + std::to_string(i) + "\n";
    }

    std::string lines; // that are not written yet
    bool known(size_t assertion) const { return asserts_[assertion].known; }

private:
    struct Side { // of an edge: what its thread did between two transfers
        int64_t since_ps = -1, waits_ps = 0;
        double interval = unknown;

        void transfer(int64_t at_ps, bool waited) {
            if (since_ps >= 0) interval = double(at_ps - since_ps - (waited ? at_ps - std::max(waits_ps, since_ps) : 0));
            since_ps = at_ps;
        }
    };
    struct Edge {
        int64_t held = 0, entered = 0, left = 0;
        bool blocked = false, waiting = false, real = false;
        double latest = unknown;
        Side sides[2]; // where elements enter, and where they leave
    };
    struct Passing {
        std::deque<int64_t> pushed_ps;
        double latest = unknown;
    };
    struct Frame {
        int64_t collected = 0, count = 0, on = 0; // `on`: blocked, or waiting
        __int128 sum = 0;
        double real_sum = 0, least = unknown, largest = unknown;
        std::vector<std::pair<int64_t, double>> samples;
    };
    struct Measured {
        Frame frame;
        std::vector<int64_t> histogram;
        int64_t start_ps = 0, since_ps = 0, next_ps = 0, elements = 0;
        bool gate = true;
        double last = unknown; // of the last frame that ended
    };
    struct Asserted {
        double worth = 0;
        bool known = false;
        int64_t broken_ps = -1;
    };

    double ask(const Condition& condition) const {
        double stack[64];
        size_t used = 0;
        for (const Step& step : condition) {
            const size_t needs = step.code < Code::gt ? 0 : step.code == Code::neither ? 1 : 2;
            if (used < needs || used == 64) throw std::logic_error("a condition of the plan is no condition");
            const double right = needs ? stack[used - 1] : 0, left = needs > 1 ? stack[used - 2] : 0;
            used -= needs;
            stack[used++] = worth(step, left, right);
        }
        if (used != 1) throw std::logic_error("a condition of the plan is no condition");
        return stack[0];
    }

    double worth(const Step& step, double left, double right) const {
        const auto so = [&](bool holds) { return std::isnan(left) || std::isnan(right) ? 0.0 : holds ? 1.0 : -1.0; };
        switch (step.code) {
            case Code::number: return step.number;
            case Code::occupancy: return double(edges_.at(size_t(step.at)).held);
            case Code::value: return edges_.at(size_t(step.at)).latest;
            case Code::latency: return paths_.at(size_t(step.at)).latest;
            case Code::interval: return edges_.at(size_t(step.at / 2)).sides[step.at % 2].interval;
            case Code::frame: return measures_.at(size_t(step.at)).last;
            case Code::blocked: return edges_.at(size_t(step.at)).blocked ? 1 : -1;
            case Code::gt: return so(left > right);
            case Code::ge: return so(left >= right);
            case Code::lt: return so(left < right);
            case Code::le: return so(left <= right);
            case Code::eq: return so(left == right);
            case Code::ne: return so(left != right);
            case Code::neither: return -right;
            case Code::both: return std::min(left, right);
            case Code::either: return std::max(left, right);
            case Code::gated: return right > 0 ? left : unknown; // an operand that has a condition of its own
        }
        return unknown;
    }

    // `number` is that of a measure, whose condition it is, or comes after them: an assertion's.
    void depends(size_t number, const Condition& condition) {
        for (const Step& step : condition) {
            if (step.code == Code::frame) asks_frame_.at(size_t(step.at)).push_back(number);
            else if (step.code == Code::latency) asks_edge_.at(size_t(plan_.paths.at(size_t(step.at)).back())).push_back(number);
            else if (step.code == Code::interval) asks_edge_.at(size_t(step.at / 2)).push_back(number);
            else if (step.code == Code::occupancy || step.code == Code::value || step.code == Code::blocked)
                asks_edge_.at(size_t(step.at)).push_back(number);
        }
        if (!condition.empty()) touch({number});
    }

    // What those conditions ask for is another now, perhaps.
    void touch(const std::vector<size_t>& numbers) {
        for (size_t number : numbers) {
            if (!touched_[number]) to_ask_.push_back(number);
            touched_[number] = true;
        }
    }

    void ask_again(int64_t at_ps) {
        for (size_t number : to_ask_) {
            touched_[number] = false;
            if (number >= measures_.size()) {
                look_at(number - measures_.size(), at_ps);
            } else if (const bool gate = ask(plan_.measures[number].when) > 0; gate != measures_[number].gate) {
                settle(number, at_ps);
                measures_[number].gate = gate;
            }
        }
        to_ask_.clear();
    }

    void look_at(size_t number, int64_t at_ps) {
        Asserted& one = asserts_[number];
        const double now = ask(plan_.asserts[number]);
        one.known = one.known || now != 0;
        if (now < 0 && one.broken_ps < 0) one.broken_ps = at_ps;
        if (now >= 0 && one.broken_ps >= 0) {
            say_broken(number, one.broken_ps, at_ps);
            one.broken_ps = -1;
        }
    }

    void say_broken(size_t number, int64_t begin_ps, int64_t end_ps) {
        lines += "broken " + std::to_string(number);
        lines += " " + std::to_string(begin_ps) + " " + std::to_string(end_ps) + "\n";
    }

    // Ends the frames of time that end before a time, or at it, in order.
    void end_frames(int64_t at_ps, bool there_too) {
        while (there_too ? next_end_ps_ <= at_ps : next_end_ps_ < at_ps) {
            const int64_t next_ps = next_end_ps_;
            for (size_t i = 0; i < measures_.size(); ++i) {
                if (measures_[i].next_ps != next_ps) continue;
                settle(i, next_ps);
                close(i, next_ps);
                measures_[i].next_ps += plan_.measures[i].frame_ps;
            }
            find_next_end();
            ask_again(next_ps);
        }
    }

    void find_next_end() {
        next_end_ps_ = std::numeric_limits<int64_t>::max();
        for (const Measured& one : measures_)
            if (one.next_ps > 0) next_end_ps_ = std::min(next_end_ps_, one.next_ps);
    }

    // What has been so since the last change is counted until now.
    void settle(size_t number, int64_t at_ps) {
        Measured& one = measures_[number];
        const Measure& asked = plan_.measures[number];
        const int64_t lasted_ps = at_ps - one.since_ps, since_ps = one.since_ps;
        one.since_ps = at_ps;
        if (!one.gate || lasted_ps <= 0) return;
        const Edge& edge = edges_[size_t(asked.edge)];
        one.frame.collected += lasted_ps;
        if (asked.metric == Metric::backpressure) one.frame.on += edge.blocked ? lasted_ps : 0;
        if (asked.metric == Metric::util) one.frame.on += edge.waiting ? lasted_ps : 0;
        if (asked.metric == Metric::occupancy) collect(one, asked, since_ps, double(edge.held), lasted_ps, edge.held);
    }

    void collect(Measured& one, const Measure& asked, int64_t at_ps, double value, int64_t weight, __int128 whole) {
        switch (asked.statistic) {
            case Statistic::min:
                if (!(one.frame.least <= value)) one.frame.least = value;
                break;
            case Statistic::max:
                if (!(one.frame.largest >= value)) one.frame.largest = value;
                break;
            case Statistic::hist: {
                const auto& bins = asked.bins;
                one.histogram[size_t(std::upper_bound(bins.begin(), bins.end(), value) - bins.begin())] += weight;
                break;
            }
            case Statistic::trace: one.frame.samples.emplace_back(at_ps, value); break;
            default:
                one.frame.sum += whole * weight;
                if (edges_[size_t(asked.edge)].real) one.frame.real_sum += value * double(weight);
        }
    }

    void note(const Event& event) {
        Edge& edge = edges_[size_t(event.edge)];
        const bool push = event.kind == Kind::push;
        if (event.kind == Kind::blocked || event.kind == Kind::waiting) {
            (event.kind == Kind::blocked ? edge.blocked : edge.waiting) = true;
            edge.sides[event.kind == Kind::waiting].waits_ps = event.at_ps;
            return;
        }
        double value = 0;
        if (edge.real) std::memcpy(&value, &event.bits, sizeof value);
        else value = double(int64_t(event.bits));
        for (size_t i = 0; i < paths_.size(); ++i) pass(i, event);
        edge.sides[!push].transfer(event.at_ps, push ? edge.blocked : edge.waiting);
        for (size_t i : of_edge_[size_t(event.edge)]) {
            const Measure& asked = plan_.measures[i];
            if (asked.pops == push) continue;
            Measured& one = measures_[i];
            if (one.gate && asked.metric == Metric::value) {
                ++one.frame.count;
                collect(one, asked, event.at_ps, value, 1, edge.real ? 0 : int64_t(event.bits));
            } else if (one.gate && asked.metric == Metric::latency) {
                const double latency = paths_[size_t(asked.path)].latest;
                if (!std::isnan(latency)) {
                    ++one.frame.count;
                    collect(one, asked, event.at_ps, latency, 1, int64_t(latency));
                }
            } else if (one.gate && asked.metric == Metric::interval) {
                const double interval = edge.sides[!push].interval;
                if (!std::isnan(interval)) {
                    ++one.frame.count;
                    collect(one, asked, event.at_ps, interval, 1, int64_t(interval));
                }
            } else if (one.gate && (asked.metric == Metric::rate || asked.metric == Metric::util)) {
                ++one.frame.count;
            }
            if (asked.frame_elements && ++one.elements % asked.frame_elements == 0) close(i, event.at_ps);
        }
        if (push) {
            ++edge.held;
            ++edge.entered;
            edge.blocked = false;
            edge.latest = value;
        } else {
            --edge.held;
            ++edge.left;
            edge.waiting = false;
        }
    }

    void pass(size_t number, const Event& event) {
        Passing& path = paths_[number];
        if (event.kind == Kind::push && event.edge == plan_.paths[number].front()) path.pushed_ps.push_back(event.at_ps);
        if (event.kind == Kind::pop && event.edge == plan_.paths[number].back() && !path.pushed_ps.empty()) {
            path.latest = double(event.at_ps - path.pushed_ps.front());
            path.pushed_ps.pop_front();
        }
    }

    // Whether blocks along a path gave as many elements as they took, so that they can have given them in order.
    bool in_order(const Path& path) const {
        int64_t taken = 0; // out of the edge before; one that is not seen has none
        for (int of : path) {
            const Edge& edge = edges_[size_t(of)];
            const int64_t given = edge.entered ? edge.entered : edge.left;
            if (taken && given && taken != given) return false;
            if (given) taken = edge.left ? edge.left : edge.entered;
        }
        return true;
    }

    void close(size_t number, int64_t at_ps) {
        Measured& one = measures_[number];
        const Measure& asked = plan_.measures[number];
        one.last = value_of(one.frame, asked);
        touch(asks_frame_[number]);
        if (asked.told) say(number, at_ps);
        one.frame = Frame{};
        std::fill(one.histogram.begin(), one.histogram.end(), 0);
        one.start_ps = one.since_ps = at_ps;
    }

    double value_of(const Frame& frame, const Measure& asked) const {
        const double over = double(asked.metric == Metric::occupancy ? frame.collected : frame.count);
        switch (asked.metric) {
            case Metric::rate: return frame.collected ? double(frame.count) * 1e12 / double(frame.collected) : unknown;
            case Metric::util:
                return frame.collected ? double(frame.collected - frame.on) / double(frame.collected) : unknown;
            case Metric::backpressure: return frame.collected ? double(frame.on) / double(frame.collected) : unknown;
            default: break;
        }
        const double sum = edges_[size_t(asked.edge)].real ? frame.real_sum : double(frame.sum);
        if (asked.statistic == Statistic::sum) return sum;
        if (asked.statistic == Statistic::mean) return over > 0 ? sum / over : unknown;
        return asked.statistic == Statistic::min ? frame.least : frame.largest;
    }

    void say(size_t number, int64_t at_ps) {
        const Measured& one = measures_[number];
        const Frame& frame = one.frame;
        const Measure& asked = plan_.measures[number];
        const bool real = edges_[size_t(asked.edge)].real && asked.metric == Metric::value;
        lines += "frame " + std::to_string(number);
        for (int64_t part : {one.start_ps, at_ps, frame.collected, frame.count}) lines += " " + std::to_string(part);
        lines += " " + (real ? digits(frame.real_sum) : whole(frame.sum));
        lines += " " + digits(frame.least) + " " + digits(frame.largest) + " " + std::to_string(frame.on);
        if (!one.histogram.empty()) {
            lines += " b";
            for (int64_t count : one.histogram) lines += " " + std::to_string(count);
        }
        if (asked.statistic == Statistic::trace && !frame.samples.empty()) {
            lines += " s";
            for (const auto& [time, value] : frame.samples) lines += " " + std::to_string(time) + " " + digits(value);
        }
        lines += "\n";
    }

    static std::string digits(double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.17g", value);
        return text;
    }

    static std::string whole(__int128 value) {
        if (value < 0) return "-" + whole(-value);
        const std::string low(1, char('0' + int(value % 10)));
        return value < 10 ? low : whole(value / 10) + low;
    }

    const Plan& plan_;
    int64_t next_end_ps_ = 0;                  // of frames of time
    std::vector<std::vector<size_t>> of_edge_; // the measures
    // Conditions (`depends`) that ask for what happens at an edge, and for a measure's last frame; to be asked again.
    std::vector<std::vector<size_t>> asks_edge_, asks_frame_;
    std::vector<size_t> to_ask_;
    std::vector<char> touched_;
    std::vector<Edge> edges_;
    std::vector<Passing> paths_;
    std::vector<Measured> measures_;
    std::vector<Asserted> asserts_;
};

} // namespace streaming::agent
