"""C++ sources of a project that call an API in C: each call is a site, wherever it stands."""

import shutil
from pathlib import Path

import pytest

from workbench.api.job import Job
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

TINY = Path(__file__).parent / "data" / "tiny"
POLL = """#pragma once
#include "fpga.h"

#define LAST(fpga) fpgaReadReg(fpga, 0x101)

template <class Until> uint32_t poll(fpga_t* fpga, uint32_t address, Until until)
{
    uint32_t found;
    while (!until(found = fpgaReadReg(fpga, address))) {}
    return found;
}
"""
MAIN = """#include <cstdint>
#include <cstdio>
#include <vector>

#include "fpga.h"
#include "poll.hpp"

enum { DATA = 0x000, DONE = 0x100, SUM = 0x101, WORDS = 16 };

struct always {
    bool operator()(uint32_t) const { return true; }
};

int main()
{
    std::vector<uint32_t> words(WORDS);
    fpga_t* fpga = fpgaOpen(0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) words[i] = uint32_t(round * WORDS + i);
        #pragma recap first send(words, tiny_top, put): round == 0
        #pragma recap more send(words, tiny_top, put)
        fpgaWrite(fpga, words.data(), DATA, WORDS);
        poll(fpga, DONE, [](uint32_t done) { return done != 0; });
    }
    auto close = fpgaClose;
    std::printf("%u %d\\n", poll(fpga, SUM, [](uint32_t) { return true; }), LAST(fpga) == poll(fpga, SUM, always()));
    close(fpga);
    return 0;
}
"""


def test_calls_in_cpp_and_in_what_it_includes_are_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources that start no threads are compiled once, though what records them has a thread of its own."""
    again = "rc_workbench_plugins.simulated_card.host.compile_with_points"
    monkeypatch.setattr(again, lambda *_: pytest.fail("compiled again, for threads"))
    shutil.copytree(TINY, tmp_path, dirs_exist_ok=True)
    host = tmp_path / "host"
    (host / "main.c").unlink()
    (host / "main.cpp").write_text(MAIN)
    (host / "poll.hpp").write_text(POLL)
    project = tmp_path / "tiny.workbench.yaml"
    project.write_text(project.read_text().replace("main.c", "main.cpp"))
    workspace = open_workspace(project, load_plugins())
    scanned = workspace.scan().host.calls
    runs = [
        run_workspace(workspace, RunOptions(out=tmp_path / name, deterministic=True, plain=name == "plain"), Job())
        for name in ("plain", "run")
    ]
    assert [(one.path / "stdout.txt").read_text() for one in runs] == [f"{sum(range(48))} 1\n"] * 2
    run = runs[1]
    sites = run.manifest.sites
    places = [(Path(site.file).name, site.line, site.callee) for site in sites]
    assert places == [
        ("main.cpp", 17, "fpgaOpen"),
        ("main.cpp", 22, "fpgaWrite"),
        ("main.cpp", 25, "fpgaClose"),
        ("main.cpp", 26, "fpgaReadReg"),
        ("poll.hpp", 9, "fpgaReadReg"),
    ]
    assert {(Path(c.file).name, c.line, c.callee) for c in scanned} == {p for p in places if p[2] != "fpgaClose"}
    stats = run.tables["call_stats"]
    states = run.manifest.blocks[0].states
    rows = zip(*(stats[name].tolist() for name in ("site", "state", "count", "bytes", "time_ps")), strict=True)
    told = {(places[site][1], states[state].name): tuple(row) for site, state, *row in rows}
    polls = told.pop((9, "fpgaReadReg (poll)"))
    assert polls[0] >= 5, "one at least in each round, and the sums"
    assert polls[1:] == (4 * polls[0], 32_000_000 * polls[0])
    assert {where: (count, moved) for where, (count, moved, _) in told.items()} == {
        (17, "fpgaOpen"): (1, 0),
        (22, "first"): (1, 64),
        (22, "more"): (2, 128),
        (25, "fpgaClose"): (1, 0),
        (26, "fpgaReadReg"): (1, 4),
    }
