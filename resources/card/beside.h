// The simulator of the design's own language, in a process beside the card's. A module of the Verilated design stands
// for the design, and asks it (`recap_beside`) wherever an edge or an input comes.
#pragma once
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "beside_step.h"
#include "ports/port.h"

extern "C" bool rcw_told_to_stop();  // the card is

class Beside {
public:
    // Begins `command`, and waits until it has built the design, whose clocks are told by themselves where it is `clocked`.
    Beside(const std::vector<std::string>& command, bool clocked) : clocked_(clocked) {
        if (command.empty()) throw Failure("the card was built for a simulator beside it: build it anew");
        signal(SIGPIPE, SIG_IGN);
        int down[2], up[2];
        if (pipe(down) || pipe(up)) throw Failure("cannot start the design's simulator: too many open files");
        child_ = fork();
        if (!child_) be_child(command, down[0], up[1]);
        close(down[0]);
        close(up[1]);
        to_ = down[1];
        from_ = up[0];
        if (child_ < 0) throw Failure("cannot start the design's simulator: too many processes");
        receive(sizes_, sizeof sizes_);
        seen_.resize(sizes_[2]);
    }
    Beside(const Beside&) = delete;
    ~Beside() {
        close(to_);
        close(from_);
        if (child_ <= 0) return;
        for (int tenths = 0; tenths < (rcw_told_to_stop() ? 3 : 10); ++tenths) {  // it writes what it has of files, and ends
            if (waitpid(child_, nullptr, WNOHANG)) return;
            usleep(100'000);
        }
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }

    // What is asked next comes at this moment.
    void moment(const BesideStep& step) { step_ = step; }

    // What will be asked in the moments to come, with clocks and inputs as they were in the last two in turn.
    void foresee(const std::vector<BesideStep>& steps) {
        begin(uint32_t(steps.size()));
        for (size_t i = 0; i < steps.size(); ++i) {
            foreseen_.push_back({steps[i], i % 2 ? last_.words : before_});
            add(foreseen_.back());
        }
        send();
    }
    bool foresees() const { return !foreseen_.empty(); }

    // What the design gives for clocks and inputs; until one of its clocks has its edge in the moment, as before.
    void exchange(const uint32_t* clocks, const uint32_t* given, uint32_t* seen) {
        Asked asked{step_, {clocks, clocks + sizes_[0]}};
        asked.words.insert(asked.words.end(), given, given + sizes_[1]);
        const bool again = last_.step.at_fs == step_.at_fs;
        const bool waits = clocked_ && !again && !last_.words.empty() && std::equal(clocks, clocks + sizes_[0], last_.words.begin());
        if (!waits && asked.words != last_.words) {
            if (!again) before_ = std::move(last_.words);
            ask(asked);
            last_ = std::move(asked);
        }
        std::memcpy(seen, seen_.data(), bytes(seen_));
    }

private:
    struct Asked {
        BesideStep step{};
        std::vector<uint32_t> words;  // clocks, then inputs
    };

    void ask(const Asked& asked) {
        if (foreseen_.empty()) {
            begin(1);
            add(asked);
            send();
        } else {
            if (asked.words != foreseen_.front().words || asked.step.at_fs != foreseen_.front().step.at_fs)
                throw Failure("the design's simulator went on with inputs that changed");
            foreseen_.pop_front();
        }
        receive(seen_.data(), bytes(seen_));
        step_.given_first = false;  // what changes once more within the moment answers what it gave
    }

    static size_t bytes(const std::vector<uint32_t>& words) { return words.size() * sizeof words[0]; }

    void begin(uint32_t steps) { message_.assign(reinterpret_cast<const char*>(&steps), sizeof steps); }
    void add(const Asked& asked) {
        message_.append(reinterpret_cast<const char*>(&asked.step), sizeof asked.step);
        message_.append(reinterpret_cast<const char*>(asked.words.data()), bytes(asked.words));
    }

    [[noreturn]] static void be_child(const std::vector<std::string>& command, int from, int to) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int fd = 3; fd < 256; ++fd)  // the host's end among them
            if (fd != from && fd != to) close(fd);
        signal(SIGTERM, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        setenv("RECAP_BESIDE", (std::to_string(from) + " " + std::to_string(to)).c_str(), 1);
        std::vector<char*> words;
        for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        execvp(words[0], words.data());
        std::fprintf(stderr, "cannot start %s: %s\n", words[0], std::strerror(errno));
        _exit(127);
    }

    void send() {
        const char* at = message_.data();
        for (size_t left = message_.size(); left;) {
            const ssize_t wrote = write(to_, at, left);
            if (wrote < 0 && errno == EINTR && !rcw_told_to_stop()) continue;
            if (wrote <= 0) ended();
            at += wrote;
            left -= size_t(wrote);
        }
    }
    void receive(void* data, size_t bytes) {
        for (auto* at = static_cast<char*>(data); bytes;) {
            if (taken_ == come_) take_more();
            const size_t some = std::min(bytes, come_ - taken_);
            std::memcpy(at, buffer_ + taken_, some);
            taken_ += some;
            at += some;
            bytes -= some;
        }
    }
    void take_more() {
        ssize_t got;
        do got = read(from_, buffer_, sizeof buffer_);
        while (got < 0 && errno == EINTR && !rcw_told_to_stop());
        if (got <= 0) ended();
        taken_ = 0;
        come_ = size_t(got);
    }

    [[noreturn]] void ended() {
        if (rcw_told_to_stop()) throw Failure("the run was stopped");
        int status = 0;
        waitpid(child_, &status, 0);
        child_ = 0;
        const bool asked = WIFEXITED(status) && !WEXITSTATUS(status);
        throw Failure(asked ? "the design ended the simulation itself" : "the design's simulator ended");
    }

    const bool clocked_;
    pid_t child_ = 0;
    int to_ = -1, from_ = -1;
    uint32_t sizes_[3]{};  // words of clocks, inputs, outputs
    BesideStep step_{};
    Asked last_;
    std::vector<uint32_t> before_, seen_;  // what was asked in the moment before the last
    std::deque<Asked> foreseen_;
    std::string message_;
    char buffer_[1 << 14];
    size_t come_ = 0, taken_ = 0;
};
