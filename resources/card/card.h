// A card: the Verilated design with its clocks and ports, run exactly as many cycles as it is told. See README.md.
#pragma once
#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config.h"
#include "design.h"
#include "host_link.h"
#include "rest.h"

inline std::string hex(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

// Two integers that the workbench looks at while the run goes on: the furthest cycle, and whether we wait for the host.
struct Progress {
    volatile int64_t *cycle, *waiting;
};

class Card;
inline const Card* clocked_card = nullptr; // the one whose design is being evaluated

class Card {
public:
    Card(const Config& config, int number, RecordFile* trace, const Progress& progress)
        : config_(config), progress_(progress), clocks_(config.clocks), due_(config.clocks.size()) {
        if (int(clocks_.size()) != design_.clocks) throw Failure("the card was built for other clocks: build it anew");
        ports_ = design_.make_ports(clocks_);
        for (const auto& port : ports_)
            if (port->always_looks()) looking_.push_back(port.get());
        for (std::vector<Tap> taps : config_.taps) {
            for (Tap& tap : taps) tap.block += number * config_.blocks;
            taps_.emplace_back(std::move(taps), design_.tap_words, trace);
        }
        for (const StreamPlan& plan : config_.streams) streams_.emplace_back(plan, size_t(design_.streams));
        crossed_.resize(config_.crossings.size());
        if (const ReadOut& plan = config_.read_out; plan.marks) port(int32_t(plan.port)).reserve(plan.marks);
        design_.reset();
        if (config_.waves.to_ps >= 0) waves_ = config_.cards > 1 ? "waves-" + std::to_string(number) + ".vcd" : "waves.vcd";
        if (!waves_.empty()) wave(0);
    }

    // Clock every cycle that has ended by `ps`.
    void run(int64_t ps) {
        if (clocks_.size() == 1) {
            run_clock(clocks_[0].cycles_before(ps));
        } else {
            std::vector<int64_t> targets;
            for (const ClockDomain& clock : clocks_) targets.push_back(clock.cycles_before(ps));
            run_clocks(targets);
        }
        publish();
    }

    // The same up to the cycle in which the transfer is done: a packet may end before its time.
    void run_for(const Transfer& transfer, int64_t ps) {
        const auto reset = [](const Transfer** awaited) { *awaited = nullptr; };
        const std::unique_ptr<const Transfer*, decltype(reset)> until(&awaited_, reset);  // a failure ends it too
        awaited_ = &transfer;
        run(std::min(ps, transfer.start_ps + transfer.duration_ps));
    }

    // When the next edge is, and that edge.
    int64_t next_edge_ps() const {
        const ClockDomain& clock = clocks_[first_edge()];
        return clock.start(clock.cycle + 1);
    }
    void step() {
        if (clocks_.size() == 1) run_clock(clocks_[0].cycle + 1);
        else clock_edges(first_edge());
        publish();
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
        if (silent < 64 || silent & (silent - 1) || moved_lately()) return;
        for (const auto& port : ports_)
            if (port->to_come()) return;
        const std::vector<uint8_t> before = design_.state();
        const std::vector<ClockDomain> began = clocks_;
        for (size_t c = 0; c < clocks_.size(); ++c)
            while (clocks_[c].cycle == began[c].cycle) {
                step();
                if (design_.state() != before) return;
            }
        if (moved_lately()) return;
        say_stuck(last_transfer() + 1);
        throw Failure("nothing in the design moves any more, and it waits for nothing from outside");
    }
    const std::string& stuck() const { return stuck_; }

    // When the interrupt was seen high: the beginning of the cycle that runs; -1 where it is low.
    int64_t interrupt_ps() {
        if (!design_.has_interrupt)
            throw Failure("the host waits for an interrupt, but the design has no interrupt signal that the platform names");
        if (clocks_.size() == 1) design_.settle();
        return design_.interrupt() ? interrupt_clock().start(interrupt_clock().cycle) : -1;
    }

    void finish_waves() {
        waves_.clear();
        design_.close_waves();
    }
    int64_t waves_full_ps() const { return waves_full_ps_; }  // from when on the signals were too many; -1: never

    // What each port did by which the design asks the card's memory.
    std::vector<const MasterCounts*> masters() const {
        std::vector<const MasterCounts*> found;
        for (const auto& port : ports_)
            if (const MasterCounts* of = port->master()) found.push_back(of);
        return found;
    }

    Port& port(int32_t number) { return *ports_.at(size_t(number)); }

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
        port(request.port).begin(transfer);
        if (send) run(request.until_ps);
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

    // After the last cycle, off the clock: what the taps saw, and the monitors' words.
    void finish_taps(RecordFile& dwell, RecordFile& transitions) {
        for (size_t c = 0; c < clocks_.size(); ++c) taps_[c].finish(clocks_[c].cycle, dwell, transitions);
        taps_.clear();
    }
    void finish_streams(int number, RecordFile& counts, RecordFile& waits, RecordFile& occupancy) {
        for (size_t c = 0; c < clocks_.size(); ++c)
            streams_[c].finish(clocks_[c].cycle, number * config_.stream_count, number * config_.fifo_count, counts, waits,
                               occupancy);
        for (size_t i = 0; i < crossed_.size(); ++i) {
            const StreamCrossing& crossing = config_.crossings[i];
            crossed_[i].finish(clocks_[crossing.takes].cycle, number * config_.fifo_count + crossing.fifo.number, occupancy);
        }
        last_transfer_ = last_transfer();
        streams_.clear();
        crossed_.clear();
    }
    // The first clock's cycle of the last transfer of any stream; -1 where there was none.
    int64_t last_transfer() const {
        int64_t last = last_transfer_;
        for (size_t c = 0; c < streams_.size(); ++c) {
            const int64_t cycle = streams_[c].last_transfer();
            if (cycle >= 0) last = std::max(last, c ? clocks_[0].cycles_before(clocks_[c].start(cycle)) : cycle);
        }
        return last;
    }
    void read_monitors(RecordFile& counters) {
        last_ = clocks_;
        for (auto& port : ports_) port->forget();
        const ReadOut& plan = config_.read_out;
        Port& port = this->port(int32_t(plan.port));
        for (const Access& access : plan.freeze) access_now(port, access, 0);  // acts in its own cycle, which is not counted
        settle_now(port, plan.acts_cycles);
        if (plan.marks) read_stream(plan, counters);
        else read_words(plan, port, counters);
    }

    void read_words(const ReadOut& plan, Port& port, RecordFile& counters) {
        std::vector<uint32_t> found(size_t(plan.words), 0);
        const int64_t all = plan.words * plan.parts, bits = port.word_bytes() * 8;
        for (int64_t i = 0; i < all; i += plan.block_words) {
            std::vector<uint64_t> some;
            for (const Access& access : plan.each) {
                const bool reads = access.act == "read";
                some = access_now(port, access, uint64_t(i), reads ? std::min(plan.block_words, all - i) : 1);
            }
            for (int64_t n = i; n < i + int64_t(some.size()); ++n)
                found[size_t(n / plan.parts)] |= uint32_t(some[size_t(n - i)] << n % plan.parts * bits % 32);
        }
        counters.add(found.data(), found.size() * sizeof found[0]);
    }

    // All words at once through a stream, behind what is left of the design's own in the other one.
    void read_stream(const ReadOut& plan, RecordFile& counters) {
        Port &come = port(int32_t(plan.port)), &go = port(int32_t(plan.answer_port));
        const auto bits = std::min<int64_t>(come.word_bytes() * 8, 64), part_bits = std::min<int64_t>(bits, 32);
        const uint64_t question = uint64_t(cycle()) & 0xffffffff, argument = question << 32 | uint64_t(plan.words);
        word_now(come, true, 0, plan.marks + mark_read);
        for (int64_t at = 0; at < 64; at += bits) word_now(come, true, 0, argument >> at);
        const auto part = [&] { return word_now(go, false, 0, 0); };
        const auto whole = [&](uint64_t low) {
            for (int64_t at = part_bits; at < 32; at += part_bits) low |= part() << at;
            return uint32_t(low);
        };
        // What the design sent before may look like an answer, up to the question's number.
        std::deque<uint64_t> seen;
        const size_t parts = size_t(32 / part_bits);
        const auto begins = [&] {
            if (seen.size() <= parts || seen[0] != plan.marks + mark_read) return false;
            uint64_t number = 0;
            for (size_t i = 0; i < parts; ++i) number |= seen[i + 1] << (i * size_t(part_bits));
            return uint32_t(number) == question;
        };
        while (!begins()) {
            seen.push_back(part());
            if (seen.size() > parts + 1) seen.pop_front();
        }
        for (int64_t i = 0; i < plan.words; ++i) {
            const uint32_t word = whole(part());
            counters.add(&word, sizeof word);
        }
    }

    // The design's cycles, of the first clock and of each.
    int64_t cycle() const { return clocks()[0].cycle; }
    const std::vector<ClockDomain>& clocks() const { return last_.empty() ? clocks_ : last_; }
    bool finished() const { return design_.finished(); }
    int64_t skipped() const { return skipped_; }
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

    // Whether a stream did in the last 64 cycles of its clock, or there is none.
    bool moved_lately() const {
        bool any = false;
        for (size_t c = 0; c < streams_.size(); ++c) {
            any |= streams_[c].any();
            if (streams_[c].any() && clocks_[c].cycle - streams_[c].last_transfer() < 64) return true;
        }
        return !any;
    }

    // For who reads the run: from which cycle on nothing moves, valid and ready of each stream.
    void say_stuck(int64_t cycle) {
        std::string valid(size_t(design_.streams), '0'), ready = valid;
        for (const Streams& streams : streams_)
            for (int stream : streams.numbers()) {
                valid[size_t(stream)] = char('0' + streams.valid(stream));
                ready[size_t(stream)] = char('0' + streams.ready(stream));
            }
        stuck_ = " " + std::to_string(cycle) + " " + valid + " " + ready;
    }

    const ClockDomain& interrupt_clock() const { return clocks_[config_.interrupt_clock]; }

    // A transfer that touches the addresses at which the monitors answer: where that disturbs them the run ends.
    void look_for_monitors(const rcw_request& request, bool send) {
        const ReadOut& plan = config_.read_out;
        if (!plan.words || request.port != plan.port) return;
        const Port& port = *ports_[size_t(plan.port)];
        const int64_t last = request.address + (request.bytes / port.word_bytes() - 1) * port.address_step();
        if (request.address > plan.last || last < plan.first) return;
        if (send || plan.freeze[0].act == "read")  // there a read acts
            throw Failure(std::string("the host ") + (send ? "writes to" : "reads") + " address "
                          + hex(uint64_t(request.address)) + " (" + std::to_string(request.bytes)
                          + " bytes), in the range " + hex(uint64_t(plan.first)) + " to " + hex(uint64_t(plan.last))
                          + " that hardware.read_out declares unused: the counters stand there. Choose a range that the"
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
        if (design_.streams && !streams_.empty()) {  // the design is where it was at the last poll, it gets nowhere by another
            const std::vector<uint8_t> state = design_.state();
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

    // The only clock, until `target` cycles of it have been clocked.
    void run_clock(int64_t target) {
        ClockDomain& clock = clocks_[0];
        clocked_card = this;
        const int64_t limit = last_.empty() ? config_.cycle_limit : INT64_MAX;
        while (clock.cycle < target && !came()) {
            check_limits();
            const bool looked_at = rest_.due(clock.cycle) && rest_.look(clock.cycle, rests_until(0, target) - clock.cycle);
            int64_t busy = INT64_MAX;
            for (const auto& port : ports_) busy = std::min(busy, port->busy_from());
            if (busy > clock.cycle && waves_.empty()) {
                int64_t stop = std::min({target, busy, limit, (clock.cycle | 0xffff) + 1});
                if (looked_at) stop = clock.cycle + 1;
                else if (rest_.next() > clock.cycle) stop = std::min(stop, rest_.next());
                idle(stop);
            } else {
                for (auto& port : ports_) port->put();
                design_.settle();
                if (!waves_.empty()) wave_before(clock);
                for (auto& port : ports_) port->look();
                design_.edge();
                if (!waves_.empty()) wave(clock.start(clock.cycle + 1));
                for (auto& port : ports_) port->edge();
                see_streams(0);
                see_taps(0);
                ++clock.cycle;
                drop_forgotten();
            }
            check_finished();
            if (!looked_at || !rest_.same(clock.cycle) || moving() || came()) continue;
            const int64_t rests = std::max(rests_until(0, target), clock.cycle);
            skip(0, rests - clock.cycle);
            clock.cycle = rests;
        }
    }

    // The first cycle of a clock, `target` at the latest, that has to be evaluated where nothing changes in the design.
    int64_t rests_until(size_t clock, int64_t target) const {
        if (!clock && last_.empty()) target = std::min(target, config_.cycle_limit);
        for (const auto& port : ports_)
            if (&port->clock() == &clocks_[clock]) target = std::min(target, port->rests_until());
        return target;
    }

    bool came() const { return awaited_ && awaited_->done; }

    // Whether something passes a stream in the cycle that was seen last.
    bool moving() const {
        for (const Streams& streams : streams_)
            if (streams.moving()) return true;
        return false;
    }

    // So many cycles of a clock are all as the one before.
    void skip(size_t clock, int64_t cycles) {
        if (cycles <= 0) return;
        if (!streams_.empty()) streams_[clock].stay(cycles);
        skipped_ += cycles;
    }

    // No port has anything to do until `stop` cycles of the only clock have been clocked.
    void idle(int64_t stop) {
        int64_t& cycle = clocks_[0].cycle;
        Taps* taps = taps_.empty() || !taps_[0].any() ? nullptr : &taps_[0];
        Streams* streams = streams_.empty() || !streams_[0].any() ? nullptr : &streams_[0];
        for (; cycle < stop; ++cycle) {
            design_.settle();
            for (Port* port : looking_) port->look();
            design_.edge();
            if (streams) streams->see(cycle, design_.valid(spare_), design_.ready(spare_ + 2), design_.stream_words());
            if (taps) taps->see(cycle, design_.taps(spare_));
        }
        publish();
    }

    // The clock whose edge comes first.
    size_t first_edge() const {
        size_t first = 0;
        for (size_t c = 0; c < clocks_.size(); ++c) {
            if (edge_order(clocks_[c], clocks_[first]) < 0) first = c;
        }
        return first;
    }

    void find_due(size_t first) {
        for (size_t c = 0; c < clocks_.size(); ++c)
            due_[c] = edge_order(clocks_[c], clocks_[first]) == 0;
    }

    // All clocks, until so many cycles of each have been clocked.
    void run_clocks(const std::vector<int64_t>& targets) {
        for (size_t c = first_edge(); clocks_[c].cycle < targets[c] && !came(); c = first_edge()) {
            bool looked_at = false;
            if (rest_.due(cycle())) {
                int64_t ahead = INT64_MAX;
                for (size_t i = 0; i < clocks_.size(); ++i) ahead = std::min(ahead, rests_until(i, targets[i]) - clocks_[i].cycle);
                looked_at = rest_.look(cycle(), ahead);
            }
            clock_edges(c);
            if (looked_at && rest_.same(cycle()) && !came()) rest(targets);
        }
    }

    // An edge left all as it was. Where those of every clock do, and any two of one instant, so does each that follows.
    void rest(const std::vector<int64_t>& targets) {
        std::vector<std::vector<bool>> idle{due_};  // the edges of one instant that change nothing
        std::vector<bool> all = due_;
        std::vector<int64_t> skipped(clocks_.size());
        const auto told = [&] {
            for (size_t i = 0; i < clocks_.size(); ++i) skip(i, std::exchange(skipped[i], 0));
        };
        const auto changes = [&](size_t first) {
            told();
            clock_edges(first);
            if (!rest_.same(cycle()) || came()) return true;
            idle.push_back(due_);
            return false;
        };
        while (std::count(all.begin(), all.end(), false)) {
            const size_t c = first_edge();
            if (clocks_[c].cycle >= targets[c] || changes(c)) return;
            for (size_t i = 0; i < all.size(); ++i) all[i] = all[i] || due_[i];
        }
        if (moving()) return;
        std::vector<int64_t> stops;
        for (size_t i = 0; i < clocks_.size(); ++i) stops.push_back(rests_until(i, targets[i]));
        for (size_t c = first_edge(); clocks_[c].cycle < stops[c]; c = first_edge()) {
            check_limits();
            find_due(c);
            if (std::find(idle.begin(), idle.end(), due_) == idle.end()) {
                if (changes(c)) return;
                continue;
            }
            for (size_t i = 0; i < clocks_.size(); ++i) {
                clocks_[i].cycle += due_[i];
                skipped[i] += due_[i];
            }
        }
        told();
    }

    // The next edge, that of clock `first`, and those of the same instant: they share one evaluation.
    void clock_edges(size_t first) {
        check_limits();
        clocked_card = this;
        find_due(first);
        const auto of_due = [&](const Port& port) { return due_[size_t(&port.clock() - clocks_.data())]; };
        for (auto& port : ports_)
            if (of_due(*port)) port->put();
        design_.set_clocks(due_, 0);
        if (!waves_.empty()) wave_before(clocks_[first]);
        for (auto& port : ports_)
            if (of_due(*port)) port->look();
        design_.set_clocks(due_, 1);
        if (!waves_.empty()) wave(clocks_[first].start(clocks_[first].cycle + 1));
        for (auto& port : ports_)
            if (of_due(*port)) port->edge();
        for (size_t c = 0; c < clocks_.size(); ++c) {
            if (!due_[c]) continue;
            see_taps(c);
            see_streams(c);
            ++clocks_[c].cycle;
        }
        see_crossings();
        drop_forgotten();
        check_finished();
    }

    // Below 0 where the next edge of `a` comes before that of `b`; a drift is all clocks', and changes no order.
    static int edge_order(const ClockDomain& a, const ClockDomain& b) {
        const auto left = static_cast<__int128>(a.cycle + 1) * a.clock.period_num * b.clock.period_den;
        const auto right = static_cast<__int128>(b.cycle + 1) * b.clock.period_num * a.clock.period_den;
        return (left > right) - (left < right);
    }

    // A clock is low from the midst of its cycle on, or from just after the last edge of another.
    void wave_before(const ClockDomain& clock) {
        const int64_t begin = clock.start(clock.cycle), end = clock.start(clock.cycle + 1);
        const int64_t at = std::max(begin + (end - begin) / 2, waved_ps_ + 1);
        if (at < end) wave(at);
    }

    void wave(int64_t ps) {
        if (ps < config_.waves.from_ps || ps <= waved_ps_) return;
        if (waved_ps_ < 0) design_.open_waves(config_.raw + "/" + waves_, config_.waves.most_bytes);
        waved_ps_ = ps;
        if (ps > config_.waves.to_ps) {
            design_.close_waves();
            waves_.clear();
        } else if (!design_.wave(ps)) {
            waves_full_ps_ = ps;
            waves_.clear();
        }
    }

    void see_taps(size_t clock) {  // a tap register holds the cycle that just ended
        if (!taps_.empty() && taps_[clock].any()) taps_[clock].see(clocks_[clock].cycle, design_.taps(spare_));
    }

    void see_streams(size_t clock) {  // the top keeps what they were before the edge
        if (!streams_.empty() && streams_[clock].any())
            streams_[clock].see(clocks_[clock].cycle, design_.valid(spare_), design_.ready(spare_ + 2), design_.stream_words());
    }

    void see_crossings() {
        for (size_t i = 0; i < crossed_.size(); ++i) {
            const auto& [fifo, takes, gives] = config_.crossings[i];
            const int by = (due_[takes] && streams_[takes].moves(fifo.input)) - (due_[gives] && streams_[gives].moves(fifo.output));
            if (by) crossed_[i].change(clocks_[takes].cycle - 1, by);
        }
    }

    void check_limits() const {
        if (!last_.empty()) return;  // the monitors are being read
        if (cycle() >= config_.cycle_limit)
            throw Failure("the design has run for " + std::to_string(cycle())
                          + " cycles, which is simulation.cycle_limit, and the host is not done");
        if (told_to_stop) throw Failure("the run was stopped");
    }
    void check_finished() const {
        if (finished())
            throw Failure("the design ended the simulation itself ($finish or $stop) in cycle " + std::to_string(cycle()));
    }

    void drop_forgotten() {
        transfers_.remove_if([](const Transfer& t) { return t.done && t.forgotten; });
    }

    void settle_now(Port& port, int64_t cycles) {
        for (const int64_t until = port.clock().cycle + cycles; port.clock().cycle < until;) step();
    }

    std::vector<uint64_t> access_now(Port& port, const Access& access, uint64_t index, int64_t words = 1) {
        settle_now(port, access.settle_cycles);
        const bool numbers = access.act == "write_index";
        return words_now(port, access.act != "read", access.address, numbers ? index >> access.value : access.value, words);
    }

    // Off the clock: a word moved at once, `value` in place of what is read; or several that are read.
    uint64_t word_now(Port& port, bool send, uint64_t address, uint64_t value) {
        return words_now(port, send, address, value, 1)[0];
    }
    std::vector<uint64_t> words_now(Port& port, bool send, uint64_t address, uint64_t value, int64_t words) {
        const ClockDomain& clock = port.clock();
        const auto bytes = size_t(port.word_bytes()), known = std::min(bytes, size_t(8));
        Transfer transfer;
        transfer.send = send;
        transfer.off_clock = true;
        transfer.start_ps = clock.start(clock.cycle);
        transfer.address = int64_t(address);
        transfer.words = words;
        transfer.data.resize(bytes * size_t(words));
        std::memcpy(transfer.data.data(), &value, known);
        port.begin(transfer);
        for (const int64_t most = clock.cycle + 100'000; !transfer.done;) {
            if (clock.cycle > most) throw Failure("the counters could not be read: the port does not answer");
            step();
        }
        std::vector<uint64_t> found(size_t(words), 0);
        for (size_t i = 0; i < found.size(); ++i) std::memcpy(&found[i], transfer.data.data() + i * bytes, known);
        return found;
    }

    void publish() const {
        if (cycle() > *progress_.cycle) *progress_.cycle = cycle();
    }

    const Config& config_;
    const Progress& progress_;
    const std::unique_ptr<Design> made_ = make_design();
    Design& design_ = *made_;
    std::vector<Taps> taps_;  // by clock; none once they are read
    std::vector<Streams> streams_;  // by clock; none once they are written
    std::vector<Held> crossed_;     // the FIFOs between two clocks
    Rest rest_{design_, config_.skip_rest && config_.waves.to_ps < 0};
    uint32_t spare_[4] = {};
    std::vector<ClockDomain> clocks_, last_;  // last: as the run ended
    std::vector<bool> due_;
    std::string waves_;  // the file that the signals are written to; none, or no longer
    int64_t waved_ps_ = -1, waves_full_ps_ = -1;
    std::vector<std::unique_ptr<Port>> ports_;
    std::vector<Port*> looking_;
    std::list<Transfer> transfers_;
    const Transfer* awaited_ = nullptr;  // with which a run ends
    Poll poll_;
    std::string stuck_;  // from which cycle on nothing moves; valid and ready of the streams then
    int64_t skipped_ = 0, counter_reads_ = 0, last_transfer_ = -1;
};
