"""In C++ too, calls are told apart by what they are called on was opened as: descriptors, pointers and objects."""

import re
import subprocess
from pathlib import Path

import yaml
from rc_workbench_plugins.c import CLanguage

from workbench.api.records import read_calls
from workbench.model.application import HostSources
from workbench.model.platform import Platform

TEMPLATE = """
schema_version: 2
name: cards
host:
  include_lines: ['#include "cards.hpp"']
  constants: {CARD: '*/card*'}
  entries:
    - {prototype: 'int ::open_file(const char *path)', kind: acquire, opens: card, condition: 'like(path, CARD)',
       fpga: '3'}
    - {prototype: 'int ::put(int fd, int bytes)', kind: send, of: card, bytes: bytes}
    - {prototype: 'void ::close_file(int fd)', kind: release, of: card}
    - {prototype: 'explicit cards::device::device(int number)', kind: acquire, opens: device, condition: number < 8,
       fpga: number}
    - {prototype: 'cards::device::~device()', kind: release, of: device}
    - {prototype: 'cards::buffer cards::device::allocate(int bytes)', kind: other, of: device,
       opens: result.shared.get() is buffer}
    - {prototype: 'void cards::buffer::sync(int bytes)', kind: send, of: self.shared.get() is buffer, bytes: bytes}
    - {prototype: 'static std::unique_ptr<cards::link> cards::link::make(int number)', kind: acquire, opens: link,
       condition: number < 8, fpga: number}
    - {prototype: 'void cards::link::put(int bytes)', kind: send, of: link, bytes: bytes}
    - {prototype: 'void cards::link::end()', kind: release, of: link}
    - {prototype: 'bool ::map(int number, size_t length, char **where)', kind: acquire, opens: '*where is bar',
       mapped_bytes: length, fpga: number}
    - {prototype: 'template <class T> void cards::fill(T *at, int bytes)', kind: send, of: bar, bytes: bytes}
"""
HEADER = """#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
inline int open_file(const char *path) { return std::strlen(path) % 7; }
inline int put(int, int bytes) { return bytes; }
inline void close_file(int) {}
inline bool map(int, size_t, char **where) { static char pages[64]; *where = pages; return true; }
namespace cards {
struct buffer {
    std::shared_ptr<int> shared = std::make_shared<int>(1);
    void sync(int) {}
};
struct device {
    explicit device(int number) : number(number) {}
    device(const device &) = delete;
    ~device() { number = -1; }
    buffer allocate(int) { return buffer(); }
    int number;
};
struct link {
    static std::unique_ptr<link> make(int number) { return std::unique_ptr<link>(number < 9 ? new link : nullptr); }
    void put(int) {}
    void end() {}
};
template <class T> void fill(T *at, int) { *at = T(); }
}
"""
MAIN = """#include "cards.hpp"
#include <cstdio>
#include <utility>
struct application {
    cards::device own;
    explicit application(int own) : own(own) {}
};
template <class D> void through(D &device) { device.allocate(20).sync(21); }
int main()
{
    int card = open_file("/x/card"), log = open_file("/log");
    put(log, 1);
    put(card, 2);
    close_file(card);
    put(card, 3);
    std::printf("%d %d\\n", card, log);

    cards::device one(1), none(9), list{2};
    cards::buffer first = one.allocate(4), copy = first, lone;
    cards::buffer moved = std::move(first);
    none.allocate(5).sync(5);
    copy.sync(6);
    moved.sync(7);
    lone.sync(8);
    list.allocate(9).sync(9);
    application within(3);
    within.own.allocate(10).sync(10);
    static cards::device kept(4);
    kept.allocate(11).sync(11);
    std::unique_ptr<cards::device> held(new cards::device(5));
    held->allocate(12).sync(12);
    through(one);

    auto link = cards::link::make(6), other = cards::link::make(8), gone = cards::link::make(10);
    auto taken = std::move(link);
    taken->put(13);
    other->put(14);
    taken->end();
    taken->put(15);

    char *bar = nullptr, elsewhere[8];
    map(7, 16, &bar);
    cards::fill(bar + 15, 16);
    cards::fill(bar + 16, 17);
    cards::fill(elsewhere, 18);
    return 0;
}
"""


def test_what_calls_open_and_are_called_on(tmp_path: Path) -> None:
    (tmp_path / "cards.hpp").write_text(HEADER)
    (tmp_path / "main.cpp").write_text(MAIN)
    platform = Platform.model_validate(yaml.safe_load(TEMPLATE))
    build = CLanguage().instrument(tmp_path, HostSources(sources=("main.cpp",)), platform, {}, tmp_path / "build")
    objects = []
    for source in build.extra_sources:
        objects.append(tmp_path / f"{source.stem}.o")
        subprocess.run(["gcc", "-O1", "-c", source, "-o", objects[-1]], check=True)
    program = tmp_path / "host"
    words = ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    subprocess.run([*words, *build.sources, *objects, "-o", program, "-pthread"], check=True)
    environment = {"RCW_RAW": str(tmp_path), "RCW_TRACE": "1"}
    assert subprocess.run([program], env=environment, check=True, capture_output=True).stdout == b"0 4\n"
    calls = read_calls(tmp_path).in_order("t1_ps").at()
    told = [
        (build.entries[entry].name.split("::")[-1], size, fpga)
        for entry, size, fpga in calls[["entry", "bytes", "fpga"]].tolist()
    ]
    assert told == [
        ("open_file", -1, 3), ("put", 2, 3), ("close_file", -1, 3),
        ("device", -1, 1), ("device", -1, 2),
        ("allocate", -1, 1), ("sync", 6, 1), ("sync", 7, 1),  # its copy, and where it was moved to
        ("allocate", -1, 2), ("sync", 9, 2),
        ("device", -1, 3), ("allocate", -1, 3), ("sync", 10, 3),
        ("device", -1, 4), ("allocate", -1, 4), ("sync", 11, 4),
        ("device", -1, 5), ("allocate", -1, 5), ("sync", 12, 5),
        ("allocate", -1, 1), ("sync", 21, 1),  # through a template
        ("make", -1, 6), ("put", 13, 6), ("end", -1, 6),
        ("map", -1, 7), ("fill", 16, 7),
        *(("~device", -1, number) for number in (5, 3, 2, 1, 4)),  # but of the one that was not opened
    ]  # fmt: skip
    assert _counted(program.with_suffix(".s"), [*words, "-O0", "-S", *build.sources]) == []
    assert build.missed == ()
    assert all("are counted together here" in problem.message for problem in build.diagnostics)


def _counted(out: Path, compiled: list[str | Path]) -> list[str]:
    """The recorder's functions that take virtual time: those whose basic blocks are counted as the program's."""
    subprocess.run([*compiled, "-fsanitize-coverage=trace-pc", "-o", out], check=True)
    functions = re.split(r"^(\w+):$", out.read_text(), flags=re.MULTILINE)
    named = dict(zip(functions[1::2], functions[2::2], strict=True))
    assert "__sanitizer_cov_trace_pc" in named["main"]
    return [name for name, text in named.items() if "rcw_" in name and "__sanitizer_cov_trace_pc" in text]
