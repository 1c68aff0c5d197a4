"""Host threads on virtual cores: every program's times are those by hand, to the picosecond."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from workbench.run.places import with_source_lines

SCRIPT = Path(__file__).parent / "benchmarks" / "threads.py"
SOURCES = SCRIPT.parent / "thread_programs"
LAST_LOCKS = ("pthread_mutex_lock(&other); /* thread 1 has it */", "pthread_mutex_lock(&lock); /* main has it */")


def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("threads_benchmark", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_program_takes_the_time_by_hand_on_1_2_and_4_cores() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--json", "--once"], capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert {row["cores"] for row in rows} == {1, 2, 4}
    assert len({row["program"].split(",")[0] for row in rows}) >= 20
    assert [row for row in rows if row["got_ps"] != row["by_hand_ps"] or row["wrong"]] == []
    assert done.returncode == 0


def test_threads_that_wait_for_each_other_are_named_with_their_lines(tmp_path: Path) -> None:
    source = SOURCES / "programs.c"
    threads = benchmark()
    built = threads.build("programs.c", tmp_path / "host")
    (program,) = (p for p in threads.PROGRAMS if p.name == "mutex_ring" and p.says)
    ran = threads.run(built, program, 2, tmp_path / "raw")
    said = with_source_lines(ran.message, built.host, source.parent)
    lines = source.read_text().splitlines()
    here = [n for n, line in enumerate(lines, 1) if line.strip() in LAST_LOCKS]
    assert [f"(at programs.c:{n})" in said for n in here] == [True, True]
    assert "the main thread waits for a mutex, which thread 1 has, since 3.000000 us" in said
    assert "thread 1 waits for a mutex, which the main thread has, since 2.000000 us" in said
