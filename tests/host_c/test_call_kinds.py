"""Every kind of call, in C and C++, is recorded or reported (more builds: benchmarks/call_coverage.py)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from call_coverage import Row, instrumented, measure, wrong


@pytest.mark.parametrize(("language", "compiler", "standard"), [("C", "gcc", "c11"), ("C++", "g++", "c++17")])
def test_every_kind_of_call_is_recorded_or_reported(tmp_path: Path, language, compiler, standard) -> None:
    program = instrumented(tmp_path / "program", language, standard)
    rows = measure(program, [compiler], ["-O1"])
    assert wrong(rows, program.of.WHY) == []
    assert sum(row.recorded == row.true for row in rows) >= len(rows) - len(program.of.WHY)


def test_a_lost_call_is_told() -> None:
    rows = [
        Row("kept", 3, 3, 0),
        Row("lost", 3, 2, 0),
        Row("too many", 3, 4, 0),
        Row("told", 3, 1, 1),
        Row("one", 3, 0, 1),
    ]
    told = [text.split(":")[0] for text in wrong(rows, {"told": ("why", 2), "one": ("why", 2)})]
    assert told == ["lost", "too many", "one"]
