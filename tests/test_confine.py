"""What a run starts has no network, sees no other process, and writes nowhere but in the run folder."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from workbench.system.confine import Confinement, confine, missing_tools

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project's folder whose name holds what the options of an overlay use as signs."""
    folder = tmp_path / "a project, v=1:2\\3"
    (folder / "runs" / "run-1" / "raw").mkdir(parents=True)
    (folder / "input.txt").write_text("as it was")
    return folder


@pytest.fixture
def jail(root: Path) -> Confinement:
    run = root / "runs" / "run-1"
    made = confine(root, run / "files", [run / "raw"], [])
    if made is None:
        why = f"{missing_tools() or 'user namespaces'} cannot be had here"
        assert "CI" not in os.environ, why
        pytest.skip(why)
    return made


def run(jail: Confinement, script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*jail.prefix, "sh", "-c", script], capture_output=True, text=True, check=False)


def test_what_is_written_beside_the_sources_lands_in_the_run_folder(jail: Confinement, root: Path) -> None:
    said = run(
        jail, "cat input.txt; echo new > out.txt; echo changed > input.txt; mkdir sub; echo x > sub/y; cat input.txt"
    )
    assert (said.returncode, said.stdout) == (0, "as it waschanged\n")
    assert jail.finish() == ("input.txt", "out.txt", "sub/y")
    files = root / "runs" / "run-1" / "files"
    assert (files / "out.txt").read_text() == "new\n"
    assert (root / "input.txt").read_text() == "as it was"
    assert sorted(p.name for p in root.iterdir()) == ["input.txt", "runs"]
    assert sorted(p.name for p in (root / "runs" / "run-1").iterdir()) == ["files", "raw"]


def test_a_program_is_started_whatever_its_path(jail: Confinement, root: Path) -> None:
    program = root / "a=b"
    program.write_text("#!/bin/sh\necho $1")
    program.chmod(0o755)
    assert subprocess.check_output([*jail.prefix, program, "it runs"], text=True) == "it runs\n"


def test_records_go_where_they_are_read(jail: Confinement, root: Path) -> None:
    assert run(jail, "echo 1 > runs/run-1/raw/records.bin").returncode == 0
    assert (root / "runs" / "run-1" / "raw" / "records.bin").read_text() == "1\n"
    assert jail.finish() == ()
    assert not (root / "runs" / "run-1" / "files").exists()


def test_nothing_else_can_be_written(jail: Confinement, root: Path) -> None:
    outside = [Path.home() / "rcw-wrote-here", root.parent / "rcw-wrote-here", Path("/var/tmp/rcw-wrote-here")]
    for path in outside:
        run(jail, f'echo x > "{path}"')
        assert not path.exists()
    private = run(jail, "echo x > /tmp/rcw-private && ls /tmp")
    assert "rcw-private" in private.stdout
    assert not Path("/tmp/rcw-private").exists()


def test_there_is_no_network_and_no_other_process(jail: Confinement) -> None:
    devices = run(jail, "cat /proc/net/dev").stdout.splitlines()[2:]
    assert [line.split(":")[0].strip() for line in devices] in ([], ["lo"])
    seen = run(jail, "ls /proc").stdout.split()
    assert len([name for name in seen if name.isdigit()]) <= 4


def test_exit_codes_and_signals_are_told_as_ever(jail: Confinement) -> None:
    assert jail.exit_of(run(jail, "exit 7").returncode) == 7
    assert jail.exit_of(run(jail, "kill -SEGV $$").returncode) == -signal.SIGSEGV


def test_the_program_itself_gets_the_request_to_end(jail: Confinement, root: Path) -> None:
    script = "trap 'echo ended > runs/run-1/raw/last; exit 3' TERM; echo up; while :; do sleep 0.05; done"
    child = subprocess.Popen(
        [*jail.prefix, "sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"
    os.killpg(child.pid, signal.SIGTERM)
    assert child.wait() == 3
    child.stdout.close()
    assert (root / "runs" / "run-1" / "raw" / "last").read_text() == "ended\n"


def test_nothing_survives_the_end_of_the_confinement(jail: Confinement) -> None:
    """Not even a process that left the session and shut no stream."""
    script = "setsid sh -c 'setsid sleep 971.5 & sleep 971.5' & echo up; wait"
    child = subprocess.Popen([*jail.prefix, "sh", "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"
    child.kill()
    child.wait()
    assert child.stdout.read() == ""  # end of file: nobody holds the stream any more
    child.stdout.close()
    left = [p for p in psutil.process_iter(["cmdline"]) if "971.5" in (p.info["cmdline"] or [])]
    assert left == []


def test_a_machine_without_the_tools_confines_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.system.confine.missing_tools", lambda: ("bwrap",))
    assert confine(root, root / "files", [], []) is None
    assert not (root / "files").exists()


def test_a_system_that_forbids_it_confines_nothing(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container: the tools are there, and what they ask for is refused."""
    refusing = tmp_path / "bin"
    refusing.mkdir()
    (refusing / "unshare").write_text("#!/bin/sh\necho 'unshare failed: Operation not permitted' >&2\nexit 1\n")
    (refusing / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", f"{refusing}{os.pathsep}{os.environ['PATH']}")
    assert shutil.which("unshare") == str(refusing / "unshare")
    assert confine(root, root / "files", [], []) is None
    assert sorted(p.name for p in root.iterdir()) == ["input.txt", "runs"]
