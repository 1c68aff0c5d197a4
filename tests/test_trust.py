"""What a user agreed to run is what they could see: the project's content, not its path."""

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.session.open import trust
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import TrustState, trust_sentences, trust_state
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins
from workbench.system import store

LAPLACE = Path(__file__).parents[1] / "resources" / "examples" / "laplace"
TINY = Path(__file__).parent / "data" / "tiny"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(TINY, tmp_path / "tiny")
    return tmp_path / "tiny" / "tiny.workbench.yaml"


@pytest.fixture
def opened(project: Path) -> Workspace:
    return open_workspace(project, load_plugins())


def add(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def test_trust_is_for_what_the_project_held(opened: Workspace) -> None:
    assert trust_state(opened) == TrustState(False)
    trust.trust(opened)
    assert trust_state(opened) == TrustState(True)


@pytest.mark.parametrize(
    "change",
    [
        lambda root: add(root / "host/main.c", "int later;\n"),
        lambda root: add(root / "hdl/tiny_top.v", "// $system\n"),
        lambda root: add(root / "hdl/defs.inc", "`define K 2\n"),  # a file that was not there
        lambda root: add(root / "host/deep/er/x.h", "#define K 2\n"),
        lambda root: add(root / "tiny.workbench.yaml", "\n# flags\n"),
    ],
)
def test_what_changed_since_asks_again_and_is_named(opened: Workspace, change: Callable[[Path], None]) -> None:
    trust.trust(opened)
    before = {p: p.read_bytes() for p in opened.root.rglob("*") if p.is_file()}
    change(opened.root)
    touched = [p for p in opened.root.rglob("*") if p.is_file() and before.get(p) != p.read_bytes()]
    assert trust_state(opened) == TrustState(False, tuple(str(p.relative_to(opened.root)) for p in touched))
    trust.trust(opened)
    assert trust_state(opened).trusted


def test_runs_and_hidden_folders_are_no_content(opened: Workspace) -> None:
    trust.trust(opened)
    add(opened.root / "runs/run-1/stdout.txt", "1128\n")
    add(opened.root / "host/.git/index", "x")
    assert trust_state(opened).trusted


def test_the_users_own_project_is_not_asked_about_again(opened: Workspace) -> None:
    trust.trust(opened, own=True)
    add(opened.root / "host/main.c", "int later;\n")
    assert trust_state(opened) == TrustState(True)


def test_more_files_than_can_be_told_are_asked_about_each_time(
    opened: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "_MOST_FILES", 3)
    trust.trust(opened)
    assert not trust_state(opened).trusted
    trust.trust(opened, own=True)
    assert trust_state(opened).trusted


@pytest.mark.parametrize("stored", [5, None, ["/some/path"], "yes", {"x": 3}])
def test_nonsense_among_what_is_remembered_trusts_nothing(opened: Workspace, stored: object) -> None:
    store.save("trusted", stored)
    assert not trust_state(opened).trusted
    trust.trust(opened)
    assert trust_state(opened).trusted


def test_a_list_of_paths_of_an_earlier_version_trusts_no_content(opened: Workspace) -> None:
    store.save("trusted", [str(opened.path)])
    assert not trust_state(opened).trusted


def test_the_question_names_what_would_run(opened: Workspace) -> None:
    add(opened.root / "hdl/tiny_top.v", '\n/* $system */ // $system\nmodule z; initial $system("id");\nendmodule\n')
    line = (opened.root / "hdl/tiny_top.v").read_text().count("\n") - 1
    said = " ".join(trust_sentences(opened, TrustState(False, ("host/main.c",))))
    assert "Changed since you trusted it: host/main.c." in said
    assert "host/main.c" in said
    assert f"$system at hdl/tiny_top.v:{line}." in said
    assert said.count("$system at") == 1


def test_of_a_streaming_application_the_question_names_what_a_person_wrote(tmp_path: Path) -> None:
    shutil.copytree(LAPLACE, tmp_path / "laplace")
    project, x = tmp_path / "laplace" / "two.workbench.yaml", tmp_path / "laplace" / "laplace.x"
    opened = open_workspace(project, load_plugins())
    said = " ".join(trust_sentences(opened, TrustState(False)))
    assert "Blocks: laplace.x, rng.v, rng.hpp and 2 more, turned into" in said
    assert "stream_top.v" not in said
    assert "DPI" not in said
    trust.trust(opened)
    x.write_text(x.read_text().replace("seed = 5489", "seed = 5490"))
    assert trust_state(open_workspace(project, load_plugins())).changed == ("laplace.x",)


def test_the_question_says_when_nothing_confines_the_run(opened: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "missing_tools", lambda: ("bwrap",))
    assert "bwrap is not installed" in trust_sentences(opened, TrustState(False))[-1]


def on_terminal(command: list[str], answer: str) -> tuple[int, str]:
    """A command on a terminal of its own, asked once: its exit code and all it said."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    with open(ours, "r+b", buffering=0) as terminal:
        try:
            while data := terminal.read(4096):
                said += data
                if b"[N]o: " in said and answer:
                    terminal.write(f"{answer}\n".encode())
                    answer = ""
        except OSError:
            pass  # Linux's way of saying that the other end is closed
    return child.wait(), said.decode()


@pytest.mark.parametrize("command", ["run", "streams"])
def test_on_a_terminal_a_no_runs_nothing(command: str, opened: Workspace) -> None:
    code, said = on_terminal([sys.executable, "-m", "workbench", command, str(opened.path)], "n")
    assert code == 2
    assert "host/main.c" in said
    assert "not trusted" in said
    assert not trust_state(opened).trusted
    assert not (opened.root / "runs").exists()


def test_a_scripts_run_is_its_own(opened: Workspace) -> None:
    """A script asks for one run; the window asks all the same."""
    broken = opened.root / "host" / "main.c"
    broken.write_text(broken.read_text() + "#error stop before anything is built\n")
    command = [sys.executable, "-m", "workbench", "run", str(opened.path)]
    said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert "for this run" in said.stderr
    assert said.returncode == 2
    assert "#error" in said.stderr
    assert not trust_state(opened).trusted
