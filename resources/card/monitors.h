// Reads what the monitors in a design counted, after its last cycle, off the clock, through one of its ports.
#pragma once
#include <deque>

#include "clocked.h"

class Monitors {
public:
    Monitors(Clocked& design, RecordFile& counters) : design_(design), counters_(counters) {}

    void read() {
        const ReadOut& plan = design_.plan().read_out;
        if (!plan.words) return;
        design_.end();
        Port& port = design_.port(int32_t(plan.port));
        for (const Access& access : plan.freeze) moved(port, access, 0);  // acts in its own cycle, which is not counted
        settle(port, plan.acts_cycles);
        if (plan.marks) read_stream(plan, port);
        else read_words(plan, port);
    }

private:
    void read_words(const ReadOut& plan, Port& port) {
        std::vector<uint32_t> found(size_t(plan.words), 0);
        const int64_t all = plan.words * plan.parts, bits = port.word_bytes() * 8;
        for (int64_t i = 0; i < all; i += plan.block_words) {
            std::vector<uint64_t> some;
            for (const Access& access : plan.each) {
                const bool reads = access.act == "read";
                some = moved(port, access, uint64_t(i), reads ? std::min(plan.block_words, all - i) : 1);
            }
            for (int64_t n = i; n < i + int64_t(some.size()); ++n)
                found[size_t(n / plan.parts)] |= uint32_t(some[size_t(n - i)] << n % plan.parts * bits % 32);
        }
        counters_.add(found.data(), found.size() * sizeof found[0]);
    }

    // All words at once through a stream, behind what is left of the design's own in the other one.
    void read_stream(const ReadOut& plan, Port& come) {
        Port& go = design_.port(int32_t(plan.answer_port));
        const auto bits = std::min<int64_t>(come.word_bytes() * 8, 64), part_bits = std::min<int64_t>(bits, 32);
        const uint64_t question = uint64_t(design_.cycle()) & 0xffffffff, argument = question << 32 | uint64_t(plan.words);
        words(come, true, 0, plan.marks + mark_read, 1);
        for (int64_t at = 0; at < 64; at += bits) words(come, true, 0, argument >> at, 1);
        const auto part = [&] { return words(go, false, 0, 0, 1)[0]; };
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
            counters_.add(&word, sizeof word);
        }
    }

    void settle(Port& port, int64_t cycles) {
        for (const int64_t until = port.clock().cycle + cycles; port.clock().cycle < until;) design_.step();
    }

    std::vector<uint64_t> moved(Port& port, const Access& access, uint64_t index, int64_t count = 1) {
        settle(port, access.settle_cycles);
        const bool numbers = access.act == "write_index";
        return words(port, access.act != "read", access.address, numbers ? index >> access.value : access.value, count);
    }

    // Words moved at once, `value` in place of what is read.
    std::vector<uint64_t> words(Port& port, bool send, uint64_t address, uint64_t value, int64_t count) {
        const ClockDomain& clock = port.clock();
        const auto bytes = size_t(port.word_bytes()), known = std::min(bytes, size_t(8));
        Transfer transfer;
        transfer.send = send;
        transfer.off_clock = true;
        transfer.start_ps = clock.start(clock.cycle);
        transfer.address = int64_t(address);
        transfer.words = count;
        transfer.data.resize(bytes * size_t(count));
        std::memcpy(transfer.data.data(), &value, known);
        port.begin(transfer);
        for (const int64_t most = clock.cycle + 100'000; !transfer.done;) {
            if (clock.cycle > most) throw Failure("the counters could not be read: the port does not answer");
            design_.step();
        }
        std::vector<uint64_t> found(size_t(count), 0);
        for (size_t i = 0; i < found.size(); ++i) std::memcpy(&found[i], transfer.data.data() + i * bytes, known);
        return found;
    }

    Clocked& design_;
    RecordFile& counters_;
};
