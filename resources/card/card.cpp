// The card process: the Verilated design, run exactly as many cycles as the host's virtual time says. See README.md.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fcntl.h>
#include <list>
#include <memory>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config.h"
#include "design.h"
#include "link.h"

namespace {

volatile std::sig_atomic_t told_to_stop = 0;

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct HostGone : std::exception {};

struct Transfer {
    bool send = false;
    int32_t ticket = 0;
    int64_t start_ps = 0, duration_ps = 0, address = 0, words = 0;
    int64_t asked = 0;  // words that had their cycle at the port
    int64_t there = 0;  // words of a receive that were sampled
    int64_t there_cycle = 0;  // the one after the last of them
    int64_t first_cycle = -1, last_cycle = -1;
    int64_t due = 0;    // cycle of the next word
    std::vector<uint8_t> data;
};

struct Sample {
    int64_t cycle;  // sampled right after this cycle's edge
    Transfer* transfer;
    int64_t word;
};

// The first thing that the design's run-time library warned of.
std::string design_warning;

// What the host has been reading over and over, to tell a design that never answers.
struct Poll {
    int64_t address = -1, count = 0, since_cycle = 0;
    uint64_t value = 0;
};

void receive_exactly(int fd, void* data, size_t bytes) {
    auto* at = static_cast<char*>(data);
    while (bytes) {
        const ssize_t got = recv(fd, at, bytes, 0);
        if (got < 0 && errno == EINTR) {
            if (told_to_stop) throw Failure("the run was stopped");
            continue;
        }
        if (got <= 0) throw HostGone();
        at += got;
        bytes -= size_t(got);
    }
}

void send_exactly(int fd, const void* data, size_t bytes) {
    auto* at = static_cast<const char*>(data);
    while (bytes) {
        const ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR && !told_to_stop) continue;
        if (sent < 0) throw HostGone();
        at += sent;
        bytes -= size_t(sent);
    }
}

std::string hex(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

class Card {
public:
    Card(const Config& config, const std::string& raw, int fd)
        : config_(config), raw_(raw), fd_(fd), design_(&context_) {
        if (config_.trace && !config_.taps.empty()) trace_ = std::make_unique<RecordFile>(raw_ + "/taps.bin");
        if (!config_.taps.empty()) taps_ = std::make_unique<Taps>(config_.taps, Design::tap_words, trace_.get());
        map_progress();
        design_.reset();
    }

    // Serve the host until it says goodbye. Throws HostGone where it ends without.
    void serve() {
        for (;;) {
            rcw_request request;
            publish(true);
            receive_exactly(fd_, &request, sizeof request);
            publish(false);
            if (request.kind == RCW_BYE) {  // nobody waits for the design any more: a limit is no failure
                run(std::min({cycles_before(request.now_ps), config_.cycle_limit, cycle_ + most_after_last_call}));
                return;
            }
            run(cycles_before(request.now_ps));
            switch (request.kind) {
            case RCW_OPEN: reply({}, nullptr); break;
            case RCW_SEND: send_words(request); break;
            case RCW_RECEIVE: receive_words(request); break;
            case RCW_COLLECT: collect(request); break;
            case RCW_WAIT_IRQ: wait_irq(request); break;
            case RCW_CLOSE: break;
            default: throw Failure("the host's library and the card do not fit together: build both anew");
            }
        }
    }

    // After the last cycle, off the clock: freeze and read the monitors, close the records.
    void finish() {
        if (taps_) {
            RecordFile dwell(raw_ + "/dwell.bin");
            taps_->finish(cycle_, dwell);
            dwell.close();
        }
        if (trace_) trace_->close();
        if (!config_.counter_words || context_.gotFinish()) return;
        RecordFile counters(raw_ + "/counters.bin");
        for (const Access& access : config_.freeze) access_now(access, 0);  // acts in its own cycle, which is not counted
        for (int64_t i = 0; i < config_.counter_words; ++i) {
            uint32_t word = 0;
            for (const Access& access : config_.each) word = uint32_t(access_now(access, uint64_t(i)));
            counters.add(&word, sizeof word);
        }
        counters.close();
    }

    void reply(rcw_reply reply, const void* data) {
        send_exactly(fd_, &reply, sizeof reply);
        if (reply.bytes) send_exactly(fd_, data, size_t(reply.bytes));
    }

    int64_t cycle() const { return cycle_; }
    int64_t conflicts() const { return conflicts_; }
    int64_t counter_reads() const { return counter_reads_; }

    std::string activity() const {
        if (poll_.count >= 3)
            return "The host's last " + std::to_string(poll_.count) + " reads were all of address " + hex(poll_.address)
                + " and returned " + hex(poll_.value) + ".";
        return "";
    }

private:
    int64_t cycles_before(int64_t ps) const {
        return int64_t(static_cast<__int128>(ps) * config_.period_den / config_.period_num);
    }
    int64_t cycle_start(int64_t cycle) const {  // the first whole picosecond in it
        const auto scaled = static_cast<__int128>(cycle) * config_.period_num;
        return int64_t((scaled + config_.period_den - 1) / config_.period_den);
    }

    void set_due(Transfer& t) const {
        const auto passed = static_cast<__int128>(t.asked + 1) * t.duration_ps / t.words;
        t.due = cycles_before(t.start_ps + int64_t(passed)) - 1;
    }

    static constexpr int64_t most_after_last_call = 10'000'000;
    static constexpr int64_t sample_delay = CARD_READ_DELAY > 1 ? CARD_READ_DELAY - 1 : 0;

    void begin(Transfer transfer) {
        set_due(transfer);
        transfers_.push_back(std::move(transfer));
    }

    void send_words(const rcw_request& request) {
        if (meets_counters(request))
            throw Failure("the host writes to address " + hex(uint64_t(request.address)) + " (" + std::to_string(request.bytes)
                          + " bytes), in the range " + hex(uint64_t(config_.read_out_first)) + " to " + hex(uint64_t(config_.read_out_last))
                          + " that hardware.read_out declares unused: the counters stand there. Choose a range that the"
                            " application leaves alone");
        Transfer transfer;
        transfer.send = true;
        fill(transfer, request);
        receive_exactly(fd_, transfer.data.data(), transfer.data.size());
        poll_ = {};
        begin(std::move(transfer));
        run(cycles_before(request.until_ps));
    }

    void receive_words(const rcw_request& request) {
        counter_reads_ += meets_counters(request);
        Transfer empty;
        fill(empty, request);
        empty.ticket = request.ticket;
        begin(std::move(empty));
    }

    void collect(const rcw_request& request) {
        const auto asked = [&](const Transfer& t) { return !t.send && t.ticket == request.ticket; };
        Transfer& transfer = *std::find_if(transfers_.begin(), transfers_.end(), asked);
        const int64_t end_cycle = cycles_before(request.until_ps);
        run(end_cycle);
        while (transfer.there < transfer.words) run(cycle_ + 1);
        watch_polling(transfer);
        rcw_reply answer{};
        answer.time_ps = transfer.there_cycle > end_cycle ? cycle_start(transfer.there_cycle) : request.until_ps;
        answer.first_cycle = transfer.first_cycle;
        answer.last_cycle = transfer.last_cycle;
        answer.bytes = int64_t(transfer.data.size());
        reply(answer, transfer.data.data());
        transfers_.remove_if([&](const Transfer& t) { return &t == &transfer; });
    }

    // Whether a transfer touches the addresses at which the monitors answer.
    bool meets_counters(const rcw_request& request) const {
        const int64_t last = request.address + (request.bytes / CARD_WORD_BYTES - 1) * CARD_ADDRESS_STEP;
        return config_.counter_words && request.address <= config_.read_out_last
            && last >= config_.read_out_first;
    }

    static void fill(Transfer& transfer, const rcw_request& request) {
        transfer.start_ps = request.start_ps;
        transfer.duration_ps = request.duration_ps;
        transfer.address = request.address;
        transfer.words = request.bytes / CARD_WORD_BYTES;
        transfer.data.resize(size_t(request.bytes));
    }

    void watch_polling(const Transfer& transfer) {
        uint64_t value = 0;
        std::memcpy(&value, transfer.data.data(), CARD_WORD_BYTES);
        if (transfer.words != 1 || transfer.address != poll_.address || value != poll_.value) {
            poll_ = {};
            poll_.address = transfer.words == 1 ? transfer.address : -1;
            poll_.value = value;
            poll_.since_cycle = cycle_;
        }
        ++poll_.count;
        if (poll_.count >= 3 && cycle_ - poll_.since_cycle > config_.idle_cycle_limit)
            throw Failure("the design does not answer: the host has polled for " + std::to_string(cycle_ - poll_.since_cycle)
                          + " cycles, more than simulation.idle_cycle_limit (" + std::to_string(config_.idle_cycle_limit) + ")");
    }

    // Run until the interrupt is high, or to the time at which the host does something else.
    void wait_irq(const rcw_request& request) {
        if (!Design::has_interrupt())
            throw Failure("the host waits for an interrupt, but the design has no interrupt signal that the platform names");
        const int64_t began = cycles_before(request.now_ps), limit = cycles_before(request.until_ps);
        rcw_reply answer{};
        answer.time_ps = -1;
        for (;;) {
            design_.settle();
            if (design_.interrupt()) {
                answer.time_ps = cycle_start(cycle_);
                break;
            }
            if (cycle_ >= limit) break;
            if (cycle_ - began >= config_.idle_cycle_limit)
                throw Failure("no interrupt came within " + std::to_string(cycle_ - began)
                              + " cycles (simulation.idle_cycle_limit) of the host's wait, begun in cycle "
                              + std::to_string(began));
            run(cycle_ + 1);
        }
        reply(answer, nullptr);
    }

    // Run until `target` cycles have been clocked.
    void run(int64_t target) {
        while (cycle_ < target) {
            if (cycle_ >= config_.cycle_limit)
                throw Failure("the design has run for " + std::to_string(cycle_)
                              + " cycles, which is simulation.cycle_limit, and the host is not done");
            if (told_to_stop) throw Failure("the run was stopped");
            Transfer* now = nullptr;
            int64_t next_due = INT64_MAX;
            for (Transfer& t : transfers_) {
                if (t.asked == t.words) continue;
                if (t.due <= cycle_ && !now) now = &t;
                else if (t.due <= cycle_) ++conflicts_;
                else if (t.due < next_due) next_due = t.due;
            }
            if (now) {
                word_cycle(*now);
            } else {
                int64_t stop = std::min({target, next_due, config_.cycle_limit, (cycle_ | 0xffff) + 1});
                if (!samples_.empty()) stop = cycle_ + 1;
                idle(stop);
            }
            if (context_.gotFinish()) throw Failure("the design ended the simulation itself ($finish or $stop) in cycle "
                                                    + std::to_string(cycle_));
        }
    }

    void idle(int64_t stop) {
        if (taps_) {
            while (cycle_ < stop) clock();
        } else {
            for (; cycle_ < stop; ++cycle_) {
                design_.settle();
                design_.edge();
            }
        }
        take_samples();
        publish(false);
    }

    void clock() {
        design_.settle();
        design_.edge();
        if (taps_) taps_->see(cycle_, design_.taps(spare_));  // a tap register holds the cycle that just ended
        ++cycle_;
    }

    void word_cycle(Transfer& t) {
        const int64_t index = t.asked++;
        const uint64_t address = uint64_t(t.address + index * CARD_ADDRESS_STEP);
        if (t.first_cycle < 0) t.first_cycle = cycle_;
        t.last_cycle = cycle_;
        if (t.send) {
            uint64_t word = 0;
            std::memcpy(&word, t.data.data() + index * CARD_WORD_BYTES, CARD_WORD_BYTES);
            design_.put_write(address, word);
        } else {
            design_.put_read(address);
        }
        if (!t.send && CARD_READ_DELAY == 0) {
            design_.settle();
            sample({cycle_, &t, index});
        } else if (!t.send) {
            samples_.push_back({cycle_ + sample_delay, &t, index});
        }
        clock();
        take_samples();
        design_.quiet();
        if (t.asked < t.words) set_due(t);
        else if (t.send) transfers_.remove_if([&](const Transfer& other) { return &other == &t; });
    }

    void take_samples() {
        while (!samples_.empty() && samples_.front().cycle < cycle_) {
            sample(samples_.front());
            samples_.pop_front();
        }
    }

    void sample(const Sample& s) {
        const uint64_t word = design_.read_word();
        std::memcpy(s.transfer->data.data() + s.word * CARD_WORD_BYTES, &word, CARD_WORD_BYTES);
        ++s.transfer->there;
        s.transfer->there_cycle = s.cycle + 1;
    }

    uint64_t access_now(const Access& access, uint64_t index) {
        for (int64_t i = 0; i < access.settle_cycles; ++i) {
            design_.settle();
            design_.edge();
        }
        if (access.act == "read") return read_now(access.address);
        write_now(access.address, access.act == "write_index" ? index : access.value);
        return 0;
    }

    void write_now(uint64_t address, uint64_t word) {
        design_.put_write(address, word);
        design_.settle();
        design_.edge();
        design_.quiet();
    }

    uint64_t read_now(uint64_t address) {
        design_.put_read(address);
        design_.settle();
        for (int i = 0; i < CARD_READ_DELAY; ++i) {
            design_.edge();
            if (i == CARD_READ_DELAY - 1) break;
            design_.quiet();
            design_.settle();
        }
        const uint64_t word = design_.read_word();
        design_.quiet();
        return word;
    }

    void map_progress() {
        const int fd = open((raw_ + "/progress.bin").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666);
        if (fd < 0) throw Failure("cannot write in " + raw_ + ": " + std::strerror(errno));
        if (const int error = posix_fallocate(fd, 0, 16)) throw Failure("cannot write in " + raw_ + ": " + std::strerror(error));
        void* at = mmap(nullptr, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        if (at != MAP_FAILED) progress_ = static_cast<volatile int64_t*>(at);
    }

    // Two integers that the workbench looks at while we run: cycles so far, and whether we wait for the host.
    void publish(bool waiting) {
        if (!progress_) return;
        progress_[0] = cycle_;
        progress_[1] = waiting;
    }

    const Config& config_;
    std::string raw_;
    int fd_;
    VerilatedContext context_;
    Design design_;
    std::unique_ptr<RecordFile> trace_;
    std::unique_ptr<Taps> taps_;
    uint32_t spare_[2] = {0, 0};
    int64_t cycle_ = 0, conflicts_ = 0, counter_reads_ = 0;
    std::list<Transfer> transfers_;  // in the order of their grants
    std::deque<Sample> samples_;
    Poll poll_;
    volatile int64_t* progress_ = nullptr;
};

void write_end(const std::string& raw, const Card& card, const std::string& failure) {
    RecordFile file(raw + "/card_end.txt");
    std::string text = "cycles " + std::to_string(card.cycle()) + "\nport_conflicts " + std::to_string(card.conflicts());
    if (card.counter_reads()) text += "\ncounter_reads " + std::to_string(card.counter_reads());
    if (!design_warning.empty()) text += "\nwarning " + design_warning;
    if (!card.activity().empty()) text += "\nactivity " + card.activity();
    if (!failure.empty()) text += "\nfailure " + failure;
    text += "\n";
    file.add(text.data(), text.size());
    file.close();
}

}  // namespace

// Verilator's warnings while the design runs. A memory that cannot be filled is no design to measure.
void vl_warn(const char* file, int, const char*, const char* message) {
    const std::string text = std::string(message) + " (" + file + ")";
    if (std::strstr(message, "file not found"))
        throw Failure("the design cannot read the file '" + std::string(file)
                      + "', which $readmemh or $readmemb names (paths start at the project's folder)");
    if (design_warning.empty()) design_warning = text;
    std::fprintf(stderr, "%s\n", text.c_str());
}

// Verilator's way out of a failed assertion or an array bound: our way of telling it.
void vl_fatal(const char* file, int line, const char*, const char* message) {
    throw Failure("the design failed: " + std::string(message) + " (" + file + ":" + std::to_string(line) + ")");
}

int main(int argc, char** argv) {
    const char *fd_text = std::getenv("RCW_CARD_FD"), *config_path = std::getenv("RCW_CONFIG"), *raw = std::getenv("RCW_RAW");
    if (!fd_text || !config_path || !raw) {
        std::fprintf(stderr, "%s: the card process of a simulated run; `workbench run` starts it\n", argc ? argv[0] : "card");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct sigaction action {};
    action.sa_handler = [](int) { told_to_stop = 1; };
    sigaction(SIGTERM, &action, nullptr);
    const int fd = std::atoi(fd_text);
    std::string failure;
    bool said_goodbye = false;
    try {
        const Config config(config_path);
        Card card(config, raw, fd);
        try {
            card.serve();
            said_goodbye = true;
        } catch (const HostGone&) {
        } catch (const std::exception& error) {
            failure = error.what();
        }
        try {
            card.finish();
        } catch (const std::exception& error) {
            if (failure.empty()) failure = error.what();
        }
        std::string message = failure;
        if (!card.activity().empty() && !failure.empty()) message += ". " + card.activity();
        write_end(raw, card, failure);
        failure = message;
    } catch (const std::exception& error) {
        failure = error.what();
    }
    if (!failure.empty()) std::fprintf(stderr, "%s\n", failure.c_str());
    rcw_reply reply{};
    reply.status = failure.empty() ? RCW_OK : RCW_FAILED;
    reply.bytes = int64_t(failure.size());
    if (said_goodbye || !failure.empty()) {
        try {
            send_exactly(fd, &reply, sizeof reply);
            send_exactly(fd, failure.data(), failure.size());
        } catch (const std::exception&) {
            return 1;  // the host is gone already
        }
    }
    return failure.empty() ? 0 : 1;
}
