"""Transfer tables measured with a template's own calls, on the simulated card, which keeps to the tables."""

import re
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from answers import document_of, refusal

from workbench.cli.main import main
from workbench.formats.platform_file import load_platform, parse_platform
from workbench.model.platform import Platform, TransferTable
from workbench.session.begin.new_template import template_text
from workbench.session.bench.bench_project import Bench, bench_project, bench_workspace
from workbench.session.program.plugins import load_plugins
from workbench.system.process import run_program

PROGRAMS = Path(__file__).parent / "data" / "host_templates"
TEMPLATES = Path(str(files("workbench.platform_templates")))

BOARD = """\
schema_version: 2
name: many_ports
title: 'A board: with many ports'
host:
  include_lines: ['#include "many_ports.h"']
  constants: {ASYNC: 4}
  entries:
    - {prototype: 'int mp_open(int number, mp_t *board)', kind: acquire, fpga: number}
    - {prototype: 'int mp_put(mp_t board, const void *from, size_t words, uint64_t to)', kind: send,
       bytes: words * 8, address: to, transfer: burst}
    # half a block more than asked for, as the board's DMA engine has it
    - {prototype: 'int mp_get(mp_t board, void *into, size_t blocks, int flags)', kind: receive, subtype: waits,
       condition: (flags & ASYNC) == 0, bytes: blocks * 64 + 64, transfer: get}
    - {prototype: 'int mp_poke(mp_t board, uint32_t reg, uint64_t value)', kind: send, bytes: sizeof value,
       address: reg, transfer: register}
    - {prototype: 'int mp_feed(mp_t board, const uint32_t *from, int words)', kind: send, bytes: words * 4,
       transfer: stream}
    - {prototype: 'int mp_start(mp_t board, const uint32_t *from, int words)', kind: send, bytes: words * 4,
       transfer: stream, asynchronous: true}
    - {prototype: 'int mp_launch(mp_t board, const void *from, size_t bytes)', kind: send, bytes: bytes,
       transfer: many, asynchronous: true}
    - {prototype: 'int mp_wait(mp_t board, int timeout_ms)', kind: wait}
    - {prototype: 'void mp_close(mp_t board)', kind: release}
hardware:
  clocks:
    - {name: clk, frequency_hz: 200 MHz, reset: rst_n, reset_hdl: '!rst_n'}
  ports:
    - {name: dma, kind: axi, prefix: b_, word_bits: 64}
    - {name: put, kind: stream_in, prefix: i_}
    - {name: bank, kind: avalon, prefix: a_, word_bits: 64}
transfer_tables:
  burst:
    port: dma
    points:
      - {bytes: 64, time_s: 2 us, source: data sheet}
      - {bytes: 1 KiB, time_s: 3.5 us}  # the knee
      - {bytes: 16 KiB, time_s: 21 us}
      - {bytes: 1 MiB, time_s: 1 ms, source: a guess}
  get: {port: bank, direction: receive, points: [{bytes: 128, time_s: 5 us}, {bytes: 8 KiB, time_s: 29 us}]}
  register: {port: bank, points: [{bytes: 8, time_s: 700 ns}]}
  stream: {port: put, points: [{bytes: 4, time_s: 1 us}, {bytes: 4 KiB, time_s: 9 us}]}
  many: {port: dma, overlaps: true, resource: lanes, points: [{bytes: 8, time_s: 4 us}, {bytes: 2 KiB, time_s: 6 us}]}
  unused: {port: dma, points: [{bytes: 4, time_s: 1 us}]}
"""


def time_s(table: TransferTable, size: int) -> float:
    points = [(point.bytes, point.time_s) for point in table.points]
    for (low, low_s), (high, high_s) in pairwise(points):
        if low <= size <= high:
            return low_s + (high_s - low_s) * (size - low) / (high - low)
    return points[-1][1]


def read(path: Path) -> Platform:
    platform, problems = load_platform(path)
    assert platform is not None
    assert not problems
    return platform


def test_tables_are_recovered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template, out, kept = tmp_path / "board.yaml", tmp_path / "measured.yaml", tmp_path / "kept"
    template.write_text(BOARD)
    asked = ["template", "bench", str(template), "--out", str(out)]
    told = document_of(capsys, [*asked, "--keep", str(kept), "--largest", "16 KiB", "--repeats", "3", "--json"])
    before, after = read(template), read(out)
    # what the card was given is what was measured, between the points too
    for name, table in before.transfer_tables.items():
        sizes = [p.bytes for p in table.points if p.bytes <= 16 << 10]
        for size in {size for low in sizes for size in (low, low * 5 // 4 // 4 * 4) if low <= size <= sizes[-1]}:
            assert time_s(after.transfer_tables[name], size) == pytest.approx(time_s(table, size), rel=0.02), (
                name,
                size,
            )
    assert set(after.transfer_tables) == set(before.transfer_tables)  # none of its own for calls that take the same
    assert told["left_out"] == {"unused": "no entry of kind send or receive names it"}
    measured = {(one["table"], one["overlaps"]): one for one in told["tables"]}
    assert set(measured) == {(n, n == "many") for n in ("burst", "get", "register", "stream", "many")}
    assert [p["bytes"] for p in measured["get", False]["points"]] == [128, 256, 512, 1024, 2048, 4096, 8192]
    assert {p["calls"] for one in told["tables"] for p in one["points"]} == {3}
    assert {p["together"] for p in measured["many", True]["at_once"]} == {8}
    # all that was not measured stays as it was typed
    text = out.read_text()
    assert "    # half a block more than asked for, as the board's DMA engine has it\n" in text
    assert "{bytes: 1 MiB, time_s: 1 ms, source: a guess}" in text
    assert "simulated card: median of 3, 700 to 700 ns" in text
    # the project that was run can be run again, and its run read again
    assert main([*asked, "--from", str(kept / "runs" / "run-1")]) == 0
    assert out.read_text() == text


def test_two_measurements_at_once_have_folders_of_their_own(tmp_path: Path) -> None:
    template, plugins = tmp_path / "board.yaml", load_plugins()
    template.write_text(BOARD)
    first, _ = bench_workspace(template, read(template), plugins)
    left = first.root / "runs" / "run-1"
    left.mkdir(parents=True)
    second, _ = bench_workspace(template, read(template), plugins)
    assert second.root != first.root
    assert left.is_dir()
    where = first.root
    del first
    assert bench_workspace(template, read(template), plugins)[0].root == where  # the template's last, which nobody uses
    assert not left.exists()


def test_what_cannot_be_measured_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = tmp_path / "board.yaml"
    template.write_text(re.sub(r"hardware:.*?(?=transfer_tables)", "", BOARD, flags=re.DOTALL))
    assert main(["template", "bench", str(template), "--out", str(tmp_path / "out.yaml")]) == 2
    template.write_text(BOARD.replace("kind: send", "kind: other").replace("kind: receive", "kind: other"))
    assert main(["template", "bench", str(template), "--out", str(tmp_path / "out.yaml")]) == 2
    said = capsys.readouterr().err
    assert "has no hardware port" in said
    assert "no transfer of this platform can be timed: burst: no entry of kind send or receive names it" in said
    assert not (tmp_path / "out.yaml").exists()


def generated(template: str) -> Bench:
    """What measures a template that ships, with its example board where it has none of its own."""
    plugins = load_plugins()
    platform, _ = parse_platform(template_text(template, plugins), template, plugins.port_kinds)
    assert platform is not None
    return bench_project(Path(template), platform, 5)


@pytest.mark.parametrize(("template", "call", "left_out"), [
    ("aws_fpga", "fpga_dma_burst_read(rcw_the_queue(), data, count, 0);", set()),
    ("coyote", "rcw_the_coyote_cThread().setCSR(0, 0);", {"write", "read", "offload", "sync"}),
    ("gidel_procstar3", "rcw_the_procstar_Fpga().read(0, (uint32_t *)data, count);", set()),
    ("litepcie", "litepcie_writel(rcw_the_device(), 0, 0);", {"write", "read", "offload", "sync"}),
    ("opae", "fpgaReadMMIO64(rcw_fpga_handle, 0, 0, data);", {"write", "read"}),
    ("uio_vfio", "pread(rcw_the_device(), data, count, 0);", {"write", "read"}),
    ("xd1000", "rcw_the_xd1000_Dma().start(0, (const void *)data, count);", set()),
    ("xdma", "pwrite(rcw_the_user(), data, (4), 0);", set()),
    ("xrt_native", "rcw_the_xrt_bo().sync(XCL_BO_SYNC_BO_TO_DEVICE, count, 0);", {"write_reg", "read_reg"}),
])  # fmt: skip
def test_the_program_makes_what_its_calls_are_made_on(
    template: str, call: str, left_out: set[str], tmp_path: Path
) -> None:
    """Descriptors, opened by a path that the condition is of, what other calls fill in, and objects, constructed of
    others. It compiles against the stand-in's header; `tests/benchmarks/template_bench.py` runs them."""
    bench = generated(template)
    assert set(bench.left_out) == left_out
    source = next(tmp_path / name for name in bench.files if name.startswith("transfers.c"))
    source.write_text(bench.files[source.name])
    assert f"            {call}\n" in source.read_text()
    tool = "g++" if source.suffix == ".cpp" else "gcc"
    done = run_program([tool, "-fsyntax-only", "-Wall", "-Werror", f"-I{TEMPLATES / template}", source])
    assert done.returncode == 0, done.stderr


ACC = """\
schema_version: 2
name: acc
host:
  include_lines: ['#include "acc.hpp"']
  entries:
    - {prototype: 'std::unique_ptr<acc::card> acc::open(const std::string &name, acc::mode mode)', kind: acquire,
       opens: card, condition: 'like(name.c_str(), "acc*")'}
    - {prototype: 'void acc::card::put(uint64_t at, const void *data, size_t bytes)', kind: send, of: card,
       bytes: bytes, address: at, transfer: put}
    - {prototype: 'void acc::card::end()', kind: release, of: card}
    - {prototype: 'int acc::attach(int number)', kind: acquire, opens: stream}
    - {prototype: 'void acc::send(int to, const float *data, unsigned count)', kind: send, of: stream,
       bytes: count * sizeof *data, transfer: send}
    - {prototype: 'void acc::detach(int stream)', kind: release, of: stream}
hardware:
  clocks: [{name: clk, frequency_hz: 100 MHz, reset: rst}]
  ports: [{name: dma, kind: axi, prefix: b_}]
"""
ACC_HPP = """
#include <cstdint>
#include <memory>
#include <string>
namespace acc {
struct mode { int kind; };
struct card { void put(uint64_t at, const void *data, size_t bytes); void end(); };
std::unique_ptr<card> open(const std::string &name, mode mode);
int attach(int number);
void send(int to, const float *data, unsigned count);
void detach(int stream);
}
"""


def test_functions_of_a_namespace_and_objects_that_they_return_are_called(tmp_path: Path) -> None:
    platform, _ = parse_platform(ACC, "acc.yaml", load_plugins().port_kinds)
    assert platform is not None
    text = bench_project(Path("acc.yaml"), platform, 5).files["transfers.cpp"]
    made = ['static std::unique_ptr<acc::card> made = acc::open("acc0", acc::mode{});', "made = acc::attach(0);"]
    calls = [
        "rcw_the_card().put(0, (const void *)data, count);",
        "acc::send(rcw_the_stream(), (const float *)data, count);",
    ]
    ends = ["acc::detach(rcw_the_stream());", "rcw_the_card().end();"]
    assert [one for one in (*made, *calls, *ends) if one not in text] == []
    (tmp_path / "acc.hpp").write_text(ACC_HPP)
    (tmp_path / "transfers.cpp").write_text(text)
    done = run_program(["g++", "-fsyntax-only", "-Wall", "-Werror", tmp_path / "transfers.cpp"])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("template", "why"), [
    ("opencl_host", "takes a cl_command_queue, which no call of kind acquire returns"),
    ("sycl_usm", "read: sycl::queue::copy applies only where sycl::get_pointer_type(src, self.get_context())"),
])  # fmt: skip
def test_calls_that_no_generated_program_makes_are_told(template: str, why: str) -> None:
    """Nothing is built: each says which calls they are, and that a run's own calls give the times."""
    told = refusal(generated, template)
    assert why in told.message
    assert "`workbench template bench --from RUN`" in told.hint
