"""VHDL that nothing can synthesise, on the simulated card: in GHDL's own simulator, with the card's exact times."""

import math
import shutil
import struct
from pathlib import Path

import pytest
from rc_workbench_plugins.simulated_card.beside import Said
from rc_workbench_plugins.simulated_card.pace import Pace
from rc_workbench_plugins.vhdl import VhdlLanguage
from rc_workbench_plugins.vhdl.beside import MESSAGES
from tools import NEEDS_GHDL

from workbench.api.builds import Beside, HdlBuild, simulated_by
from workbench.api.job import Job, JobEvent
from workbench.model.diagnostic import Severity
from workbench.model.run import Run, RunStatus
from workbench.session.make.instrumenting import instrument, plain_designs
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import Plugins, load_plugins

pytestmark = NEEDS_GHDL
PROJECT = Path(__file__).parent / "data" / "unsynthesised"
ROUNDS = 3


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(PROJECT, tmp_path_factory.mktemp("project") / "stats")


def ran(folder: Path, plugins: Plugins, broken: int = 0, name: str = "") -> tuple[Run, Path, Job]:
    project = folder / "stats.workbench.yaml"
    text = (PROJECT / project.name).read_text().replace("-DBROKEN=0", f"-DBROKEN={broken}")
    project.write_text(text)
    out, job = folder / "runs" / (name or str(broken)), Job()
    return run_workspace(open_workspace(project, plugins), RunOptions(out=out, deterministic=True), job), out, job


@pytest.fixture(scope="module")
def whole(folder: Path, plugins: Plugins) -> tuple[Run, Path, Job]:
    return ran(folder, plugins)


def means() -> list[float]:
    """As the design computes them: m <- sqrt(m^2 + k) for k from 20 n down to 0, in each round n."""
    found, mean = [], 0.0
    for n in range(1, ROUNDS + 1):
        for left in range(20 * n, -1, -1):
            mean = math.sqrt(mean * mean + left)
        found.append(mean)
    return found


def test_real_numbers_times_and_files_are_what_vhdl_says(whole: tuple[Run, Path, Job]) -> None:
    """What is read comes 3 ns after the edge; a bit that is late by 13 ns, where a cycle is 10, lags behind at one edge
    after each of its two changes in a round."""
    run, out, _ = whole
    assert run.manifest.status is RunStatus.COMPLETE
    printed = (out / "stdout.txt").read_text().split()
    assert printed == [*(str(round(1000 * mean)) for mean in means()), str(2 * ROUNDS)]
    written = [
        *out.glob("card_files/stats.log"),
        *out.parents[1].glob("stats.log"),
    ]  # where the system confines, or not
    assert written[0].read_text() == "".join(f"mean {mean:.6f}\n" for mean in means())


def test_states_are_counted_to_the_cycle(whole: tuple[Run, Path, Job]) -> None:
    run = whole[0]
    number, block = next((n, b) for n, b in enumerate(run.manifest.blocks) if b.id == "stats.machine")
    table = run.tables["state_time"]
    mine = table["block"] == number
    cycles = {block.states[s].name: int(c) for s, c in zip(table["state"][mine], table["cycles"][mine], strict=True)}
    assert cycles["compute"] == sum(20 * n + 1 for n in range(1, ROUNDS + 1))
    assert cycles["settling"] == ROUNDS
    assert sum(cycles.values()) == run.manifest.cycles


def test_reports_are_told_at_their_lines_once_with_how_often(whole: tuple[Run, Path, Job]) -> None:
    lines = (PROJECT / "hdl" / "stats.vhd").read_text().splitlines()
    told = {one.line: one for one in whole[2].diagnostics if one.message.startswith("the design reports")}
    by_text = {lines[line - 1].strip().split()[0]: one for line, one in told.items() if line}
    note, warning = by_text["report"], by_text["assert"]
    assert note.severity is Severity.NOTE
    assert "(3 times, first at " in note.message
    assert warning.severity is Severity.WARNING
    assert "many" in warning.message
    assert {one.file for one in told.values()} == {"hdl/stats.vhd"}
    assert any("protected type" in one.message for one in whole[2].diagnostics)  # why GHDL itself
    assert any("GHDL itself simulates the design" in one.message for one in whole[2].diagnostics)


@pytest.mark.parametrize(
    ("broken", "says", "at"),
    [(1, "index (4) out of bounds (0 to 3)", "table(4"), (2, "signals change without end", "")],
)
def test_a_design_that_fails_ends_the_run_at_its_line(
    broken: int, says: str, at: str, folder: Path, plugins: Plugins, whole: tuple[Run, Path, Job]
) -> None:
    run, _, job = ran(folder, plugins, broken)
    assert run.manifest.status is RunStatus.FAILED
    (failed,) = (one for one in job.diagnostics if one.severity is Severity.ERROR)
    assert f"the design failed: {says}" in failed.message
    if at:
        assert failed.file == "hdl/stats.vhd"
        assert at in (PROJECT / failed.file).read_text().splitlines()[(failed.line or 0) - 1]


SYNTHESISABLE = """
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity stats is
    port (clk, rst : in std_logic;
          addr : in std_logic_vector(31 downto 0);
          wr_en : in std_logic; wr_data : in std_logic_vector(31 downto 0);
          rd_en : in std_logic; rd_data : out std_logic_vector(31 downto 0));
end;
architecture rtl of stats is
    signal total : unsigned(31 downto 0);
begin
    process (clk)
    begin
        if rising_edge(clk) then
            if rst = '1' then
                total <= (others => '0');
            elsif wr_en = '1' then
                --pragma recap add work()
                total <= total + unsigned(wr_data);
            end if;
            rd_data <= std_logic_vector(total);
        end if;
    end process;
end;
"""


@pytest.mark.parametrize("plain", [False, True])
def test_a_project_that_asks_for_ghdl_is_not_synthesised(tmp_path: Path, plugins: Plugins, plain: bool) -> None:
    folder = shutil.copytree(PROJECT, tmp_path / "stats")
    (folder / "hdl" / "stats.vhd").write_text(SYNTHESISABLE)
    workspace = open_workspace(folder / "stats.workbench.yaml", plugins)

    def built(simulator: str) -> tuple[HdlBuild, list[str]]:
        out, texts = tmp_path / (simulator or "none"), list[str]()
        job = Job(lambda event: texts.append(event.text))
        if plain:
            return plain_designs(workspace, {}, simulator), texts
        return instrument(workspace, {}, out, job, own_build=True, simulator=simulator)[1], texts

    (own, said), (usual, usually_said) = built("ghdl"), built("auto")
    assert not own.sources
    assert not own.checks.translated
    assert own.beside is not None
    assert not own.beside.refused
    assert simulated_by(own, "ghdl").asks_beside
    assert usual.sources
    assert usual.checks.translated
    assert own.blocks == usual.blocks
    assert own.ports == usual.ports
    if not plain:
        assert not any("GHDL synthesises" in text for text in said)
        assert any("GHDL synthesises" in text for text in usually_said)


def test_a_design_that_is_too_large_as_verilog_runs_in_ghdl(
    folder: Path, plugins: Plugins, whole: tuple[Run, Path, Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As 24 rounds of a Keccak, each bit by itself, are: their Verilog takes 1.4 GiB to read."""

    def takes_too_much(*_: object) -> HdlBuild:
        raise MemoryError

    monkeypatch.setattr(VhdlLanguage, "instrument", staticmethod(takes_too_much))
    monkeypatch.setattr("workbench.session.make.kept_builds.kept_folder", lambda *_: None)
    run, out, job = ran(folder, plugins, name="large")
    assert run.manifest.status is RunStatus.COMPLETE
    assert (out / "stdout.txt").read_text() == (whole[1] / "stdout.txt").read_text()
    (told,) = (one for one in job.diagnostics if "too large to be simulated as Verilog" in one.message)
    assert "takes more than 768 MiB of memory" in told.message
    assert "GHDL itself simulates it" in told.hint
    assert told.severity is Severity.WARNING


def test_a_design_that_stays_in_one_cycle_is_told_while_it_does(tmp_path: Path, plugins: Plugins) -> None:
    platform = open_workspace(PROJECT / "stats.workbench.yaml", plugins).platform
    told: list[JobEvent] = []
    pace = Pace(tmp_path, platform, Job(told.append))
    for second in range(30):
        (tmp_path / "progress.bin").write_bytes(struct.pack("=qq", 1000 * min(second, 5), 0))
        pace.show(100.0 + second)
    assert told[5].text == "5\u202f000 cycles, 50.0\u202fµs of virtual time, 1\u202f000 cycles/s"
    assert told[-1].text == "5\u202f000 cycles, 50.0\u202fµs of virtual time, for 24 s in this cycle"
    (warning,) = (one.diagnostic for one in told if one.diagnostic is not None)
    assert warning.message.startswith("the design has stayed in one cycle for 20 s: 5\u202f000 cycles, ")


#: As GHDL 2.0 says it, and what is told of it.
SAID = {
    "/b/f0_0.vhd:62:23:@96170ns:(assertion failure): gave up": ("top.vhd", 62, "gave up (at 96.2\u202fµs)"),
    "f0_0.vhd:7:1:@5fs:(report failure): a: b": ("top.vhd", 7, "a: b (at 0.00500\u202fps)"),
    '/usr/bin/ghdl-mcode:error: cannot open file "x"\n'
    "  from: process work.numeric_std at numeric_std.vhdl:9\n"
    "  from: process work.top(rtl).p at f0_0.vhd:64": ("top.vhd", 64, 'cannot open file "x"'),
    "/usr/bin/ghdl-mcode:error: bound check failure at f0_0.vhd:12": ("top.vhd", 12, "bound check failure"),
    "simulation finished @10ns": ("", 0, "it ended the simulation itself (std.env) (at 10.0\u202fns)"),
    "simulation stopped @10ns with status 3": ("", 0, "it ended the simulation itself (std.env) (at 10.0\u202fns)"),
    "raised CONSTRAINT_ERROR : SIGFPE": (
        "", 0, "GHDL failed with CONSTRAINT_ERROR : SIGFPE; a division by zero, for example, causes this",
    ),
}  # fmt: skip


@pytest.mark.parametrize("said", SAID)
def test_what_ghdl_says_as_it_ends_is_told_at_the_users_line(said: str) -> None:
    heard = Said([Beside((), (), "GHDL", {"f0_0.vhd": "top.vhd"}, MESSAGES)], 0.0)
    for line in said.splitlines():
        heard.hear(line)
    (told,) = heard.failures()
    assert (told.file or "", told.line or 0, told.message) == (*SAID[said][:2], f"the design failed: {SAID[said][2]}")


def test_what_is_said_often_is_told_once() -> None:
    heard = Said([Beside((), (), "GHDL", {"f0_0.vhd": "top.vhd"}, MESSAGES)], 160e-9)
    for time_ns in range(200, 230, 10):
        heard.hear(f"/x/f0_0.vhd:5:1:@{time_ns}ns:(report warning): {time_ns}")
    heard.hear("it printed this itself")
    (told,) = heard.diagnostics()
    assert told.message == "the design reports a warning: 200 (3 times, first at 40.0\u202fns)"
    assert not heard.failures()
