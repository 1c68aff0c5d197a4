// The host's agent: a thread that looks now and then at what the others told, puts what statements ask of together in
// the order of its times, counts it (agent_counter.hpp), and writes the frames to stream_agent.txt in the folder
// $RCW_RAW, with a last line
//     end TIME LOST LATE known ASSERTIONS... [. what happened]
// Events for which there was no room are LOST, those told after their time had been counted LATE: the application goes
// on whatever becomes of the agent.
#pragma once
#include <algorithm>
#include <atomic>
#include <deque>

#include "agent_counter.hpp"
#include "agent_switch.hpp"
#include "agent_thread.hpp"

namespace streaming::agent {

// A plan that is counted, and the ends of edges that it asks for.
class Part {
public:
    Part(const Plan& plan, size_t room) : counter(plan) {
        for (const Watched& one : plan.edges) {
            watched.resize(std::max(watched.size(), size_t(one.edge) + 1));
            for (Way way : {pushes, pops}) {
                if (!counter.asks(one.edge, way)) continue;
                std::unique_ptr<End>& end = watched[size_t(one.edge)].of[way];
                end = std::make_unique<End>(room, counter.asks_waits(one.edge, way));
                sources_.push_back({end.get(), one.edge, way, sources_.size()});
            }
        }
    }

    // Counts what happened before that time, or as much of it as there is time for until it is to `stop`.
    void collect(int64_t until_ps, const std::atomic<bool>& stop) {
        fronts_.clear();
        for (Source& source : sources_) {
            source.told = source.end->told();
            fronts_.push_back(front_of(source));
        }
        std::sort(fronts_.begin(), fronts_.end(), earlier);
        fronts_.push_back({never_ps, sources_.size()});
        for (unsigned count = 1; fronts_.front().at_ps < until_ps; ++count) {
            Source& source = sources_[fronts_.front().number];
            const Event& event = (*source.end)[source.next++];
            done_ps_ = fronts_.front().at_ps;
            late += event.at_ps < done_ps_;
            counter.take(source.edge, source.way, done_ps_, event);
            const Front next = front_of(source);
            size_t place = 1;
            for (; earlier(fronts_[place], next); ++place) fronts_[place - 1] = fronts_[place];
            fronts_[place - 1] = next;
            if (count % piece) continue;
            make_room();
            if (stop) return;
        }
        make_room();
        counter.go_on(until_ps);
        done_ps_ = std::max(done_ps_, until_ps);
    }

    // What nobody counts any more.
    int64_t lost() const {
        int64_t found = 0;
        for (const Source& source : sources_) found += source.end->lost + int64_t(source.end->told() - source.next);
        return found;
    }

    Counter counter;
    int64_t late = 0;

private:
    static constexpr unsigned piece = 256; // events from one look at whether to stop to the next
    static constexpr int64_t never_ps = std::numeric_limits<int64_t>::max() - 1;
    struct Source {
        End* end;
        int edge;
        Way way;
        size_t number, next = 0, told = 0; // events
    };
    struct Front { // what an end tells next, whose own events are in order
        int64_t at_ps;
        size_t number;
    };

    static bool earlier(const Front& a, const Front& b) { return a.at_ps < b.at_ps + (a.number < b.number); }

    Front front_of(const Source& source) const {
        if (source.next == source.told) return {never_ps, source.number};
        return {std::max((*source.end)[source.next].at_ps, done_ps_), source.number};
    }

    void make_room() {
        for (Source& source : sources_) source.end->take(source.next);
    }

    std::vector<Source> sources_;
    std::vector<Front> fronts_; // in their order, `never` after all
    int64_t done_ps_ = 0;
};

// The agent's thread, for as long as this lives; all threads that push and pop begin after it and have ended before.
class Server {
public:
    explicit Server(const Query& query, int core = -1) : query_(switched(query)), core_(core) {
        for (const Plan& plan : query_.parts) parts_.emplace_back(plan, query_.room);
        thread_ = std::thread([this] { serve(); });
    }
    Server(const Server&) = delete;

    // All blocks have ended: what there is still to count is no time of the application's.
    ~Server() {
        const int64_t end_ps = now_ps();
        ended_ = true;
        rounds_.end();
        thread_.join();
        aside([&] { end(end_ps); });
    }

private:
    void end(int64_t end_ps) {
        ended_ = false; // there is time now
        if (alive_) {
            try {
                for (Part& part : parts_) {
                    part.collect(end_ps + 1, ended_);
                    part.counter.finish(end_ps);
                }
            } catch (const std::exception& failure) {
                died(failure.what());
            }
        }
        int64_t lost = 0, late = 0;
        std::vector<bool> known;
        for (size_t i = 0; i < parts_.size(); ++i) {
            lost += parts_[i].lost();
            late += parts_[i].late;
            const std::vector<Assertion>& asserts = query_.parts[i].asserts;
            for (size_t j = 0; j < asserts.size(); ++j) {
                known.resize(std::max(known.size(), size_t(asserts[j].number) + 1));
                known[size_t(asserts[j].number)] = parts_[i].counter.known(j);
            }
        }
        write();
        std::string last = "end";
        for (int64_t part : {end_ps, lost, late}) last += " " + std::to_string(part);
        last += " known";
        for (bool one : known) last += one ? " 1" : " 0";
        const std::string why = why_.empty() ? file_.why() : why_;
        last += why.empty() ? "\n" : " . " + why + "\n";
        file_.write(last.data(), last.size());
        file_.close();
        if (why_.empty()) why_ = file_.why();
        if (!why_.empty()) std::fprintf(stderr, "stream agent: %s; %lld events were lost\n", why_.c_str(), (long long)lost);
        watched.clear();
    }

    void serve() {
        begin_as("agent", core_);
        try {
            for (Part& part : parts_) part.counter.begin();
            for (int64_t looked_ps = now_ps(); !rounds_.over(query_.period_ps);) {
                const int64_t now = now_ps();
                for (Part& part : parts_)
                    if (!ended_) part.collect(looked_ps, ended_); // what was told since then may have come in any order
                looked_ps = now;
                write();
            }
        } catch (const std::exception& failure) {
            died(failure.what());
        }
    }

    void died(const std::string& why) {
        alive_ = false;
        why_ = "the agent died: " + why;
    }

    void write() {
        std::string text;
        for (Part& part : parts_) text += std::exchange(part.counter.lines, "");
        if (!text.empty()) file_.write(text.data(), text.size());
    }

    const Query query_;
    const int core_; // on which it runs alone; -1: on any
    std::deque<Part> parts_;
    std::atomic<bool> ended_{false};
    File file_{"stream_agent.txt"};
    Rounds rounds_;
    std::string why_;
    bool alive_ = true;
    std::thread thread_;
};

} // namespace streaming::agent
