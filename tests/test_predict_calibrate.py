"""A model beside a run, and the run's measurements taken over; and the command line of predictions."""

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from predicting import RATSS, compare_with_run, model_path, predict
from rc_workbench_plugins.ratss.against_run import state_s

from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.model.blocks import Block, Side, State
from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import Platform
from workbench.model.pragma import Category
from workbench.model.run import Entry, Manifest, Run, RunStatus
from workbench.predict.formulas import ModelFile
from workbench.predict.kinds import load_model, take_over

HOST = ("unclassified", "work", "clearBins", "writePoints", "startCore", "pollDone", "stopCore", "readBins")
CORE = ("unclassified", "nextPoint", "compute")
#: Seconds of each host state, and of each core's states.
HOST_S = (0.0, 0.003, 0.0055, 0.0069, 0.0053, 0.0107, 0.0054, 0.0115)
CORE_S = (0.04, 0.00016, 0.0052)


def block(name: str, group: str, side: Side, states: tuple[str, ...]) -> Block:
    return Block(name, side, name, "test", group, tuple(State(i, state) for i, state in enumerate(states)))


@pytest.fixture
def run() -> Run:
    blocks = (
        block("host.main", "host.main", Side.HOST, HOST),
        *(block(f"top.core[{i}].ctrl", "top.core[*].ctrl", Side.FPGA, CORE) for i in range(4)),
    )
    rows = [(0, i, s) for i, s in enumerate(HOST_S)]
    rows += [(b, i, s * (1 + 0.1 * (b - 2.5))) for b in range(1, 5) for i, s in enumerate(CORE_S)]
    table = {
        "block": np.array([b for b, _, _ in rows], dtype="i4"),
        "state": np.array([i for _, i, _ in rows], dtype="i4"),
        "time_ps": np.array([round(s * 1e12) for _, _, s in rows], dtype="i8"),
        "cycles": np.zeros(len(rows), dtype="i8"),
        "visits": np.zeros(len(rows), dtype="i8"),
    }
    manifest = Manifest(
        name="a run",
        status=RunStatus.COMPLETE,
        created="2026-01-01T00:00:00",
        settings={"CORES": 20, "BINS": 8, "POINTS": 163840},
        time_ps=round(0.0483e12),
        blocks=blocks,
    )
    return Run(None, manifest, {"state_time": table})


def load(path: Path, platforms: Mapping[str, Platform]) -> ModelFile:
    file, problems = load_model(RATSS, path, platforms)
    assert file is not None, problems
    return file


@pytest.fixture
def own_model(tmp_path: Path) -> Path:
    path = tmp_path / "mine.ratss.yaml"
    path.write_text(model_path("pdf2d_original", "ratss").read_text())
    return path


def test_states_of_a_run(run: Run) -> None:
    assert state_s(run, "readBins") == 0.0115
    assert state_s(run, "compute") == pytest.approx(0.0052)  # the mean over the cores
    assert state_s(run, "top.core[3].ctrl/compute") == pytest.approx(0.0052 * 1.15)
    assert state_s(run, "top.core[*].ctrl/compute") == pytest.approx(0.0052)


def test_a_prediction_beside_a_run(run: Run, own_model: Path, platforms: Mapping[str, Platform]) -> None:
    comparison = compare_with_run(load(own_model, platforms), run)
    rows = {(row.stage, row.quantity): row for row in comparison.rows}
    assert comparison.inputs == {"CORES": 20, "BINS": 8, "POINTS": 163840}
    # 320 batches: 66 cycles a point at 100 MHz on 20 cores; transfers from the platform's tables
    assert rows["batches", "comp_s"].predicted == pytest.approx(163840 * 66 / 100e6 / 20)
    assert rows["batches", "comp_s"].measured == pytest.approx(0.00536)
    assert rows["batches", "write points"].predicted == pytest.approx(320 * 20.978e-6)
    assert rows["batches", "ask once"].predicted == pytest.approx(320 * 32e-6)
    assert rows["batches", "comm_s"].measured == pytest.approx(sum(HOST_S[2:]))
    total = rows["", "total_s"]
    assert total.error_pct == pytest.approx((total.predicted - 0.0483) / 0.0483 * 100)


def test_taking_over_what_was_measured(run: Run, own_model: Path, platforms: Mapping[str, Platform]) -> None:
    before = own_model.read_text()
    file = load(own_model, platforms)
    take_over(own_model, file, compare_with_run(file, run))
    after = own_model.read_text()
    assert [line for line in before.splitlines() if "#" in line and line not in after.splitlines()] == []
    calibrated = load(own_model, platforms)
    again = compare_with_run(calibrated, run)
    for row in again.rows:
        if row.stage:
            assert row.error_pct == pytest.approx(0, abs=1e-5)
    assert calibrated.model.measured[-1].source == "run a run"
    assert predict(calibrated).comm_s["batches"] * 320 == pytest.approx(sum(HOST_S[2:]), rel=1e-6)
    once = own_model.read_text()
    take_over(own_model, calibrated, again)  # twice: the entry is replaced
    assert predict(load(own_model, platforms)).total_s == pytest.approx(float(predict(calibrated).total_s), rel=1e-6)
    (entry,) = load(own_model, platforms).model.measured
    assert entry == calibrated.model.measured[0]
    assert [line for line in once.splitlines() if "correction" not in line] == [
        line for line in own_model.read_text().splitlines() if "correction" not in line
    ]
    other = replace(run, manifest=replace(run.manifest, settings={"CORES": 10, "BINS": 8, "POINTS": 163840}))
    file = load(own_model, platforms)
    take_over(own_model, file, compare_with_run(file, other))  # elsewhere: one more
    assert [m.inputs["CORES"] for m in load(own_model, platforms).model.measured] == [20, 10]


#: What runs of the bundled example took, as recorded: `workbench run original.workbench.yaml --set CORES=2`, and =20.
#: Picoseconds of all, of each host state, of each core's nextPoint and compute; and how often the host polled.
RECORDED = {
    2: (75223337000, {"work": 1556137000, "clearBins": 5337570000, "writePoints": 6727609000, "startCore": 5136826000,
        "pollDone": 40296259000, "stopCore": 5145909000, "readBins": 11015177000}, (1638400000, 52428800000), 1256),
    20: (45270656000, {"work": 1581377000, "clearBins": 5345426000, "writePoints": 6729236000, "startCore": 5138514000,
        "pollDone": 10283805000, "stopCore": 5156431000, "readBins": 11030668000}, (163840000, 5242880000), 320),
}  # fmt: skip
ENTRIES = (Entry("fpgaWrite", "", "send", "write"), Entry("fpgaReadReg", "", "receive", "read_reg"))
POLLS = ("late_sender", "poll")


def recorded(cores: int, poll: State, entries: tuple[Entry, ...] = ENTRIES) -> Run:
    """The recorded run, with `poll` as what its author's pragma says of pollDone."""
    time_ps, host, core, polls = RECORDED[cores]
    states = [State(i, name) for i, name in enumerate(("unclassified", *host))]
    at = states.index(next(state for state in states if state.name == "pollDone"))
    states[at] = replace(poll, index=at, name="pollDone")
    blocks = [Block("host.main", Side.HOST, "host.main", "test", "host.main", tuple(states))]
    blocks += [block(f"top.core[{i}].ctrl", "top.core[*].ctrl", Side.FPGA, CORE) for i in range(cores)]
    rows = [(0, i + 1, t) for i, t in enumerate(host.values())]
    rows += [(b, i + 1, t) for b in range(1, cores + 1) for i, t in enumerate(core)]
    columns = ("block", "state", "time_ps")
    calls = [(0, i, 1 if i == at else 0, polls if i == at else 320) for i in range(2, len(host) + 1)]
    manifest = Manifest(
        name="recorded",
        status=RunStatus.COMPLETE,
        created="2026-01-01T00:00:00",
        settings={"CORES": cores, "BINS": 8, "POINTS": 163840},
        time_ps=time_ps,
        blocks=tuple(blocks),
        entries=entries,
    )
    tables = {
        "state_time": dict(zip(columns, np.array(rows, dtype="i8").T, strict=True)),
        "call_stats": dict(zip(("block", "state", "entry", "count"), np.array(calls, dtype="i8").T, strict=True)),
    }
    return Run(None, manifest, tables)


def test_polls_are_no_input_of_the_model(own_model: Path, platforms: Mapping[str, Platform]) -> None:
    """What is taken over at 2 cores, where the host polls four times a batch, leaves the forecast for 20 right."""
    wait = State(0, "", Category.WAIT_RECV, POLLS)

    def error_pct(quantity: str) -> float:
        rows = compare_with_run(load(own_model, platforms), recorded(20, wait)).rows
        return next(row.error_pct for row in rows if row.quantity == quantity)

    assert (error_pct("comm_s"), error_pct("total_s")) == (
        pytest.approx(-0.43, abs=0.01),
        pytest.approx(-3.92, abs=0.01),
    )
    file = load(own_model, platforms)
    comparison = compare_with_run(file, recorded(2, wait))
    asked = next(row for row in comparison.rows if row.quantity == "ask once")
    assert asked.measured == pytest.approx(40.296259e-3 * 320 / 1256)  # one of the polls of each batch
    assert asked.measured + asked.waiting_s == pytest.approx(40.296259e-3)
    take_over(own_model, file, comparison)
    corrected = {move.name: move.correction for move in load(own_model, platforms).model.stages[0].transactions}
    assert corrected["ask once"] == 1
    assert corrected["clear bins"] == pytest.approx(1.0042, abs=1e-3)
    # with the polls taken as communication it was +68.6 and +62.7 %
    assert (error_pct("comm_s"), error_pct("total_s")) == (
        pytest.approx(-0.19, abs=0.01),
        pytest.approx(-3.68, abs=0.01),
    )


@pytest.mark.parametrize(
    ("poll", "kind", "compared", "corrected"),
    [
        (State(0, "", Category.RECV, ("data",)), "receive", True, True),  # moves data: an input
        (State(0, "", Category.RECV, ("poll",)), "receive", True, False),  # polls, whatever else it is called
        (State(0, "", Category.WAIT_RECV), "receive", True, False),
        (State(0, "", Category.WAIT_RECV, POLLS), "interrupt", False, False),  # blocks: all of it may be waiting
        (State(0, "", Category.RECV, ("data",)), "wait", False, False),  # whatever its pragma says
    ],
)
def test_what_counts_as_waiting(
    poll: State, kind: str, compared: bool, corrected: bool, own_model: Path, platforms: Mapping[str, Platform]
) -> None:
    entries = (ENTRIES[0], replace(ENTRIES[1], kind=kind))
    comparison = compare_with_run(load(own_model, platforms), recorded(2, poll, entries))
    assert ("ask once" in {row.quantity for row in comparison.rows}) == compared
    assert (("stages", 0, "transactions", 3, "correction") in comparison.corrections) == corrected
    notes = [d for d in comparison.diagnostics if d.severity == "note"]
    assert [d.line for d in notes] == ([] if compared else [31])
    assert ("comm_s" in {row.quantity for row in comparison.rows}) == compared


def test_polling_is_found_where_no_pragma_tells(own_model: Path, platforms: Mapping[str, Platform]) -> None:
    """Reads of the same word in a row, more of them than the model has, are polls; of others, they are data."""
    run = recorded(2, State(0, "", Category.RECV, ("data",)))
    polled = next(s.index for s in run.manifest.blocks[0].states if s.name == "pollDone")
    rows = [(0, 5, polled, 1, 0x300)] * 3 + [(0, 2, 2, 0, 0)] + [(0, 5, polled, 1, 0x300)]
    calls = np.array(rows, dtype="i8")
    columns = ("block", "site", "state", "entry", "address")
    for addresses, corrected in ((calls[:, 4], False), (np.arange(len(rows)), True)):
        table = dict(zip(columns, calls.T, strict=True)) | {"address": addresses}
        comparison = compare_with_run(load(own_model, platforms), replace(run, tables={**run.tables, "calls": table}))
        assert (("stages", 0, "transactions", 3, "correction") in comparison.corrections) == corrected


def test_the_first_poll_of_a_batch_is_its_own(own_model: Path, platforms: Mapping[str, Platform]) -> None:
    """At 20 cores every core is done when it is asked: no waiting, and the read counts."""
    wait = State(0, "", Category.WAIT_RECV, POLLS)
    asked = next(
        row
        for row in compare_with_run(load(own_model, platforms), recorded(20, wait)).rows
        if row.quantity == "ask once"
    )
    assert (asked.measured, asked.waiting_s) == (pytest.approx(10.283805e-3), 0)


def test_a_corrected_part_still_scales(run: Run, own_model: Path, platforms: Mapping[str, Platform]) -> None:
    file = load(own_model, platforms)
    take_over(own_model, file, compare_with_run(file, run))
    calibrated = load(own_model, platforms)
    ratio = (
        predict(calibrated, {"BINS": 16}).parts["batches", "read bins"]
        / predict(calibrated, {"BINS": 8}).parts["batches", "read bins"]
    )
    original = (
        predict(file, {"BINS": 16}).parts["batches", "read bins"]
        / predict(file, {"BINS": 8}).parts["batches", "read bins"]
    )
    assert ratio == pytest.approx(float(original))


def test_what_cannot_be_compared_is_said(run: Run, own_model: Path, platforms: Mapping[str, Platform]) -> None:
    with pytest.raises(WorkbenchError, match="measured_in"):
        compare_with_run(load(model_path("pdf2d", "ratss"), platforms), run)
    with pytest.raises(WorkbenchError, match="this run has no state times"):
        compare_with_run(load(own_model, platforms), Run(None, run.manifest, {}))
    own_model.write_text(own_model.read_text().replace("[readBins]", "[fetchBins]"))
    comparison = compare_with_run(load(own_model, platforms), run)
    assert [d.message for d in comparison.diagnostics] == ["the run has no state 'fetchBins'"]
    assert ("batches", "comm_s") not in {(row.stage, row.quantity) for row in comparison.rows}


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    document = document_of(capsys, ["predict", *arguments, "--json"])
    assert isinstance(document, dict)
    return document


def test_the_command_line_of_ratss(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "ratss", "pdf2d")["total_s"] == pytest.approx(154.43886225730216)
    assert answer(capsys, "ratss", "pdf2d", "--reading", "literal")["total_s"] == pytest.approx(154.44258140930216)
    swept = answer(capsys, "ratss", "pdf2d", "--sweep", "nodes=2,4,8", "--against", "multipliers")
    rows = swept["rows"]
    assert isinstance(rows, list)
    assert [row["total_s"] for row in rows] == pytest.approx([154.438862, 79.7918774, 42.4704375])
    assert answer(capsys, "ratss", "pdf2d", "--solve", "clock", "--speedup", "200")["value"] == pytest.approx(
        276386428.6
    )
    banded = answer(
        capsys, "ratss", "pdf2d", "--sweep", "nodes=2,4", "--uncertain", "500", "--spread", "clock=150 MHz:200 MHz"
    )
    assert isinstance(banded["bands"], dict)
    assert len(banded["bands"]["quantiles"]["0.5"]) == 2
    assert answer(capsys, "ratss", "pdf2d", "--sensitivity")["inputs"]
    for arguments in (["pdf2d"], ["pdf2d", "--sweep", "nodes=1:8:8"], ["pdf2d", "--sensitivity"]):
        assert main(["predict", "ratss", *arguments]) == 0
        assert "nodes" in capsys.readouterr().out


def test_a_sweep_goes_out_as_a_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    swept = answer(capsys, "ratss", "pdf2d", "--sweep", "nodes=2,4,8", "--csv", "nodes.csv")
    with Path("nodes.csv").open(newline="") as stream:
        rows = [{name: float(cell) for name, cell in row.items()} for row in csv.DictReader(stream)]
    assert rows == swept["rows"]  # to the last bit
    banded = answer(capsys, "ratss", "pdf2d", "--sweep", "nodes=2,4", "--uncertain", "500", "--spread",
                    "clock=150 MHz:200 MHz", "--csv", "bands.csv")  # fmt: skip
    with Path("bands.csv").open(newline="") as stream:
        quantiles = [[float(cell) for cell in row[1:]] for row in list(csv.reader(stream))[1:]]
    assert isinstance(banded["bands"], dict)
    assert quantiles == [list(row) for row in zip(*banded["bands"]["quantiles"].values(), strict=True)]
    Path("mine.yaml").write_text("my: own\n")
    assert main(["predict", "ratss", "pdf2d", "--sweep", "nodes=2,4", "--csv", "mine.yaml"]) != 0
    assert Path("mine.yaml").read_text() == "my: own\n"
    assert main(["predict", "ratss", "pdf2d", "--csv", "alone.csv"]) != 0
    assert "--csv alone asks nothing" in capsys.readouterr().err


def test_the_command_line_of_density(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "density", "all_to_all")
    assert found["binding_layer"] == "Block RAM, from on-board memory"
    assert answer(capsys, "density", "matrix_multiply", "--solve", "units", "--rate", "1e10")["value"] == pytest.approx(
        100
    )
    assert main(["predict", "density", "dot_product"]) == 0
    assert "On-board memory" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["ratss", "pdf3d"], "Did you mean 'pdf2d'"),
        (["ratss", "pdf2d", "--solve", "clock"], "go together"),
        (["ratss", "pdf2d", "--take-over"], "Give --run RUN too"),
        (["ratss", "pdf2d", "--uncertain", "10"], "no uncertain inputs"),
        (["ratss", "pdf2d", "--spread", "clock"], "is not a spread"),
        (["density", "matrix_multiply", "--kernel", "nothing.c"], "there is no kernel"),
    ],
)
def test_bad_commands_are_answered(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_a_run_folder_on_the_command_line(
    run: Run, own_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    RunWriter(folder).finish(run.manifest, run.tables)
    document = answer(capsys, "ratss", str(own_model), "--run", str(folder), "--take-over")
    assert document["taken_over"] is True
    assert "correction" in own_model.read_text()
    assert main(["predict", "ratss", "pdf2d_original", "--run", str(folder), "--take-over"]) == 2
    assert "a bundled model is not changed" in capsys.readouterr().err
