"""A C++ class API on a real machine: a method of the program's object reads the counters."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from rtl_simulator import make_board

from workbench.cli.main import main
from workbench.model.run import Run
from workbench.session.keep.collecting import collect_records
from workbench.session.make.pipeline import instrument_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "resources" / "examples" / "own_board"
BOARD = Path(__file__).parent / "data" / "cpp_board" / "Makefile"
#: As the help page has it.
TRANSFERS = """  transfers:
    send_c: self.write(address, data, bytes);
    receive_c: auto words_read = self.read(address, words); memcpy(data, words_read.data(), bytes);
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = shutil.copytree(EXAMPLE, tmp_path / "own_board")
    template = folder / "board.yaml"
    template.write_text(template.read_text().replace("\nhost:\n", f"\nhost:\n{TRANSFERS}"))
    return folder / "own_board.workbench.yaml"


def test_the_counters_of_a_class_api_are_read_and_count_the_designs_work(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "resources" / "help" / "cpp_board.md").read_text()
    assert all(f"    {line}\n" in page for line in TRANSFERS.splitlines()[1:])
    assert main(["template", "check", str(project.with_name("board.yaml"))]) == 0
    assert "measure on a board: yes" in capsys.readouterr().out
    board = run_on_board(project, tmp_path, f"FPGA={BOARD.parents[1] / 'board'}", "peak 32768, sum 134584731\n")
    # eight blocks of 1,024 words, each looked at in as many cycles and one more
    work = {("level.scan", "begin_block"): 8, ("level.scan", "look"): 8 * 1025, ("level.port", "fill"): 8 * 1024}
    assert busy(board).items() >= work.items()


TWO = """int main()
{
    lx::Board left(0), right(1);
    Meter first(left), second(right);
    std::vector<int32_t> samples(Meter::block_words, -3);
    uint32_t sum = second.measure(samples).sum;
    for (int block = 0; block < 3; block++) sum += first.measure(samples).sum;
    std::printf("sum %u\\n", sum);
}
"""


def test_each_of_two_fpgas_is_counted_by_the_object_that_holds_it(project: Path, tmp_path: Path) -> None:
    template, main_cpp, level = (project.parent / n for n in ("board.yaml", "host/main.cpp", "hdl/level.v"))
    main_cpp.write_text(main_cpp.read_text().partition("int main()")[0] + TWO)
    text = level.read_text().replace("rd_data\n);", "rd_data,\n    output irq\n);\n    assign irq = 0;")
    level.write_text(text)
    project.write_text(project.read_text() + "  fpgas:\n    - {name: left}\n    - {name: right}\n")
    host, _ = instrument_workspace(open_workspace(project, load_plugins()), {}, tmp_path / "no_tree")
    (lack,) = [d for d in host.diagnostics if "cannot be run on a real machine" in d.message]
    assert "do not say which FPGA's object they are called on. Give its constructor `opens: board`" in lack.text()
    entries = template.read_text().replace("fpga: slot\n", "fpga: slot\n      opens: board\n")
    entries = entries.replace("kind: release, ", "kind: release, of: board, ")
    template.write_text(re.sub(r"(      kind: (?:send|receive)\n)", r"\1      of: board\n", entries))
    run = run_on_board(project, tmp_path, f"FPGA={BOARD.parents[1] / 'fpgas_board'}", "sum 12288\n")
    looked = {"left:level.scan": 3, "right:level.scan": 1}
    assert {block: busy(run)[block, "begin_block"] for block in looked} == looked
    assert {block: busy(run)[block, "look"] for block in looked} == {block: n * 1025 for block, n in looked.items()}


def run_on_board(project: Path, folder: Path, which: str, prints: str) -> Run:
    """Instrument, make, run and collect, as a person does it by hand."""
    tree, build, records = (folder / name for name in ("tree", "build", "records"))
    _, hdl = instrument_workspace(open_workspace(project, load_plugins()), {}, tree)
    assert not hdl.diagnostics
    build.mkdir()
    records.mkdir()
    command = [*make_board(tree, makefile=BOARD), f"VENDOR={project.parent / 'vendor'}", which]
    made = subprocess.run(command, cwd=build, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "warning" not in made.stderr
    ran = subprocess.run([build / "host"], env={**os.environ, "RCW_RAW": str(records)}, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, prints, "")
    assert "errors 0\n" in (records / "board.txt").read_text()
    return collect_records(tree, records, folder / "run", load_plugins())


def test_transfers_of_an_object_are_checked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = project.with_name("board.yaml")
    template.write_text(
        template.read_text().replace("self.write(address, data, bytes)", "self.write(adress, data, bytes)")
    )
    assert main(["template", "check", str(template)]) == 1
    assert "'adress' is not known here. Did you mean 'address'?" in capsys.readouterr().err
    template.write_text(
        template.read_text().replace("self.write(adress", "self.put(address").replace("self.read", "self.get")
    )
    main(["template", "check", str(template)])
    assert "call a method of `self` that no entry has" in capsys.readouterr().out


def busy(run: Run) -> dict[tuple[str, str], int]:
    """(block, state) -> cycles, of the FPGA."""
    table, blocks = run.tables["state_time"], run.manifest.blocks
    rows = zip(table["block"], table["state"], table["cycles"], strict=True)
    return {(blocks[b].id, blocks[b].states[s].name): int(n) for b, s, n in rows if not blocks[b].id.startswith("host")}
