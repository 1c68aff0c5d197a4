"""The Verilog modules that another language instantiates, below one generated module with the design's inputs."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.api.kept import ensure
from workbench.hdl.verilog.design import shown_path
from workbench.hdl.verilog.heads import Head
from workbench.model.diagnostic import Diagnostic
from workbench.system.cache import cache_dir
from workbench.system.files import sha256

ROOTS = "recap_roots"


@dataclass(frozen=True)
class Use:
    """A module as another language instantiates it: its parameters' values, the design's inputs behind its own (name,
    and whether inverted), and where that is (file, line, column)."""

    head: Head
    values: Mapping[str, str]
    inputs: Mapping[str, tuple[str, bool]]
    place: tuple[Path, int, int]


def roots_text(uses: Collection[Use]) -> str:
    """The module, each use on a line of its own after the first: `u0`, `u1`, ..."""
    inputs = dict.fromkeys(name for use in uses for name, _ in use.inputs.values())
    lines = [f"module {ROOTS} ({', '.join(f'input {name}' for name in inputs)});"]
    for number, use in enumerate(uses):
        values = ", ".join(f".{name}({value})" for name, value in use.values.items())
        ports = ", ".join(f".{port}({'~' if low else ''}{name})" for port, (name, low) in use.inputs.items())
        lines.append(f"{use.head.name}{f' #({values})' if values else ''} u{number} ({ports});")
    return "\n".join([*lines, "endmodule", ""])


def at_uses(
    problems: Iterable[Diagnostic], root: Path, roots: Path | None, ours: Collection[Path],
    places: Sequence[tuple[Path, int, int]],
) -> Iterator[Diagnostic]:  # fmt: skip
    """What slang says of a line of the module, at the place of its use; of the rest, what is not of files of `ours`."""
    shown = {shown_path(root, path) for path in ours}
    for one in problems:
        if roots is not None and one.file == shown_path(root, roots) and one.line is not None:
            if 0 <= one.line - 2 < len(places):
                path, line, column = places[one.line - 2]
                yield replace(one, file=shown_path(root, path), line=line, column=column)
        elif one.file not in shown:
            yield one


def kept(text: str) -> Path:
    """A file of this text, kept with what else is cached."""
    return ensure(cache_dir() / "mixed" / f"{sha256(text.encode())[:32]}.v", text.encode())
