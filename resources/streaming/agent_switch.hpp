// What switches the agents of an application as it starts, without a new build: $RCW_AGENT has numbers, as
// rc_workbench_plugins/streaming/agents/switching.py makes them. A setting is four bits more of a length, the highest
// first; a length for frames; or whether a statement is counted. What was given is kept in the folder $RCW_RAW.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "agent_plan.hpp"
#include "agent_thread.hpp"

namespace streaming::agent {

// As workbench/api/instrument/board.py has them; the monitors of these numbers are the agents on the processor and on a card.
constexpr unsigned long settings = 256, monitors = 64, of_host = 62, of_card = 63, first_length = 16, first_statement = 80;

inline std::string switches() {
    const char* text = std::getenv("RCW_AGENT");
    return text ? text : "";
}

// The settings of a monitor, in order.
inline std::vector<unsigned> settings_of(unsigned long card, unsigned long monitor) {
    std::vector<unsigned> found;
    const std::string text = switches();
    for (const char* at = text.c_str(); *at;) {
        char* rest = nullptr;
        const unsigned long number = std::strtoul(at, &rest, 10);
        if (rest == at) break;
        if (number / settings == card * monitors + monitor) found.push_back(unsigned(number % settings));
        at = rest;
    }
    return found;
}

inline void keep_switches() {
    if (const std::string text = switches() + "\n"; text != "\n") {
        File file("stream_switched.txt");
        file.write(text.data(), text.size());
        file.close();
    }
}

// The statements that are counted, and what their conditions ask for.
inline Plan counted(const Plan& plan, const std::vector<char>& on, size_t measures) {
    Plan found{plan.edges, plan.paths, {}, {}};
    std::vector<char> needed(plan.measures.size());
    const auto ask = [&](const Condition& condition, auto& again) -> void {
        for (const Step& step : condition)
            if (step.code == Code::frame && !needed[size_t(step.at)]) {
                needed[size_t(step.at)] = true;
                again(plan.measures[size_t(step.at)].when, again);
            }
    };
    for (const Assertion& one : plan.asserts)
        if (on[measures + size_t(one.number)]) {
            found.asserts.push_back(one);
            ask(one.condition, ask);
        }
    for (const Measure& one : plan.measures)
        if (one.number >= 0 && on[size_t(one.number)]) ask(one.when, ask);
    std::vector<int> place(plan.measures.size());
    for (size_t i = 0; i < plan.measures.size(); ++i) {
        const Measure& one = plan.measures[i];
        const bool shown = one.number >= 0 && on[size_t(one.number)];
        if (!shown && !needed[i]) continue;
        place[i] = int(found.measures.size());
        found.measures.push_back(one);
        if (!shown) found.measures.back().number = -1;
    }
    const auto move = [&](Condition& condition) {
        for (Step& step : condition)
            if (step.code == Code::frame) step.at = place[size_t(step.at)];
    };
    for (Measure& one : found.measures) move(one.when);
    for (Assertion& one : found.asserts) move(one.condition);
    return found;
}

// The query as $RCW_AGENT has it: lengths of frames (ps, or elements), and which of its statements are counted.
inline Query switched(Query query) {
    const std::vector<unsigned> asked = settings_of(0, of_host);
    if (asked.empty()) return query;
    size_t measures = 0, asserts = 0;
    for (const Plan& plan : query.parts) {
        for (const Measure& one : plan.measures) measures = std::max(measures, size_t(one.number + 1));
        for (const Assertion& one : plan.asserts) asserts = std::max(asserts, size_t(one.number + 1));
    }
    std::vector<char> on(measures + asserts, true);
    int64_t length = 0;
    for (unsigned code : asked) {
        if (code < first_length) {
            length = length << 4 | int64_t(code);
        } else if (code < first_statement) {
            for (Plan& plan : query.parts)
                for (Measure& one : plan.measures)
                    if ((one.frame_elements > 0) == (code > first_length))
                        (one.frame_elements ? one.frame_elements : one.frame_ps) = length;
            length = 0;
        } else if (const size_t number = (code - first_statement) / 2; number < on.size()) {
            on[number] = code & 1;
        }
    }
    for (Plan& plan : query.parts) plan = counted(plan, on, measures);
    return query;
}

} // namespace streaming::agent
