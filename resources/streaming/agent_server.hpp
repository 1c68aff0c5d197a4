// The host's agent: a thread that takes out now and then what the others told, puts it in the order of its times,
// counts it (agent_counter.hpp), and writes the frames to stream_agent.txt in the folder $RCW_RAW, with a last line
//     end TIME LOST LATE known ASSERTIONS... [. what happened]
// Events for which there was no room are LOST, those told after their time had been counted LATE: the application goes
// on whatever becomes of the agent.
#pragma once
#include "agent_counter.hpp"
#include "agent_thread.hpp"

namespace streaming::agent {

// The agent's thread, from here to the end of the scope, which all threads that push and pop have ended before.
class Server {
public:
    explicit Server(const Plan& plan, int core = -1) : plan_(plan), core_(core), counter_(plan_) {
        int most = -1;
        for (int edge : plan.edges) most = std::max(most, edge);
        watched.resize(size_t(most + 1));
        for (int edge : plan.edges)
            watched[size_t(edge)] = {std::make_unique<End>(plan.room), std::make_unique<End>(plan.room)};
        thread_ = std::thread([this] { serve(); });
    }
    Server(const Server&) = delete;

    ~Server() {
        rounds_.end();
        thread_.join();
        const int64_t end_ps = now_ps();
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
        if (!why_.empty())
            aside([&] { std::fprintf(stderr, "stream agent: %s; %lld events were lost\n", why_.c_str(), (long long)lost); });
        watched.clear();
    }

private:
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

    // Counts what happened before that time.
    void collect(int64_t until_ps) {
        std::vector<size_t> runs{0, events_.size()}; // each in order, as those of one end are
        for (Ends& ends : watched)
            for (End* end : {ends.pushes.get(), ends.pops.get()}) {
                for (Event event; end && end->events.try_dequeue(event);) {
                    if (event.at_ps < done_ps_) {
                        event.at_ps = done_ps_;
                        ++late_;
                    }
                    events_.push_back(event);
                }
                if (events_.size() > runs.back()) runs.push_back(events_.size());
            }
        merge(runs);
        size_t first = 0;
        while (first < events_.size() && events_[first].at_ps < until_ps) {
            size_t last = first;
            while (last < events_.size() && events_[last].at_ps == events_[first].at_ps) ++last;
            counter_.take(events_[first].at_ps, &events_[first], last - first);
            first = last;
        }
        events_.erase(events_.begin(), events_.begin() + long(first));
        counter_.go_on(until_ps);
        done_ps_ = std::max(done_ps_, until_ps);
    }

    void merge(std::vector<size_t>& runs) {
        const auto earlier = [](const Event& a, const Event& b) { return a.at_ps < b.at_ps; };
        while (runs.size() > 2) {
            std::vector<size_t> larger{0};
            for (size_t i = 2; i < runs.size(); i += 2) {
                const auto from = [&](size_t place) { return events_.begin() + long(place); };
                std::inplace_merge(from(runs[i - 2]), from(runs[i - 1]), from(runs[i]), earlier);
                larger.push_back(runs[i]);
            }
            if (larger.back() != runs.back()) larger.push_back(runs.back());
            runs.swap(larger);
        }
    }

    void write() {
        std::string text;
        text.swap(counter_.lines);
        if (!text.empty()) file_.write(text.data(), text.size());
    }

    const Plan plan_;
    const int core_; // on which it runs alone; -1: on any
    Counter counter_;
    std::vector<Event> events_;
    int64_t done_ps_ = 0, late_ = 0;
    File file_{"stream_agent.txt"};
    Rounds rounds_;
    std::string why_;
    bool alive_ = true;
    std::thread thread_;
};

} // namespace streaming::agent
