"""The files of an instrumented tree: copied into it, with includes that refer to the copies."""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from workbench.api.languages import marked_languages, suffixes_of
from workbench.api.source.flags import absolute, options
from workbench.session.open.workspace import Workspace
from workbench.system.files import real

_INCLUDE = re.compile(rb'^([ \t]*#[ \t]*include[ \t]*)"([^"\n]+)"', re.M)


class Includes:
    """Sources and headers from outside of the tree, copied into it with the files that they include by quotes, whose
    names then refer to the copies."""

    def __init__(self, root: Path, out: Path, moved: dict[Path, Path]) -> None:
        self.root, self.out = root, out
        self.moved = dict(moved)

    def localise(self, sources: Iterable[Path]) -> None:
        """Change absolute paths in files of the tree to relative ones."""
        for source in sources:
            self._rewrite(source, source.parent, named_alone=False)

    def headers(self, folder: Path, target: Path) -> Path | None:
        """Copy the headers in a folder as `headers` does, with what they include in turn."""
        if copied := headers(folder, target):
            copies = {copy: real(folder / copy.name) for copy in target.iterdir()}
            self.moved |= {origin: copy for copy, origin in copies.items()}
            for copy in copies:
                self._rewrite(copy, folder)
        return copied

    def source(self, path: Path) -> Path:
        """The tree's path of a source; a source that is not in it is copied to its relative path in the project."""
        if path.is_relative_to(self.out):
            return path
        inside = real(path).is_relative_to(real(self.root))
        where = real(path).relative_to(real(self.root)) if inside else Path(f"outside_{len(self.moved)}", path.name)
        return self._in_tree(path, self.out / "host" / where)

    def _rewrite(self, file: Path, origin: Path, named_alone: bool = True) -> None:
        """Rewrite the includes of a tree's file from the folder `origin`: those with an absolute path, and names that
        are only found in that folder."""
        data = file.read_bytes()

        def rewritten(directive: re.Match[bytes]) -> bytes:
            name = os.fsdecode(directive[2])
            if not (Path(name).is_absolute() or (named_alone and (origin / name).is_file())):
                return directive[0]
            return directive[1] + b'"' + os.fsencode(os.path.relpath(self._in_tree(origin / name), file.parent)) + b'"'

        new = _INCLUDE.sub(rewritten, data)
        if new != data:
            file.write_bytes(new)

    def _in_tree(self, path: Path, target: Path | None = None) -> Path:
        if path.is_relative_to(self.out):
            return path
        path = real(path)
        if path not in self.moved:
            target = target or self.out / "include" / f"file_{len(self.moved)}" / path.name
            self.moved[path] = target
            if path.is_file():
                copy_file(path, target)
                self._rewrite(target, path.parent)
        return self.moved[path]


def flags_in_tree(workspace: Workspace, out: Path) -> Callable[[Iterable[str]], tuple[str, ...]]:
    """A function that converts the project's flags for the tree; headers that they refer to are copied if they belong
    to the project."""
    allowed = tuple(map(real, (workspace.root, *workspace.outside)))
    copied: dict[Path, Path | None] = {}

    def copy_of(path: Path) -> Path | None:
        if path not in copied:
            target = out / "include" / f"flag_{len(copied)}"
            copied[path] = headers(path, target) if path.is_dir() else target / path.name
            if path.is_file():
                copy_file(path, target / path.name)
        return copied[path]

    def moved(flags: Iterable[str]) -> Iterator[str]:
        for kind, path in options(absolute(flags, workspace.root)):
            if not path or not any(Path(path).is_relative_to(folder) for folder in allowed):
                yield from (quoted(word) for word in (kind, path) if word)
            elif copy := copy_of(Path(path)):
                yield from (kind, f"$(RECAP)/{relative(copy, out)}")

    return lambda flags: tuple(moved(flags))


def headers(folder: Path, target: Path, without: Iterable[Path] = ()) -> Path | None:
    """Copy the headers in a folder; where to, or None where there are none."""
    sources, included = set(without), (*suffixes_of(marked_languages(), included=True), ".inc")
    paths = [p for p in sorted(folder.glob("*")) if p.suffix in included and p.is_file() and p not in sources]
    for path in paths:
        copy_file(path, target / path.name)
    return target if paths else None


def relative(path: Path, out: Path) -> str:
    return os.path.relpath(path, out).replace(" ", "\\ ")


def quoted(value: object) -> str:
    """A word quoted for make and the shell."""
    return shlex.quote(str(value)).replace("$", "$$").replace("#", "\\#")


def copy_file(path: Path, target: Path) -> None:
    write_file(target, path.read_bytes())


def write_file(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
