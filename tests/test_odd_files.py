"""What has a file's name and is none, or is empty: a pipe, a folder, a circle of links. Told, never waited for."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.cli.main import main
from workbench.formats.json_text import read_json
from workbench.formats.run_folder import RunWriter, open_run
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins
from workbench.system import store
from workbench.testing.runs import synthetic_run

TINY = Path(__file__).parent / "data" / "tiny"
ODD: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "circle": lambda path: path.symlink_to(path.name),
    "nowhere": lambda path: path.symlink_to("/nowhere"),
    "device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    tiny = Path(shutil.copytree(TINY, tmp_path / "tiny"))
    ODD[kind](tiny / "compile_commands.json")
    (told,) = open_workspace(tiny / "tiny.workbench.yaml", load_plugins()).diagnostics
    assert told.message.startswith("flags of sources are missing: it cannot be read: ")

    made = synthetic_run(cores=1, rounds=1)
    RunWriter(tmp_path / "run").finish(made.manifest, made.tables)
    (tmp_path / "run" / "checksums.json").unlink()
    ODD[kind](tmp_path / "run" / "checksums.json")
    said = [one.message for one in open_run(tmp_path / "run")[1]]
    assert ["the run's checksums cannot be read" in message for message in said] == [True] * (kind != "nowhere")

    model = tmp_path / "odd.ratss.yaml"
    ODD[kind](model)
    assert main(["predict", "ratss", str(model)]) == 2
    said_of_model = capsys.readouterr().err
    assert "cannot read this RATSS model: " in said_of_model
    assert "Did you mean" not in said_of_model

    monkeypatch.setenv("RCW_PREFERENCES", str(tmp_path))
    ODD[kind](tmp_path / "window.json")
    assert store.preference("theme", "light") == "light"


def test_a_list_that_names_no_source_is_told(tmp_path: Path) -> None:
    tiny = Path(shutil.copytree(TINY, tmp_path / "tiny"))
    project = tiny / "tiny.workbench.yaml"
    project.write_text(project.read_text().replace("hdl/*.v", "rtl.f"))
    (tiny / "rtl.f").write_text("// nothing yet\n")
    (told,) = open_workspace(project, load_plugins()).diagnostics
    assert (told.message, told.file) == ("no source of the design is listed", str(tiny / "rtl.f"))


@pytest.mark.parametrize("text", ["\ufeff[1]", b"\xef\xbb\xbf[1]"])
def test_json_may_begin_with_a_byte_order_mark(text: str | bytes) -> None:
    assert read_json(text) == [1]
