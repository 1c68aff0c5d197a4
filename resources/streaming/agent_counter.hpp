// What the host's agent makes of events: the frames of a query's measures, and what its assertions are worth. What a
// frame is, where events lie and what conditions compare stands in rc_workbench_plugins/streaming/query/measures.py;
// rc_workbench_plugins/streaming/agents/host.py reads the lines. Times are ps.
//     frame MEASURE START END COLLECTED COUNT SUM LEAST LARGEST ON [b BINS... | s TIME VALUE ...]
//     broken ASSERTION BEGIN END [VALUE ...]
// with what the measures that it compares were worth at its beginning
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "agent_frame.hpp"

namespace streaming::agent {

class Counter {
public:
    explicit Counter(const Plan& plan)
        : plan_(plan), measures_(plan.measures.begin(), plan.measures.end()), asserts_(plan.asserts.size()) {
        int most = -1;
        for (const Watched& one : plan.edges) most = std::max(most, one.edge);
        edges_.resize(size_t(most + 1));
        for (const Watched& one : plan.edges) edges_[size_t(one.edge)].real = one.real;
        paths_.resize(plan.paths.size());
        asks_frame_.resize(measures_.size());
        touched_.resize(measures_.size() + asserts_.size());
        for (size_t i = 0; i < paths_.size(); ++i) follow(i);
        for (size_t i = 0; i < measures_.size(); ++i) look_for(i);
        for (size_t i = 0; i < measures_.size(); ++i) depend(i, plan_.measures[i].when);
        for (size_t i = 0; i < asserts_.size(); ++i) depend(measures_.size() + i, plan_.asserts[i].condition);
        find_next_end();
    }

    // Whether it has to know what passes at an end, and from when on its thread waits.
    bool asks(int edge, Way way) const { return edges_[size_t(edge)].sides[way].asked; }
    bool asks_waits(int edge, Way way) const { return edges_[size_t(edge)].sides[way].asked_waits; }

    // At time 0. std::logic_error where a condition is none.
    void begin() { turn(0); }

    // What happens at one end of an edge; times never fall.
    void take(int of, Way way, int64_t at_ps, const Event& event) {
        go_on(at_ps);
        Edge& edge = edges_[size_t(of)];
        Side& side = edge.sides[way];
        if (event.waits) {
            settle_all(side.waited, at_ps);
            side.waits_ps = at_ps;
            touch(side.asked_by);
            return;
        }
        if (edge.counted) hold(edge, way == pushes ? 1 : -1, at_ps);
        ++side.passed;
        if (side.looked_at) pass(edge, way, at_ps, event.bits);
    }

    // Nothing more happens before that time.
    void go_on(int64_t at_ps) {
        if (at_ps > due_ps_) turn(at_ps);
        now_ps_ = at_ps;
    }

    void finish(int64_t at_ps) {
        go_on(at_ps + 1);
        for (size_t i = 0; i < measures_.size(); ++i) {
            const Measure& asked = plan_.measures[i];
            const bool begun = asked.frame_elements && side_of(asked.edge, asked.tap).passed % asked.frame_elements;
            if (begun || at_ps > measures_[i].start_ps) close(i, at_ps);
        }
        ask_again(at_ps); // of frames that ended now
        for (size_t i = 0; i < asserts_.size(); ++i)
            if (asserts_[i].broken_ps >= 0) say_broken(i, asserts_[i].broken_ps, at_ps);
        for (const Path& path : plan_.paths)
            if (!in_order(path)) lines += "unequal " + std::to_string(path.number) + "\n";
    }

    std::string lines; // that are not written yet
    bool known(size_t assertion) const { return asserts_[assertion].known; }

private:
    struct Side { // where elements enter an edge, or leave it
        bool asked = false, asked_waits = false, looked_at = false; // by any of these:
        std::vector<size_t> each;             // measures of each element, or in frames of some elements
        std::vector<size_t> waited;           // measures of the time that its thread waits
        std::vector<size_t> paths;            // that begin, or end there
        std::vector<size_t> asked_by;         // conditions (`depend`)
        int64_t passed = 0;                   // elements
        int64_t since_ps = -1, waits_ps = -1; // the latest passed at; its thread waits from then on (-1: it does not)
        uint64_t bits = 0;
        double interval = unknown;
    };
    struct Edge {
        bool real = false, counted = false; // whether its occupancy is asked for
        std::vector<size_t> levels, traces; // measures of it
        int64_t held = 0, since_ps = 0;
        size_t most = 1; // more than it ever held
        Side sides[2];   // by way
    };
    struct Passing {
        std::deque<int64_t> pushed_ps;
        double latest = unknown;
    };
    struct Measured {
        explicit Measured(const Measure& asked) : frame(asked), next_ps(asked.frame_ps) {}
        Frame frame;
        std::vector<int64_t> levels; // of an occupancy: for how long there were so many
        int64_t next_ps, start_ps = 0, since_ps = 0, passed = 0;
        bool gate = true;
        double last = unknown; // of the last frame that ended
    };
    struct Asserted {
        bool known = false;
        int64_t broken_ps = -1;
        std::vector<double> values; // when it was broken
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
            case Code::value: return value_of(edges_.at(size_t(step.at)));
            case Code::latency: return paths_.at(size_t(step.at)).latest;
            case Code::interval: return edges_.at(size_t(step.at / 2)).sides[step.at % 2].interval;
            case Code::frame: return measures_.at(size_t(step.at)).last;
            case Code::blocked: return edges_.at(size_t(step.at)).sides[pushes].waits_ps < 0 ? -1 : 1;
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

    Side& side_of(int edge, Way way) { return edges_.at(size_t(edge)).sides[way]; }

    Side& see(int edge, Way way, bool looked_at, bool waits = false) {
        Side& side = side_of(edge, way);
        side.asked = true;
        side.asked_waits |= waits;
        side.looked_at |= looked_at || waits;
        return side;
    }

    void count(int edge) {
        edges_.at(size_t(edge)).counted = true;
        for (Way way : {pushes, pops}) see(edge, way, false);
    }

    void follow(size_t number) {
        const std::vector<int>& edges = plan_.paths[number].edges;
        for (int edge : edges)
            for (Way way : {pushes, pops}) see(edge, way, false);
        see(edges.front(), pushes, true).paths.push_back(number);
        see(edges.back(), pops, true).paths.push_back(number);
    }

    void look_for(size_t number) {
        const Measure& asked = plan_.measures[number];
        Measured& one = measures_[number];
        const Metric of = asked.metric;
        if (of == Metric::value || of == Metric::latency || of == Metric::interval || asked.frame_elements)
            see(asked.edge, asked.tap, true, of == Metric::interval).each.push_back(number);
        if (of == Metric::rate || of == Metric::util) see(asked.edge, asked.tap, false);
        if (of == Metric::util) see(asked.edge, pops, true, true).waited.push_back(number);
        if (of == Metric::backpressure) see(asked.edge, pushes, true, true).waited.push_back(number);
        if (of == Metric::occupancy) {
            count(asked.edge);
            Edge& edge = edges_[size_t(asked.edge)];
            (asked.statistic == Statistic::trace ? edge.traces : edge.levels).push_back(number);
            one.levels.resize(edge.most);
        }
    }

    // `number` is that of a measure, whose condition it is, or comes after them: an assertion's.
    void depend(size_t number, const Condition& condition) {
        const auto ask = [&](int edge, Way way, bool waits = false) {
            see(edge, way, true, waits).asked_by.push_back(number);
        };
        for (const Step& step : condition) {
            switch (step.code) {
                case Code::frame: asks_frame_.at(size_t(step.at)).push_back(number); break;
                case Code::latency: ask(plan_.paths.at(size_t(step.at)).edges.back(), pops); break;
                case Code::interval: ask(step.at / 2, Way(step.at % 2), true); break;
                case Code::value: ask(step.at, pushes); break;
                case Code::blocked: ask(step.at, pushes, true); break;
                case Code::occupancy:
                    count(step.at);
                    for (Way way : {pushes, pops}) ask(step.at, way);
                    break;
                default: break;
            }
        }
        if (!condition.empty()) touch({number});
    }

    // What those conditions ask for is another now, perhaps.
    void touch(const std::vector<size_t>& numbers) {
        for (size_t number : numbers) {
            if (!touched_[number]) to_ask_.push_back(number);
            touched_[number] = true;
            due_ps_ = now_ps_;
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
        const double now = ask(plan_.asserts[number].condition);
        one.known = one.known || now != 0;
        if (now < 0 && one.broken_ps < 0) {
            one.broken_ps = at_ps;
            one.values.clear();
            const Assertion& asked = plan_.asserts[number];
            for (size_t step : asked.compared) one.values.push_back(worth(asked.condition.at(step), 0, 0));
        }
        if (now >= 0 && one.broken_ps >= 0) {
            say_broken(number, one.broken_ps, at_ps);
            one.broken_ps = -1;
        }
    }

    void say_broken(size_t number, int64_t begin_ps, int64_t end_ps) {
        lines += "broken " + std::to_string(plan_.asserts[number].number);
        lines += " " + std::to_string(begin_ps) + " " + std::to_string(end_ps);
        char value[32];
        for (double one : asserts_[number].values) {
            std::snprintf(value, sizeof value, " %.17g", one);
            lines += value;
        }
        lines += "\n";
    }

    // All of this time has happened, and nothing more does before that one.
    void turn(int64_t at_ps) {
        end_frames(now_ps_);
        ask_again(now_ps_);
        end_frames(at_ps - 1);
        due_ps_ = next_end_ps_;
    }

    // Ends the frames of time that end until then, in order.
    void end_frames(int64_t until_ps) {
        while (next_end_ps_ <= until_ps) {
            const int64_t next_ps = next_end_ps_;
            for (size_t i = 0; i < measures_.size(); ++i) {
                if (measures_[i].next_ps != next_ps) continue;
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
        Edge& edge = edges_[size_t(asked.edge)];
        if (asked.metric == Metric::occupancy) dwell(edge, at_ps);
        const int64_t passed = edge.sides[asked.tap].passed, lasted_ps = at_ps - one.since_ps;
        if (one.gate) {
            one.frame.collected += lasted_ps;
            if (asked.metric == Metric::rate || asked.metric == Metric::util) one.frame.count += passed - one.passed;
            if (asked.metric == Metric::backpressure && edge.sides[pushes].waits_ps >= 0) one.frame.on += lasted_ps;
            if (asked.metric == Metric::util && edge.sides[pops].waits_ps >= 0) one.frame.on += lasted_ps;
        }
        one.since_ps = at_ps;
        one.passed = passed;
    }

    void settle_all(const std::vector<size_t>& numbers, int64_t at_ps) {
        for (size_t number : numbers) settle(number, at_ps);
    }

    // It held so many until now.
    void dwell(Edge& edge, int64_t at_ps) {
        const int64_t lasted_ps = at_ps - edge.since_ps;
        for (size_t number : edge.levels)
            measures_[number].levels[size_t(edge.held)] += measures_[number].gate * lasted_ps;
        for (size_t number : edge.traces)
            if (Measured& one = measures_[number]; one.gate && lasted_ps)
                one.frame.samples.emplace_back(edge.since_ps, double(edge.held));
        edge.since_ps = at_ps;
    }

    void hold(Edge& edge, int more, int64_t at_ps) {
        dwell(edge, at_ps);
        edge.held = std::max<int64_t>(edge.held + more, 0); // none: what was pushed is lost
        if (size_t(edge.held) < edge.most) return;
        edge.most = 2 * size_t(edge.held) + 1;
        for (size_t number : edge.levels) measures_[number].levels.resize(edge.most);
    }

    double value_of(const Edge& edge) const {
        const uint64_t bits = edge.sides[pushes].bits;
        if (!edge.sides[pushes].passed) return unknown;
        if (!edge.real) return double(int64_t(bits));
        double value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    // An element does, for those that want to know more than how many.
    void pass(Edge& edge, Way way, int64_t at_ps, uint64_t bits) {
        Side& side = edge.sides[way];
        settle_all(side.waited, at_ps);
        const int64_t waited_ps = side.waits_ps < 0 ? 0 : at_ps - std::max(side.waits_ps, side.since_ps);
        if (side.since_ps >= 0) side.interval = double(at_ps - side.since_ps - waited_ps);
        side.since_ps = at_ps;
        side.waits_ps = -1;
        side.bits = bits;
        for (size_t i : side.paths) {
            Passing& path = paths_[i];
            if (way == pushes) {
                path.pushed_ps.push_back(at_ps);
            } else if (!path.pushed_ps.empty()) {
                path.latest = double(at_ps - path.pushed_ps.front());
                path.pushed_ps.pop_front();
            }
        }
        for (size_t i : side.each) look(i, edge, side, at_ps);
        touch(side.asked_by);
    }

    void look(size_t number, const Edge& edge, const Side& side, int64_t at_ps) {
        const Measure& asked = plan_.measures[number];
        Measured& one = measures_[number];
        const double found = asked.metric == Metric::value      ? value_of(edge)
                             : asked.metric == Metric::latency  ? paths_[size_t(asked.path)].latest
                             : asked.metric == Metric::interval ? side.interval
                                                                : unknown;
        const bool value = asked.metric == Metric::value;
        if (one.gate && (value || !std::isnan(found))) {
            ++one.frame.count;
            one.frame.add(asked, at_ps, found, 1, !value ? int64_t(found) : edge.real ? 0 : int64_t(side.bits));
        }
        if (asked.frame_elements && side.passed % asked.frame_elements == 0) close(number, at_ps);
    }

    // Whether blocks along a path gave as many elements as they took, so that they can have given them in order.
    bool in_order(const Path& path) {
        int64_t taken = 0; // out of the edge before; one that is not seen has none
        for (int edge : path.edges) {
            const int64_t entered = side_of(edge, pushes).passed, left = side_of(edge, pops).passed;
            const int64_t given = entered ? entered : left;
            if (taken && given && taken != given) return false;
            if (given) taken = left ? left : entered;
        }
        return true;
    }

    void close(size_t number, int64_t at_ps) {
        Measured& one = measures_[number];
        const Measure& asked = plan_.measures[number];
        settle(number, at_ps);
        for (size_t held = 0; held < one.levels.size(); ++held)
            if (const int64_t lasted_ps = std::exchange(one.levels[held], 0))
                one.frame.add(asked, at_ps, double(held), lasted_ps, int64_t(held));
        const bool real = asked.metric == Metric::value && edges_[size_t(asked.edge)].real;
        one.last = one.frame.worth(asked, real);
        touch(asks_frame_[number]);
        if (asked.number >= 0) lines += one.frame.line(asked, real, one.start_ps, at_ps);
        one.frame = Frame(asked);
        one.start_ps = at_ps;
    }

    const Plan& plan_;
    // The latest that is counted; where frames of time end next; after which there is more to do than to count.
    int64_t now_ps_ = 0, next_end_ps_ = 0, due_ps_ = 0;
    std::vector<std::vector<size_t>> asks_frame_; // conditions (`depend`) that ask for a measure's last frame
    std::vector<size_t> to_ask_;                  // conditions that may be worth something else now
    std::vector<char> touched_;
    std::vector<Edge> edges_;
    std::vector<Passing> paths_;
    std::vector<Measured> measures_;
    std::vector<Asserted> asserts_;
};

} // namespace streaming::agent
