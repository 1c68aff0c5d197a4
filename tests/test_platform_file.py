"""Platform templates and project files: what their checks say, and where."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rc_workbench_plugins.ports import workbench_port_kinds

from workbench.analysis.knowledge import load_knowledge
from workbench.api.source.files import expand_sources
from workbench.formats.documents import Schema, parse_document
from workbench.formats.platform_file import callee_name, load_platform, parse_platform
from workbench.formats.project_file import SCHEMA as PROJECT_SCHEMA
from workbench.formats.project_file import load_project
from workbench.formats.yaml_marks import Marked
from workbench.model.diagnostic import Severity
from workbench.model.platform import Document, Platform

KINDS = {kind.name: kind for kind in workbench_port_kinds()}

PLATFORM = """\
schema_version: 1
name: card
host:
  entries:
    - prototype: int put(card_t *c, const uint32_t *data, int words);
      kind: send
      condition: words > 0
      bytes: words * 4
      transfer: write
    - {prototype: "uint32_t get(card_t *c)", kind: receive, bytes: "4", transfer: read}
  transfers: {minimum_bytes: 4, maximum_bytes: 4 MiB}
hardware:
  incoming: {data_signal: d, address_signal: a, condition_hdl: we}
  outgoing: {data_signal: q, address_signal: a, condition_hdl: re}
  write_enable: we
  read_enable: re
  clock: clk
  clock_hz: 100 MHz
  reset: rst
transfer_tables:
  read:
    direction: receive
    points: [{bytes: 4, time_s: 8 us}]
  write:
    points:
      - {bytes: 4, time_s: 8 us}
      - {bytes: 2 KiB, time_s: 13.94 us}
      - {bytes: 16 KiB, time_s: 52 us}
      - {bytes: 32 KiB, time_s: 95.6 us}
memories:
  - {name: SRAM}
"""


def test_good_platform() -> None:
    platform, problems = parse_platform(PLATFORM, "card.yaml", KINDS)
    assert problems == ()
    assert platform is not None
    assert platform.transfer_tables["write"].points[1].time_s == 13.94e-6
    assert platform.host.transfers.maximum_bytes == 4 << 20


@pytest.mark.parametrize(
    ("change", "line", "column", "message", "hint"),
    [
        (("schema_version: 1\n", ""), 1, 1, "'schema_version' is missing", "Add `schema_version: 2`"),
        (("schema_version", "schema_verison"), 1, 1, "'schema_version' is missing", "Rename 'schema_verison'."),
        (("version: 1", "version: 3"), 1, 17, "has schema 3; this workbench reads up to 2", "newer workbench"),
        (("version: 1", "version: one"), 1, 17, "whole number from 1", "Write 2."),
        (("transfer: write", "transfer: wirte"), 9, 17, "no transfer table 'wirte'", "Did you mean 'write'?"),
        (("int put(", "int put["), 5, 18, "not a C or C++ prototype", "fpgaWrite"),
        (("words * 4", "(words * 4"), 8, 14, "nothing closes the '('", "one expression"),
        (("words * 4", "words) + system(1"), 8, 14, "nothing opens the ')'", ""),
        (("words * 4", "words; words"), 8, 14, "one expression, without ';'", ""),
        (("4 MiB", "2"), 11, 48, "largest transfer (2 B) is below the smallest (4 B)", "Swap"),
        (("direction: receive", "direction: recieve"), 22, 16, "'recieve' is not a direction", "'receive'"),
        (("points: [{bytes: 4, time_s: 8 us}]", "points: []"), 23, 13, "'read' has no rows", ""),
        (("  write_enable: we\n", ""), 12, 1, "memory style needs 'write_enable'", ""),
        (("clock_hz: 100 MHz", "clock_hz: 100 ms"), 18, 13, "'ms' is not a frequency", "100 MHz"),
        (("16 KiB", "2 KiB"), 28, 17, "2 KiB is in rows 2 and 3", "Remove one"),
        (("16 KiB", "64 KiB"), 29, 17, "row 4 of 'write' (32 KiB) comes after 64 KiB", "Swap rows 3 and 4."),
        (("{bytes: 32 KiB", "{bytes: 1 KiB"), 29, 17, "row 4 of 'write' (1 KiB) comes after 16 KiB", "before row 2"),
        (("time_s: 52 us", "time_s: 0"), 28, 33, "0 should be above 0", ""),
        (("{name: SRAM}", "{name: SRAM}\n  - {name: SRAM}"), 32, 12, "'SRAM' is given twice", ""),
    ],
)
def test_platform_errors(change: tuple[str, str], line: int, column: int, message: str, hint: str) -> None:
    text = PLATFORM.replace(*change)
    assert text != PLATFORM
    platform, problems = parse_platform(text, "card.yaml", KINDS)
    assert platform is None
    (problem,) = [p for p in problems if message in p.message]
    assert (problem.file, problem.line, problem.column, problem.severity) == ("card.yaml", line, column, Severity.ERROR)
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("change", "line", "message", "hint"),
    [
        (("95.6 us", "50 us"), 29, "row 4 of 'write' takes less time than row 3", "Check"),
        (("95.6 us", "81 us"), 29, "row 4 of 'write' is faster than the port", "at least 81.92 us"),
        (("      transfer: write\n", ""), 6, "put moves data but names no table", "read, write"),
        (("transfer: write", "transfer: read"), 9, "kind send, but table 'read' is for receive", ""),
    ],
)
def test_platform_warnings(change: tuple[str, str], line: int, message: str, hint: str) -> None:
    platform, problems = parse_platform(PLATFORM.replace(*change), "card.yaml")
    assert platform is not None
    (problem,) = [p for p in problems if message in p.message]
    assert (problem.line, problem.severity) == (line, Severity.WARNING)
    assert hint in problem.hint


CLOCKS_AND_PORTS = """\
hardware:
  clocks:
    - {name: axi, signal: s_axi_aclk, frequency_hz: 100 MHz, reset: s_axi_aresetn, reset_hdl: '!s_axi_aresetn'}
    - {name: fast, frequency_hz: 137 MHz, derived_from: axi}
  ports:
    - name: host
      kind: memory
      incoming: {data_signal: d, address_signal: a, condition_hdl: we}
      outgoing: {data_signal: q, address_signal: a, condition_hdl: re}
      write_enable: we
      read_enable: re
      clock: fast
transfer_tables:
"""
NEW_PLATFORM = (
    PLATFORM[: PLATFORM.index("hardware:")].replace("version: 1", "version: 2")
    + CLOCKS_AND_PORTS
    + PLATFORM[PLATFORM.index("transfer_tables:\n") + 17 :]
)


def test_a_template_of_version_1_is_one_clock_and_one_port_of_version_2() -> None:
    old, _ = parse_platform(PLATFORM, "card.yaml", KINDS)
    new, problems = parse_platform(NEW_PLATFORM, "card.yaml", KINDS)
    assert problems == ()
    assert old is not None
    assert new is not None
    assert old.hardware is not None
    assert new.hardware is not None
    (clock,), (port,) = old.hardware.clocks, old.hardware.ports
    assert (clock.pin, clock.frequency_hz, clock.reset) == ("clk", 100e6, "rst")
    assert new.hardware.ports == (port.model_copy(update={"clock": "fast"}),)
    assert new.hardware.clock_of(new.hardware.ports[0]).frequency_hz == 137e6
    assert '"write_enable":"we"' in new.hardware.model_dump_json()  # cached builds are found by this text


@pytest.mark.parametrize(
    ("change", "line", "message", "hint"),
    [
        (("kind: memory", "kind: memry"), 18, "there is no port kind 'memry'", "Did you mean 'memory'?"),
        (("clock: fast", "clock: slow"), 23, "there is no clock 'slow'", "axi, fast"),
        (("write_enable: we\n", "write_enalbe: we\n"), 21, "no key 'write_enalbe' here", "'write_enable'"),
        (("      write_enable: we\n", ""), 17, "a port of memory style needs 'write_enable'", ""),
        (("name: fast", "name: axi"), 15, "the name 'axi' is given twice in clocks", ""),
        (("137 MHz", "137 ms"), 15, "'ms' is not a frequency", ""),
        (("kind: memory", "kind: memory\n      word_bits: 12"), 19, "12 bits are not whole bytes", "32 or 64"),
    ],
)
def test_what_is_wrong_with_clocks_and_ports(change: tuple[str, str], line: int, message: str, hint: str) -> None:
    assert change[0] in NEW_PLATFORM
    platform, problems = parse_platform(NEW_PLATFORM.replace(*change), "card.yaml", KINDS)
    assert platform is None
    (problem,) = [p for p in problems if message in p.message]
    assert problem.line == line
    assert hint in problem.hint


def test_a_prototype_twice_needs_conditions() -> None:
    again = '    - {prototype: "uint32_t  get(card_t *c);", kind: receive, transfer: read%s}\n  transfers:'
    platform, (problem,) = parse_platform(PLATFORM.replace("  transfers:", again % ""), "card.yaml")
    assert platform is None
    assert (problem.line, problem.message) == (11, "this prototype and condition are given twice")
    assert "line 10" in problem.hint
    platform, problems = parse_platform(PLATFORM.replace("  transfers:", again % ", condition: c->x"), "card.yaml")
    assert platform is not None
    assert problems == ()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "card.yaml").write_text(PLATFORM)
    platform, (problem,) = load_platform(tmp_path / "crad.yaml")
    assert platform is None
    assert "No such file" in problem.message
    assert problem.hint == "Did you mean 'card.yaml'?"
    (tmp_path / "bad.yaml").write_bytes(b"schema_version: 1\nname: \xff\n")
    _, (problem,) = load_platform(tmp_path / "bad.yaml")
    assert (problem.line, problem.message) == (2, "this file is not UTF-8 text")
    _, (problem,) = load_platform(tmp_path)
    assert "cannot read this platform template" in problem.message
    (tmp_path / "list.yaml").write_text("- 1\n")
    _, (problem,) = load_platform(tmp_path / "list.yaml")
    assert problem.message == "this is not a platform template"


def test_documents_are_regular_files_of_a_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    os.symlink("/dev/zero", tmp_path / "zero.yaml")
    os.symlink("ring.yaml", tmp_path / "ring.yaml")
    (tmp_path / "large.yaml").write_text("a: 1\n" * 10_000_000)  # 50 MB
    for name, why in (("pipe", "not a regular file"), ("zero", "not a regular file"), ("ring", "symbolic links"),
                      ("large", "larger than 4 MiB"), ("x" * 5000, "too long"), ("\0", "no file can")):  # fmt: skip
        for problem in (
            load_platform(tmp_path / f"{name}.yaml")[1][0],
            load_project(tmp_path / f"{name}.yaml")[1][0],
            load_knowledge([tmp_path / f"{name}.yaml"], [])[1][0],
        ):
            assert why in problem.message


def test_migrations_are_small_steps() -> None:
    class Newest(Document):
        schema_version: int
        title: str
        speed_hz: float

    def rename(marked: Marked) -> Marked:
        return replace(marked, data={("title" if key == "name" else key): v for key, v in marked.data.items()})

    def add_speed(marked: Marked) -> Marked:
        return replace(marked, data={"speed_hz": 1.0, **marked.data})

    schema = Schema("sample", Newest, migrations=(rename, add_speed))
    assert schema.version == 3
    newest = "{schema_version: 3, title: a, speed_hz: 1}"
    for text in ("schema_version: 1\nname: a", "schema_version: 2\ntitle: a", newest):
        model, problems = parse_document(schema, text, None)
        assert problems == ()
        assert model == Newest(schema_version=3, title="a", speed_hz=1.0)
    model, (problem,) = parse_document(schema, "schema_version: 1\nname: 5", None)
    assert model is None
    assert problem.message == "5 should be a text"
    assert problem.line == 1  # the value moved: the document's beginning
    _, (problem,) = parse_document(schema, "schema_version: 4", None)
    assert "reads up to 3" in problem.message


@pytest.mark.parametrize(
    ("prototype", "name"),
    [
        ("int fpgaWrite(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words)", "fpgaWrite"),
        ("fpga_t *fpgaOpen(int card);", "fpgaOpen"),
        ("fpga_result fpgaMapMMIO(fpga_handle handle, uint32_t mmio_num, uint64_t **mmio_ptr);", "fpgaMapMMIO"),
        ("void bo::write(const void* src, size_t size, size_t seek);", "bo::write"),
        ("explicit xrt::device::device(unsigned int didx);", "xrt::device::device"),
        ("template<typename ...Args> run kernel::operator() (Args&&... args);", "kernel::operator()"),
        ("ert_cmd_state run::wait(const std::chrono::milliseconds& timeout = zero) const;", "run::wait"),
        ("bo::~bo()", "bo::~bo"),
        ("uint64_t getCSR(uint32_t offs) const noexcept", "getCSR"),
        ("__attribute__((nonnull(1))) int f(int (*g)(int), int n)", "f"),
        ("LAD_WRITE(addr, value)", "LAD_WRITE"),
        ("std::vector<int> queue<T>::pop(int n = (1 + 2))", "queue<T>::pop"),
        ("", None),
        ("int fpgaWrite", None),
        ("fpgaWrite(int a", None),
        ("return (5)", None),
        ("int a = f(5) + 3", None),
        ("if (x) f(x)", None),
        ("(void) f", None),
    ],
)
def test_callee_name(prototype: str, name: str | None) -> None:
    assert callee_name(prototype) == name


PROJECT = """\
schema_version: 1
name: tiny
platform: nallatech_h101
host:
  sources: [host/*.c]
  include_dirs: [host]
hardware:
  sources: [hdl/top.v]
  top: top
  parameters: {DELAY: 4}
  read_out: {first: 0x400, last: 0x40F}
settings: {DELAY: 4, ROUNDS: 3}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("host/main.c", "int main(void) { return ROUNDS; }"), ("host/io.c", ""), ("hdl/top.v", "")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_good_project(folder: Path) -> None:
    path = folder / "tiny.workbench.yaml"
    path.write_text(PROJECT)
    project, problems = load_project(path)
    assert problems == ()
    assert project is not None
    assert project.hardware.read_out.last == 0x40F
    found = expand_sources(folder, ["host/main.c", *project.host.sources])
    assert [p.relative_to(folder).as_posix() for p in found] == ["host/main.c", "host/io.c"]


@pytest.mark.parametrize(
    ("change", "line", "severity", "message", "hint"),
    [
        (("hdl/top.v", "hdl/tpo.v"), 8, "error", "'hdl/tpo.v' is not there", "Did you mean 'hdl/top.v'?"),
        (("hdl/top.v", "top.v"), 8, "error", "'top.v' is not there", "Did you mean 'hdl/top.v'?"),
        (("host/*.c", "src/*.c"), 5, "error", "'src/*.c' matches no file", "host/io.c"),
        (("[host]", "[include]"), 6, "error", "there is no folder 'include'", ""),
        (("last: 0x40F", "last: 0x3FF"), 11, "error", "ends (0x3ff) before it begins (0x400)", "Swap"),
        (("top: top", "top: hdl/top.v"), 9, "error", "'hdl/top.v' is not a module name", ""),
        (("ROUNDS: 3", "ROUNDZ: 3"), 12, "warning", "the setting 'ROUNDZ' is used by no host source", "'ROUNDS'"),
        (("ROUNDS: 3", "a-b: 3"), 12, "error", "'a-b' is not a name", "macro"),
        (("settings: {DELAY", "settings: {DELYA"), 12, "warning", "'DELYA' is used by no", "Did you mean 'DELAY'?"),
        (("hardware:\n", "hardwear:\n"), 1, "error", "the key 'hardware' is missing", ""),
        (("hardware:\n", "hardwear:\n"), 7, "error", "no key 'hardwear' here", "Did you mean 'hardware'?"),
    ],
)
def test_project_problems(
    folder: Path, change: tuple[str, str], line: int, severity: str, message: str, hint: str
) -> None:
    path = folder / "tiny.workbench.yaml"
    path.write_text(PROJECT.replace(*change))
    project, problems = load_project(path)
    (problem,) = [p for p in problems if message in p.message]
    assert (problem.line, problem.severity) == (line, severity)
    assert hint in problem.hint
    assert (project is None) == (severity == "error")


def test_models_have_defaults_that_validate() -> None:
    assert Platform(schema_version=1, name="x").hardware is None


VALUES = st.sampled_from(["", "null", "[]", "{}", "-1", "0", "1e300", "text", "[1, {a: b}]", "true"])


@settings(max_examples=120)
@given(st.data())
def test_mangled_documents_never_raise(data: st.DataObject) -> None:
    for text, read in ((PLATFORM, parse_platform), (PROJECT, partial(parse_document, PROJECT_SCHEMA))):
        lines = text.splitlines(keepends=True)
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(lines) - 1))
            other = data.draw(st.integers(0, len(lines) - 1))
            kind = data.draw(st.sampled_from(["drop", "swap", "value", "indent"]))
            if kind == "drop":
                lines[at] = "\n"
            elif kind == "swap":
                lines[at], lines[other] = lines[other], lines[at]
            elif kind == "value":
                new = data.draw(VALUES)
                lines[at] = lines[at].split(":")[0] + f": {new}\n"
            else:
                lines[at] = "  " + lines[at]
        model, problems = read("".join(lines), "nowhere/x.yaml")
        assert (model is None) == any(p.severity is Severity.ERROR for p in problems)
        assert all(p.line is not None and p.message for p in problems)
