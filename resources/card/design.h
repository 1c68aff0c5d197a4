// A design as the card runs it: its clocks, resets, taps and streams, and the drivers of its ports. The card is the same for
// every design and compiled once; design.cpp is compiled with each, into a library that the card loads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ports/port.h"

class Design {
public:
    const int clocks, tap_words, streams;
    const bool has_interrupt;

    virtual ~Design() = default;

    virtual std::vector<std::unique_ptr<Port>> make_ports(std::vector<ClockDomain>& clocks) = 0;

    // The reset sequence: sixteen cycles of every clock with the resets active, which nothing counts.
    virtual void reset() = 0;

    // A cycle of the only clock is settle(), then edge(): its inputs are there before the rising edge that ends it.
    virtual void settle() = 0;
    virtual void edge() = 0;

    // The card lets its inputs be for so many of these cycles.
    virtual void stays(int64_t) {}

    // The same of several clocks, some of which have their edge.
    virtual void set_clocks(const std::vector<bool>& which, int level) = 0;

    virtual bool interrupt() const = 0;

    // The packed tap port as 32-bit words, least significant first; `spare` is room for a narrow port's. So are valid and
    // ready of the streams.
    virtual const uint32_t* taps(uint32_t* spare) const = 0;
    virtual const uint32_t* valid(uint32_t* spare) const = 0;
    virtual const uint32_t* ready(uint32_t* spare) const = 0;
    size_t stream_words() const { return size_t(streams + 31) / 32; }

    // All that it remembers, as it lies in memory; none where that is not all that it does by.
    virtual const uint8_t* bytes() const = 0;
    virtual size_t size() const = 0;

    // All that the design remembers, but for what no stream ever depends on.
    virtual std::vector<uint8_t> state() const = 0;

    // Begin a file of all signals over time, and say what they are now: false once it has so many bytes, and is closed.
    virtual void open_waves(const std::string& path, int64_t most_bytes) = 0;
    virtual bool wave(int64_t ps) = 0;
    virtual void close_waves() = 0;

    // Whether it ended the simulation itself.
    virtual bool finished() const = 0;

protected:
    Design(int clocks, int tap_bits, int streams, bool has_interrupt)
        : clocks(clocks), tap_words((tap_bits + 31) / 32), streams(streams), has_interrupt(has_interrupt) {}
};

// What a compiled design (design.cpp) is loaded for: it makes one. `beside` is the command of the simulator that it asks,
// where it asks one.
extern "C" Design* rcw_make_design(const std::vector<std::string>& beside);
