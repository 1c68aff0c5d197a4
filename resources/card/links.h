// FPGAs that links join: they run together, none further ahead of another than what passes between them takes.
#pragma once
#include <memory>
#include <vector>

#include "clocked.h"
#include "ports/link.h"

class Linked {
public:
    Linked(const Config& config, std::vector<Clocked*> fpgas) : config_(config), fpgas_(std::move(fpgas)) {
        for (const LinkPlan& plan : config.links) {
            links_.push_back(std::make_unique<Link>());
            Link& link = *links_.back();
            link.latency_ps = plan.latency_ps, link.gap_ps = plan.gap_ps, link.byte_fs = plan.byte_fs, link.words = plan.words;
            LinkEnd &out = end(plan.from, plan.from_port), &in = end(plan.to, plan.to_port);
            if (out.word_bytes() != in.word_bytes())
                throw Failure("the two ends of a link have data of different widths: " + std::to_string(out.word_bytes())
                              + " and " + std::to_string(in.word_bytes()) + " bytes");
            out.attach(link);
            in.attach(link);
            ahead_ps_ = std::min(ahead_ps_, link.latency_ps);
            held_.emplace_back();
        }
        for (Clocked* fpga : fpgas_) fpga->join(*this);
    }

    const std::vector<Clocked*>& fpgas() const { return fpgas_; }

    // Clock every cycle of all that has ended by `ps`, or until what is waited for came.
    void run(int64_t ps) {
        for (;;) {
            Clocked* first = fpgas_[0];
            int64_t edge_ps = INT64_MAX, other_ps = INT64_MAX;  // of the first that comes, and of the first of others
            for (Clocked* fpga : fpgas_) {
                if (fpga->came()) return;
                const int64_t next_ps = fpga->next_edge_ps();
                if (next_ps < edge_ps) {
                    other_ps = edge_ps;
                    edge_ps = next_ps;
                    first = fpga;
                } else {
                    other_ps = std::min(other_ps, next_ps);
                }
            }
            if (edge_ps > ps) break;
            first->run_alone(std::max(edge_ps, std::min(ps, other_ps == INT64_MAX ? ps : other_ps + ahead_ps_)));
        }
        settle(ps);
    }

    // Occupancy of the links, in cycles of the FPGA where each begins.
    void finish(RecordFile& occupancy) {
        settle(INT64_MAX);
        for (size_t i = 0; i < links_.size(); ++i)
            if (config_.links[i].fifo >= 0) held_[i].finish(clock_of(i).cycle, config_.links[i].fifo, occupancy);
    }

private:
    LinkEnd& end(size_t fpga, int32_t port) { return dynamic_cast<LinkEnd&>(fpgas_.at(fpga)->port(port)); }
    const ClockDomain& clock_of(size_t link) const {
        const LinkPlan& plan = config_.links[link];
        return fpgas_[plan.from]->port(plan.from_port).clock();
    }

    // Count what the links held up to a time that none of the FPGAs is behind.
    void settle(int64_t ps) {
        for (size_t i = 0; i < links_.size(); ++i) {
            auto& changes = links_[i]->changes;
            if (ps != INT64_MAX && changes.size() < 1024) continue;
            std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.ps < b.ps; });
            size_t done = 0;
            for (; done < changes.size() && changes[done].ps <= ps; ++done)
                held_[i].change(clock_of(i).cycles_before(changes[done].ps) - 1, changes[done].by);
            changes.erase(changes.begin(), changes.begin() + int64_t(done));
        }
    }

    const Config& config_;
    std::vector<Clocked*> fpgas_;
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<Held> held_;
    int64_t ahead_ps_ = INT64_MAX;
};

inline void Clocked::run(int64_t ps) {
    if (linked_ && !ended()) linked_->run(ps);
    else run_alone(ps);
}
inline void Clocked::step() {
    if (linked_ && !ended()) linked_->run(next_edge_ps());
    else step_alone();
}
