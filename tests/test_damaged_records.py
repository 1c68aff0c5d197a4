"""A board that dies half-way leaves damaged records: `workbench collect` uses what is there, and names what is lost."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from answers import document_of

from workbench.api.host_stats import PAGE, ROW, THREAD
from workbench.cli.main import main
from workbench.formats.run_folder import open_run
from workbench.model.run import Run

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
from fuzz_records import leave_records

Damage = Callable[[Path], object]
CALLS = 9  # of the program: open and close, three puts, three polls, the sum


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return leave_records(tmp_path_factory.mktemp("board"))


@pytest.fixture
def collect(board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[Damage], tuple[Run, str]]:
    """What makes a run of damaged records; with all that the command says of them."""

    def made(damage: Damage) -> tuple[Run, str]:
        records, out = tmp_path / "records", tmp_path / "run"
        for folder in (records, out):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(board / "records", records)
        damage(records)
        main(["collect", str(board / "tree"), str(records), "--out", str(out), "--json"])
        said = json.loads(capsys.readouterr().out)
        run, faults = open_run(out)
        assert [fault.message for fault in faults if "run failed" not in fault.message] == []
        assert said["status"] == run.manifest.status
        return run, " ".join(f"{d['file']}: {d['message']} {d['hint']}" for d in said["diagnostics"])

    return made


def rewritten(name: str, old: str, new: str) -> Damage:
    return lambda records: (records / name).write_text((records / name).read_text().replace(old, new))


def cut(name: str, upto: int) -> Damage:
    return lambda records: (records / name).write_bytes((records / name).read_bytes()[:upto])


def without(name: str, key: str) -> Damage:
    def damage(records: Path) -> None:
        lines = (records / name).read_text().splitlines(keepends=True)
        (records / name).write_text("".join(line for line in lines if not line.startswith(key)))

    return damage


def folder_in_place_of(name: str) -> Damage:
    return lambda records: ((records / name).unlink(), (records / name).mkdir())


def with_other_count(records: Path) -> None:
    words = np.fromfile(records / "counters.bin", np.uint32)
    words[-1] += 1
    words.tofile(records / "counters.bin")


def test_whole_records_lose_nothing(collect: Callable[[Damage], tuple[Run, str]]) -> None:
    run, said = collect(lambda records: None)
    assert run.complete
    assert "damaged" not in said
    assert run.tables["call_stats"]["count"].sum() == len(run.tables["calls"]["site"]) == CALLS


@pytest.mark.parametrize(
    ("damage", "named", "calls"),
    [
        (rewritten("recording.txt", "time_ps ", "time_ps 1\nwas "), "lasted 1.00 ps, its calls", CALLS),
        (rewritten("recording.txt", "time_ps ", "time_ps -"), "no usable value of time_ps", CALLS),
        (rewritten("recording.txt", "time_ps ", f"time_ps {'9' * 30}"), "no usable value of time_ps", CALLS),
        (without("recording.txt", "cost_ps_spread"), "no usable value of cost_ps_spread", CALLS),
        (rewritten("recording.txt", "lost 0", "lost nan"), "how many calls came faster", CALLS),
        (rewritten("board.txt", "errors 0", "errors nan"), "how many accesses to the counters failed", CALLS),
        (without("board.txt", "tree"), "whether the counters are those of this build", CALLS),
        (cut("board.txt", 9), "board.txt: this record is damaged: it ends early", CALLS),
        (folder_in_place_of("counters.bin"), "counters.bin: this record is damaged: it is a folder", CALLS),
        (folder_in_place_of("host_stats.bin"), "host_stats.bin: this record is damaged: it is a folder", 0),
        (cut("counters.bin", 100), "Lost: what the counters counted", CALLS),
        (with_other_count, "Hz, the platform says 100 MHz: the read-out waits too briefly for it", CALLS),
        (cut("triples.bin", 30), "Lost: how the FPGA's clock fits the host's", CALLS),
        (lambda records: (records / "triples.bin").write_bytes(2 * (records / "triples.bin").read_bytes()),
         "some of its messages are repeated", CALLS),
        (cut("host_stats.bin", 4096), "Lost: what was counted of the program's calls", 0),
        (cut("host_stats.bin", 4096 + 256 + 2 * 192), "host/main.c:18 fpgaReadReg", 4),  # two rows of nine
        (cut("host_calls.bin", 40), "host_calls.bin: this record is damaged: it ends within a record", CALLS),
    ],
)  # fmt: skip
def test_what_is_whole_is_used_and_what_is_lost_is_named(
    collect: Callable[[Damage], tuple[Run, str]], damage: Damage, named: str, calls: int
) -> None:
    run, said = collect(damage)
    assert named in said.replace("\u202f", " ")
    assert not run.complete
    assert "was reached" not in said  # the program is not to blame
    stats = run.tables.get("call_stats")
    assert (0 if stats is None else stats["count"].sum()) == calls
    assert run.manifest.time_ps > 1_000_000


@pytest.mark.parametrize(("name", "value"), [("min_run", 2**62), ("max_run", 2**62), ("count", 2**52)])
def test_counts_that_cannot_be_make_no_table_that_cannot_be(
    collect: Callable[[Damage], tuple[Run, str]], name: str, value: int
) -> None:
    def damage(records: Path) -> None:
        data = bytearray((records / "host_stats.bin").read_bytes())
        np.frombuffer(data, ROW, 2, PAGE + THREAD.itemsize)[name][:] = value
        (records / "host_stats.bin").write_bytes(data)

    run, _ = collect(damage)
    assert run.tables["call_stats"][name].max() <= CALLS


def test_a_text_that_is_cut_anywhere_is_read_up_to_there(collect: Callable[[Damage], tuple[Run, str]]) -> None:
    for name in ("recording.txt", "board.txt"):
        for upto in (1, 27):
            run, said = collect(cut(name, upto))
            assert f"{name}: this record is damaged" in said, (name, upto)
            assert run.tables["call_stats"]["count"].sum() == CALLS


def test_records_of_which_nothing_is_left_make_no_run(
    board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And leave the place of the run free for the next try."""
    records = tmp_path / "records"
    records.mkdir()
    (records / "host_stats.bin").write_bytes(b"RWS2")
    command = ["collect", str(board / "tree"), str(records), "--out", str(tmp_path / "run"), "--json"]
    said = document_of(capsys, command, 2)["diagnostics"]
    assert said[0]["message"] == "these records do not make a run: the program's duration is missing"
    assert "host_stats.bin" in said[1]["file"]
    assert not (tmp_path / "run").exists()
    assert (records / "host_stats.bin").read_bytes() == b"RWS2"
