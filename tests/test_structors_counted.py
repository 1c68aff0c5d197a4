"""Constructors and destructors of a library are counted once, with a current clang and its linker too."""

import os
import sys
from collections import Counter
from pathlib import Path

from rc_workbench_plugins.c import CLanguage

from workbench.api.host_stats import read_stats
from workbench.api.job import Job
from workbench.model.application import HostSources
from workbench.model.platform import CallKind, Host, HostEntry, Platform
from workbench.system.process import run_program

#: Neither exceptions nor a standard library: clang's own takes a minute to be built.
CLANG = (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined", "-w")
CPP = ("-x", "c++", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-nostdinc++")
HEADER = """#pragma once
namespace lib {
struct Base { Base(); virtual ~Base(); int of = 0; };
struct Card : Base { explicit Card(int number); ~Card() override; Card *next = nullptr; };
}
"""
LIBRARY = """#include "card.hpp"
extern "C" int putchar(int);
void operator delete(void *) noexcept;
void operator delete(void *, unsigned long) noexcept;
namespace lib {
Base::Base() {}
Base::~Base() { putchar('b'); }
Card::Card(int) {}
Card::~Card() { putchar('c'); if (next) next->~Card(); }
}
"""
MAIN = """#include "card.hpp"
void *operator new(unsigned long, void *at) noexcept { return at; }
void operator delete(void *) noexcept {}
void operator delete(void *, unsigned long) noexcept {}
alignas(16) static char room[4][64];
int main()
{
    lib::Card first(0), second(1);
    first.next = new (room[0]) lib::Card(2);
    lib::Base *derived = new (room[1]) lib::Card(3);
    delete derived;
    return 0;
}
"""
PROTOTYPES = ("lib::Card::Card(int number)", "lib::Card::~Card()", "lib::Base::Base()", "lib::Base::~Base()")


def test_a_librarys_structors_are_counted_once(tmp_path: Path) -> None:
    api, root = tmp_path / "api", tmp_path / "host"
    api.mkdir()
    root.mkdir()
    (api / "card.hpp").write_text(HEADER)
    (api / "card.cpp").write_text(LIBRARY)
    (root / "main.cpp").write_text(MAIN)
    entries = tuple(HostEntry(prototype=text, kind=CallKind.OTHER) for text in PROTOTYPES)
    platform = Platform(schema_version=2, name="card", host=Host(include_lines=('"card.hpp"',), entries=entries))
    host = HostSources(sources=("main.cpp",), include_dirs=(str(api),), flags=("-std=c++17",))
    build = CLanguage().instrument(root, host, platform, {}, tmp_path / "out", Job())
    sources = [(one, CPP) for one in (*build.sources, api / "card.cpp")] + [(one, ()) for one in build.extra_sources]
    objects = [tmp_path / f"{number}.o" for number in range(len(sources))]
    for (source, words), target in zip(sources, objects, strict=True):
        built = run_program([*CLANG, "-O2", f"-I{api}", *build.flags, *words, "-c", source, "-o", target])
        assert built.returncode == 0, built.stderr
    linked = run_program([*CLANG, *objects, *build.link_flags, "-o", tmp_path / "program", "-pthread"])
    assert linked.returncode == 0, linked.stderr
    raw = tmp_path / "raw"
    raw.mkdir()
    done = run_program([tmp_path / "program"], env={**os.environ, "RCW_RAW": str(raw)})
    assert (done.returncode, Counter(done.stdout)) == (0, {"c": 4, "b": 4})
    stats, counts = read_stats(raw), Counter[str]()
    assert stats is not None
    for row in (row for thread in stats.threads for row in thread.rows):
        counts[build.sites[row["site"]].callee] += int(row["count"])
    assert counts["lib::Card::~Card"] == 4
    assert counts["lib::Card::Card"] == 4
    assert counts["lib::Base::~Base"] <= 4
    assert counts["lib::Base::Base"] <= 4
