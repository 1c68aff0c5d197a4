"""Terminals without any character but ASCII, folders of odd names, homes and disks that nothing can be written to."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from answers import document_of

from workbench.cli.main import main
from workbench.cli.output import BAD_INPUT, DONE
from workbench.formats.run_folder import RunWriter
from workbench.model.diagnostic import WorkbenchError
from workbench.session.keep.run_end import cannot_write, failures_marked
from workbench.session.make.pipeline import new_writer
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_run

TINY = Path(__file__).parent / "data" / "tiny"
#: A terminal of the C locale, as a container or a job of a queue has one.
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made = synthetic_run(cores=1, rounds=1)
    RunWriter(tmp_path / "run", made.manifest).finish(made.manifest, made.tables)
    return tmp_path / "run"


def in_c_locale(*words: object) -> str:
    command = [sys.executable, "-m", "workbench", *map(str, words)]
    done = subprocess.run(command, env={**os.environ, **C_LOCALE}, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode("ascii")


def test_a_terminal_that_has_only_ascii_gets_ascii(run: Path) -> None:
    text = in_c_locale("report", run)
    assert "\\u" not in text
    assert "139.1 us virtual" in text
    assert json.loads(in_c_locale("report", run, "--json"))["status"] == "complete"


def test_a_name_that_the_locale_has_no_characters_for_is_no_name_of_other_bytes(tmp_path: Path) -> None:
    shutil.copytree(TINY, tmp_path / "für")
    command = [sys.executable, "-m", "workbench", "scan", os.fsencode(tmp_path / "für")]
    done = subprocess.run(command, env={**os.environ, **C_LOCALE}, capture_output=True)
    assert done.returncode == 2
    assert b"cannot be read in this locale. File names in this locale are ASCII only: set LC_ALL=C.UTF-8" in done.stderr


@pytest.mark.parametrize("name", ['a"b', "a\nb", os.fsdecode(b"a\xe9b")])
def test_a_folder_that_no_compiler_can_be_told_of_is_named(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is built; a folder for what is written as well."""
    plain, odd = shutil.copytree(TINY, tmp_path / "tiny"), shutil.copytree(TINY, tmp_path / name)
    for project, out in ((odd, tmp_path / "out"), (plain, odd / "out")):
        for command in ("run", "instrument"):
            problem = document_of(capsys, [command, str(project), "--out", str(out), "--json"], 2)["diagnostics"][0]
            assert name in f"{problem['message']} {problem['file']}"
            assert "Rename" in problem["hint"]
            assert not out.exists()


@pytest.mark.parametrize("name", ["a b'c", "a\\b", "$a;b#c%d", "a:b,c=d(e)"])
def test_a_folder_of_any_other_name_is_scanned(tmp_path: Path, name: str) -> None:
    assert main(["scan", str(shutil.copytree(TINY, tmp_path / name)), "--json"]) == 0


def test_a_setting_that_cannot_be_stored_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RCW_PREFERENCES", "/proc/none")
    for words in (["set", "theme", "dark"], ["reset", "theme"]):
        assert main(["settings", *words, "--json"]) == 2
        assert "the setting is not stored" in json.loads(capsys.readouterr().out)["diagnostics"][0]["message"]


def test_a_copy_that_fails_names_what_could_not_be_written() -> None:
    error = OSError(28, "No space left on device", "/usr/share/template.yaml", None, "/full/run/platform.yaml")
    assert cannot_write(error, Path("/full/run")).file == "/full/run/platform.yaml"


LONG = "/".join(["a" * 200] * 30)


@pytest.mark.parametrize(
    "words",
    [
        ["scan", LONG], ["new", LONG], ["report", LONG], ["streams", LONG], ["query", LONG], ["predict", "ratss", LONG],
        ["template", "new", LONG], ["import", LONG, "--out", "run"], ["new", ".", "--platform", LONG],
    ],
    ids=lambda words: " ".join(word[:20] for word in words),
)  # fmt: skip
def test_a_name_that_is_too_long_for_a_file_is_answered_in_words(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == BAD_INPUT
    assert "error: " in capsys.readouterr().err


def test_a_template_may_name_a_header_that_no_file_can_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = tmp_path / "card.yaml"
    text = (TINY.parents[2] / "platform_templates" / "litepcie.yaml").read_text()
    template.write_text(text.replace("include_lines: [", f"include_lines: ['#include <{'x' * 3000}.h>', "))
    assert template.read_text() != text
    assert main(["template", "check", str(template)]) in (DONE, BAD_INPUT)
    assert "litepcie" in capsys.readouterr().out


@pytest.mark.parametrize("fault", [KeyError("core"), FileNotFoundError("raw/host_stats.bin")])
def test_a_run_whose_folder_goes_meanwhile_says_so(fault: Exception, tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "tiny" / "run-1")
    (tmp_path / "tiny").rename(tmp_path / "other")
    with pytest.raises(WorkbenchError, match="the folder of this run is gone"), failures_marked(writer):
        raise fault


def test_two_runs_that_begin_at_once_have_a_folder_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_workspace(TINY / "tiny.workbench.yaml", load_plugins())
    folders = iter([tmp_path / "run-1", tmp_path / "run-2", tmp_path / "run-2"])
    monkeypatch.setattr(type(workspace), "next_run_folder", lambda _: next(folders))
    first = RunWriter(tmp_path / "run-1")  # after the other looked for its number, before it made the folder
    second = new_writer(workspace, None, first.manifest)
    assert second.path.name == "run-2"
    with pytest.raises(WorkbenchError, match="not empty"):
        new_writer(workspace, tmp_path / "run-1", first.manifest)
