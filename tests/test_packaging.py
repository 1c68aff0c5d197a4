"""What is handed out: an sdist and a wheel that work without the source tree, and what is said about them."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml
from rtl_simulator import make_board

from workbench import __version__
from workbench.formats.run_folder import RunWriter
from workbench.session.program.plugins import KINDS
from workbench.testing.runs import synthetic_run

ROOT = Path(__file__).parents[1]
NOT_SOURCES = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "demo", "runs")
LIBRARIES = [path for path in sys.path if path.endswith("site-packages")]
NOT_SHARED = ("PySide6", "shiboken6", "pyqtgraph", "rc_workbench", "__editable__", "__pycache__", "_virtualenv", "zz_")
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, 'build_' + sys.argv[1])(sys.argv[2]))"


def build(kind: str, source: Path, out: Path) -> Path:
    """Build as a packager's front end does, by the build backend, in the folder of the sources."""
    done = subprocess.run([sys.executable, "-c", BUILD, kind, out], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An sdist of the source tree, and the wheel that is built from that sdist alone."""
    work = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, work / "source", ignore=NOT_SOURCES)
    sdist = build("sdist", work / "source", work)
    shutil.unpack_archive(sdist, work / "unpacked")
    return sdist, build("wheel", next((work / "unpacked").iterdir()), work)


@pytest.fixture(scope="module")
def clean(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel installed; only the libraries it depends on are shared with this one. Those of
    the window are not there, as on a machine without a screen."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--no-compile",
         "--quiet", built[1]],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for library in (path for p in LIBRARIES for path in Path(p).iterdir()):
        if not library.name.startswith(NOT_SHARED):
            (site_packages(folder) / library.name).symlink_to(library)
    return folder


def site_packages(environment: Path) -> Path:
    return next((environment / "lib").glob("python*/site-packages"))


def run(clean: Path, *arguments: str, home: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    """A program of the clean environment, in a folder and with a home that hold nothing; `path` is a folder of programs
    besides the system's."""
    program = clean / "bin" / arguments[0]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("RCW_")}
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        kept.pop(name, None)
    own = {"HOME": str(home), "XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    environment = {**kept, **own, "RCW_CACHE": os.environ["RCW_CACHE"]}  # what all cards have in common is built once
    environment["PATH"] = f"{path}:{environment['PATH']}" if path else environment["PATH"]
    return subprocess.run([program, *arguments[1:]], cwd=home, env=environment, capture_output=True, text=True)


def test_the_installed_wheel_works_on_its_own(clean: Path, tmp_path: Path) -> None:
    where = run(clean, "python", "-c", "import workbench; print(workbench.__file__)", home=tmp_path)
    assert Path(where.stdout.strip()).is_relative_to(clean), where.stderr
    assert run(clean, "workbench", "--version", home=tmp_path).stdout == f"RC Workbench {__version__}\n"
    plugins = json.loads(run(clean, "workbench", "plugins", "--json", home=tmp_path).stdout)["plugins"]
    ours = {e.name for e in entry_points(group="rc_workbench.plugins") if e.value.startswith("rc_workbench_plugins.")}
    assert ours <= {plugin["name"] for plugin in plugins}
    assert not [plugin for plugin in plugins if plugin["error"]]
    templates = json.loads(run(clean, "workbench", "template", "list", "--json", home=tmp_path).stdout)["templates"]
    assert {p.stem for p in (ROOT / "platform_templates").glob("*.yaml")} <= {t["name"] for t in templates}
    assert [t["name"] for t in templates if t["simulated"]] == ["gidel_procstar3", "nallatech_h101", "xd1000"]
    assert all(Path(t["file"]).is_relative_to(clean) for t in templates)
    doctor = run(clean, "workbench", "doctor", "--json", home=tmp_path)
    assert json.loads(doctor.stdout)["ready"], doctor.stdout
    assert all(json.loads(doctor.stdout)["libraries"].values())
    predicted = run(clean, "workbench", "predict", "ratss", "pdf2d", "--json", home=tmp_path)
    assert predicted.returncode == 0, predicted.stderr


def test_commands_that_need_the_window_say_how_to_get_it(clean: Path, tmp_path: Path) -> None:
    opened = run(clean, "workbench", "open", home=tmp_path)
    assert opened.returncode == 2
    hint = "Install it with `pip install 'rc-workbench[window]'`."
    assert opened.stderr == f"error: the window is not installed. {hint}\n"


def test_every_file_that_the_program_reads_at_run_time_is_in_the_wheel(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
    missing = [name for name in run_time_files() if name not in packed]
    assert missing == []
    assert not [name for name in packed if name.startswith(("tests/", "docs/"))]


def run_time_files() -> Iterator[str]:
    """The paths in a wheel of all that the packages' folders hold."""
    places = {
        "resources": "workbench/resources",
        "platform_templates": "workbench/platform_templates",
        "workbench": "workbench",
        "plugins/rc_workbench_plugins": "rc_workbench_plugins",
    }
    for folder, target in places.items():
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"{target}/{path.relative_to(ROOT / folder).as_posix()}"


def test_the_sdist_holds_what_its_tests_and_readers_need(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        held = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    for name in ("LICENSE", "CITATION.cff", "SECURITY.md", "README.md", "Makefile", "docs/architecture.md"):
        assert name in held
    assert {f"tests/{p.name}" for p in (ROOT / "tests").glob("test_*.py")} <= held


def test_the_packages_metadata_is_whole(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
        licences = [n for n in archive.namelist() if "/licenses/" in n]
        (licence,) = (n for n in licences if n.endswith("/LICENSE") and "icons" not in n)
        assert archive.read(licence).decode() == (ROOT / "LICENSE").read_text()
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"].split(" AND ")[0] == "Apache-2.0"
    assert metadata["Author"] == "The RC Workbench developers"
    assert len(licences) == 4, "our own, both fonts', the icons'"
    assert "Operating System :: POSIX :: Linux" in metadata.get_all("Classifier", [])


def test_the_licence_is_apache_2_in_full() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    for number in range(1, 10):
        assert f"\n   {number}. " in text


def test_the_citation_names_this_version_and_the_five_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    assert citation["license"] == "Apache-2.0"
    papers = {(paper["authors"][0]["family-names"], paper["year"]) for paper in citation["references"]}
    assert papers == {("Koehler", 2011), ("Holland", 2011), ("Steffen", 2007), ("Lancaster", 2011), ("Wang", 2016)}


# ---- a third party's plugin, installed from its wheel beside the workbench's

HOST_C = """
#include <stdint.h>
#include <stdio.h>
#include "example.h"
int main(void)
{
    uint32_t words[16], back[16], wrong = 0;
    for (uint32_t n = 0; n < 16; n++)
        words[n] = n * n;
    exampleSend(words, 0, sizeof words);
    exampleReceive(back, 0, sizeof back);
    for (uint32_t n = 0; n < 16; n++)
        wrong += back[n] != words[n] + 1;
    printf("%u wrong\\n", wrong);
    return 0;
}
"""
TOP_V = """
module example_top (input clk, input rst, input [31:0] address, input write, input [31:0] data_in, input read,
                    output reg [31:0] data_out);
    reg [31:0] words [0:15];
    always @(posedge clk) begin : port
        if (write && address < 16) begin
            //pragma recap take recv(data, $CPU, w)
            words[address[3:0]] <= data_in;
        end else if (read && address < 16) begin
            //pragma recap give send(data, $CPU, r)
            data_out <= words[address[3:0]] + 1;
        end
    end
endmodule
"""
PROJECT = """
schema_version: 1
name: example
platform: example_card
host: {sources: [main.c]}
hardware: {sources: [top.v], top: example_top, read_out: {first: 0x400, last: 0x40F}}
"""
STROBE_CARD = """
schema_version: 2
name: strobe_card
hardware:
  ports:
    - {name: words, kind: example_strobe, data: word}
  clocks:
    - {name: clk, signal: clk, frequency_hz: 50 MHz}
"""


@pytest.fixture(scope="module")
def with_example(clean: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clean environment with the example plugin's wheel too."""
    work = tmp_path_factory.mktemp("example")
    shutil.copytree(ROOT / "plugins" / "example_plugin", work / "source", ignore=NOT_SOURCES)
    wheel = build("wheel", work / "source", work)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", clean / "bin" / "python", "install", "--no-deps", "--no-index",
         "--quiet", wheel],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return clean


def write_project(folder: Path) -> None:
    for name, text in (("main.c", HOST_C), ("top.v", TOP_V), ("example.workbench.yaml", PROJECT)):
        (folder / name).write_text(text)


def visited(block: dict[str, Any]) -> list[dict[str, Any]]:
    return [state for state in block["states"] if state["name"] != "unclassified"]


def answer(clean: Path, home: Path, *arguments: str, path: str = "") -> Any:
    done = run(clean, "workbench", *arguments, "--json", home=home, path=path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_example_plugin_brings_one_of_each_kind(with_example: Path, tmp_path: Path) -> None:
    plugins = {plugin["name"]: plugin for plugin in answer(with_example, tmp_path, "plugins")["plugins"]}
    assert plugins["example"]["error"] == ""
    long = {"composers", "queries", "findings"}  # those take more than a few lines
    assert set(plugins["example"]["hooks"]) == {f"workbench_{kind}" for kind in {*KINDS} - long}


def test_a_third_partys_platform_rule_metric_exporter_and_command_on_a_run_of_its_card(
    with_example: Path, tmp_path: Path
) -> None:
    write_project(tmp_path)
    made = answer(with_example, tmp_path, "run", "example.workbench.yaml", "--out", "run", "--deterministic")
    assert made["exit"] == 0
    assert made["stdout_sha256"] == hashlib.sha256(b"0 wrong\n").hexdigest()
    report = answer(with_example, tmp_path, "report", "run", "--threshold", "1.0")
    (port,) = [block for block in report["blocks"] if block["id"] == "example_top.port"]
    assert {state["name"]: state["visits"] for state in visited(port)} == {"take": 16, "give": 16}
    assert {call["entry"]: call["bytes"] for call in report["calls"]} == {"exampleSend": 64, "exampleReceive": 64}
    (finding,) = [f for f in report["findings"] if f["rule"] == "example, small transfers"]
    moved_s = sum(call["time_s"] for call in report["calls"])
    assert finding["metrics"]["example.bytes_per_ms"] == pytest.approx(128 / moved_s / 1e3)
    exported = run(with_example, "workbench", "export", "run", "--format", "example_times", "--out", "t.txt",
                   home=tmp_path)  # fmt: skip
    assert exported.returncode == 0, exported.stderr
    times = dict(line.split() for line in (tmp_path / "t.txt").read_text().splitlines())
    assert float(times["example_top.port"]) == pytest.approx(report["time_s"], rel=1e-6)
    busiest = run(with_example, "workbench", "example-busiest", "run", home=tmp_path)
    assert busiest.stdout == "host.main\n"


def test_a_third_partys_importer_and_model_kind(with_example: Path, tmp_path: Path) -> None:
    (tmp_path / "day.busy").write_text("0.5 busy\n0.25 idle\n0.25 busy\n")
    assert answer(with_example, tmp_path, "import", "day.busy", "--out", "day")["time_s"] == 1.0
    (block,) = answer(with_example, tmp_path, "report", "day")["blocks"]
    assert {state["name"]: (state["time_s"], state["visits"]) for state in block["states"]}["busy"] == (0.75, 2)
    (tmp_path / "bad.busy").write_text("0.5 busy\nsoon\n")
    bad = run(with_example, "workbench", "import", "bad.busy", "--out", "bad", home=tmp_path)
    assert (bad.returncode, "bad.busy:2: error: this is not a time with a state" in bad.stderr) == (2, True)
    model = ("schema_version: 1\nname: half\ninputs:\n  faster: {value: 4}\n"
             "accelerated_share: 0.5\ntimes_faster: faster\n")  # fmt: skip
    (tmp_path / "half.example_amdahl.yaml").write_text(model)
    asked = ("predict", "example_amdahl", "half.example_amdahl.yaml")
    assert answer(with_example, tmp_path, *asked)["outputs"] == {"speedup": 1.6}
    solved = answer(with_example, tmp_path, *asked, "--solve", "faster", "--target", "1.9")
    assert solved["value"] == pytest.approx(1 / ((1 / 1.9 - 0.5) / 0.5))


CALLS = """
array words 16
exampleSend words 0 64
#pragma recap back recv(data, strobe_top.port, r)
exampleReceive words 0 64
print words
"""
STROBE = """
module strobe_top (input clk, input rst, input [31:0] cmd_word, input cmd_strobe, input [31:0] address, input write,
                   input [31:0] data_in, input read, output reg [31:0] data_out);
    word words [0:15];
    reg [3:0] next;
    at clk begin : port
        if (rst) next <= 0;
        else if (cmd_strobe) begin
            //pragma recap take recv(data, $CPU, w)
            words[next] <= cmd_word;
            next <= next + 1;
        end else if (read && address < 16) begin
            //pragma recap give send(data, $CPU, r)
            data_out <= words[address[3:0]] + 1;
        end
    end
endmodule
"""


def test_a_third_partys_port_kind_is_found_by_its_names_and_driven_in_a_run(with_example: Path, tmp_path: Path) -> None:
    """Words are sent through the strobed port and come back through the memory-style one, in the plugin's languages."""
    template = (ROOT / "plugins" / "example_plugin" / "rcw_example" / "example_card.yaml").read_text()
    project = PROJECT.replace("platform: example_card", "platform: strobe.yaml").replace("example_top", "strobe_top")
    project = project.replace("sources: [main.c]", "language: calls, sources: [main.calls]").replace(
        "top.v", "top.terse"
    )
    for name, text in (("main.calls", CALLS), ("top.terse", STROBE), ("example.workbench.yaml", project)):
        (tmp_path / name).write_text(text)
    (tmp_path / "strobe.yaml").write_text(template)
    told = run(with_example, "workbench", "scan", "example.workbench.yaml", home=tmp_path).stderr
    assert "nothing drives the Strobed words in cmd: cmd_word, cmd_strobe" in told
    entry = "{name: cmd, kind: example_strobe, strobe: cmd_strobe, data: cmd_word}"
    assert entry in told
    for before, after in (
        ("  ports:\n", f"  ports:\n    - {entry}\n"), ("  send:\n", "  send:\n    port: cmd\n"),
        ("  receive:\n", "  receive:\n    port: host\n"),
    ):  # fmt: skip
        template = template.replace(before, after)
    (tmp_path / "strobe.yaml").write_text(template)
    made = answer(with_example, tmp_path, "run", "example.workbench.yaml", "--out", "run", "--deterministic")
    assert (made["exit"], made["stdout_sha256"]) == (0, hashlib.sha256(b"1\n" * 16).hexdigest())
    host, block = answer(with_example, tmp_path, "report", "run")["blocks"]
    assert [state["name"] for state in visited(host)] == ["work", "exampleSend", "back"]
    assert {state["name"]: round(state["time_s"] * 50e6) for state in visited(block)} == {"take": 16, "give": 16}


def test_a_third_partys_target_and_port_kind_say_what_they_lack(with_example: Path, tmp_path: Path) -> None:
    write_project(tmp_path)
    told = run(with_example, "workbench", "run", "example.workbench.yaml", "--target", "example_lab", home=tmp_path)
    assert told.returncode == 2
    assert "the program 'example-lab' is not installed" in told.stderr
    (tmp_path / "strobe.yaml").write_text(STROBE_CARD)
    told = run(with_example, "workbench", "template", "check", "strobe.yaml", home=tmp_path)
    assert (told.returncode, "the key 'strobe' is missing" in told.stderr) == (1, True)
    (tmp_path / "strobe.yaml").write_text(STROBE_CARD.replace("data: word", "data: word, strobe: there"))
    assert run(with_example, "workbench", "template", "check", "strobe.yaml", home=tmp_path).returncode == 0


LAB = """#!/bin/sh -e
mkdir built
cd built
{make} >&2
cd "$1/hdl"
exec {here}/built/host
"""


def test_a_run_is_made_at_a_third_partys_target(with_example: Path, tmp_path: Path) -> None:
    """The lab's program is the lab's; here it builds the tree for the board that stands in for one."""
    shutil.copytree(ROOT / "tests" / "data" / "tiny", tmp_path, dirs_exist_ok=True)
    lab = tmp_path / "bin" / "example-lab"
    lab.parent.mkdir()
    make = " ".join(f'"{word}"' for word in make_board(Path("$1")))
    lab.write_text(LAB.format(make=make, here=tmp_path))
    lab.chmod(0o755)
    made = answer(with_example, tmp_path, "run", "tiny.workbench.yaml", "--target", "example_lab", "--out", "run",
                  path=str(lab.parent))  # fmt: skip
    assert (made["exit"], made["stdout_sha256"]) == (0, hashlib.sha256(b"1128\n").hexdigest())
    (adder,) = [b for b in answer(with_example, tmp_path, "report", "run")["blocks"] if b["id"] == "tiny_top.adder"]
    assert {state["name"]: state["visits"] for state in adder["states"]}["add"] == 3 * 16
    assert not json.loads((tmp_path / "run" / "manifest.json").read_text())["simulated"]


SHOWN = """
import time
from pathlib import Path
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from workbench.gui.app import make_application
from workbench.gui.frame.main_window import MainWindow
from workbench.session.program.plugins import load_plugins

application = make_application()
window = MainWindow(load_plugins())
window.show()
window.open(Path("run"))
while window.context.run is None or window.busy:
    application.processEvents()
    time.sleep(0.005)  # QTest.qWait would keep the job's thread from going on
QTest.keyClick(window, Qt.Key.Key_9, Qt.KeyboardModifier.ControlModifier)
mode = window.mode
application.processEvents()
print(window.context.navigation.mode, window.rail.buttons["example_cross_off"].isChecked())
print(mode.details_panel.isVisible(), mode.list.count())
(main,) = mode.list.findItems("host.main", Qt.MatchFlag.MatchExactly)
mode.list.itemActivated.emit(main)
window.context.set_aside("another change, of another mode")
print(mode.details_panel.text(), mode.list.count(), window.actions_of.all["undo"].text())
window.undo()
print(mode.details_panel.text(), mode.list.count(), window.context.aside == {"another change, of another mode"})
window.close()
"""


def test_a_third_partys_mode_stands_in_the_rail_with_its_own_dock_and_undo(with_example: Path, tmp_path: Path) -> None:
    run_ = synthetic_run(cores=2, rounds=1)
    RunWriter(tmp_path / "run", run_.manifest).finish(run_.manifest, run_.tables)
    blocks = len(run_.manifest.blocks)
    (site_packages(with_example) / "window.pth").write_text("\n".join(LIBRARIES))
    shown = run(with_example, "python", "-c", SHOWN, home=tmp_path)
    assert shown.stdout.splitlines() == [
        "example_cross_off True",
        f"True {blocks}",
        f"1 of {blocks} crossed off {blocks - 1} Undo cross off host.main",
        f"0 of {blocks} crossed off {blocks} True",
    ], shown.stderr
