// The card process: the host's requests, and the cards that they are made to. See README.md.
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "card.h"
#include "monitors.h"
#include "ports/memory_bank.h"

namespace {

// The first thing that the design's run-time library warned of.
std::string design_warning;

// Where what the queues of a streaming application tell of themselves is kept (resources/streaming/stream_fifo.v), and
// since which cycle something waits for room in them, or for an element; -1 where nothing does.
RecordFile* queues;
bool queues_told = true;
std::map<int, std::array<int64_t, 2>> queue_waits;

class Server {
public:
    Server(const Config& config, const std::string& raw, int fd) : config_(config), raw_(raw), link_(fd) {
        bool tapped = false;
        for (const DesignPlan& design : config.designs) {
            for (const auto& of_clock : design.taps) tapped |= !of_clock.empty();
            streams_ |= design.stream_count > 0;
        }
        if (tapped) dwell_ = std::make_unique<RecordFile>(raw_ + "/dwell.bin");
        if (tapped && config.trace) trace_ = std::make_unique<RecordFile>(raw_ + "/taps.bin");
        if (streams_ && config.trace) transfers_ = std::make_unique<RecordFile>(raw_ + "/stream_transfers.bin");
        map_progress();
        if (config.trace) queues_ = std::make_unique<RecordFile>(raw_ + "/stream_card.bin");
        queues = queues_.get();
        for (size_t number = 0; number < config.cards.size(); ++number)
            cards_.push_back(std::make_unique<Card>(config_, number, trace_.get(), transfers_.get(), progress_));
        if (config_.links.empty()) return;
        std::vector<Clocked*> all;
        for (auto& card : cards_) all.push_back(card.get());
        linked_ = std::make_unique<Linked>(config_, all);
    }

    // Serve the host until it says goodbye. Throws HostGone where it ends without.
    void serve() {
        try {
            for (rcw_request request; next(request); last_call_ps_ = std::max(last_call_ps_, request.now_ps)) obey(request);
        } catch (const HostGone&) {  // no card has got further than another
            for (auto& card : cards_) card->run(last_call_ps_);
            throw;
        } catch (const Failure& failure) {
            if (cards_.size() == 1) throw;
            throw Failure(cards_[size_t(at_)]->name() + ": " + failure.what());
        }
    }

    // After the last cycle, off the clock: read the monitors, close the records.
    void finish() {
        queues_told = false;
        queues = nullptr;
        write_queue_waits();
        if (queues_) queues_->close();
        if (dwell_) {
            RecordFile transitions(raw_ + "/transitions.bin"), firsts(raw_ + "/firsts.bin");
            for (auto& card : cards_) card->finish_taps(*dwell_, transitions, firsts);
            transitions.close();
            firsts.close();
            dwell_->close();
        }
        if (trace_) trace_->close();
        finish_streams();
        finish_memory();
        for (auto& card : cards_) card->finish_waves();
        for (const auto& card : cards_)
            if (card->finished()) return;
        bool counted = false;
        for (const DesignPlan& design : config_.designs) counted |= design.read_out.words > 0;
        if (!counted || !config_.counters) return;
        RecordFile counters(raw_ + "/counters.bin");
        for (auto& card : cards_) Monitors(*card, counters).read();
        counters.close();
    }

    std::string activity() const {
        for (const auto& card : cards_)
            if (!card->activity().empty()) return card->activity();
        return "";
    }

    void write_end(const std::string& failure) const {
        const Card* furthest = cards_[0].get();
        int64_t conflicts = 0, counter_reads = 0, skipped = 0, last_transfer = -1;
        for (const auto& card : cards_) {
            if (card->cycle() > furthest->cycle()) furthest = card.get();
            conflicts += card->conflicts();
            counter_reads += card->counter_reads();
            skipped += card->skipped();
            last_transfer = std::max(last_transfer, card->last_transfer());
        }
        std::string text = "cycles";
        for (const ClockDomain& clock : furthest->clocks()) text += " " + std::to_string(clock.cycle);
        text += "\nof_cards";
        for (const auto& card : cards_)
            for (const ClockDomain& clock : card->clocks()) text += " " + std::to_string(clock.cycle);
        text += "\nlast_transfer " + std::to_string(last_transfer);
        text += "\nskipped " + std::to_string(skipped);
        text += "\nport_conflicts " + std::to_string(conflicts);
        if (counter_reads) text += "\ncounter_reads " + std::to_string(counter_reads);
        for (const auto& card : cards_)
            if (card->waves_full_ps() >= 0) text += "\nwaves_full " + std::to_string(card->waves_full_ps());
        if (!design_warning.empty()) text += "\nwarning " + design_warning;
        for (size_t number = 0; number < cards_.size(); ++number)
            if (const std::string& said = cards_[number]->stuck(); !said.empty())
                text += "\nstuck " + (linked_ ? "all" : std::to_string(number)) + said;
        if (!activity().empty()) text += "\nactivity " + activity();
        if (!failure.empty()) text += "\nfailure " + failure;
        text += "\n";
        RecordFile file(raw_ + "/card_end.txt");
        file.add(text.data(), text.size());
        file.close();
    }

private:
    void write_queue_waits() const {
        if (queue_waits.empty()) return;
        std::string text;
        for (const auto& [queue, since] : queue_waits)
            text += std::to_string(queue) + " " + std::to_string(since[0]) + " " + std::to_string(since[1]) + "\n";
        RecordFile file(raw_ + "/stream_now.txt");
        file.add(text.data(), text.size());
        file.close();
    }

    void finish_streams() {
        if (!streams_) return;
        RecordFile counts(raw_ + "/streams.bin"), waits(raw_ + "/stream_waits.bin"), occupancy(raw_ + "/occupancy.bin");
        for (auto& card : cards_) card->finish_streams(counts, waits, occupancy);
        if (linked_) linked_->finish(occupancy);
        for (RecordFile* file : {&counts, &waits, &occupancy, transfers_.get()})
            if (file) file->close();
    }

    void finish_memory() {
        std::vector<rcw_memory_port_record> records;
        for (const auto& card : cards_)
            for (const MasterCounts* of : card->masters())
                records.push_back({of->bursts[0], of->bursts[1], of->bytes[0], of->bytes[1], of->of[MasterCounts::moving],
                                   of->of[MasterCounts::waiting], of->of[MasterCounts::held], of->of[MasterCounts::idle],
                                   of->latency_cycles, of->dram.hits, of->dram.opened, of->dram.conflicts, of->dram.bus_ps});
        if (records.empty()) return;
        RecordFile file(raw_ + "/memory_ports.bin");
        for (const rcw_memory_port_record& record : records) file.add(&record, sizeof record);
        file.close();
    }

    static constexpr int64_t most_after_last_call = 10'000'000;

    bool next(rcw_request& request) {
        if (trace_) trace_->settle();
        *progress_.waiting = 1;
        link_.receive(&request, sizeof request);
        *progress_.waiting = 0;
        if (request.kind != RCW_BYE) return true;
        const ClockDomain& clock = config_.clocks[0];  // nobody waits for the design any more: a limit is no failure
        const int64_t most = std::min(config_.cycle_limit, clock.cycles_before(last_call_ps_) + most_after_last_call);
        for (auto& card : cards_) card->run(std::min(request.now_ps, clock.start(most)));
        return false;
    }

    void obey(const rcw_request& request) {
        if (request.kind == RCW_WAIT) return wait(request);
        if (request.kind == RCW_POLLS) return polled(request);
        Card& card = this->card(request.card);
        card.run(request.now_ps);
        switch (request.kind) {
        case RCW_OPEN: return link_.reply({}, nullptr);
        case RCW_SEND:
        case RCW_RECEIVE: return begin(card, request);
        case RCW_COLLECT: return collect(card, request);
        case RCW_CLOSE: return;
        default: throw Failure("the host's library and the card do not fit together: build both anew");
        }
    }

    Card& card(int32_t number) {
        at_ = number;
        return *cards_.at(size_t(number));
    }

    void begin(Card& card, const rcw_request& request) {
        std::vector<uint8_t> data(static_cast<size_t>(request.bytes));
        if (request.kind == RCW_SEND) link_.receive(data.data(), data.size());
        int64_t start_ps = request.start_ps;
        for (auto& other : cards_)  // what goes before it on the same bus has not ended yet
            if (Transfer* before = request.after ? other->find(request.after) : nullptr) {
                other->run_ahead(*before);
                start_ps = std::max(start_ps, before->end_ps);
            }
        card.begin(request, start_ps, std::move(data));
    }

    void collect(Card& card, const rcw_request& request) {
        Transfer* transfer = card.find(request.ticket);
        if (!transfer) throw Failure("the host asks for a transfer that was never begun");
        card.run_for(*transfer, request.until_ps);
        while (!card.over(*transfer) && card.next_edge_ps() <= request.until_ps)
            card.step_for(*transfer, request.until_ps == INT64_MAX);
        if (!transfer->done) return not_yet();
        link_.reply(card.result(request, *transfer), transfer->data.data());
        card.forget(*transfer);
    }

    // Run the cards side by side until something comes that the host's threads wait for, or to the time at which it does
    // something else.
    void wait(const rcw_request& request) {
        std::vector<rcw_awaited> awaited(size_t(request.bytes) / sizeof(rcw_awaited));
        link_.receive(awaited.data(), size_t(request.bytes));
        for (const rcw_awaited& one : awaited) card(one.card).run(one.since_ps);
        for (;;) {
            rcw_reply answer{};
            answer.time_ps = -1;
            const rcw_awaited* behind = &awaited[0];
            for (const rcw_awaited& one : awaited) {
                const int64_t came_ps = came(one);
                // one that was run ahead, for the next on its bus, comes when its time has come
                if (came_ps >= 0 && came_ps <= request.until_ps && (answer.time_ps < 0 || came_ps < answer.time_ps)) {
                    answer.time_ps = came_ps;
                    answer.which = int32_t(&one - awaited.data());
                }
                if (cards_[size_t(one.card)]->next_edge_ps() < cards_[size_t(behind->card)]->next_edge_ps()) behind = &one;
            }
            Card& card = this->card(behind->card);
            // where another card was run ahead, something may come of this one before
            if (answer.time_ps >= 0 && card.next_edge_ps() >= answer.time_ps) return link_.reply(answer, nullptr);
            if (card.next_edge_ps() > request.until_ps) return not_yet();
            const bool alone = request.until_ps == INT64_MAX && answer.time_ps < 0;
            if (behind->ticket) card.step_for(*card.find(behind->ticket), alone);
            else card.step_for_interrupt(behind->since_ps, alone);
        }
    }

    // The host only polls.
    void polled(const rcw_request& request) {
        for (auto& card : cards_) card->run(request.now_ps);
        const int64_t cycle = config_.clocks[0].cycles_before(request.now_ps);
        if (request.address != polled_for_) {
            polled_for_ = request.address;
            polled_since_ = cycle;
        }
        if (cycle - polled_since_ > config_.idle_cycle_limit)
            throw Failure("nothing has come of the design for " + std::to_string(cycle - polled_since_)
                          + " cycles, more than simulation.idle_cycle_limit (" + std::to_string(config_.idle_cycle_limit)
                          + "), and the host waits for it to");
    }

    int64_t came(const rcw_awaited& one) {
        Card& card = this->card(one.card);
        if (!one.ticket) return card.interrupt_ps(one.since_ps);
        Transfer* transfer = card.find(one.ticket);
        if (!transfer) throw Failure("the host waits for a transfer that was never begun");
        return card.over(*transfer) ? transfer->end_ps : -1;
    }

    void not_yet() {
        rcw_reply answer{};
        answer.time_ps = -1;
        link_.reply(answer, nullptr);
    }

    void map_progress() {
        const int fd = open((raw_ + "/progress.bin").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666);
        if (fd < 0) throw Failure("cannot write in " + raw_ + ": " + std::strerror(errno));
        if (const int error = posix_fallocate(fd, 0, 16)) throw Failure("cannot write in " + raw_ + ": " + std::strerror(error));
        void* at = mmap(nullptr, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        static int64_t nobody_looks[2];
        auto* words = at == MAP_FAILED ? nobody_looks : static_cast<int64_t*>(at);
        progress_ = {&words[0], &words[1]};
    }

    const Config& config_;
    std::string raw_;
    HostLink link_;
    Progress progress_{};
    std::unique_ptr<RecordFile> trace_, dwell_, queues_, transfers_;
    bool streams_ = false;  // a design has some
    std::vector<std::unique_ptr<Card>> cards_;
    std::unique_ptr<Linked> linked_;  // where links join them
    int64_t polled_for_ = -1, polled_since_ = 0;  // what the host did before it only polled, and in which cycle
    int32_t at_ = 0;  // the card that is being run
    int64_t last_call_ps_ = 0;
};

}  // namespace

// A design of the library in a file. What it needs of the card and of Verilator's run-time library is in this program.
std::unique_ptr<Design> load_design(const DesignPlan& plan) {
    void* loaded = dlopen(plan.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto* make = loaded ? reinterpret_cast<decltype(&rcw_make_design)>(dlsym(loaded, "rcw_make_design")) : nullptr;
    if (!make) throw Failure(std::string("the compiled design cannot be loaded: ") + dlerror());
    return std::unique_ptr<Design>(make(plan.beside));
}

// All that the design prints (Verilator's run-time library is compiled with it).
int rcw_printf(const char* format, ...) {
    ++Rest::effects;
    va_list arguments;
    va_start(arguments, format);
    const int written = std::vprintf(format, arguments);
    va_end(arguments);
    return written;
}

extern "C" void rcw_queue(int edge, int event, long long bits) {
    ++Rest::effects;
    if (!queues_told || !clocked_card || !clocked_card->begun()) return;
    if (event == 2 || event == 3) {
        auto& since = queue_waits.try_emplace(edge, std::array<int64_t, 2>{-1, -1}).first->second;
        since[size_t(event - 2)] = bits ? clocked_card->cycle() : -1;
    }
    if (!queues) return;
    rcw_queue_record record{};
    record.cycle = clocked_card->cycle();
    record.edge = edge;
    record.event = event;
    record.bits = uint64_t(bits);
    queues->add(&record, sizeof record);
}

extern "C" bool rcw_told_to_stop() { return told_to_stop; }

extern "C" void rcw_fail(const char* message) { throw Failure(message); }

// How many words the FIFO behind a `recap_depth` is to hold; 0 where nothing is said.
extern "C" int recap_depth_of(const char* place) {
    std::string name = place;
    const std::string user = ".recap_user.", inner = "recap_fifo.";
    name.erase(0, name.find(user) + user.size());
    name.erase(name.rfind('.'));
    for (size_t at; (at = name.find(inner)) != std::string::npos;) name.erase(at, inner.size());
    const auto& depths = clocked_card->plan().depths;
    const auto found = depths.find(name);
    return found == depths.end() ? 0 : found->second;
}

// The numbers that switch the agent beside a monitor as the design begins (`agent_store.v`), one after the other; -1: none.
extern "C" int recap_switch_of(int monitor, int place) {
    for (const auto& [of, number] : clocked_card->plan().switches)
        if (of == monitor && place-- == 0) return number;
    return -1;
}

// Verilator's warnings while the design runs. A memory that cannot be filled is no design to measure.
void vl_warn(const char* file, int, const char*, const char* message) {
    ++Rest::effects;
    const std::string text = std::string(message) + " (" + file + ")";
    if (std::strstr(message, "file not found"))
        throw Failure("the design cannot read the file '" + std::string(file)
                      + "', which $readmemh or $readmemb names (paths start at the project's folder)");
    if (design_warning.empty()) design_warning = text;
    std::fprintf(stderr, "%s\n", text.c_str());
}

// Verilator's way out of a failed assertion or an array bound: our way of telling it.
void vl_fatal(const char* file, int line, const char*, const char* message) {
    std::string place = std::string(file) + ":" + std::to_string(line);
    if (!*file) {  // the number of a place: the model does not know lines, which comments move (verilate.py)
        std::ifstream all(clocked_card->plan().places);
        while (line-- > 0 && std::getline(all, place)) {}
    }
    throw Failure("the design failed: " + std::string(message) + " (" + place + ")");
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
        const Config config(config_path, raw);
        Server server(config, raw, fd);
        try {
            server.serve();
            said_goodbye = true;
        } catch (const HostGone&) {
        } catch (const std::exception& error) {
            failure = error.what();
        }
        try {
            server.finish();
        } catch (const std::exception& error) {
            if (failure.empty()) failure = error.what();
        }
        std::string message = failure;
        if (!server.activity().empty() && !failure.empty()) message += ". " + server.activity();
        server.write_end(failure);
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
            HostLink(fd).reply(reply, failure.data());
        } catch (const std::exception&) {
            return 1;  // the host is gone already
        }
    }
    return failure.empty() ? 0 : 1;
}
