// What the workbench tells the card process: lines of a key and numbers (see simulate.py); unknown keys are the host's.
#pragma once
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ports/port.h"
#include "taps.h"

// One word moved to read the monitors out: "write", "write_index" (the number of the word wanted), or "read".
struct Access {
    std::string act;
    uint64_t address = 0, value = 0;
    int64_t settle_cycles = 0;  // before it
};

struct Config {
    std::vector<ClockDomain> clocks;
    int64_t cycle_limit = 0, idle_cycle_limit = 0;
    bool trace = false;
    int64_t counter_words = 0;  // 0: no monitors to read
    int64_t read_out_port = 0;
    int64_t read_out_first = INT64_MAX, read_out_last = -1;  // the addresses that the application leaves to the monitors
    std::vector<Access> freeze, each;  // the last of `each` gives a word
    std::vector<Tap> taps;

    explicit Config(const std::string& path) {
        std::ifstream file(path);
        if (!file) throw std::runtime_error("cannot read " + path);
        std::string line;
        while (std::getline(file, line)) {
            std::istringstream words(line);
            std::string key;
            words >> key;
            if (key == "clock") {
                ClockDomain clock;
                words >> clock.period_num >> clock.period_den;
                clocks.push_back(clock);
            }
            else if (key == "cycle_limit") words >> cycle_limit;
            else if (key == "idle_cycle_limit") words >> idle_cycle_limit;
            else if (key == "trace") words >> trace;
            else if (key == "read_out") words >> counter_words >> read_out_first >> read_out_last >> read_out_port;
            else if (key == "freeze" || key == "each") {
                Access access;
                words >> access.act >> access.address >> access.value >> access.settle_cycles;
                (key == "freeze" ? freeze : each).push_back(access);
            }
            else if (key == "tap") {
                Tap tap{};
                words >> tap.block >> tap.lsb >> tap.width;
                taps.push_back(tap);
            }
        }
    }
};
