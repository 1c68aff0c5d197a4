// A design with its clocks and ports, run exactly as many cycles as it is told; what its taps and streams show is counted.
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

// Two integers that the workbench looks at while the run goes on: the furthest cycle, and whether we wait for the host.
struct Progress {
    volatile int64_t *cycle, *waiting;
};

std::unique_ptr<Design> load_design(const DesignPlan& plan);

class Clocked;
class Linked;
inline const Clocked* clocked_card = nullptr;  // the one whose design is being evaluated

class Clocked {
public:
    Clocked(const Config& config, size_t number, RecordFile* trace, RecordFile* transfers, const Progress& progress)
        : config_(config), card_(config.cards.at(number)), plan_(config.designs.at(card_.design)), progress_(progress),
          made_(made()), clocks_(config.clocks), due_(config.clocks.size()) {
        if (int(clocks_.size()) != design_.clocks) throw Failure("the card was built for other clocks: build it anew");
        ports_ = design_.make_ports(clocks_);
        for (const auto& port : ports_)
            if (port->always_looks()) looking_.push_back(port.get());
        for (std::vector<Tap> taps : plan_.taps) {
            for (Tap& tap : taps) tap.block += card_.blocks;
            taps_.emplace_back(std::move(taps), design_.tap_words, trace);
        }
        for (const StreamPlan& plan : plan_.streams) 
            streams_.emplace_back(plan, size_t(design_.streams), card_.streams, transfers);
        crossed_.resize(plan_.crossings.size());
        design_.reset();
        begun_ = true;
        if (config_.waves.to_ps >= 0)
            waves_ = config_.cards.size() > 1 ? "waves-" + std::to_string(number) + ".vcd" : "waves.vcd";
        wave(0);
    }

    // Clock every cycle that has ended by `ps`, of those that are linked with it too.
    void run(int64_t ps);
    void run_alone(int64_t ps) {
        if (clocks_.size() == 1) {
            run_clock(clocks_[0].cycles_before(ps));
        } else {
            std::vector<int64_t> targets;
            for (const ClockDomain& clock : clocks_) targets.push_back(clock.cycles_before(ps));
            run_clocks(targets);
        }
        publish();
    }

    // When the next edge is, and that edge.
    int64_t next_edge_ps() const {
        const ClockDomain& clock = clocks_[first_edge()];
        return clock.start(clock.cycle + 1);
    }
    void step();
    void step_alone() {
        if (clocks_.size() == 1) run_clock(clocks_[0].cycle + 1);
        else clock_edges(first_edge());
        publish();
    }

    // The design's cycles, of the first clock and of each.
    int64_t cycle() const { return clocks()[0].cycle; }
    const std::vector<ClockDomain>& clocks() const { return last_.empty() ? clocks_ : last_; }
    bool finished() const { return design_.finished(); }
    int64_t skipped() const { return skipped_; }
    bool begun() const { return begun_; }  // it is out of reset
    const DesignPlan& plan() const { return plan_; }

    // The first clock's cycle of the last transfer of any stream; -1 where there was none.
    int64_t last_transfer() const {
        int64_t last = last_transfer_;
        for (size_t c = 0; c < streams_.size(); ++c) {
            const int64_t cycle = streams_[c].last_transfer();
            if (cycle >= 0) last = std::max(last, c ? clocks_[0].cycles_before(clocks_[c].start(cycle)) : cycle);
        }
        return last;
    }

    // After the last cycle, off the clock: what the taps and streams saw.
    void finish_taps(RecordFile& dwell, RecordFile& transitions, RecordFile& firsts) {
        for (size_t c = 0; c < clocks_.size(); ++c) taps_[c].finish(clocks_[c].cycle, dwell, transitions, firsts);
        taps_.clear();
    }
    void finish_streams(RecordFile& counts, RecordFile& waits, RecordFile& occupancy) {
        for (size_t c = 0; c < clocks_.size(); ++c)
            streams_[c].finish(clocks_[c].cycle, card_.fifos, counts, waits, occupancy);
        for (size_t i = 0; i < crossed_.size(); ++i) {
            const StreamCrossing& crossing = plan_.crossings[i];
            crossed_[i].finish(clocks_[crossing.takes].cycle, card_.fifos + crossing.fifo.number, occupancy);
        }
        last_transfer_ = last_transfer();
        streams_.clear();
        crossed_.clear();
    }
    void finish_waves() {
        waves_.clear();
        design_.close_waves();
    }
    int64_t waves_full_ps() const { return waves_full_ps_; }  // from when on the signals were too many; -1: never

    // Run with others from now on.
    void join(Linked& linked) { linked_ = &linked; }
    const Linked* linked() const { return linked_; }
    const std::string& name() const { return card_.name; }

    bool came() const { return awaited_ && awaited_->done; }

    // Whether a stream did in the last 64 cycles of its clock.
    bool moved_lately() const {
        for (size_t c = 0; c < streams_.size(); ++c)
            if (streams_[c].any() && clocks_[c].cycle - streams_[c].last_transfer() < 64) return true;
        return false;
    }
    bool has_streams() const { return design_.streams && !streams_.empty(); }
    bool to_come() const {
        for (const auto& port : ports_)
            if (port->to_come()) return true;
        return false;
    }
    std::vector<uint8_t> state() {  // with its only clock low, whether somebody looked since the edge or not
        if (clocks_.size() == 1) design_.settle();
        return design_.state();
    }

    // For who reads the run: valid and ready of each stream.
    void tell_streams(std::string& valid, std::string& ready) const {
        const size_t first = valid.size();
        valid.append(size_t(design_.streams), '0');
        ready.append(size_t(design_.streams), '0');
        for (const Streams& streams : streams_)
            for (int stream : streams.numbers()) {
                valid[first + size_t(stream)] = char('0' + streams.valid(stream));
                ready[first + size_t(stream)] = char('0' + streams.ready(stream));
            }
    }

    // What comes now is off the clock: cycles are what they are.
    void end() {
        last_ = clocks_;
        for (auto& port : ports_) port->forget();
    }

    Port& port(int32_t number) { return *ports_.at(size_t(number)); }

protected:
    bool ended() const { return !last_.empty(); }

    const Config& config_;
    const CardPlan& card_;
    const DesignPlan& plan_;
    const Progress& progress_;
    bool begun_ = false;
    const std::unique_ptr<Design> made_;
    Design& design_ = *made_;
    std::vector<Streams> streams_;  // by clock; none once they are written
    std::vector<ClockDomain> clocks_;
    std::vector<std::unique_ptr<Port>> ports_;
    std::list<Transfer> transfers_;
    const Transfer* awaited_ = nullptr;  // with which a run ends
    Linked* linked_ = nullptr;           // the FPGAs that it runs together with

private:
    std::unique_ptr<Design> made() {
        clocked_card = this;
        return load_design(plan_);
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
                drive(clock, [](const Port&) { return true; }, [&](int level) { level ? design_.edge() : design_.settle(); });
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

    // The end of a clock's cycle for those ports that have one: `set` gives a level to the clocks that do.
    template <class Due, class Set> void drive(const ClockDomain& clock, Due due, Set set) {
        for (auto& port : ports_)
            if (due(*port)) port->put();
        set(0);
        wave_before(clock);
        for (auto& port : ports_)
            if (due(*port)) port->look();
        set(1);
        wave(clock.start(clock.cycle + 1));
        for (auto& port : ports_)
            if (due(*port)) port->edge();
    }

    // The first cycle of a clock, `target` at the latest, that has to be evaluated where nothing changes in the design.
    int64_t rests_until(size_t clock, int64_t target) const {
        if (!clock && last_.empty()) target = std::min(target, config_.cycle_limit);
        for (const auto& port : ports_)
            if (&port->clock() == &clocks_[clock]) target = std::min(target, port->rests_until());
        return target;
    }

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
        design_.stays(stop - cycle);
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
        drive(clocks_[first], of_due, [&](int level) { design_.set_clocks(due_, level); });
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
        if (waves_.empty()) return;
        const int64_t begin = clock.start(clock.cycle), end = clock.start(clock.cycle + 1);
        const int64_t at = std::max(begin + (end - begin) / 2, waved_ps_ + 1);
        if (at < end) wave(at);
    }

    void wave(int64_t ps) {
        if (waves_.empty() || ps < config_.waves.from_ps || ps <= waved_ps_) return;
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
            const auto& [fifo, takes, gives] = plan_.crossings[i];
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

    void publish() const {
        if (cycle() > *progress_.cycle) *progress_.cycle = cycle();
    }

    std::vector<Taps> taps_;     // by clock; none once they are read
    std::vector<Held> crossed_;  // the FIFOs between two clocks
    Rest rest_{design_, config_.skip_rest && config_.waves.to_ps < 0};
    uint32_t spare_[4] = {};
    std::vector<ClockDomain> last_;  // as the run ended
    std::vector<bool> due_;
    std::string waves_;  // the file that the signals are written to; none, or no longer
    int64_t waved_ps_ = -1, waves_full_ps_ = -1;
    std::vector<Port*> looking_;
    int64_t skipped_ = 0, last_transfer_ = -1;
};
