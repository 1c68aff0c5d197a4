// A VCD file of the design's signals, in the hierarchy that its author wrote. Times are picoseconds.
#pragma once
#include <cerrno>
#include <cstring>
#include <list>
#include <sstream>
#include <string>
#include <vector>

#include "ports/port.h"
#include "verilated_vcd_c.h"

// The head of the file that Verilator writes, whose scopes are those of the instrumented design: the user's top is
// `recap_user` in a top of the same name, beside what observes it. That comes last here, in a scope `recap`.
class WaveHead {
public:
    explicit WaveHead(const std::string& text) {
        std::vector<Scope*> open{&root_};
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            const size_t begin = line.find_first_not_of(' ');
            if (begin == std::string::npos) continue;
            line.erase(0, begin);
            if (line.rfind("$scope", 0) == 0) {
                open.back()->inner.push_back({line, {}, {}});
                open.push_back(&open.back()->inner.back());
            } else if (line.rfind("$upscope", 0) == 0) {
                open.pop_back();
            } else if (line.rfind("$enddefinitions", 0) != 0) {
                open.back()->lines.push_back(line);
            }
        }
    }

    std::string text() const {
        std::string out;
        for (const std::string& line : root_.lines) out += line + "\n";
        for (const Scope& verilated : root_.inner)  // its signals are those of the top's ports
            for (const Scope& top : verilated.inner) {
                const Scope* user = nullptr;
                for (const Scope& inner : top.inner)
                    if (inner.line == "$scope module recap_user $end") user = &inner;
                if (!user) {
                    write(out, top);
                    continue;
                }
                write(out, {top.line, user->lines, user->inner});
                Scope ours{"$scope module recap $end", top.lines, {}};
                for (const Scope& inner : top.inner)
                    if (&inner != user) ours.inner.push_back(inner);
                write(out, ours);
            }
        return out + "$enddefinitions $end";
    }

private:
    struct Scope {
        std::string line;
        std::vector<std::string> lines;
        std::list<Scope> inner;
    };

    static void write(std::string& out, const Scope& scope) {
        out += scope.line + "\n";
        for (const std::string& line : scope.lines) out += line + "\n";
        for (const Scope& inner : scope.inner) write(out, inner);
        out += "$upscope $end\n";
    }

    Scope root_;
};

class Waves {
public:
    explicit Waves(int64_t most_bytes) : most_bytes_(most_bytes) {
        vcd.set_time_unit("1ps");
        vcd.set_time_resolution("1ps");
    }

    void open(const std::string& path) {
        vcd.open(path.c_str());
        if (!vcd.isOpen()) throw Failure("cannot write " + path + ": " + std::strerror(errno));
    }

    // What the signals are from `ps` on; false once the file has all the bytes that it may, and is closed.
    bool dump(int64_t ps) {
        vcd.dump(uint64_t(ps));
        if (file_.bytes <= most_bytes_) return true;
        vcd.close();
        return false;
    }

private:
    struct File : VerilatedVcdFile {
        int64_t bytes = 0;
        std::string head;  // as long as it is not whole
        bool begun = false;

        ssize_t write(const char* from, ssize_t count) override {
            bytes += count;
            if (begun) return all(from, count) ? count : -1;
            head.append(from, size_t(count));
            const char* const end = "$enddefinitions $end";
            const size_t at = head.find(end);
            if (at == std::string::npos) return count;
            begun = true;
            const std::string text = WaveHead(head.substr(0, at)).text() + head.substr(at + std::strlen(end));
            return all(text.data(), ssize_t(text.size())) ? count : -1;
        }

        bool all(const char* from, ssize_t count) {
            while (count > 0) {
                const ssize_t wrote = VerilatedVcdFile::write(from, count);
                if (wrote < 0 && errno != EINTR && errno != EAGAIN) return false;
                if (wrote < 0) continue;
                from += wrote;
                count -= wrote;
            }
            return true;
        }
    };

    const int64_t most_bytes_;
    File file_;

public:
    VerilatedVcdC vcd{&file_};
};
