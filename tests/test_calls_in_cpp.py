"""C++ sources of a project: their API calls are counted, those of one function together."""

from __future__ import annotations

import shutil
from pathlib import Path

from workbench.api.job import Job
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import load_plugins
from workbench.session.workspace import open_workspace

TINY = Path(__file__).parent / "data" / "tiny"
POLL = """#pragma once
#include "fpga.h"

/* fpgaWait(fpga) is not called */
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

int main()
{
    std::vector<uint32_t> words(WORDS);
    fpga_t* fpga = fpgaOpen(0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) words[i] = uint32_t(round * WORDS + i);
        fpgaWrite(fpga, words.data(), DATA, WORDS);
        poll(fpga, DONE, [](uint32_t done) { return done != 0; });
    }
    std::printf("%u\\n", poll(fpga, SUM, [](uint32_t) { return true; }));
    fpgaClose(fpga);
    return 0;
}
"""


def test_calls_in_cpp_and_in_what_it_includes_are_counted_by_function(tmp_path: Path) -> None:
    shutil.copytree(TINY, tmp_path, dirs_exist_ok=True)
    host = tmp_path / "host"
    (host / "main.c").unlink()
    (host / "main.cpp").write_text(MAIN)
    (host / "poll.hpp").write_text(POLL)
    project = tmp_path / "tiny.workbench.yaml"
    project.write_text(project.read_text().replace("main.c", "main.cpp"))
    options = RunOptions(out=tmp_path / "run", deterministic=True)
    run = run_workspace(open_workspace(project, load_plugins()), options, Job())
    assert (run.path / "stdout.txt").read_text() == f"{sum(range(48))}\n"
    sites = run.manifest.sites
    assert {site.callee: (Path(site.file).name, site.line) for site in sites} == {
        "fpgaOpen": ("main.cpp", 13),
        "fpgaWrite": ("main.cpp", 16),
        "fpgaClose": ("main.cpp", 20),
        "fpgaReadReg": ("poll.hpp", 8),
    }
    stats = run.tables["call_stats"]
    told = {sites[site].callee: (count, moved) for site, count, moved in
            zip(*(stats[name].tolist() for name in ("site", "count", "bytes")), strict=True)}  # fmt: skip
    reads = told.pop("fpgaReadReg")
    assert told.pop("fpgaWrite") == (3, 3 * 64)
    assert [told[name][0] for name in ("fpgaOpen", "fpgaClose")] == [1, 1]
    assert reads[0] >= 4, "one at least in each round, and the sum"
    assert reads[1] == 4 * reads[0]
    times = dict(zip((sites[site].callee for site in stats["site"]), stats["time_ps"].tolist(), strict=True))
    assert times["fpgaReadReg"] == reads[0] * 32_000_000
    notes = [one for one in run.manifest.diagnostics if "in C++ are counted together" in one.message]
    assert len(notes) == 4
