"""The command line's contract: exit codes, one JSON document on stdout, no window's libraries."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from workbench.cli.main import main


def test_the_command_line_loads_no_qt() -> None:
    code = (
        "import sys, workbench.cli.main; print([m for m in sys.modules if m.split('.')[0] in ('PySide6', 'pyqtgraph')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


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
    assert main([*arguments, "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


@pytest.mark.parametrize("arguments", [[], ["run"], ["nothing"], ["export", "x", "--format", "none", "--out", "y"]])
def test_bad_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""


def test_an_unknown_setting_is_named_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "tests/data/tiny/tiny.workbench.yaml", "--set", "ROUND=2", "--json"]) == 2
    diagnostic = json.loads(capsys.readouterr().out)["diagnostics"][0]
    assert "ROUND" in diagnostic["message"]
    assert "ROUNDS" in diagnostic["hint"]
    assert set(diagnostic) == {"file", "line", "column", "severity", "message", "hint"}
