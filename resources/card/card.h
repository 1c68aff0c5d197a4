// A card: a design that runs with the host, which begins transfers and waits for their ends or an interrupt. See README.md.
#pragma once
#include "links.h"

inline std::string hex(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

class Card : public Clocked {
public:
    Card(const Config& config, size_t number, RecordFile* trace, RecordFile* transfers, const Progress& progress)
        : Clocked(config, number, trace, transfers, progress) {
        if (const ReadOut& plan = plan_.read_out; plan.marks) port(int32_t(plan.port)).reserve(plan.marks);
    }

    // The same up to the cycle in which the transfer is done: a packet may end before its time.
    void run_for(const Transfer& transfer, int64_t ps) {
        const auto reset = [](const Transfer** awaited) { *awaited = nullptr; };
        const std::unique_ptr<const Transfer*, decltype(reset)> until(&awaited_, reset);  // a failure ends it too
        awaited_ = &transfer;
        run(std::min(ps, transfer.start_ps + transfer.duration_ps));
    }

    // A step for a transfer that the host waits for; a design that takes or gives nothing is told. `alone`: no other
    // thread of the host's will do anything before.
    void step_for(Transfer& transfer, bool alone = false) {
        if (transfer.seen != transfer.there + transfer.asked) {
            transfer.seen = transfer.there + transfer.asked;
            transfer.seen_cycle = cycle();
        }
        const int64_t end_ps = transfer.start_ps + transfer.duration_ps;
        const int64_t silent = cycle() - std::max(transfer.seen_cycle, clocks_[0].cycles_before(end_ps));
        if (silent > config_.idle_cycle_limit)
            throw Failure("the design moves nothing: the host waits for a transfer of which " + std::to_string(transfer.there) + " of "
                          + std::to_string(transfer.words) + " words are through, and for " + std::to_string(silent)
                          + " cycles, more than simulation.idle_cycle_limit (" + std::to_string(config_.idle_cycle_limit)
                          + "), none came");
        if (alone && silent > 0) look_if_stuck(silent);
        step();
    }

    // To the end of a transfer, which is later than the host's call: who waits for the interrupt asks later, in which cycles
    // it is high meanwhile is kept.
    void run_ahead(Transfer& transfer) {
        for (bool was_high = false;; step_for(transfer)) {
            const bool high = design_.has_interrupt && interrupt_is_high();
            const int64_t cycle = interrupt_clock().cycle;
            if (high && !was_high) ahead_.push_back({cycle, cycle});
            if (high) ahead_.back().last = cycle;
            was_high = high;
            if (transfer.done) return;
        }
    }

    // A step for the interrupt, for which the host has waited since `since_ps`.
    void step_for_interrupt(int64_t since_ps, bool alone) {
        const int64_t began = interrupt_clock().cycles_before(since_ps), waited = interrupt_clock().cycle - began;
        if (waited >= config_.idle_cycle_limit)
            throw Failure("no interrupt came within " + std::to_string(waited)
                          + " cycles (simulation.idle_cycle_limit) of the host's wait, begun in cycle " + std::to_string(began));
        if (alone) look_if_stuck(waited);
        step();
    }

    // After 64 silent cycles, and whenever these have doubled: where the state stays the same over a cycle of every
    // clock, while nothing comes from outside, it stays so for ever. (Looked at after each edge: what goes round in a
    // slower clock's cycle is no rest.)
    void look_if_stuck(int64_t silent) {
        if (silent < 64 || silent & (silent - 1)) return;
        bool any = false;
        for (const Clocked* one : together()) {
            any |= one->has_streams();
            if (one->moved_lately() || one->to_come()) return;
        }
        if (!any) return;
        const std::vector<uint8_t> before = states();
        std::vector<std::vector<ClockDomain>> began;
        for (const Clocked* one : together()) began.push_back(one->clocks());
        for (size_t i = 0; i < began.size(); ++i)
            for (size_t c = 0; c < began[i].size(); ++c)
                while (together()[i]->clocks()[c].cycle == began[i][c].cycle) {
                    step();
                    if (states() != before) return;
                }
        for (const Clocked* one : together())
            if (one->moved_lately()) return;
        int64_t last = -1;
        for (const Clocked* one : together()) last = std::max(last, one->last_transfer());
        say_stuck(last + 1);
        throw Failure("nothing in the design moves any more, and it waits for nothing from outside");
    }
    const std::string& stuck() const { return stuck_; }

    // When the interrupt was high for who has waited since then: the beginning of that cycle; -1 where it has not been.
    int64_t interrupt_ps(int64_t since_ps) {
        if (!design_.has_interrupt)
            throw Failure("the host waits for an interrupt, but the design has no interrupt signal that the platform names");
        const ClockDomain& clock = interrupt_clock();
        const int64_t since = clock.cycles_before(since_ps);
        while (!ahead_.empty() && ahead_.front().last < since) ahead_.pop_front();
        if (!ahead_.empty()) return clock.start(std::max(ahead_.front().first, since));
        return interrupt_is_high() ? clock.start(clock.cycle) : -1;
    }

    // What each port did by which the design asks the card's memory.
    std::vector<const MasterCounts*> masters() const {
        std::vector<const MasterCounts*> found;
        for (const auto& port : ports_)
            if (const MasterCounts* of = port->master()) found.push_back(of);
        return found;
    }

    // Begin what was asked for, not before `start_ps`; `data` are those of a send, or room for a receive's.
    void begin(const rcw_request& request, int64_t start_ps, std::vector<uint8_t> data) {
        const bool send = request.kind == RCW_SEND;
        look_for_monitors(request, send);
        if (send) poll_ = {};
        transfers_.emplace_back();
        Transfer& transfer = transfers_.back();
        transfer.send = send;
        transfer.forgotten = send && !request.collected;
        transfer.ticket = request.ticket;
        transfer.start_ps = start_ps;
        transfer.duration_ps = request.duration_ps;
        transfer.address = request.address;
        transfer.words = request.bytes / port(request.port).word_bytes();
        transfer.data = std::move(data);
        transfer.change_until_ps = request.change_until_ps;
        transfer.unwanted = request.unwanted;
        transfer.known = request.known;
        transfer.port = request.port;
        port(request.port).begin(transfer);
        if (send) run(request.until_ps);
    }

    // Whether a transfer is done. One that found what it does not want begins anew, beside what else the port does.
    bool over(Transfer& transfer) {
        if (!transfer.done || transfer.end_ps >= transfer.change_until_ps) return transfer.done;
        uint64_t value = 0;
        std::memcpy(&value, transfer.data.data(), std::min<size_t>(transfer.data.size(), 8));
        if ((transfer.known && value != transfer.unwanted) || transfer.failed) return true;
        transfer.unwanted = value;
        transfer.known = true;
        watch_polling(transfer, port(transfer.port).word_bytes());
        transfer.start_ps = transfer.end_ps;
        transfer.done = false;
        transfer.asked = transfer.there = transfer.taken_count = transfer.level = transfer.level_due = 0;
        transfer.first_cycle = -1;
        port(transfer.port).begin(transfer);
        return false;
    }

    // The transfer of a ticket whose end somebody asks for, or nullptr.
    Transfer* find(int32_t ticket) {
        for (Transfer& t : transfers_)
            if (!t.forgotten && t.ticket == ticket) return &t;
        return nullptr;
    }

    // What became of a transfer that is done; its data are left in it.
    rcw_reply result(const rcw_request& request, Transfer& transfer) {
        if (!transfer.send && port(request.port).addressed()) watch_polling(transfer, port(request.port).word_bytes());
        const ClockDomain& clock = port(request.port).clock();
        rcw_reply answer{};
        answer.status = transfer.failed ? RCW_ERROR : RCW_OK;
        answer.start_ps = transfer.start_ps;
        answer.time_ps = transfer.end_ps;
        answer.first_ps = clock.start(transfer.first_cycle);
        answer.last_ps = clock.start(transfer.last_cycle);
        answer.bytes = transfer.send ? 0 : int64_t(transfer.data.size());
        return answer;
    }
    void forget(const Transfer& transfer) {
        transfers_.remove_if([&](const Transfer& t) { return &t == &transfer; });
    }

    int64_t counter_reads() const { return counter_reads_; }
    int64_t conflicts() const {
        int64_t sum = 0;
        for (const auto& port : ports_) sum += port->conflicts();
        return sum;
    }
    std::string activity() const {
        if (poll_.count < 3) return "";
        return "The host's last " + std::to_string(poll_.count) + " reads were all of address " + hex(uint64_t(poll_.address))
            + " and returned " + hex(poll_.value) + ".";
    }

private:
    // What the host has been reading over and over, to tell a design that never answers.
    struct Poll {
        int64_t address = -1, count = 0, since_cycle = 0, state_cycle = 0;
        uint64_t value = 0;
        std::vector<uint8_t> state;  // of the design, in `state_cycle`, after a poll
    };

    // All that run together with it, and what they remember.
    std::vector<Clocked*> together() { return linked_ ? linked_->fpgas() : std::vector<Clocked*>{this}; }
    std::vector<uint8_t> states() {
        std::vector<uint8_t> all;
        for (Clocked* one : together()) {
            const std::vector<uint8_t> own = one->state();
            all.insert(all.end(), own.begin(), own.end());
        }
        return all;
    }

    // For who reads the run: from which cycle on nothing moves, valid and ready of each stream.
    void say_stuck(int64_t cycle) {
        std::string valid, ready;
        for (const Clocked* one : together()) one->tell_streams(valid, ready);
        stuck_ = " " + std::to_string(cycle) + " " + valid + " " + ready;
    }

    struct Cycles {
        int64_t first, last;
    };

    bool interrupt_is_high() {
        if (clocks_.size() == 1) design_.settle();
        return design_.interrupt();
    }
    const ClockDomain& interrupt_clock() const { return clocks_[config_.interrupt_clock]; }

    // A transfer that touches the addresses at which the monitors answer: where that disturbs them the run ends.
    void look_for_monitors(const rcw_request& request, bool send) {
        const ReadOut& plan = plan_.read_out;
        if (!plan.words || request.port != plan.port) return;
        const Port& port = *ports_[size_t(plan.port)];
        const int64_t last = request.address + (request.bytes / port.word_bytes() - 1) * port.address_step();
        if (request.address > plan.last || last < plan.first) return;
        if (send || plan.freeze[0].act == "read")  // there a read acts
            throw Failure(std::string("the host ") + (send ? "writes to" : "reads") + " address "
                          + hex(uint64_t(request.address)) + " (" + std::to_string(request.bytes)
                          + " bytes), in the range " + hex(uint64_t(plan.first)) + " to " + hex(uint64_t(plan.last))
                          + " that hardware.read_out declares unused: the counters are there. Choose a range that the"
                            " application leaves alone");
        ++counter_reads_;
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
        if (poll_.count < 3 || cycle() - poll_.since_cycle <= config_.idle_cycle_limit) return;
        if (has_streams()) {  // the design is where it was at the last poll, it gets nowhere by another
            const std::vector<uint8_t> state = states();
            const bool same = state == poll_.state;
            if (!same && poll_.state.empty()) {
                poll_.state = state;
                poll_.state_cycle = cycle();
                return;
            }
            if (same) say_stuck(poll_.state_cycle);
        }
        throw Failure("the design does not answer: the host has polled for " + std::to_string(cycle() - poll_.since_cycle)
                      + " cycles, more than simulation.idle_cycle_limit (" + std::to_string(config_.idle_cycle_limit) + ")");
    }

    Poll poll_;
    std::deque<Cycles> ahead_;  // in which the interrupt was high before who waits for it could ask
    std::string stuck_;  // from which cycle on nothing moves; valid and ready of the streams then
    int64_t counter_reads_ = 0;
};
