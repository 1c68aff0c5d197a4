"""A simulator beside the card (`workbench/api/builds.py:Beside`): what it loads, how it is started, what it says."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.api import Diagnostic, HdlBuild, Severity, counted, listed, time_text
from workbench.api.builds import Beside
from workbench.api.unstable import ANY_NAME

#: What it loads, which lies beside the design's library, and that one's source and its header in the card's folder.
LIBRARY, SOURCE, STEP = "librecap.so", "beside_link.cpp", "beside_step.h"
#: What the card says where that ended of itself (resources/card/beside.h).
ENDED = ("the design's simulator ended", "the design ended the simulation itself")
_FAILURE = "failure"
_SEVERITIES = {"note": Severity.NOTE, "warning": Severity.WARNING, "error": Severity.WARNING, _FAILURE: Severity.ERROR}
_UNITS_S = {"fs": 1e-15, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_MOST = 20


def notes(beside: Beside) -> Iterator[Diagnostic]:
    """What running a design in it means."""
    text = f"{beside.simulator} itself simulates the design, at some thousand cycles a second"
    hint = "This simulator does not skip idle cycles, and streams within the design are not counted."
    yield Diagnostic(text, hint, Severity.NOTE)


def beside_defines(hdl: HdlBuild) -> tuple[str, ...]:
    """Macros that configure the card for the external simulator."""
    beside = hdl.beside if hdl.asks_beside else None
    flags = {"": beside, "_CLOCKED": beside and beside.clocked, "_DIRECT": beside and beside.direct}
    return tuple(f"#define CARD_BESIDE{name} {int(bool(value))}" for name, value in flags.items())


def command_lines(hdl: HdlBuild, folder: Path) -> Iterator[str]:
    """The command as the card reads it; what that loads is in a folder."""
    if not hdl.asks_beside or not hdl.beside:
        return
    library_path = os.pathsep.join([os.path.abspath(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    for word in ("env", f"LD_LIBRARY_PATH={library_path}", *ANY_NAME, *hdl.beside.command):
        yield f"beside {word}"


def readable(hdl: HdlBuild) -> Iterator[Path]:
    """The folders that simulators beside read, other than the project's."""
    for one in hdl.each:
        words = one.beside.command if one.beside and one.asks_beside else ()
        yield from {word.parent: None for word in words if isinstance(word, Path)}


@dataclass
class _Message:
    """A message of the simulator: how often, and since when (s of virtual time)."""

    kind: str
    text: str
    file: str = ""
    line: int = 0
    time_s: float | None = None
    count: int = 1

    def diagnostic(self) -> Diagnostic:
        times = [f"{self.count:,} times"] if self.count > 1 else []
        if self.time_s is not None:
            times.append(f"{'first ' if times else ''}at {time_text(self.time_s)}")
        what = (
            "the design failed"
            if self.kind == _FAILURE
            else f"the design reports a{'n' * (self.kind == 'error')} {self.kind}"
        )
        text = f"{what}: {self.text}{f' ({listed(times)})' if times else ''}"
        return Diagnostic(text, "", _SEVERITIES[self.kind], self.file or None, self.line or None)


class Said:
    """What simulators beside said of their designs, gathered line by line: that of one place once. `begin_s` is their
    time when virtual time begins."""

    def __init__(self, besides: Iterable[Beside], begin_s: float) -> None:
        self._begin_s = begin_s
        self._messages: dict[tuple[str, str], None] = {}
        self._files: dict[str, str] = {}
        for one in besides:
            self._messages |= dict.fromkeys(one.messages)
            self._files |= one.files
        self._reported: dict[tuple[str, str, int], _Message] = {}
        self._failures: list[_Message] = []

    def hear(self, line: str) -> None:
        forms = ((re.fullmatch(form, line), meant) for form, meant in self._messages)
        match, meant = next(((groups, meant) for groups, meant in forms if groups), (None, ""))
        if match is None:
            return
        said = {"kind": _FAILURE, "file": "", "line": "0", **match.groupdict("")}
        file, number = self._files.get(said["file"], said["file"]), int(said["line"])
        if not meant:  # where what was said before happened
            if self._failures and not self._failures[-1].line and said["file"] in self._files:
                self._failures[-1].file, self._failures[-1].line = file, number
            return
        time_s = int(said["time"]) * _UNITS_S[said["unit"]] - self._begin_s if said.get("time") else None
        message = _Message(said["kind"], meant.format(**said), file, number, time_s)
        if message.kind == _FAILURE:
            self._failures.append(message)
        else:
            known = self._reported.setdefault((message.kind, file, number), message)
            known.count += known is not message

    def diagnostics(self) -> Iterator[Diagnostic]:
        """What they reported while the design ran."""
        messages = list(self._reported.values())
        yield from (one.diagnostic() for one in messages[:_MOST])
        if (more := len(messages) - _MOST) > 0:
            yield Diagnostic(
                f"the design prints messages at {counted(more, 'more place')}", "See the log.", Severity.NOTE
            )

    def failures(self) -> list[Diagnostic]:
        """Why it ended."""
        return [one.diagnostic() for one in self._failures[:1]]
