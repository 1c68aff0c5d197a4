"""Lets GHDL analyse a design, and elaborate its skeleton; what it says becomes diagnostics and a tree.

Nothing of it is kept on the disk: GHDL reads copies in a folder of their own, analyses what the top needs, and all of
it in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from workbench.api import Diagnostic, Job, WorkbenchError
from workbench.api.kept import kept_text
from workbench.api.unstable import VhdlStandard, cache_dir, read_only, reads_only, run_program, sha256
from workbench.hdl.ghdl import LIMIT_S, MEMORY_BYTES, ghdl

#: VHDL-93 with what 87 has of its own.
_STANDARDS: Mapping[VhdlStandard, str] = {"93": "--std=93c", "2008": "--std=08"}
#: What GHDL takes besides: shared variables of any type, Synopsys's packages, and names that hide others.
_BESIDES = ("--syn-binding", "-frelaxed", "-fsynopsys", "-fexplicit")
_MESSAGE = re.compile(
    r"^f(?P<file>\d+)_\d+\.vhd:(?P<line>\d+):(?P<column>\d+):(?:(?P<kind>error|warning):)? ?(?P<text>.*)$"
)
_REPORT = re.compile(r"^f(?P<file>\d+)_\d+\.vhd:(?P<line>\d+):(?P<column>\d+):@\S+:\((?P<kind>[^)]*)\): (?P<text>.*)$")
_NODE = re.compile(r"^(?P<before>(?:[| ] )*)(?:[+`]-)?(?P<name>\S.*?) \[(?P<kind>[a-z -]+)\]$")
_TOLD = re.compile(r": recap (\S+) (.*)$", re.MULTILINE)
_FILE = re.compile(rb"^(?![ \t]*--).*\bfile\b", re.IGNORECASE | re.MULTILINE)
_KEEP = "Install bubblewrap, which keeps GHDL from writing, or remove the word 'file'."
_CONTINUED = re.compile(r"possible interpretations are|(?:implicit )?(?:function|procedure|operator)\b")  # of another
_RAISED = re.compile(r"^(?:Exception |raised )([A-Z_.]+)|:error: NULL access dereferenced\nin process $", re.MULTILINE)
#: What ends an elaboration, and the first place that led there.
_ENDED = re.compile(
    r"^\S+:error: (?P<text>.*)\n(?:in process .*\n)?(?:  from: .*\n)*?"
    r"  from: .* at f(?P<file>\d+)_\d+\.vhd:(?P<line>\d+)$",
    re.MULTILINE,
)
_MOST_MESSAGES = 50
CRASHED = "it crashed"


@dataclass
class Node:
    """What GHDL elaborated: `kind` is "entity", "arch", "instance", "for-generate", "block", "process" ..."""

    name: str
    kind: str
    inner: list[Node] = field(default_factory=list)


def dialect(standard: VhdlStandard) -> tuple[str, ...]:
    """The VHDL that GHDL takes."""
    return (_STANDARDS[standard], *_BESIDES)


#: Where a file is parted for GHDL: of several architectures in one file it takes the first for the last analysed.
PART = b"\0recap part\0"


@dataclass(frozen=True)
class Text:
    """A file of the design as GHDL is given it, in parts where `PART` stands."""

    number: int
    library: str
    data: bytes

    def write(self, folder: Path) -> list[str]:
        """The files with its parts, each on the lines that it has in the whole."""
        names, line = [], 0
        for number, part in enumerate(self.data.split(PART)):
            path = folder / f"f{self.number}_{number}.vhd"
            path.write_bytes(b"\n" * line + part)
            names.append(str(path))
            line += part.count(b"\n")
        return names


@dataclass(frozen=True)
class Said:
    """What GHDL said: messages (file's number, line, column, text), what it elaborated, and what the skeleton told."""

    errors: tuple[tuple[int, int, int, str], ...]
    tree: Node | None = None
    values: Mapping[str, str] = field(default_factory=dict)


def analysed(texts: Sequence[Text], standard: VhdlStandard, top: str, library: str, job: Job) -> Said:
    """The errors that GHDL finds in what the top needs. WorkbenchError where there is no GHDL, or it does not end."""
    return _said(texts, standard, library, ["-e", top], None, job)


def elaborated(
    texts: Sequence[Text], standard: VhdlStandard, top: str, library: str, generics: Mapping[str, str], folder: Path,
    job: Job,
) -> Said:  # fmt: skip
    """The tree below the top. `folder` is where files are that the design reads as it is elaborated."""
    values = [f"-g{name}={value}" for name, value in generics.items()]
    return _said(texts, standard, library, ["-r", top, *values, "--stop-time=0ns", "--disp-tree=proc"], folder, job)


def _said(
    texts: Sequence[Text], standard: VhdlStandard, library: str, action: Sequence[str], folder: Path | None, job: Job
) -> Said:
    options = [*dialect(standard), *action]
    contents = [[text.number, text.library, text.data.decode("latin-1")] for text in texts]
    reads = any(_FILE.search(text.data) for text in texts)
    if folder is not None and reads and not read_only():
        _refuse_files(texts)
    key = json.dumps([ghdl().version, options, library, contents, [str(folder)] if reads else []])
    place = cache_dir() / "ghdl" / sha256(key.encode())[:32] / "elaborated.json"
    answer = partial(_run, texts, standard, library, action, folder, job)
    output, errors, code = answer() if reads else json.loads(kept_text(place, lambda: json.dumps(answer())))
    messages = tuple(_errors(f"{errors}\n{output}", code))
    return Said(messages, _tree(output.splitlines()), dict(_TOLD.findall(output)))


def _refuse_files(texts: Sequence[Text]) -> None:
    """GHDL opens files that a design declares, already to elaborate it. WorkbenchError where nothing keeps it from
    writing, with the number of the file in place of its name."""
    refused = [
        Diagnostic("this design declares a file, which GHDL would open with your rights", _KEEP, file=str(text.number),
                   line=text.data.count(b"\n", 0, match.start()) + 1)
        for text in texts if (match := _FILE.search(text.data))
    ]  # fmt: skip
    if refused:
        raise WorkbenchError(*refused)


def _run(
    texts: Sequence[Text], standard: VhdlStandard, library: str, action: Sequence[str], folder: Path | None, job: Job
) -> tuple[str, str, int]:
    with TemporaryDirectory() as scratch:
        words: list[str] = []
        for text in sorted(texts, key=lambda one: one.library == library):
            words += [f"--work={text.library}", *text.write(Path(scratch))]
        tool = ghdl().path
        seen = (Path(scratch), *([folder] if folder is not None else []))
        command = [*reads_only(tool, *seen), str(tool), "-c", *dialect(standard), *words, *action]
        result = run_program(
            command, cwd=folder, timeout_s=LIMIT_S, memory_bytes=MEMORY_BYTES,
            check=lambda: job.progress(0.5, "GHDL elaborates the design"),  # who reads this waits, and is told why
        )  # fmt: skip
        return result.stdout.replace(f"{scratch}/", ""), result.stderr.replace(f"{scratch}/", ""), result.returncode


def _errors(said: str, code: int) -> Iterator[tuple[int, int, int, str]]:
    reported: dict[tuple[int, int, int, str], None] = {}
    last = ""
    for line in said.splitlines():
        match = _REPORT.match(line)
        if match is not None and match["kind"] not in ("assertion failure", "report failure"):
            continue
        match = match or _MESSAGE.match(line)
        if match is not None and _CONTINUED.match(match["text"]):
            continue
        if match is not None and match.groupdict().get("kind") != "warning":
            reported[int(match["file"]), int(match["line"]), int(match["column"]), match["text"]] = None
        elif line.strip():
            last = line.strip()
    if code and not reported and (ended := _ENDED.search(said)):
        message = f"{ended['text']}, while GHDL elaborates the design"
        reported[int(ended["file"]), int(ended["line"]), 1, message] = None
    elif code and not reported:
        reported[-1, 0, 0, _why_ended(said, last)] = None
    return iter(list(reported)[:_MOST_MESSAGES] if code else [])


def _why_ended(said: str, last: str) -> str:
    """Why GHDL gave up without naming a place."""
    if raised := _RAISED.search(said):
        if raised[1] and "STORAGE" not in raised[1]:
            return f"{CRASHED} ({raised[1]}), which is a fault of GHDL, not of the VHDL"
        return "not enough memory: a part of the design may be too large, or instantiate itself endlessly"
    if not last:
        return "it takes too much time or memory: something may instantiate itself, or compute, endlessly"
    return last.rpartition("ghdl-mcode: ")[2].rpartition(":error: ")[2]


def _tree(lines: Sequence[str]) -> Node | None:
    top: Node | None = None
    open_: list[Node] = []
    for line in lines:
        match = _NODE.match(line)
        if match is None or (top is None and match["kind"] != "entity"):
            if top is not None:
                break
            continue
        indented = line[len(match["before"]) :].startswith(("+-", "`-"))
        depth = len(match["before"]) // 2 + indented
        node = Node(match["name"], match["kind"])
        if top is None:
            top = node
        elif 0 < depth <= len(open_):
            open_[depth - 1].inner.append(node)
        else:
            break
        open_[depth:] = [node]
    return top
