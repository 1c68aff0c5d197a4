"""Recorded signals: what is read of a VCD file, and what is said of one that is damaged."""

from pathlib import Path

import pytest

from workbench.formats.vcd import moments, read_scope
from workbench.model.diagnostic import WorkbenchError

WHOLE = """\
$timescale 1 ps $end
$scope module top $end
$var wire 1 ! clk $end
$var wire 8 " data [7:0] $end
$scope module core $end
$var wire 1 # clk $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
0!
bx "
#5000
1!
b101 "
1#
"""


def values(folder: Path, text: str) -> list[tuple[int, dict[str, int]]]:
    file = folder / "waves.vcd"
    file.write_text(text)
    return list(moments(read_scope(file, "TOP", ["clk", "data"])))


def test_values_are_those_of_the_scope(tmp_path: Path) -> None:
    assert values(tmp_path, WHOLE) == [(0, {"clk": 0, "data": 0}), (5000, {"clk": 1, "data": 5})]


@pytest.mark.parametrize(
    ("change", "line", "right"),
    [
        (("#5000", "#5\x1b000"), 13, "#TIME, a number from 0 on"),
        (("#5000", "#" + "9" * 5000), 13, "#TIME, a number from 0 on"),
        (("#0", "#6000"), 13, "#TIME, a number from 6000 on"),
        (("$scope module core $end", "$scope"), 5, "$scope module NAME $end"),
        (("$upscope $end", "$upscope $end\n" * 3), 9, "$scope module NAME $end"),
        (("wire 1 # clk $end", "wire"), 6, "$var wire BITS CODE NAME $end"),
    ],
)
def test_a_damaged_line_is_reported_where_it_is(tmp_path: Path, change: tuple[str, str], line: int, right: str) -> None:
    with pytest.raises(WorkbenchError) as raised:
        values(tmp_path, WHOLE.replace(*change))
    (problem,) = raised.value.diagnostics
    assert (problem.file, problem.line) == (str(tmp_path / "waves.vcd"), line)
    assert right in problem.hint


def test_a_signal_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match="no signal 'data' in TOP"):
        values(tmp_path, WHOLE.replace("data", "other"))
