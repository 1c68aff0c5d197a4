"""A moment in a waveform viewer: by Surfer's protocol with one that is open or is started, by files with GTKWave. What
answers here is a small stand-in that keeps to the protocol; the files are read back by pywellen and pyvcd."""

import json
import os
import shutil
import socket
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pywellen

from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.run import PS_PER_S, Run
from workbench.session.keep.wave_moment import BESIDE_PX, FRAME_PX, NAMES_PX, WINDOW_PX, wave_moment
from workbench.session.program import wave_viewer
from workbench.system.store import set_preference
from workbench.testing.runs import synthetic_run
from workbench.traces.trace import trace_of

COMMANDS = ["add_variables", "load", "add_items", "set_viewport_range_to", "add_markers"]
US = 1_000_000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = synthetic_run(cores=3, rounds=3)
    folder = tmp_path_factory.mktemp("waves") / "run"
    RunWriter(folder, made.manifest).finish(made.manifest, made.tables)
    return open_run(folder)[0]


def answer(connection: socket.socket, commands: list[str]) -> list[dict[str, Any]]:
    """Do as a viewer does: greet, say when waveforms are loaded, answer each command. What it was told."""
    told, read = [], b""
    send = lambda message: connection.sendall(json.dumps(message).encode() + b"\0")  # noqa: E731
    send({"type": "greeting", "version": "0", "commands": commands})
    while received := connection.recv(1 << 16):
        read += received
        while b"\0" in read:
            text, _, read = read.partition(b"\0")
            told.append(json.loads(text))
            if told[-1].get("command") == "load":
                send({"type": "response", "command": "ack"})
                send({"type": "event", "event": "waveforms_loaded", "source": told[-1]["source"]})
            elif "command" in told[-1]:
                send({"type": "response", "command": told[-1]["command"], "ids": []})
    return told


@pytest.fixture
def open_surfer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A viewer that is open already; `told` is what it was told once the conversation is over."""

    class Open:
        def __init__(self) -> None:
            self.commands = COMMANDS
            self.told: list[dict[str, Any]] = []
            self.server = socket.create_server(("127.0.0.1", 0))
            monkeypatch.setattr(wave_viewer, "SURFER_ADDRESS", self.server.getsockname())
            self.thread = threading.Thread(target=self._serve)
            self.thread.start()

        def _serve(self) -> None:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            with connection:
                self.told = answer(connection, self.commands)

    made = Open()
    yield made
    made.server.shutdown(socket.SHUT_RDWR)
    made.server.close()
    made.thread.join(10)


@pytest.fixture
def no_open_surfer(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
    monkeypatch.setattr(wave_viewer, "SURFER_ADDRESS", address)


def program(folder: Path, text: str) -> str:
    path = folder / "viewer"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return str(path)


def arguments(run: Run, *more: str) -> list[str]:
    block = next(block.id for block in run.manifest.blocks if "core[1]" in block.id)
    return ["waves", str(run.path), "--at", "300 us", "--window", "50 us", "--block", block, "--label", "stall", *more]


def test_states_around_the_moment_are_written_for_both_viewers(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(run, "--out", str(tmp_path), "--json")) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["viewer"], document["of_design"]) == ("", False)
    waves = pywellen.Waveform(document["waves"])
    signals = {variable.full_name: variable.signal for variable in waves.all_vars()}
    assert set(document["signals"]) == set(signals)
    assert "core[1]" in document["signals"][0]
    trace = trace_of(run)
    assert trace is not None
    for number, block in enumerate(run.manifest.blocks):
        for at in (250 * US, 275 * US, 300 * US, 349 * US):
            state = trace.at(number, at)
            assert state is not None
            name = next(s.name for s in block.states if s.index == state[0])
            assert signals[f"{block.id}.state"].value_at(at) == "_".join(name.split())
    save = Path(document["gtkwave"]).read_text()
    assert f'[dumpfile] "{document["waves"]}"' in save
    zoom, marker = next(line for line in save.splitlines() if line.startswith("*")).removeprefix("*").split(" ")[:2]
    assert int(marker) == 300 * US
    shown_ps = 2 ** -float(zoom) * (WINDOW_PX[0] - NAMES_PX - BESIDE_PX) / FRAME_PX
    assert shown_ps == pytest.approx(100 * US, rel=1e-5), "all of it, as GTKWave counts: by frames of 200 pixels"
    names = document["signals"]
    aliases = [name.removesuffix(".state").replace(".", "/") for name in names]
    assert [line for line in save.splitlines() if line.endswith(".state")] == [
        f"+{{{alias}}} {name}" for alias, name in zip(aliases, names, strict=True)
    ]
    _, *commands = Path(document["surfer"]).read_text().splitlines()
    assert commands[: len(signals)] == [f"variable_add {name}" for name in document["signals"]]
    assert f"cursor_set {300 * US}" in commands


def test_an_open_surfer_is_told_by_its_protocol(run: Run, open_surfer: Any, tmp_path: Path) -> None:
    assert main(arguments(run, "--viewer", "surfer", "--out", str(tmp_path))) == 0
    open_surfer.thread.join(10)
    greeting, load, add, look, mark = open_surfer.told
    assert greeting == {"type": "greeting", "version": "0", "commands": ["waveforms_loaded"]}
    assert Path(load["source"]) == tmp_path / "states.vcd"
    assert "core[1]" in add["items"][0]
    assert (look["command"], look["start"], look["end"]) == ("set_viewport_range", 250 * US, 350 * US)
    assert mark["markers"] == [{"time": 300 * US, "name": "stall", "move_focus": True}]


def test_an_older_surfer_is_told_what_it_knows(run: Run, open_surfer: Any, tmp_path: Path) -> None:
    open_surfer.commands = ["add_variables", "load", "set_viewport_to"]
    assert main(arguments(run, "--viewer", "surfer", "--out", str(tmp_path))) == 0
    open_surfer.thread.join(10)
    assert [message.get("command") for message in open_surfer.told[2:]] == ["add_variables", "set_viewport_to"]
    assert open_surfer.told[3]["timestamp"] == 300 * US


@pytest.mark.usefixtures("no_open_surfer")
def test_a_surfer_that_is_started_connects_to_us(run: Run, tmp_path: Path) -> None:
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), *sys.path])
    text = f"""
import json, socket, sys
sys.path[:0] = {path.split(os.pathsep)!r}
import importlib.util
spec = importlib.util.spec_from_file_location("stand_in", {str(here / "test_wave_viewers.py")!r})
module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
assert sys.argv[1] == "--wcp-initiate"
with socket.create_connection(("127.0.0.1", int(sys.argv[2]))) as connection:
    told = module.answer(connection, module.COMMANDS)
open({str(tmp_path / "told.json")!r}, "w").write(json.dumps(told))
"""
    set_preference("program.surfer", program(tmp_path, text))
    assert main(arguments(run, "--viewer", "surfer", "--out", str(tmp_path))) == 0
    for _ in range(200):
        if (tmp_path / "told.json").exists() and (tmp_path / "told.json").read_text().endswith("]"):
            break
        threading.Event().wait(0.05)
    told = json.loads((tmp_path / "told.json").read_text())
    assert [message.get("command") for message in told] == [
        None, "load", "add_items", "set_viewport_range", "add_markers",
    ]  # fmt: skip


@pytest.mark.usefixtures("no_open_surfer")
@pytest.mark.parametrize("viewer", ["surfer", "gtkwave"])
def test_a_viewer_without_the_protocol_gets_files(run: Run, viewer: str, tmp_path: Path) -> None:
    done = tmp_path / "started"
    text = (
        f"import sys\nif '--wcp-initiate' in sys.argv: sys.exit(2)\nopen({str(done)!r}, 'a').write(repr(sys.argv[1:]))"
    )
    set_preference(f"program.{viewer}", program(tmp_path, text))
    assert main(arguments(run, "--viewer", viewer, "--out", str(tmp_path))) == 0
    for _ in range(200):
        if done.exists() and done.read_text().endswith("]"):
            break
        threading.Event().wait(0.05)
    waves, *more = eval(done.read_text())
    assert waves == str(tmp_path / "states.vcd")
    assert more == {"surfer": ["--command-file", str(tmp_path / "moment.sucl")],
                    "gtkwave": [str(tmp_path / "moment.gtkw")]}[viewer]  # fmt: skip


@pytest.mark.usefixtures("no_open_surfer")
def test_what_cannot_be_shown_is_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    for viewer, said in (("surfer", "Surfer is not installed"), ("gtkwave", "GTKWave is not installed")):
        assert main(arguments(run, "--viewer", viewer, "--out", str(tmp_path))) == 2
        assert said in capsys.readouterr().err
    assert main(arguments(run)) == 2
    assert "no waveform viewer is installed" in capsys.readouterr().err
    assert main(["waves", str(run.path), "--at", "9 s"]) == 2
    assert "lies outside of the run" in capsys.readouterr().err
    assert main(["waves", str(run.path), "--at", "1 us", "--block", "pdf2d_top.core[1].ctr"]) == 2
    assert "Did you mean" in capsys.readouterr().err


def test_the_designs_own_signals_come_first(run: Run, tmp_path: Path) -> None:
    """Of the instance that the block is in, and of the top for a block without one."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "waves.vcd").write_text(
        "$timescale 1ps $end\n$scope module top $end\n$var wire 1 ! clk $end\n$scope module core[1] $end\n"
        "$var reg 8 # count [7:0] $end\n$var wire 1 $ go $end\n$upscope $end\n$upscope $end\n"
        "$enddefinitions $end\n#0\n0!\n"
    )
    block = next(block for block in run.manifest.blocks if "core[1]" in block.id)
    inside = replace(block, id="top.core[1].ctrl")
    own = replace(run, path=tmp_path / "run")
    moment = wave_moment(own, [inside], 5 * US, US, tmp_path)
    assert moment.of_design
    assert [signal.name for signal in moment.signals] == ["top.core[1].count", "top.core[1].go"]
    assert "+{top/core[1]/count} top.core[1].count[7:0]" in moment.gtkwave.read_text().splitlines()
    host = wave_moment(own, [replace(block, id="host.main")], 5 * US, US, tmp_path)
    assert [signal.name for signal in host.signals] == ["top.clk"]
    assert host.to_ps == 6 * US < run.manifest.time_ps < PS_PER_S
