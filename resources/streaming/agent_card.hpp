// The host's end of the agent in an FPGA (resources/hdl/agent): a thread that takes the words that it sends, the more
// often the more come, asks for the FPGA's time as often, and writes both to the folder $RCW_RAW, as
// rc_workbench_plugins/streaming/agents/layout.py says; in the end a line
//     end WORDS LOST [what happened]
// Words that could not be written are LOST: the application goes on whatever becomes of the agent.
#pragma once
#include <algorithm>
#include <vector>

#include "agent_switch.hpp"
#include "agent_thread.hpp"
#include "card.hpp"

namespace streaming::agent {

// From here to the end of the scope, in which the card is open and before which nothing moves any more. It has looked once
// before the application begins: nothing else takes the bus then, so that the clock is known from there.
class Collector {
public:
    // The number of the card, what its thread is called by, the numbers of the windows of commands and of words, how long
    // the first round lasts, and how long a later one may.
    Collector(int card, const char* title, int commands, int words, int64_t first_ps, int64_t longest_ps, int core = -1)
        : card_(card), title_(title), commands_(port::window(commands)), words_(port::window(words)),
          first_ps_(first_ps), longest_ps_(longest_ps), core_(core),
          word_file_(name(card, "words")), time_file_(name(card, "times")), end_file_(name(card, "end")) {
        sem_init(&looked_, 0, 0);
        tell();
        thread_ = std::thread([this] { serve(); });
        while (sem_wait(&looked_)) {} // a signal came
    }
    Collector(const Collector&) = delete;

    ~Collector() {
        rounds_.end();
        thread_.join();
        if (why_.empty()) guarded([this] {
            const uint32_t last[] = {frame_length | longest, end_frames}; // none ends but the last ones
            stream_card_write(card_, commands_, last, 2);
            // What is on its way comes within a few cycles, unless what came before it is in its way.
            do std::this_thread::sleep_for(std::chrono::microseconds(settles_us));
            while (take());
            while (looks_ < (look_ps_ < short_look_ps ? most_looks : least_looks)) look();
        });
        for (File* file : {&word_file_, &time_file_})
            if (why_.empty()) why_ = file->why();
        std::string last = "end " + std::to_string(written_) + " " + std::to_string(lost_);
        last += (why_.empty() ? "" : " " + why_) + "\n";
        end_file_.write(last.data(), last.size());
        for (File* file : {&word_file_, &time_file_, &end_file_}) {
            file->close();
            if (why_.empty()) why_ = file->why();
        }
        if (!why_.empty())
            aside([&] { std::fprintf(stderr, "stream agent: %s; %lld words of the FPGA were lost\n", why_.c_str(), (long long)lost_); });
    }

private:
    static constexpr uint32_t end_frames = 2u << 28, frame_length = 3u << 28, setting = 4u << 28; // agents/layout.py
    static constexpr uint32_t longest = (1u << 28) - 1, most_words = 1024; // of the queue of words
    static constexpr int64_t shortest_ps = 50000000, round_ps = 1000000000, settles_us = 20; // of rounds
    static constexpr size_t together = 8; // commands, for which the FPGA has room
    // At the clock, in all. Each takes the bus, and the program ends later by it, so that there are more where they are short.
    static constexpr int least_looks = 4, most_looks = 8;
    static constexpr int64_t short_look_ps = 10000000;
    struct Stamps {
        int64_t t_p1_ps, t_f2, t_p3_ps;
    };

    static std::string name(int card, const char* ending) {
        return "stream_fpga" + std::to_string(card) + "." + ending;
    }

    template <class Body> void guarded(Body body) {
        try {
            body();
        } catch (const std::exception& failure) {
            why_ = std::string("the agent died: ") + failure.what();
        }
    }

    // What $RCW_AGENT says of the agent; shorter frames are looked for as often as any may be.
    void tell() {
        std::vector<uint32_t> words;
        for (unsigned code : settings_of(static_cast<unsigned long>(card_), of_card)) {
            words.push_back(setting | code);
            if (code < first_length || code >= first_statement) continue;
            longest_ps_ = std::min(longest_ps_, round_ps);
            first_ps_ = std::min(first_ps_, round_ps);
        }
        for (size_t i = 0; i < words.size(); i += together)
            stream_card_write(card_, commands_, words.data() + i, int(std::min(words.size() - i, together)));
    }

    void serve() {
        begin_as("agent_" + title_, core_);
        guarded([this] { look(); });
        sem_post(&looked_);
        if (why_.empty()) guarded([this] {
            int64_t period_ps = first_ps_;
            while (!rounds_.over(period_ps)) {
                const int64_t words = take();
                if (words > most_words / 2) period_ps = std::max(period_ps / 2, shortest_ps);
                if (words < most_words / 8) period_ps = std::min(period_ps * 2, longest_ps_);
            }
        });
    }

    // How many words are there; what the FPGA's clock shows is kept.
    uint32_t look() {
        uint32_t shown[3] = {}; // its cycles, the low word first, and the words
        const int64_t before_ps = now_ps();
        stream_card_read(card_, port::agents + 4 * uint32_t(card_), shown, 3);
        const Stamps stamps{before_ps, int64_t(uint64_t(shown[1]) << 32 | shown[0]), now_ps()};
        time_file_.write(&stamps, sizeof stamps);
        look_ps_ = stamps.t_p3_ps - before_ps;
        ++looks_;
        return std::min(shown[2], most_words);
    }

    // Everything that is there: so many words.
    int64_t take() {
        int64_t taken = 0;
        for (uint32_t there = most_words; there >= most_words / 2 && (there = look()); taken += there) {
            values_.resize(there);
            stream_card_read(card_, words_, values_.data(), int(there));
            if (word_file_.write(values_.data(), there * sizeof(uint32_t))) written_ += there;
            else lost_ += there;
        }
        return taken;
    }

    const int card_;
    const std::string title_;
    const uint32_t commands_, words_;
    int64_t first_ps_, longest_ps_; // of rounds
    const int core_; // on which it runs alone; -1: on any
    int looks_ = 0;
    int64_t look_ps_ = 0; // the latest took so long
    File word_file_, time_file_, end_file_;
    Rounds rounds_;
    sem_t looked_; // posted after the first look
    std::vector<uint32_t> values_;
    int64_t written_ = 0, lost_ = 0;
    std::string why_;
    std::thread thread_;
};

} // namespace streaming::agent
