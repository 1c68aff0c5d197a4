"""A streaming application on a real machine: the tree is whole and goes there by `tar | ssh`, agents count in FPGA and
host, and a traced run has the events of the queues on the processor, on the machine's own clock."""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from rtl_simulator import make_board
from ssh_machine import SSHD, ssh_machine

from workbench.api.stream_events import Events, events_of
from workbench.cli.main import main
from workbench.formats.run_folder import open_run
from workbench.model.run import Run

TESTS = Path(__file__).parent
MOST, FACTOR = 1000, 3
PRINTED = f"{MOST} {sum(FACTOR * i * (i + 1) for i in range(MOST))}\n"
#: A board of 200 kHz: a simulator keeps up with it.
TABLES = """transfer_tables:
  write: {direction: send, port: host, points: [{bytes: 4, time_s: 100 us}, {bytes: 4 KiB, time_s: 50 ms}]}
  read: {direction: receive, port: host, points: [{bytes: 4, time_s: 100 us}, {bytes: 4 KiB, time_s: 50 ms}]}
  write_reg: {direction: send, port: host, points: [{bytes: 4, time_s: 100 us}]}
  read_reg: {direction: receive, port: host, points: [{bytes: 4, time_s: 100 us}]}
"""
QUERY = """
measure sum value at a
measure rate at scale.x
measure mean interval at scale.y
assert rate at a > 1 tps
"""
PROJECT = """schema_version: 1
name: scale
platform: board.yaml
host: {flags: [-O0]}
streaming: {sources: [scale.x], mapping: {scale: card}, query: asked.tt}
"""


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What a command begins with that the machine's shell gets: ssh, or where there is no sshd a shell that knows
    nothing of this one's variables and folder."""
    folder = tmp_path_factory.mktemp("there")
    if SSHD or "CI" in os.environ:
        with ssh_machine(folder) as client:
            yield f"ssh -F {client} lab"
        return
    shell = folder / "lab"
    shell.write_text(f'#!/bin/sh\ncd {folder} && exec env -i PATH="$PATH" sh -c "$*"\n')
    shell.chmod(0o755)
    yield str(shell)


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the machine's."""
    return tmp_path_factory.mktemp("far")


@pytest.fixture(scope="module")
def project(there: str, far: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(TESTS / "data" / "streaming", tmp_path_factory.mktemp("project") / "scale")
    template = (TESTS.parent / "platform_templates" / "nallatech_h101.yaml").read_text()
    template = template.replace("frequency_hz: 100 MHz", "frequency_hz: 200 kHz")
    (folder / "board.yaml").write_text(re.sub(r"(?ms)^transfer_tables:.*?(?=^\S*suggestions:)", TABLES, template))
    (folder / "asked.tt").write_text(QUERY)
    made = shlex.join(make_board(far / "tree", "BOARD_HZ=200000"))
    target = {
        "name": "machine",
        "build": f"tar -C $RECAP_TREE -cf - . | {there} 'cd {far} && mkdir tree && tar -C tree -xf -' "
        f"&& {there} {shlex.quote(f'cd {far} && {made}')}",
        "run": f'{there} "cd {far} && mkdir raw && RCW_RAW=raw RCW_TRACE=$RCW_TRACE timeout 100 ./host"',
        "fetch": f"{there} 'tar -C {far}/raw -cf - .' | tar -C $RCW_RAW -xf -",
    }
    path = folder / "board.workbench.yaml"
    path.write_text(f"{PROJECT}target: {json.dumps(target)}\n")
    return path


@pytest.fixture(scope="module")
def run(project: Path) -> Path:
    """A traced run, made by `workbench run`."""
    out = project.parent / "run"
    assert main(["run", str(project), "--trace", "--out", str(out)]) == 0
    return out


def opened(folder: Path) -> Run:
    run, problems = open_run(folder)
    assert run
    assert not problems
    return run


def events(run: Path) -> Events:
    found = events_of(opened(run).tables)
    assert found
    return found


def test_what_was_run_there_names_nothing_outside_of_its_tree(run: Path, project: Path, far: Path) -> None:
    assert (run / "stdout.txt").read_text() == PRINTED
    assert (far / "tree" / "include" / "system" / "readerwriterqueue" / "readerwriterqueue.h").is_file()
    for path in (far / "tree").rglob("*"):
        if path.suffix in (".c", ".cpp", ".h", ".hpp", ".mk", ".v"):
            used = re.sub(r"(?m)^#line.*$|^.*//.*$|^ *\.told = .*$", "", path.read_text())  # may tell where lines are
            for outside in (project.parent, TESTS.parent, os.environ.get("XDG_CACHE_HOME", "/nowhere")):
                assert str(outside) not in used, path


def test_agents_count_on_the_machines_own_clock(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = document_of(capsys, ["query", str(run), "--json"])
    by = {one["text"]: one for one in said["measures"]}
    total, rate, interval = (one["frames"] for one in by.values())
    assert [one["value"] for one in total] == [sum(range(MOST))]
    assert rate[0]["count"] == MOST
    assert interval[0]["count"] == MOST - 1
    assert rate[0]["uncertainty_ps"] > 0  # the FPGA's clock is known by messages alone
    assert [one["agent"] for one in by.values()] == ["processor", "FPGA", "FPGA"]
    time_s = opened(run).manifest.time_ps / 1e12
    assert 0 < total[0]["end_s"] - total[0]["start_s"] <= time_s
    assert [one["holds"] and one["known"] for one in said["asserts"]] == [True]
    assert not any("late" in one["message"] for one in said["diagnostics"])


def test_a_trace_has_what_the_processor_saw(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, time_ps = events(run), opened(run).manifest.time_ps
    for edge in found.edges.values():
        assert edge.part == "its queue on the processor"
        assert len(edge.push_ps) == len(edge.pop_ps) == MOST
        assert (edge.pop_ps >= edge.push_ps).all()
        assert (np.diff(edge.push_ps) >= 0).all()
        assert 0 < edge.push_ps[0] < edge.pop_ps[-1] <= found.end_ps <= time_ps
    assert found.edges["App.a"].values.tolist() == list(range(MOST))
    assert found.edges["App.b"].values.tolist() == [FACTOR * i for i in range(MOST)]
    assert set(found.lives_ps) == {"App.count", "App.print"}
    assert main(["query", str(run), "--limits"]) == 0
    assert "So a block in the FPGA or the bus is the limit." in capsys.readouterr().out


def test_records_that_were_brought_by_hand_are_collected_alike(run: Path, far: Path, tmp_path: Path) -> None:
    assert main(["collect", str(far / "tree"), str(far / "raw"), "--out", str(tmp_path / "collected")]) == 0
    one, other = opened(run).tables, opened(tmp_path / "collected").tables
    assert {name for name in one if name.startswith("stream_")} == {n for n in other if n.startswith("stream_")}
    for name in (name for name in one if name.startswith("stream_")):
        for column in one[name]:
            assert np.array_equal(one[name][column], other[name][column]), (name, column)
