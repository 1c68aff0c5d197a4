"""The plan that a host build (`users_build.py`) hands to the compilers it starts (`workbench cc`)."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.model.diagnostic import Diagnostic, Severity

VARIABLE = "RECAP_BUILD"


@dataclass(frozen=True)
class CompilePlan:
    """What the compilers of a host build have to add to their commands.

    `project` is the project's file, `root` its folder and `mirror` the copy of that. A file that calls the platform
    contains at least one of `names`; there are none if calls are not recorded. `flags` are added to those of
    every source and wrapper, `own_flags` to those of the user's sources alone, and so are `points` where gcc compiles
    them: then their assembly goes through the program `filter`, where one is named, which changes a file. Programs are
    linked with `link`, and with the C sources `sources` where calls are recorded. With `stand_ins`, libraries that this
    machine lacks are left out: `link` does their work.
    """

    project: str
    root: str
    mirror: str
    names: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    own_flags: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    stand_ins: bool = False

    @property
    def objects(self) -> dict[str, Path]:
        """The object file of each of `sources`; the first compiler that records calls makes them."""
        return {source: Path(f"{self.mirror}.{Path(source).stem}.o") for source in self.sources}

    @property
    def lines(self) -> Path:
        return Path(f"{self.mirror}.jsonl")

    def add(self, one: Compiled) -> None:
        """Report a command to the build. Compilers run side by side: each writes its line at once."""
        with self.lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(one)) + "\n")

    def compiled(self) -> list[Compiled]:
        commands = []
        for line in self.lines.read_text(encoding="utf-8").splitlines() if self.lines.is_file() else ():
            read = json.loads(line)
            diagnostics = (Diagnostic(**{**one, "severity": Severity(one["severity"])}) for one in read["diagnostics"])
            commands.append(Compiled(**{**read, "diagnostics": tuple(diagnostics)}))
        return commands


@dataclass(frozen=True)
class Compiled:
    """The result of one compiler command. `target` is its output: a `program`, or an object file, which may start
    threads (`starts_threads`)."""

    target: str
    cwd: str
    said: str = ""
    starts_threads: bool = False
    program: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


def plan_of_environment() -> CompilePlan | None:
    """The plan for this compiler; None if no host build started it."""
    if not (file := os.environ.get(VARIABLE)):
        return None
    read = json.loads(Path(file).read_text(encoding="utf-8"))
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in read.items()}
    return CompilePlan(**fields)
