// The host's agent: a thread that takes out now and then what the others told, puts it in the order of its times,
// counts it (agent_counter.hpp), and writes the frames to stream_agent.txt in the folder $RCW_RAW, with a last line
//     end TIME LOST LATE known ASSERTIONS... [. what happened]
// Events for which there was no room are LOST, those told after their time had been counted LATE: the application goes
// on whatever becomes of the agent.
#pragma once
#include <atomic>
#include <queue>

#include "agent_counter.hpp"
#include "agent_thread.hpp"

namespace streaming::agent {

// The agent's thread, for as long as this lives; all threads that push and pop begin after it and have ended before.
class Server {
public:
    explicit Server(const Plan& plan, int core = -1) : plan_(plan), core_(core), counter_(plan_) {
        int most = -1;
        for (int edge : plan.edges) most = std::max(most, edge);
        watched.resize(size_t(most + 1));
        for (int edge : plan.edges)
            watched[size_t(edge)] = {std::make_unique<End>(plan.room, 2 * edge),
                                     std::make_unique<End>(plan.room, 2 * edge + 1)};
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
                collect(end_ps + 1);
                counter_.finish(end_ps);
            } catch (const std::exception& failure) {
                died(failure.what());
            }
        }
        int64_t lost = 0;
        for (const Ends& ends : watched)
            if (ends.pushes) lost += ends.pushes->lost + ends.pops->lost + waiting(*ends.pushes) + waiting(*ends.pops);
        std::string last = "end " + std::to_string(end_ps);
        last += " " + std::to_string(lost) + " " + std::to_string(late_) + " known";
        for (size_t i = 0; i < plan_.asserts.size(); ++i) last += counter_.known(i) ? " 1" : " 0";
        const std::string why = why_.empty() ? file_.why() : why_;
        counter_.lines += last + (why.empty() ? "\n" : " . " + why + "\n");
        write();
        file_.close();
        if (why_.empty()) why_ = file_.why();
        if (!why_.empty()) std::fprintf(stderr, "stream agent: %s; %lld events were lost\n", why_.c_str(), (long long)lost);
        watched.clear();
    }

    static int64_t waiting(End& end) { return int64_t(end.events.size_approx()); }

    void serve() {
        begin_as("agent", core_);
        try {
            counter_.begin();
            for (int64_t looked_ps = now_ps(); !rounds_.over(plan_.period_ps);) {
                const int64_t now = now_ps();
                collect(looked_ps); // what was told since then may have come in any order
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

    // Counts what happened before that time, or as much of it as there is time for until the blocks end.
    void collect(int64_t until_ps) {
        using Front = std::pair<int64_t, End*>; // what an end tells next, whose own events are in order
        const auto later = [](const Front& a, const Front& b) {
            return a.first > b.first || (a.first == b.first && a.second->number > b.second->number);
        };
        std::priority_queue<Front, std::vector<Front>, decltype(later)> fronts(later);
        const auto look_at = [&](End* end) {
            if (const Event* next = end->events.peek()) fronts.emplace(std::max(next->at_ps, done_ps_), end);
        };
        for (Ends& ends : watched)
            for (End* end : {ends.pushes.get(), ends.pops.get()})
                if (end) look_at(end);
        while (!fronts.empty() && fronts.top().first < until_ps) {
            if (ended_) return;
            done_ps_ = fronts.top().first;
            for (now_.clear(); !fronts.empty() && fronts.top().first == done_ps_;) {
                End* end = fronts.top().second;
                fronts.pop();
                now_.emplace_back();
                end->events.try_dequeue(now_.back());
                late_ += now_.back().at_ps < done_ps_;
                look_at(end);
            }
            counter_.take(done_ps_, now_.data(), now_.size());
        }
        counter_.go_on(until_ps);
        done_ps_ = std::max(done_ps_, until_ps);
    }

    void write() {
        std::string text;
        text.swap(counter_.lines);
        if (!text.empty()) file_.write(text.data(), text.size());
    }

    const Plan plan_;
    const int core_; // on which it runs alone; -1: on any
    Counter counter_;
    std::vector<Event> now_; // of one time
    std::atomic<bool> ended_{false};
    int64_t done_ps_ = 0, late_ = 0;
    File file_{"stream_agent.txt"};
    Rounds rounds_;
    std::string why_;
    bool alive_ = true;
    std::thread thread_;
};

} // namespace streaming::agent
