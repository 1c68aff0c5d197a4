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

struct HostGone : std::exception {};

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
        : config_(config), raw_(raw), fd_(fd), design_(&context_), clocks_(config.clocks) {
        if (int(clocks_.size()) != CARD_CLOCKS) throw Failure("the card was built for other clocks: build it anew");
        ports_ = make_ports(design_.model, clocks_);
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
                const int64_t most = std::min(config_.cycle_limit, cycle() + most_after_last_call);
                run(std::min(request.now_ps, clocks_[0].start(most)));
                return;
            }
            run(request.now_ps);
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
            taps_->finish(cycle(), dwell);
            dwell.close();
        }
        if (trace_) trace_->close();
        if (!config_.counter_words || context_.gotFinish()) return;
        last_cycle_ = cycle();
        taps_.reset();
        for (auto& port : ports_) port->forget();
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

    int64_t cycle() const { return last_cycle_ < 0 ? clocks_[0].cycle : last_cycle_; }
    int64_t conflicts() const {
        int64_t sum = 0;
        for (const auto& port : ports_) sum += port->conflicts();
        return sum;
    }
    int64_t counter_reads() const { return counter_reads_; }

    std::string activity() const {
        if (poll_.count >= 3)
            return "The host's last " + std::to_string(poll_.count) + " reads were all of address " + hex(poll_.address)
                + " and returned " + hex(poll_.value) + ".";
        return "";
    }

private:
    static constexpr int64_t most_after_last_call = 10'000'000;

    Port& port_of(const rcw_request& request) { return *ports_.at(size_t(request.port)); }

    Transfer& begin(const rcw_request& request, bool send) {
        Port& port = port_of(request);
        transfers_.emplace_back();
        Transfer& transfer = transfers_.back();
        transfer.send = send;
        transfer.ticket = request.ticket;
        transfer.start_ps = request.start_ps;
        transfer.duration_ps = request.duration_ps;
        transfer.address = request.address;
        transfer.words = request.bytes / port.word_bytes();
        transfer.data.resize(size_t(request.bytes));
        if (send) receive_exactly(fd_, transfer.data.data(), transfer.data.size());
        for (const Transfer& other : transfers_)  // what goes before it on the same bus has not ended yet
            if (request.after && other.ticket == request.after) {
                while (!other.done) step_for(other);
                transfer.start_ps = std::max(transfer.start_ps, other.end_ps);
            }
        port.begin(transfer);
        return transfer;
    }

    void send_words(const rcw_request& request) {
        if (meets_counters(request)) meets_them("writes to", request);
        poll_ = {};
        begin(request, true).forgotten = !request.collected;
        run(request.until_ps);
    }

    void receive_words(const rcw_request& request) {
        const bool meets = meets_counters(request);
        if (meets && config_.freeze[0].act == "read") meets_them("reads", request);  // there a read acts
        counter_reads_ += meets;
        begin(request, false);
    }

    [[noreturn]] void meets_them(const char* does, const rcw_request& request) {
        throw Failure(std::string("the host ") + does + " address " + hex(uint64_t(request.address)) + " (" + std::to_string(request.bytes)
                      + " bytes), in the range " + hex(uint64_t(config_.read_out_first)) + " to " + hex(uint64_t(config_.read_out_last))
                      + " that hardware.read_out declares unused: the counters stand there. Choose a range that the"
                        " application leaves alone");
    }

    void collect(const rcw_request& request) {
        const auto asked = [&](const Transfer& t) { return !t.forgotten && t.ticket == request.ticket; };
        const auto found = std::find_if(transfers_.begin(), transfers_.end(), asked);
        if (found == transfers_.end()) throw Failure("the host asks for a transfer that was never begun");
        Transfer& transfer = *found;
        run(request.until_ps);
        while (!transfer.done) step_for(transfer);
        if (!transfer.send && port_of(request).addressed()) watch_polling(transfer, port_of(request).word_bytes());
        rcw_reply answer{};
        answer.status = transfer.failed ? RCW_ERROR : RCW_OK;
        answer.start_ps = transfer.start_ps;
        answer.time_ps = transfer.end_ps;
        answer.first_ps = port_of(request).clock().start(transfer.first_cycle);
        answer.last_ps = port_of(request).clock().start(transfer.last_cycle);
        answer.bytes = transfer.send ? 0 : int64_t(transfer.data.size());
        reply(answer, transfer.data.data());
        transfers_.erase(found);
    }

    // One step of the design's for a transfer that the host waits for; a design that takes or gives nothing is told.
    void step_for(const Transfer& transfer) {
        if (waited_ != &transfer || waited_there_ != transfer.there + transfer.asked) {
            waited_ = &transfer;
            waited_there_ = transfer.there + transfer.asked;
            waited_since_ = cycle();
        }
        const int64_t silent = cycle() - std::max(waited_since_, clocks_[0].cycles_before(transfer.start_ps + transfer.duration_ps));
        if (silent > config_.idle_cycle_limit)
            throw Failure("the design moves nothing: the host waits for a transfer of which " + std::to_string(transfer.there) + " of "
                          + std::to_string(transfer.words) + " words are through, and for " + std::to_string(silent)
                          + " cycles, more than simulation.idle_cycle_limit (" + std::to_string(config_.idle_cycle_limit)
                          + "), none came");
        run(clocks_[0].start(clocks_[0].cycle + 1));
    }

    // Whether a transfer touches the addresses at which the monitors answer.
    bool meets_counters(const rcw_request& request) {
        if (!config_.counter_words || request.port != config_.read_out_port) return false;
        Port& port = port_of(request);
        const int64_t last = request.address + (request.bytes / port.word_bytes() - 1) * port.address_step();
        return request.address <= config_.read_out_last && last >= config_.read_out_first;
    }

    void watch_polling(const Transfer& transfer, int64_t word_bytes) {
        uint64_t value = 0;
        std::memcpy(&value, transfer.data.data(), size_t(std::min<int64_t>(word_bytes, 8)));
        if (transfer.words != 1 || transfer.address != poll_.address || value != poll_.value) {
            poll_ = {};
            poll_.address = transfer.words == 1 ? transfer.address : -1;
            poll_.value = value;
            poll_.since_cycle = cycle();
        }
        ++poll_.count;
        if (poll_.count >= 3 && cycle() - poll_.since_cycle > config_.idle_cycle_limit)
            throw Failure("the design does not answer: the host has polled for " + std::to_string(cycle() - poll_.since_cycle)
                          + " cycles, more than simulation.idle_cycle_limit (" + std::to_string(config_.idle_cycle_limit) + ")");
    }

    // Run until the interrupt is high, or to the time at which the host does something else.
    void wait_irq(const rcw_request& request) {
        if (!Design::has_interrupt())
            throw Failure("the host waits for an interrupt, but the design has no interrupt signal that the platform names");
        ClockDomain& clock = clocks_[0];
        const int64_t began = clock.cycles_before(request.now_ps), limit = clock.cycles_before(request.until_ps);
        rcw_reply answer{};
        answer.time_ps = -1;
        for (;;) {
            if (clocks_.size() == 1) design_.settle();
            if (design_.interrupt()) {
                answer.time_ps = clock.start(clock.cycle);
                break;
            }
            if (clock.cycle >= limit) break;
            if (clock.cycle - began >= config_.idle_cycle_limit)
                throw Failure("no interrupt came within " + std::to_string(clock.cycle - began)
                              + " cycles (simulation.idle_cycle_limit) of the host's wait, begun in cycle "
                              + std::to_string(began));
            run(clock.start(clock.cycle + 1));
        }
        reply(answer, nullptr);
    }

    // Clock every cycle that has ended by `ps`.
    void run(int64_t ps) {
        if (clocks_.size() > 1) return run_clocks(ps);
        ClockDomain& clock = clocks_[0];
        const int64_t target = clock.cycles_before(ps);
        while (clock.cycle < target) {
            check_limits();
            int64_t busy = INT64_MAX;
            for (const auto& port : ports_) busy = std::min(busy, port->busy_from());
            if (busy > clock.cycle) {
                const int64_t limit = last_cycle_ < 0 ? config_.cycle_limit : INT64_MAX;
                idle(std::min({target, busy, limit, (clock.cycle | 0xffff) + 1}));
            } else {
                for (auto& port : ports_) port->put();
                design_.settle();
                for (auto& port : ports_) port->look();
                design_.edge();
                for (auto& port : ports_) port->edge();
                see_taps();
                ++clock.cycle;
                drop_forgotten();
            }
            check_finished();
        }
        publish(false);
    }

    // With several clocks the earliest edge goes next; equal instants share one evaluation.
    void run_clocks(int64_t ps) {
        for (;;) {
            bool any = false;
            for (size_t c = 0; c < clocks_.size(); ++c) any |= clocks_[c].cycle < clocks_[c].cycles_before(ps);
            if (!any) return publish(false);
            check_limits();
            size_t first = 0;
            for (size_t c = 1; c < clocks_.size(); ++c)
                if (edge_order(clocks_[c], clocks_[first]) < 0) first = c;
            std::vector<bool> due(clocks_.size());
            for (size_t c = 0; c < clocks_.size(); ++c) due[c] = edge_order(clocks_[c], clocks_[first]) == 0;
            const auto of_due = [&](const Port& port) { return due[size_t(&port.clock() - clocks_.data())]; };
            for (auto& port : ports_)
                if (of_due(*port)) port->put();
            for (size_t c = 0; c < clocks_.size(); ++c)
                if (due[c]) set_clock(design_.model, int(c), 0);
            design_.model.eval();
            for (auto& port : ports_)
                if (of_due(*port)) port->look();
            for (size_t c = 0; c < clocks_.size(); ++c)
                if (due[c]) set_clock(design_.model, int(c), 1);
            design_.model.eval();
            for (auto& port : ports_)
                if (of_due(*port)) port->edge();
            if (due[0]) see_taps();
            for (size_t c = 0; c < clocks_.size(); ++c) clocks_[c].cycle += due[c];
            drop_forgotten();
            check_finished();
        }
    }

    // Below 0 where the next edge of `a` comes before that of `b`.
    static int edge_order(const ClockDomain& a, const ClockDomain& b) {
        const auto left = static_cast<__int128>(a.cycle + 1) * a.period_num * b.period_den;
        const auto right = static_cast<__int128>(b.cycle + 1) * b.period_num * a.period_den;
        return (left > right) - (left < right);
    }

    void check_limits() const {
        if (last_cycle_ >= 0) return;  // the monitors are being read
        if (cycle() >= config_.cycle_limit)
            throw Failure("the design has run for " + std::to_string(cycle())
                          + " cycles, which is simulation.cycle_limit, and the host is not done");
        if (told_to_stop) throw Failure("the run was stopped");
    }
    void check_finished() const {
        if (context_.gotFinish())
            throw Failure("the design ended the simulation itself ($finish or $stop) in cycle " + std::to_string(cycle()));
    }

    // No port has anything to do until `stop` cycles of the only clock have been clocked.
    void idle(int64_t stop) {
        int64_t cycle = clocks_[0].cycle;
        if (taps_) {
            for (; cycle < stop; ++cycle) {
                design_.settle();
                design_.edge();
                taps_->see(cycle, design_.taps(spare_));
            }
        } else {
            for (; cycle < stop; ++cycle) {
                design_.settle();
                design_.edge();
            }
        }
        clocks_[0].cycle = cycle;
        publish(false);
    }

    void see_taps() {  // a tap register holds the cycle that just ended
        if (taps_) taps_->see(clocks_[0].cycle, design_.taps(spare_));
    }

    void drop_forgotten() {
        transfers_.remove_if([](const Transfer& t) { return t.done && t.forgotten; });
    }

    uint64_t access_now(const Access& access, uint64_t index) {
        Port& port = *ports_.at(size_t(config_.read_out_port));
        ClockDomain& clock = port.clock();
        for (int64_t until = clock.cycle + access.settle_cycles; clock.cycle < until;) run(clock.start(clock.cycle + 1));
        Transfer transfer;
        transfer.send = access.act != "read";
        transfer.start_ps = clock.start(clock.cycle);
        transfer.address = int64_t(access.address);
        transfer.words = 1;
        transfer.data.resize(size_t(port.word_bytes()));
        uint64_t value = access.act == "write_index" ? index : access.value;
        std::memcpy(transfer.data.data(), &value, size_t(std::min<int64_t>(port.word_bytes(), 8)));
        port.begin(transfer);
        for (const int64_t most = clock.cycle + 100'000; !transfer.done;) {
            if (clock.cycle > most) throw Failure("the counters could not be read: the port does not answer");
            run(clock.start(clock.cycle + 1));
        }
        std::memcpy(&value, transfer.data.data(), size_t(std::min<int64_t>(port.word_bytes(), 8)));
        return value;
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
        progress_[0] = cycle();
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
    int64_t counter_reads_ = 0, last_cycle_ = -1;
    std::vector<ClockDomain> clocks_;
    std::vector<std::unique_ptr<Port>> ports_;
    std::list<Transfer> transfers_;
    const Transfer* waited_ = nullptr;
    int64_t waited_there_ = 0, waited_since_ = 0;
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
