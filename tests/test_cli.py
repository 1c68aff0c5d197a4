"""The command line's contract: exit codes, one JSON document on stdout, no window's libraries."""

import argparse
import csv
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import document_of

from workbench.api.later import Later
from workbench.cli.arguments import OWN
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.testing.runs import synthetic_run

#: What takes long to import, and waits until it is used.
HEAVY = {"PySide6", "pyqtgraph", "numpy", "scipy", "networkx", "pydantic", "yaml", "jinja2", "pygments", "simpleeval",
         "pyslang", "clang", "psutil"}  # fmt: skip
TEMPLATE = "platform_templates/nallatech_h101.yaml"


def imported(code: str) -> set[str]:
    """The packages that a fresh interpreter has imported when it ends."""
    told = (
        "import atexit, sys; atexit.register(lambda: print(*{m.split('.')[0] for m in sys.modules}, file=sys.stderr))"
    )
    done = subprocess.run([sys.executable, "-c", f"{told}\n{code}"], capture_output=True, text=True, check=True)
    return {module.split(".")[0] for module in done.stderr.splitlines()[-1].split()}


def command(*arguments: str) -> str:
    return f"from workbench.cli.main import main; main({list(arguments)})"


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["run", "--help"], set()),
        (["report", "--help"], set()),
        (["predict", "density", "--help"], set()),
        (["plugins"], set()),
        (["template", "check", TEMPLATE], {"pydantic", "yaml"}),
    ],
)
def test_a_command_imports_only_what_it_needs(arguments: list[str], needed: set[str]) -> None:
    assert imported(command(*arguments)) & HEAVY == needed


@pytest.mark.parametrize("arguments", [["--version"], ["run", "--help"], ["template", "list", "--help"]])
def test_plugins_are_not_looked_for_where_none_can_answer(arguments: list[str]) -> None:
    assert "pluggy" not in imported(command(*arguments))
    assert "pluggy" in imported(command("predict", "--help")), "it lists their kinds of models"


def test_no_command_that_needs_no_window_imports_qt() -> None:
    modules = {f"workbench.cli.{path.stem}" for path in Path("workbench/cli").glob("[!_]*.py")}
    assert not imported("import " + ", ".join(sorted(modules))) & {"PySide6", "pyqtgraph"}


def test_a_window_with_nothing_open_imports_only_what_it_shows() -> None:
    assert imported("from workbench.gui.app import make_window; make_window()") & HEAVY == {"PySide6"}


def test_every_command_has_the_function_that_does_it() -> None:
    def leaves(top: argparse.ArgumentParser) -> Iterator[Later]:
        below = [a for a in top._actions if isinstance(a, argparse._SubParsersAction)]
        for action in below:
            for inner in action.choices.values():
                yield from leaves(inner)
        if not below:
            yield top.get_default("run")

    for command in OWN:
        top = argparse.ArgumentParser()
        command.add(top)
        for place in [command.run] if command.run else leaves(top):
            assert isinstance(place, Later)
            assert callable(place.load()), command.name


@pytest.mark.parametrize(
    "arguments",
    [
        ["template", "list"],
        ["rules", "list"],
        ["plugins"],
        ["predict", "ratss", "pdf2d"],
        ["predict", "density", "dot_product"],
    ],
)
def test_json_prints_one_document_and_nothing_else(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(document_of(capsys, [*arguments, "--json"]), dict)


@pytest.mark.parametrize("arguments", [[], ["run"], ["nothing"], ["report", "x", "--threshold", "much"]])
def test_bad_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""


def test_an_unknown_format_is_answered_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "x", "--format", "cvs", "--out", "y"]) == 2
    assert "there is no format 'cvs'. Did you mean 'csv'?" in capsys.readouterr().err


def test_an_unknown_setting_is_named_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "tests/data/tiny/tiny.workbench.yaml", "--set", "ROUND=2", "--json"]) == 2
    diagnostic = json.loads(capsys.readouterr().out)["diagnostics"][0]
    assert "ROUND" in diagnostic["message"]
    assert "ROUNDS" in diagnostic["hint"]
    assert set(diagnostic) == {"file", "line", "column", "severity", "message", "hint"}


def test_a_timeline_is_told_drawn_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = synthetic_run(cores=3, rounds=2)
    RunWriter(tmp_path / "run", made.manifest).finish(made.manifest, made.tables)
    files = "--svg", str(tmp_path / "t.svg"), "--csv", str(tmp_path / "t.csv")
    eighth_s = made.manifest.time_ps / 8e12
    range_ = "--from", f"{eighth_s} s", "--to", f"{7 * eighth_s} s"
    assert main(["timeline", str(tmp_path / "run"), "--json", "--find", "startCore", *range_, *files]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["from_s"], document["to_s"]) == pytest.approx((eighth_s, 7 * eighth_s), abs=1e-12)
    for share in document["shares"]:
        assert sum(share["states_s"].values()) == pytest.approx(6 * eighth_s, abs=3e-12)
    started = next((c["count"] for c in document["calls"] if c["site"] == "startCore"), 0)
    with (tmp_path / "t.csv").open(encoding="utf-8") as stream:
        calls = [row for row in csv.DictReader(stream) if row["kind"] == "call" and row["name"] == "startCore"]
    begun = [int(row["from_ps"]) / 1e12 for row in calls if int(row["from_ps"]) >= document["from_s"] * 1e12]
    assert len(begun) == started > 0
    found = [place["time_s"] for place in document["found"] if place["name"] == "startCore"]
    assert set(begun) <= set(found)
    assert document["hits"] == len(document["found"])
    drawing = ET.parse(tmp_path / "t.svg").getroot()
    words = {text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {"core[0]", "core[2]", "main, calls"} <= words
    at = f"{document['from_s']} s"
    marks = ["--mark", f"first round={at}", "--mark", "gone=1 us", "--pin", "core[1]"]
    assert main(["timeline", str(tmp_path / "run"), *marks]) == 0
    capsys.readouterr()
    more = "--unmark", "gone", "--shares", "--svg", str(tmp_path / "shares.svg"), "--statistics"
    assert main(["timeline", str(tmp_path / "run"), "--json", *range_, *more]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [marker["name"] for marker in document["markers"]] == ["first round"]
    assert document["markers"][0]["time_s"] == pytest.approx(document["from_s"], abs=1e-12)
    assert [name.split()[0] for name in document["pinned"]] == ["states"]
    for block in {row["block"] for row in document["statistics"]}:
        mine = [row for row in document["statistics"] if row["block"] == block]
        assert sum(row["time_s"] for row in mine) == pytest.approx(6 * eighth_s, abs=3e-12)
    drawing = ET.parse(tmp_path / "shares.svg").getroot()
    words = {text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {"core × 3", "first round"} <= words
    assert main(["timeline", str(tmp_path / "run"), "--unmark", "frist round"]) == 2
    assert "Did you mean 'first round'?" in capsys.readouterr().err
    assert main(["timeline", str(tmp_path / "run"), "--mark", "late=9 s"]) == 2
    assert "lies outside of the run" in capsys.readouterr().err
    assert main(["timeline", str(tmp_path / "run"), "--from", "1 s"]) == 2
    assert "this range is empty" in capsys.readouterr().err
