"""What a command writes never takes the place of a source, a project, or anything else that is the person's own."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.testing.runs import synthetic_run

TINY = Path(__file__).parent / "data" / "tiny"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return shutil.copytree(TINY, tmp_path / "tiny")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = synthetic_run(cores=2, rounds=2)
    path = tmp_path_factory.mktemp("run") / "run"
    RunWriter(path, made.manifest).finish(made.manifest, made.tables)
    return path


def hashes(folder: Path) -> dict[str, str]:
    files = (p for p in sorted(folder.rglob("*")) if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.mark.parametrize("folder", [".", "hdl", "host"])
def test_instrumented_copies_never_go_where_sources_are(
    project: Path, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = hashes(project)
    assert main(["instrument", str(project), "--out", str(project / folder)]) == 2
    assert "holds files that are not the workbench's own, such as" in capsys.readouterr().err
    assert hashes(project) == before


def test_instrumented_copies_are_replaced_by_new_ones(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["instrument", str(project), "--out", str(out)]) == 0
    first = hashes(out)
    source = project / "hdl" / "tiny_top.v"
    source.write_text(source.read_text() + "// a second state of it\n")
    assert main(["instrument", str(project), "--out", str(out)]) == 0
    assert set(hashes(out)) == set(first)
    assert hashes(out)["hdl/hdl/tiny_top.v"] != first["hdl/hdl/tiny_top.v"]


@pytest.mark.parametrize("change", ["edited", "added"])
def test_what_a_person_did_to_the_copies_is_kept(project: Path, tmp_path: Path, change: str) -> None:
    out = tmp_path / "out"
    assert main(["instrument", str(project), "--out", str(out)]) == 0
    mine = out / "hdl" / "hdl" / ("tiny_top.v" if change == "edited" else "mine.v")
    mine.write_text("// mine\n")
    before = hashes(out)
    assert main(["instrument", str(project), "--out", str(out)]) == 2
    assert hashes(out) == before


def test_a_list_of_files_elsewhere_is_not_followed(project: Path, tmp_path: Path) -> None:
    out, precious = tmp_path / "out", tmp_path / "precious.txt"
    out.mkdir()
    precious.write_text("kept")
    digest = hashlib.sha256(b"kept").hexdigest()
    (out / ".rc-workbench.json").write_text(json.dumps({"files": {"../precious.txt": digest}}))
    assert main(["instrument", str(project), "--out", str(out)]) == 0
    assert precious.read_text() == "kept"


RESULTS = {
    "html": ["report", "--html"],
    "svg": ["report", "--svg"],
    "chrome": ["export", "--format", "chrome", "--out"],
    "csv": ["export", "--format", "csv", "--out"],
    "folded": ["export", "--format", "folded", "--out"],
}


@pytest.mark.parametrize("kind", RESULTS)
@pytest.mark.parametrize("own", ["host/main.c", "hdl/tiny_top.v", "tiny.workbench.yaml", "index.html", "package.json"])
def test_a_result_never_replaces_a_file_of_another_kind(
    project: Path, run: Path, kind: str, own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "index.html").write_text('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n')
    (project / "package.json").write_text('{"displayName": "mine"}\n')
    before = hashes(project)
    command, *options = RESULTS[kind]
    assert main([command, str(run), *options, str(project / own)]) == 2
    assert "this is another kind of file, so it was not replaced" in capsys.readouterr().err
    assert hashes(project) == before


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_replaces_an_earlier_one(run: Path, tmp_path: Path, kind: str) -> None:
    other = synthetic_run(cores=3, rounds=1, form="optimised")
    again = tmp_path / "other"
    RunWriter(again, other.manifest).finish(other.manifest, other.tables)
    command, *options = RESULTS[kind]
    result = tmp_path / "result"
    result.touch()  # as mktemp leaves it
    assert main([command, str(run), *options, str(result)]) == 0
    first = result.read_bytes()
    assert main([command, str(again), *options, str(result)]) == 0
    assert result.read_bytes() != first
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other", "result"]


def test_a_picture_replaces_only_a_picture(run: Path, project: Path, tmp_path: Path) -> None:
    before = hashes(project)
    assert main(["report", str(run), "--png", str(project / "host" / "main.c")]) == 2
    assert hashes(project) == before


def test_the_demo_removes_only_its_own_earlier_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "original" / "thesis.txt"
    mine.parent.mkdir()
    mine.write_text("two years of work")
    assert main(["demo", "--headless", "--out", str(tmp_path)]) == 2
    assert "this folder is not empty" in capsys.readouterr().err
    assert mine.read_text() == "two years of work"
