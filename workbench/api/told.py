"""What is between a build of the project's own (`users_build.py`) and the compilers that it starts (`workbench cc`)."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.model.diagnostic import Diagnostic, Severity

VARIABLE = "RECAP_BUILD"


@dataclass(frozen=True)
class Told:
    """What the compilers of such a build are told.

    `project` is the project's file and `root` its folder, of which `mirror` is the copy; `names` are words of which a
    file that calls the platform holds one: where calls are not to be recorded, none. `flags` are added to those of
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
        """What is made of `sources`, by the first compiler that records calls."""
        return {source: Path(f"{self.mirror}.{Path(source).stem}.o") for source in self.sources}

    @property
    def lines(self) -> Path:
        return Path(f"{self.mirror}.jsonl")

    def add(self, one: Compiled) -> None:
        """For whoever started the build. Compilers run side by side: each writes its line at once."""
        with self.lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(one)) + "\n")

    def compiled(self) -> list[Compiled]:
        found = []
        for line in self.lines.read_text(encoding="utf-8").splitlines() if self.lines.is_file() else ():
            read = json.loads(line)
            said = (Diagnostic(**{**one, "severity": Severity(one["severity"])}) for one in read["diagnostics"])
            found.append(Compiled(**{**read, "diagnostics": tuple(said)}))
        return found


@dataclass(frozen=True)
class Compiled:
    """What one command of a compiler came to. `target` is what it made: an object file that `starts_threads` or does
    not, or a `program`."""

    target: str
    cwd: str
    said: str = ""
    starts_threads: bool = False
    program: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


def told() -> Told | None:
    """What this compiler is told; None where no such build started it."""
    if not (file := os.environ.get(VARIABLE)):
        return None
    read = json.loads(Path(file).read_text(encoding="utf-8"))
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in read.items()}
    return Told(**given)
