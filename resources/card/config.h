// What the workbench tells the card process: lines of a key and numbers (see simulate.py); unknown keys are the host's.
#pragma once
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ports/port.h"
#include "streams.h"
#include "taps.h"

// One word moved to read the monitors out: "write", "write_index" (the number of the word wanted), or "read".
struct Access {
    std::string act;
    uint64_t address = 0, value = 0;
    int64_t settle_cycles = 0;  // before it
};

// How the monitors are read through one of the ports; there are no words where nothing is.
struct ReadOut {
    int64_t words = 0, port = 0;
    int64_t first = INT64_MAX, last = -1;  // the addresses that the application leaves to the monitors
    std::vector<Access> freeze, each;      // the last of `each` gives a part of a word, and those that follow
    int64_t parts = 1, block_words = 1;    // of a word; that may come in one transfer
    uint64_t marks = 0;                    // of a stream: the first of its reserved words; then no range, and no `each`
    int64_t answer_port = 0;
    int64_t acts_cycles = 0;  // until all monitors have heard of the freeze
};

// From when to when the design's signals are written, and how many bytes at most; no time where they are not.
struct WavePlan {
    int64_t from_ps = 0, to_ps = -1, most_bytes = 0;
};

// A design that cards hold, compiled.
struct DesignPlan {
    std::string library;  // the file to load it from
    std::string places;   // the file that tells at which lines it may fail
    std::vector<std::string> beside;  // the command of a simulator beside
    ReadOut read_out;
    std::vector<std::vector<Tap>> taps;  // by clock
    std::vector<StreamPlan> streams;     // by clock
    std::vector<StreamCrossing> crossings;
    std::vector<std::pair<int, int>> switches;  // monitors, and numbers that switch their agents, in order
    std::map<std::string, int> depths;   // words that FIFOs hold, by their instance below the user's top
    int blocks = 0, stream_count = 0, fifo_count = 0;

    explicit DesignPlan(size_t clocks) : taps(clocks), streams(clocks) {}
};

// A card: its design, and the numbers of its first block, stream and FIFO among those of all cards.
struct CardPlan {
    size_t design = 0;
    std::string name;
    int blocks = 0, streams = 0, fifos = 0;
};

// A link from one FPGA to another, by their numbers and those of their ports; `fifo` is its number among the FIFOs of all, -1
// where what it holds is not counted.
struct LinkPlan {
    size_t from = 0, to = 0;
    int32_t from_port = 0, to_port = 0;
    int64_t latency_ps = 0, gap_ps = 0, byte_fs = 0, words = 0;
    int fifo = -1;
};

struct Config {
    std::vector<ClockDomain> clocks;
    size_t interrupt_clock = 0;
    int64_t cycle_limit = 0, idle_cycle_limit = 0;
    bool trace = false;
    bool skip_rest = true;
    WavePlan waves;
    bool counters = true;  // whether the designs have their counters: without them the taps tell what they would
    std::vector<DesignPlan> designs;
    std::vector<CardPlan> cards;
    std::vector<LinkPlan> links;

    std::string raw;  // the folder of the run's records

    Config(const std::string& path, const std::string& raw) : raw(raw) {
        std::ifstream file(path);
        if (!file) throw std::runtime_error("cannot read " + path);
        std::string line;
        int64_t drift = 0;
        while (std::getline(file, line)) {
            std::istringstream words(line);
            std::string key;
            words >> key;
            if (key == "clock") {
                ClockDomain one;
                one.clock.drift = drift;
                words >> one.clock.period_num >> one.clock.period_den;
                clocks.push_back(one);
            }
            else if (key == "clock_drift") words >> drift;
            else if (key == "interrupt_clock") words >> interrupt_clock;
            else if (key == "cycle_limit") words >> cycle_limit;
            else if (key == "idle_cycle_limit") words >> idle_cycle_limit;
            else if (key == "trace") words >> trace;
            else if (key == "skip_rest") words >> skip_rest;
            else if (key == "counters") words >> counters;
            else if (key == "waves") words >> waves.from_ps >> waves.to_ps >> waves.most_bytes;
            else if (key == "card") {
                CardPlan card;
                for (const CardPlan& before : cards) {
                    const DesignPlan& design = designs.at(before.design);
                    card.blocks += design.blocks, card.streams += design.stream_count, card.fifos += design.fifo_count;
                }
                words >> card.design;
                std::getline(words >> std::ws, card.name);
                cards.push_back(card);
            }
            else if (key == "link") {
                LinkPlan link;
                words >> link.from >> link.from_port >> link.to >> link.to_port;
                words >> link.latency_ps >> link.gap_ps >> link.byte_fs >> link.words >> link.fifo;
                links.push_back(link);
            }
            else if (key == "design") {
                designs.emplace_back(clocks.size());
                std::getline(words >> std::ws, designs.back().library);
            }
            else if (!designs.empty()) read(designs.back(), key, words);
        }
    }

private:
    static void read(DesignPlan& of, const std::string& key, std::istringstream& words) {
        if (key == "blocks") words >> of.blocks;
        else if (key == "read_out") {
            words >> of.read_out.words >> of.read_out.first >> of.read_out.last >> of.read_out.port;
        }
        else if (key == "freeze" || key == "each") {
            Access access;
            words >> access.act >> access.address >> access.value >> access.settle_cycles;
            (key == "freeze" ? of.read_out.freeze : of.read_out.each).push_back(access);
        }
        else if (key == "pieces") words >> of.read_out.parts >> of.read_out.block_words >> of.read_out.acts_cycles;
        else if (key == "marks") {
            words >> of.read_out.marks >> of.read_out.answer_port;
            of.read_out.first = INT64_MAX, of.read_out.last = -1;
        }
        else if (key == "stream") {
            int number = 0;
            size_t clock = 0;
            words >> number >> clock;
            of.streams.at(clock).streams.push_back(number);
            ++of.stream_count;
        }
        else if (key == "stream_wait") {
            StreamWait wait{};
            size_t clock = 0;
            words >> wait.stream >> wait.number >> wait.valid >> wait.other >> wait.by_valid >> clock;
            of.streams.at(clock).waits.push_back(wait);
        }
        else if (key == "fifo") {
            StreamFifo fifo{};
            size_t takes = 0, gives = 0;
            words >> fifo.number >> fifo.input >> fifo.output >> takes >> gives;
            if (takes == gives) of.streams.at(takes).fifos.push_back(fifo);
            else of.crossings.push_back({fifo, takes, gives});
            ++of.fifo_count;
        }
        else if (key == "places") std::getline(words >> std::ws, of.places);
        else if (key == "beside") std::getline(words >> std::ws, of.beside.emplace_back());
        else if (key == "depth") {
            std::string fifo;
            words >> fifo >> of.depths[fifo];
        }
        else if (key == "switch") {
            auto& [monitor, number] = of.switches.emplace_back();
            words >> monitor >> number;
        }
        else if (key == "tap") {
            Tap tap{};
            size_t clock = 0;
            words >> tap.block >> tap.lsb >> tap.width >> clock;
            of.taps.at(clock).push_back(tap);
        }
    }
};
