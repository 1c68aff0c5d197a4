"""The recording runtime: whole records however a host ends, exact counts, threads, and the clock that it is given."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections import Counter

import numpy as np
import pytest

from workbench.api.records import read_calls

CALLS = '#include "fake.h"\n#include <stdlib.h>\n#include <signal.h>\n#include <unistd.h>\n#include <string.h>\n'
#: As beside a simulated card: the host waits for its records to be written.
NO_LOSS = {"RCW_CARD_FD": "99"}
ENDINGS = {
    "return 3;": 3,
    "exit(4);": 4,
    "_exit(5);": 5,
    "abort();": -signal.SIGABRT,
    "*(volatile int *)0 = 1;": -signal.SIGSEGV,
    "raise(SIGTERM);": -signal.SIGTERM,
    "raise(SIGKILL);": -signal.SIGKILL,
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_records_are_whole_however_the_host_ends(project, ending: str) -> None:
    project.file(
        "main.c",
        CALLS + "int main(void)\n{\n    fake_t *f = fakeOpen(0);\n"
        f"    for (int i = 1; i <= 9000; i++) fakeReg(f, i);\n    {ending}\n    return 0;\n}}\n",
    )
    ran = project.run(project.instrument(), env=NO_LOSS)
    assert ran.exit == ENDINGS[ending]
    assert ran.calls["address"].tolist() == [-1, *range(1, 9001)]
    assert dict(zip(ran.rows["site"].tolist(), ran.rows["count"].tolist(), strict=True)) == {0: 1, 1: 9000}
    assert not ran.rows["lost"].any()


def test_aggregates_agree_with_the_records(project) -> None:
    project.file(
        "main.c",
        CALLS + "int main(void)\n{\n    fake_t *f = fakeOpen(0); uint32_t d[64];\n"
        "    for (int i = 0; i < 6; i++) {\n        for (int j = 0; j < i; j++) fakeReg(f, 9);\n"
        "        #pragma recap big send(data, top.a, m): i > 3\n        fakeWrite(f, d, 0, 4 + i);\n    }\n"
        "    fakeClose(f);\n    return 0;\n}\n",
    )
    ran = project.run(project.instrument())
    took = ran.calls["t1_ps"] - ran.calls["t0_ps"]
    runs: dict[tuple[int, int], list[int]] = {}
    last = None
    for site, state in zip(ran.calls["site"].tolist(), ran.calls["state"].tolist(), strict=True):
        if (site, state) == last:
            runs[site, state][-1] += 1
        else:
            runs.setdefault((site, state), []).append(1)
        last = (site, state)
    for row in ran.rows:
        mine = (ran.calls["site"] == row["site"]) & (ran.calls["state"] == row["state"])
        assert row["count"] == mine.sum()
        assert row["time_ps"] == took[mine].sum()
        size = np.maximum(ran.calls["bytes"][mine], 0)
        assert row["bytes"] == size.sum()
        if size.any():
            rates = (size / (took[mine] * 1e-12))[took[mine] > 0]
            assert row["min_rate"] == pytest.approx(rates.min())
            assert row["max_rate"] == pytest.approx(rates.max())
        lengths = runs[int(row["site"]), int(row["state"])]
        closed = lengths[:-1] if row["run"] else lengths
        assert (row["runs"], row["run"]) == (len(closed), lengths[-1] if row["run"] else 0)
        assert (row["min_run"], row["max_run"]) == (min(closed, default=0), max(closed, default=0))


def test_threads_are_numbered_and_counted_apart(project) -> None:
    project.file(
        "main.c",
        CALLS + "#include <pthread.h>\nstatic fake_t *f;\n"
        "static void *work(void *n)\n{\n"
        "    for (long i = 0; i < 3000 + (long)n; i++) fakeWrite(f, 0, (long)n, 1);\n    return 0;\n}\n"
        "int main(void)\n{\n    pthread_t t[3]; f = fakeOpen(0);\n"
        "    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void *)i);\n"
        "    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n    fakeClose(f);\n    return 0;\n}\n",
    )
    ran = project.run(project.instrument(), env=NO_LOSS)
    assert Counter(ran.calls["thread"].tolist()) == Counter({0: 2, **Counter(ran.calls["thread"].tolist())})
    writes = ran.calls[ran.calls["address"] >= 0]
    assert Counter(writes["address"].tolist()) == {0: 3000, 1: 3001, 2: 3002}
    for thread in (1, 2, 3):
        mine = writes[writes["thread"] == thread]
        assert len(np.unique(mine["address"])) == 1
        assert (np.diff(mine["t0_ps"]) >= 0).all()
    assert sorted(ran.rows["count"].tolist()) == [1, 1, 3000, 3001, 3002]


def test_a_forked_child_records_nothing(project) -> None:
    project.file(
        "main.c",
        CALLS + "#include <sys/wait.h>\nint main(void)\n{\n    fake_t *f = fakeOpen(0);\n    if (!fork()) {\n"
        "        fakeReg(f, 7);\n        exit(0);\n    }\n    wait(0);\n    fakeReg(f, 8);\n    return 0;\n}\n",
    )
    ran = project.run(project.instrument())
    assert ran.truth.count("fakeReg") == 2
    assert ran.calls["address"].tolist() == [-1, 8]


def test_without_a_folder_nothing_is_recorded(project) -> None:
    project.file("main.c", CALLS + "int main(void) { return (int)fakeReg(0, 6); }\n")
    ran = project.run(project.instrument(), record=False)
    assert (ran.exit, len(ran.calls), len(ran.rows)) == (6, 0, 0)


def test_a_folder_that_cannot_be_written(project) -> None:
    project.file("main.c", CALLS + "int main(void) { return (int)fakeReg(0, 6); }\n")
    ran = project.run(project.instrument(), env={"RCW_RAW": str(project.root / "not" / "there")})
    assert ran.exit == 6
    assert "recap: cannot write" in ran.stderr
    assert "No such file or directory" in ran.stderr


def test_a_full_disk_loses_records_and_counts_them(project) -> None:
    project.file(
        "main.c",
        CALLS + "int main(void)\n{\n    for (int i = 1; i <= 20000; i++) fakeReg(0, i);\n    return 9;\n}\n",
    )
    project.run(project.instrument())
    raw = project.work / "raw_full"
    raw.mkdir()
    done = subprocess.run(
        [project.work / "host"],
        env={**os.environ, "FAKE_LOG": "/dev/null", "RCW_RAW": str(raw), **NO_LOSS},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (630_000, 630_000)),
        restore_signals=False,  # Python ignores SIGXFSZ; so does the child then, and a write fails as on a full disk
    )
    assert done.returncode == 9
    rows = np.frombuffer((raw / "host_stats.bin").read_bytes()[4096:], "<i8").reshape(-1)
    whole = len(read_calls(raw))
    assert whole == 17 * 512  # 16 pieces in memory, and the one that there was room for
    row = rows[:12]
    assert (row[2], row[5]) == (20000, 20000 - whole)
    assert (raw / "recording.txt").read_text().splitlines()[2] == f"lost {20000 - whole}"


def test_a_card_library_brings_clock_and_transfers(project) -> None:
    project.file(
        "main.c", CALLS + "int main(void) { fake_t *f = fakeOpen(0); fakeReg(f, 5); fakeReg(f, 5); return 0; }\n"
    )
    card = project.work / "card.c"
    card.write_text(
        "#include <stdint.h>\nstatic int64_t now = 5, transfers = 40;\n"
        "int64_t rcw_now_ps(void) { return now += 100; }\n"
        "int64_t rcw_skip_ps(void) { return 30; }\n"
        "int64_t rcw_transfer_count(void) { return transfers += 1; }\n"
    )
    ran = project.run(project.instrument(), extra=[card], env=NO_LOSS)
    # read once before and once after each call; what recording took before the call and after it is taken off
    assert ran.calls["t0_ps"].tolist() == [105, 305, 505]
    assert ran.calls["t1_ps"].tolist() == [205, 405, 605]
    assert "taken_off_ps 180" in (project.work / "raw_host" / "recording.txt").read_text().splitlines()
    assert ran.calls["first_transfer"].tolist() == [41, 43, 45]
    assert ran.calls["transfers"].tolist() == [1, 1, 1]


def test_the_clock_keeps_time(project) -> None:
    project.file(
        "main.c",
        CALLS + "static void rest(int n) { (void)n; usleep(2000); }\n"
        "int main(void) { for (int i = 0; i < 5; i++) fakeEach(0, rest, 2); return 0; }\n",
    )
    ran = project.run(project.instrument())
    took_ms = (ran.calls["t1_ps"] - ran.calls["t0_ps"]) / 1e9
    assert (took_ms > 3.99).all()
    assert took_ms.min() < 8
    cost, spread, lost, time = (project.work / "raw_host" / "recording.txt").read_text().splitlines()
    assert 0 < int(cost.removeprefix("cost_ps_per_call ")) < 5_000_000
    assert 0 <= int(spread.removeprefix("cost_ps_spread ")) < 5_000_000
    assert lost == "lost 0"
    assert int(time.removeprefix("time_ps ")) > ran.calls["t1_ps"].max()
    assert ran.calls["transfers"].tolist() == [0] * 5
    assert ran.calls["first_transfer"].tolist() == [-1] * 5
