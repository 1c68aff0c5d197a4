// AXI4-Lite, and AXI4 with INCR bursts of full width. The card asks, the design answers.
#pragma once
#include "port.h"

template <class Pins> class AxiPort : public Port {
public:
    AxiPort(Pins pins, ClockDomain& clock)
        : Port(clock, Pins::word_bytes, Pins::buffer_words, Pins::response_cycles, Pins::response_cycles), pins_(pins) {
        pins_.awvalid() = pins_.wvalid() = pins_.arvalid() = 0;
        pins_.bready() = 1;
        pins_.rready() = 1;
    }
    int64_t busy_from() const override {
        return address_open_ || write_.transfer || !writes_.empty() || !reads_.empty() ? 0 : next_due();
    }
    bool always_looks() const override { return true; }  // answers that nobody asked for
    int64_t rests_until() const override { return busy_from(); }
    int64_t address_step() const override { return Pins::address_step; }

    void put() override {
        if (address_taken_) {
            pins_.awvalid() = pins_.arvalid() = 0;
            address_open_ = address_taken_ = false;
        }
        if (word_taken_) {
            pins_.wvalid() = 0;
            word_open_ = word_taken_ = false;
            if (!write_.words) write_.transfer = nullptr;
        }
        if (write_.transfer && !word_open_ && level(*write_.transfer) <= clock_.cycle) put_write_word();
        if (address_open_ || write_.transfer || int64_t(writes_.size() + reads_.size()) >= Pins::outstanding) return;
        if (Transfer* t = next()) put_address(*t);
    }

    void look() override {
        if (address_open_ && (reading_ ? bool(pins_.arready()) : bool(pins_.awready()))) {
            address_taken_ = true;
            (reading_ ? reads_ : writes_).back().asked = true;
        }
        if (word_open_ && pins_.wready()) {
            word_taken_ = true;
            take(*write_.transfer);
            if (!write_.words) writes_.back().written = true;
        }
        if (pins_.bvalid()) answer_write();
        if (pins_.rvalid()) answer_read();
    }

private:
    struct Burst {
        Transfer* transfer = nullptr;
        int64_t index = 0, words = 0;
        bool asked = false, written = false;
    };

    void put_address(Transfer& t) {
        const uint64_t address = uint64_t(t.address) + uint64_t(t.asked * Pins::address_step);
        const int64_t to_page = (4096 - int64_t(address * unit & 4095)) / word_bytes_;
        Burst burst{&t, t.asked, std::min({int64_t(Pins::burst_words), t.words - t.asked, std::max<int64_t>(to_page, 1)})};
        address_open_ = true;
        reading_ = !t.send;
        if (reading_) {
            pins_.arvalid() = 1;
            pins_.araddr() = low_bits(address, Pins::araddr_bits);
            pins_.arlen() = uint8_t(burst.words - 1);
            pins_.arsize() = size;
            pins_.arburst() = 1;
            reads_.push_back(burst);
            for (int64_t i = 0; i < burst.words; ++i) {
                const int64_t at = i ? std::max(due(t, t.asked), t.level + due(t, t.asked) - t.level_due) : level(t);
                ask(t, at);
            }
        } else {
            pins_.awvalid() = 1;
            pins_.awaddr() = low_bits(address, Pins::awaddr_bits);
            pins_.awlen() = uint8_t(burst.words - 1);
            pins_.awsize() = size;
            pins_.awburst() = 1;
            writes_.push_back(burst);
            write_ = burst;
            put_write_word();
        }
    }

    void put_write_word() {
        Transfer& t = *write_.transfer;
        const int64_t index = ask(t, level(t));
        put_word(pins_.wdata(), word(t, index), word_bytes_);
        put_ones(pins_.wstrb(), word_bytes_);
        pins_.wlast() = --write_.words == 0;
        pins_.wvalid() = 1;
        word_open_ = true;
    }

    void answer_write() {
        if (writes_.empty() || !writes_.front().asked || !writes_.front().written)
            throw Failure(std::string("port ") + Pins::name + ": the design answers a write (bvalid) before it has taken one");
        const Burst burst = writes_.front();
        writes_.pop_front();
        burst.transfer->failed |= bool(pins_.bresp() & 2);
        arrive(*burst.transfer, burst.words);
    }

    void answer_read() {
        if (reads_.empty() || !reads_.front().asked)
            throw Failure(std::string("port ") + Pins::name + ": the design answers a read (rvalid) before it has taken one");
        Burst& burst = reads_.front();
        Transfer& t = *burst.transfer;
        get_word(pins_.rdata(), word(t, burst.index), word_bytes_);
        t.failed |= bool(pins_.rresp() & 2);
        ++burst.index;
        const bool last = --burst.words == 0;
        if (Pins::bursts && bool(pins_.rlast()) != last)
            throw Failure(std::string("port ") + Pins::name + ": rlast is "
                          + (last ? "low with the last word of a burst" : "high before the last word of a burst"));
        take(t);
        if (last) reads_.pop_front();
        arrive(t, 1);
    }

    static constexpr uint64_t unit = Pins::word_bytes / Pins::address_step;  // bytes that an address counts
    static constexpr uint8_t size = uint8_t(63 - __builtin_clzll(uint64_t(Pins::word_bytes)));

    Pins pins_;
    bool address_open_ = false, address_taken_ = false, reading_ = false, word_open_ = false, word_taken_ = false;
    Burst write_;                         // the burst whose words are being put
    std::deque<Burst> writes_, reads_;    // unanswered
};
