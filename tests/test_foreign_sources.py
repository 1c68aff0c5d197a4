"""Projects of strangers: whatever their sources are, reading them ends soon, within bounds, with a word on each."""

import ctypes
import io
import json
import mmap
import os
import pickle
import resource
import shutil
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from workbench.api.job import Job, JobEvent
from workbench.api.source import files as source_files
from workbench.cli.main import main
from workbench.formats.project_file import load_project
from workbench.formats.run_folder import RunWriter
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Cancelled, Diagnostic, Severity, WorkbenchError
from workbench.model.scan import HdlScan
from workbench.session.make.pipeline import instrument_workspace
from workbench.session.open import reader_child, reading
from workbench.session.open.opening import open_workspace
from workbench.session.open.reader_child import ReaderEnded, in_child
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_run

TINY = Path(__file__).parent / "data" / "tiny"
HOST, TOP = "host/main.c", "hdl/tiny_top.v"


class Foreign:
    """A copy of the tiny project to be spoilt."""

    def __init__(self, root: Path) -> None:
        self.root = Path(shutil.copytree(TINY, root))
        self.file = self.root / "tiny.workbench.yaml"

    def write(self, name: str, data: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)

    def before(self, name: str, text: str | bytes) -> None:
        path = self.root / name
        self.write(name, (text.encode() if isinstance(text, str) else text) + path.read_bytes())

    def change(self, old: str, new: str) -> None:
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new, 1))

    def open(self) -> Workspace:
        return open_workspace(self.file, load_plugins())

    def said(self) -> tuple[Diagnostic, ...]:
        """What opening says, or scanning where it opens."""
        try:
            return self.open().scan().diagnostics
        except WorkbenchError as error:
            return error.diagnostics


@pytest.fixture
def foreign(tmp_path: Path) -> Foreign:
    return Foreign(tmp_path / "foreign")


def bomb(define: str, use: str) -> str:
    """Macros that multiply by ten, ten times."""
    lines = [f"{define} A0 1,1,1,1,1,1,1,1,1,1"]
    return "\n".join([*lines, *(f"{define} A{n + 1} {','.join([f'{use}A{n}'] * 10)}" for n in range(9))]) + "\n"


def test_ordinary_sources_are_read_as_without_a_child(foreign: Foreign) -> None:
    workspace = foreign.open()
    found = workspace.scan()
    settings = workspace.settings()
    assert found.diagnostics == ()
    assert len(found.host.calls) == len(workspace.host_scanner(settings, Job())(workspace.host).calls) > 0
    assert len(found.hdl.blocks) == len(workspace.hdl_scanner(settings, Job())(workspace.project.hardware).blocks) > 0


@pytest.mark.parametrize(
    ("name", "directive", "said"),
    [
        (HOST, '#include "/dev/zero"\n', "not a regular file"),
        (HOST, "  #  include <pipe.h>\n", "not a regular file"),
        (TOP, '`include "/dev/zero"\n', "not a regular file"),
        (HOST, '#include "/etc/passwd"\n', "outside of the project's folder"),
        (TOP, '`include "../../../../../../../../../../../../etc/passwd"\n', "outside of the project's folder"),
        (HOST, '#include "through.h"\n', "not a regular file"),
    ],
)
def test_what_is_included_is_looked_at_first(foreign: Foreign, name: str, directive: str, said: str) -> None:
    foreign.change("host:\n", "host:\n  include_dirs: [inc]\n")
    foreign.write("inc/through.h", '#include "pipe.h"\n')
    os.mkfifo(foreign.root / "inc" / "pipe.h")
    foreign.before(name, directive)
    (problem,) = [p for p in foreign.said() if said in p.message]
    assert problem.line == 1
    with pytest.raises(WorkbenchError, match=said):
        instrument_workspace(foreign.open(), {}, foreign.root.parent / "out")


@pytest.mark.parametrize("name", [HOST, TOP])
def test_a_source_that_goes_while_the_project_is_open_is_named(foreign: Foreign, name: str) -> None:
    workspace = foreign.open()
    (foreign.root / name).unlink()
    problem, *_ = workspace.scan().diagnostics
    assert problem.severity is Severity.ERROR
    assert problem.file == str(foreign.root / name)
    with pytest.raises(WorkbenchError) as failed:
        instrument_workspace(workspace, {}, foreign.root.parent / "out")
    assert name in str(failed.value)

    def read(part: HardwareSources) -> HdlScan:  # it goes after the reader looked whether it is there
        (foreign.root / name).read_bytes()
        return HdlScan(())

    problem, *_ = reading.scanned(workspace.root, (), workspace.project.hardware, read, HdlScan(()), Job()).diagnostics
    assert (problem.message, problem.file) == (f"cannot read this file: {os.strerror(2)}", str(foreign.root / name))


def test_folders_that_the_project_names_may_be_included_from(foreign: Foreign) -> None:
    (foreign.root.parent / "shared").mkdir()
    (foreign.root.parent / "shared" / "common.h").write_text("#define COMMON 1\n")
    foreign.before(HOST, '#include "../../shared/common.h"\n')
    assert "outside" in foreign.said()[0].message
    foreign.change("host:\n", "outside: [../shared]\nhost:\n")
    assert foreign.said() == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("/**/*.c", "outside of the project's folder"),
        ("../../../**", "outside of the project's folder"),
        ("/etc/passwd", "outside of the project's folder"),
        ("host/out.c", "outside of the project's folder"),
        ("host/loop.c", "not a readable file"),
        ("host/pipe.c", "not a readable file"),
        ("host", "not a readable file"),
        ("ring/ring/main.c", "is not there"),
        ("h" * 5000 + ".c", "is not there"),
        ("\\0.c", "is not there"),
    ],
)
def test_sources_are_files_below_the_project(foreign: Foreign, name: str, said: str) -> None:
    os.symlink("/etc/passwd", foreign.root / "host" / "out.c")
    os.symlink("loop.c", foreign.root / "host" / "loop.c")
    os.symlink("ring", foreign.root / "ring")
    os.mkfifo(foreign.root / "host" / "pipe.c")
    foreign.change("[host/main.c]", f'["{name}"]')
    _, problems = load_project(foreign.file)
    (problem,) = [p for p in problems if p.severity == "error"]
    assert said in problem.message
    assert problem.line == 6


def test_an_absolute_name_below_the_project_is_a_source(foreign: Foreign) -> None:
    foreign.change("[host/main.c]", f"[{foreign.root / HOST}]")
    assert foreign.open().host.sources == (HOST,)


def test_a_pattern_looks_at_no_more_than_sources_take(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_files, "ENTRY_LIMIT", 50)
    for number in range(60):
        foreign.write(f"many/{number}.txt", "")
    os.symlink("..", foreign.root / "many" / "up")  # `**` follows no links
    foreign.change("[host/main.c]", "['**/*.c']")
    (problem,) = [p for p in load_project(foreign.file)[1] if p.severity == "error"]
    assert "searches more than" in problem.message
    monkeypatch.setattr(source_files, "ENTRY_LIMIT", 20_000)
    assert foreign.open().host.sources == (HOST,)


def deep_else_if() -> str:
    arms = "".join(f"else if (x == {n}) return {n};\n" for n in range(9000))
    return f"int f(int x) {{ if (x == 0) return 0;\n{arms} return 1; }}\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (HOST, '#define Z "/dev/zero"\n#include Z\n', "768 MiB of memory"),
        (HOST, bomb("#define", "") + "int x[] = {A9};\n", "768 MiB of memory"),
        (HOST, deep_else_if(), "parser crashed"),
        (TOP, bomb("`define", "`") + "module bomb; localparam x = {`A9}; endmodule\n", "768 MiB of memory"),
        (TOP, f"module deep; localparam x = {'(' * 99999}1{')' * 99999}; endmodule\n", "too deeply nested"),
    ],
    ids=["device", "macros", "else-if", "defines", "brackets"],
)
def test_what_breaks_a_parser_is_told_by_its_file(foreign: Foreign, name: str, text: str, said: str) -> None:
    foreign.before(name, text)
    errors = [p for p in foreign.said() if p.severity == "error"]
    assert {p.file for p in errors} == {str(foreign.root / name)}
    assert [p for p in errors if said in p.message]


def test_one_bad_source_of_several_is_left_out(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign.change("[host/main.c]", "[host/bad.c, host/main.c]")
    foreign.write("host/bad.c", deep_else_if())
    found = foreign.open().scan()
    assert [(p.file, "parser crashed" in p.message) for p in found.diagnostics] == [
        (str(foreign.root / "host/bad.c"), True)
    ]
    assert {call.file for call in found.host.calls} == {HOST}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (HOST, lambda data: b'#include "\xe4.h"\n' + data),
        (HOST, lambda data: b'#include "a\0b.h"\n' + data),
        (TOP, lambda data: b'`include "a\0b.v"\n' + data),
        (HOST, lambda data: b'#include "' + b"a" * 5000 + b'"\n' + data),
        (TOP, lambda data: b'`include "' + b"a" * 5000 + b'"\n' + data),
        (HOST, lambda data: data.replace(b"\n", b"\r")),
        (HOST, lambda data: data.replace(b"\n", b"\r", 3)),
        (TOP, lambda data: data.replace(b"\n", b"\r")),
        (TOP, lambda data: data.replace(b"\n", b"\r", 3)),
        (TOP, lambda data: b'`line 9000 "elsewhere.v" 0\n' + data),
    ],
)
def test_odd_bytes_are_no_defect(foreign: Foreign, name: str, change: Callable[[bytes], bytes]) -> None:
    before = foreign.open().scan()
    foreign.write(name, change((foreign.root / name).read_bytes()))
    found = foreign.open().scan()
    if b"`line" in (foreign.root / TOP).read_bytes():  # lines are those of the file, as its pragmas' are
        assert [b.line for b in found.hdl.blocks] == [b.line + 1 for b in before.hdl.blocks]
    assert all(p.message for p in found.diagnostics)


def raise_key_error() -> None:
    raise KeyError("a defect")


def recurse() -> None:
    recurse()


def test_a_child_of_a_large_process_that_crashes_did_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its parent holds, of a large project, is no memory that reading took."""
    monkeypatch.setattr(reader_child, "MEMORY_BYTES", 256 << 20)
    much = bytearray(b"x") * (200 << 20)
    with pytest.raises(ReaderEnded, match="crashed"):
        in_child(lambda: ctypes.string_at(0))
    assert len(much) == 200 << 20


def test_what_happens_in_a_child(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = set(psutil.Process().children())  # a display, for other tests
    diagnostic = Diagnostic("wrong", line=3)

    def complain() -> None:
        raise WorkbenchError(diagnostic)

    assert in_child(lambda: (diagnostic, {"a": [1.5, None]}, Path("/x"))) == (
        diagnostic,
        {"a": [1.5, None]},
        Path("/x"),
    )
    with pytest.raises(WorkbenchError, match="wrong"):
        in_child(complain)
    with pytest.raises(FileNotFoundError):
        in_child(lambda: open(tmp_path / "nothing"))  # noqa: SIM115
    with pytest.raises(RuntimeError, match="a defect"):  # a defect stays one
        in_child(raise_key_error)
    for work, why in (
        (recurse, "nested too deeply"),
        (lambda: bytearray(2 << 30), "768 MiB of memory"),
        (lambda: ctypes.string_at(0), "crashed"),
        (lambda: open(tmp_path / "pipe"), "never ends"),  # noqa: SIM115
        (lambda: os._exit(3), "without a result"),
        (lambda: (os.write(2, b"what():\n no threads\n\n"), os.abort()), r"crashed \(SIGABRT\): no threads$"),
        (lambda: (os.write(2, b"x" * (1 << 20)), os.abort()), r"crashed \(SIGABRT\): x+$"),
        (os.abort, r"crashed \(SIGABRT\)$"),
    ):
        with pytest.raises(ReaderEnded, match=why):
            in_child(work, idle_s=0.2)  # type: ignore[arg-type]
    started = time.process_time()
    with pytest.raises(ReaderEnded, match="processor time"):
        in_child(lambda: [n for n in iter(int, 1)], cpu_s=1)  # noqa: C416
    assert time.process_time() - started < 0.5
    assert not set(psutil.Process().children()) - before


def test_a_child_that_gets_no_processor_is_waited_for() -> None:
    """As on a machine whose other processes leave it none for seconds: here it is stopped."""

    def go_on() -> None:
        stopped: list[psutil.Process] = []
        while not stopped:
            time.sleep(0.01)
            stopped = [c for c in psutil.Process().children() if c.status() == psutil.STATUS_STOPPED]
        time.sleep(0.5)
        stopped[0].resume()

    waker = threading.Thread(target=go_on)
    waker.start()
    assert in_child(lambda: os.kill(os.getpid(), signal.SIGSTOP), idle_s=0.1) is None
    waker.join()


def test_a_child_hands_back_data_alone() -> None:
    for what in (os.system, eval, open, TINY.__class__.home):
        with pytest.raises(pickle.UnpicklingError):
            in_child(lambda what=what: what)  # type: ignore[misc]


class _ByName(pickle.Pickler):
    """Writes a severity by its name, as Python before 3.11.4 writes every member of an enumeration."""

    def reducer_override(self, value: object) -> object:
        return (getattr, (type(value), value.name)) if isinstance(value, Severity) else NotImplemented


def test_members_of_enumerations_are_data_whichever_python_writes_them() -> None:
    written = io.BytesIO()
    _ByName(written).dump(Diagnostic("wrong", severity=Severity.NOTE))
    assert reader_child.Data(io.BytesIO(written.getvalue())).load() == Diagnostic("wrong", severity=Severity.NOTE)


def test_limits_are_those_of_the_documents() -> None:
    assert reader_child.MEMORY_BYTES < 1 << 30
    assert reading._SEARCH_S <= 20


def test_nothing_foreign_steers_the_terminal(foreign: Foreign, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of files, titles and messages of compilers may hold anything; no control character is printed."""
    escape = "\x1b]0;owned\x07\u009b2J\u202e"
    foreign.before(HOST, f'#error "{escape}"\n')
    foreign.before(TOP, f"`error_{escape}\n")
    os.rename(foreign.root, name := foreign.root.with_name(f"odd{escape}"))
    shutil.copytree(name, other := name.with_name("\udce4" + name.name))
    files = [str(folder / foreign.file.name) for folder in (name, other)]
    for arguments in (["scan", files[0]], ["scan", files[0], "--json"], ["scan", files[1]], ["scan", f"/{escape}"]):
        main(arguments)
        out, err = capsys.readouterr()
        assert not {sign for sign in out + err if sign in "\x1b\x07\u009b\u202e\udce4"}
        assert "Traceback" not in err
        if "--json" in arguments:
            assert {d["file"] for d in json.loads(out)["diagnostics"]} >= {str(name / HOST), str(name / TOP)}
        else:
            assert r"\x1b]0;owned\x07" in err


def test_a_circle_of_links_is_no_defect(foreign: Foreign, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.symlink("ring", ring := tmp_path / "ring")
    run = RunWriter(tmp_path / "run")
    run.finish(synthetic_run(cores=1, rounds=1).manifest, {})
    for read in (
        ["scan", ring],
        ["new", ring],
        ["report", ring],
        ["template", "check", ring],
        ["rules", "check", ring],
    ):
        assert main([*map(str, read)]) in (1, 2)
        assert "error: " in capsys.readouterr().err
    for written in (
        ["template", "new", ring],
        ["instrument", foreign.file, "--out", ring],
        ["run", foreign.file, "--out", ring],
        ["report", run.path, "--html", ring],  # takes the broken link's place
    ):
        main([*map(str, written)])


def test_what_a_reader_tells_reaches_the_jobs_watcher_and_a_cancel_ends_it(tmp_path: Path) -> None:
    heard: list[tuple[float | None, str]] = []
    job = Job(lambda event: heard.append((event.fraction, event.text)))

    def read() -> int:
        for number in range(4):
            job.progress(number / 4, f"file {number}")
        job.progress(None, "x" * 5000)  # longer than a pipe takes as one: left out
        return 7

    assert in_child(read, job=job) == 7
    assert heard == [(0.0, "file 0"), (0.25, "file 1"), (0.5, "file 2"), (0.75, "file 3")]

    def endless() -> None:
        (tmp_path / "child").write_text(str(os.getpid()))
        job.progress(0.5, "cancel me")
        while True:
            pass

    job = Job(lambda event: job.cancel())
    with pytest.raises(Cancelled):
        in_child(endless, job=job)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "child").read_text()), 0)


def test_a_reader_tells_where_many_files_are_open() -> None:
    """`select` knows the first 1,024 only."""
    heard: list[str] = []
    job = Job(lambda event: heard.append(event.text))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limits[1]), limits[1]))
        while stack.enter_context(open("/dev/null")).fileno() <= 1024:
            pass
        in_child(lambda: job.progress(0.5, "half"), job=job)
    assert heard == ["half"]


def test_a_scan_tells_its_steps_and_which_source_it_reads() -> None:
    events: list[JobEvent] = []
    workspace = open_workspace(Path("tests/data/tiny/tiny.workbench.yaml"), load_plugins())
    workspace.scan(job=Job(events.append))
    assert [e.text for e in events if e.kind == "step"] == ["Read hardware sources", "Read host sources"]
    told = [e.text for e in events if e.kind == "progress"]
    assert {"reading the design", Path(workspace.project.host.sources[0]).name} <= set(told)
    cancelled = Job()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        workspace.scan(job=cancelled)


def test_a_readers_memory_is_known_beside_a_parent_with_many_files_in_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork begins without the pages of files that its parent has, as those of the window's libraries."""
    monkeypatch.setattr(reader_child, "MEMORY_BYTES", 64 << 20)
    with (tmp_path / "library").open("wb+") as file:
        file.truncate(48 << 20)
        with mmap.mmap(file.fileno(), 48 << 20) as pages:
            pages[:: mmap.PAGESIZE] = b"x" * len(pages[:: mmap.PAGESIZE])
            with pytest.raises(ReaderEnded, match="MiB of memory"):
                in_child(use_memory_and_abort)


def use_memory_and_abort() -> None:
    taken = bytearray(48 << 20)
    taken[:: mmap.PAGESIZE] = b"x" * len(taken[:: mmap.PAGESIZE])
    os.abort()
