"""A board whose transfers have no addresses: its counters come through its streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rtl_simulator import make_board

from workbench.session.collecting import collect_records
from workbench.session.opening import open_workspace
from workbench.session.pipeline import instrument_workspace
from workbench.session.plugins import load_plugins

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
from targets import visits  # what the benchmark compares

FOLDER = Path(__file__).parent / "data" / "stream_board"
SAYS = f"0 {sum(range(0x414F, 0x4152))}\n"  # no word came back wrong, reserved ones of the read-out's among them


def test_a_boards_counters_come_through_its_streams(tmp_path: Path) -> None:
    plugins = load_plugins()
    workspace = open_workspace(FOLDER / "echo.workbench.yaml", plugins)
    instrument_workspace(workspace, {}, tmp_path / "tree")
    (tmp_path / "build").mkdir()
    command = make_board(tmp_path / "tree", "OPT=-O0", makefile=FOLDER / "Makefile")
    made = subprocess.run(command, cwd=tmp_path / "build", capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "warning" not in made.stderr
    (tmp_path / "raw").mkdir()
    environment = {**os.environ, "RCW_RAW": str(tmp_path / "raw")}
    ran = subprocess.run([tmp_path / "build" / "host"], env=environment, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, SAYS, "")
    board = collect_records(tmp_path / "tree", tmp_path / "raw", tmp_path / "collected", plugins)
    seen = visits(board)  # the board's clock stands after its last word was taken: that is not given yet
    assert (seen["echo.answer", "take"], seen["echo.answer", "give"]) == (12 + 3 + 2, 12 + 3 + 1)
    times = board.tables["state_time"]
    of_fpga = times["block"] == next(n for n, block in enumerate(board.manifest.blocks) if block.id == "echo.answer")
    assert times["cycles"][of_fpga].sum() == board.manifest.clocks[0].cycles
