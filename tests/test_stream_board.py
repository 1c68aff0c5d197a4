"""A board whose transfers have no addresses: its counters come through its streams."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from rtl_simulator import make_board

from workbench.model.run import Run
from workbench.session.keep.collecting import collect_records
from workbench.session.make.pipeline import instrument_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
from targets import visits  # what the benchmark compares

FOLDER = Path(__file__).parent / "data" / "stream_board"
SAYS = f"0 {sum(range(0x414F, 0x4152))}\n"  # no word came back wrong, reserved ones of the read-out's among them


def run_on_board(project: Path, folder: Path, built: Path | None = None) -> Run:
    """Instrument, make, run and collect. `built` is a folder where the design was made already: it is the same."""
    plugins = load_plugins()
    instrument_workspace(open_workspace(project, plugins), {}, folder / "tree")
    for name in ("build", "raw"):
        (folder / name).mkdir()
    if built:
        shutil.copyfile(built / "build" / "libfpga.so", folder / "build" / "libfpga.so")
    command = make_board(folder / "tree", makefile=project.parent / "Makefile")
    made = subprocess.run(command, cwd=folder / "build", capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "warning" not in made.stderr
    environment = {**os.environ, "RCW_RAW": str(folder / "raw")}
    ran = subprocess.run([folder / "build" / "host"], env=environment, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, SAYS, "")
    return collect_records(folder / "tree", folder / "raw", folder / "collected", plugins)


def test_a_boards_counters_come_through_its_streams(tmp_path: Path) -> None:
    """By functions of C and by methods of a C++ object, which send arrays, values and vectors."""
    in_c = run_on_board(FOLDER / "echo.workbench.yaml", tmp_path / "c")
    in_cpp = run_on_board(FOLDER / "cpp" / "echo.workbench.yaml", tmp_path / "cpp", tmp_path / "c")
    for board in (in_c, in_cpp):
        seen = visits(board)  # the board's clock stands after its last word was taken: that is not given yet
        assert (seen["echo.answer", "take"], seen["echo.answer", "give"]) == (12 + 3 + 2, 12 + 3 + 1)
        times = board.tables["state_time"]
        of_fpga = times["block"] == next(
            n for n, block in enumerate(board.manifest.blocks) if block.id == "echo.answer"
        )
        assert times["cycles"][of_fpga].sum() == board.manifest.clocks[0].cycles
