"""How much real VHDL is read: every file of some folders parsed, its clocked processes and their branches found.

    python tests/benchmarks/vhdl_corpus.py DIR... [--json]

- `files`, `parsed`: files, and those that tree-sitter reads without a fault; `lines`, and `seconds` for all of it;
- `blocks`, `observable`: clocked processes, and those that could be observed on their clock; `arms`, and `placed`, the
  branches before whose first statement a pragma that is put where reading says is found again;
- `failed`: what ended the reading of a file (none is expected), `refused`: why blocks cannot be observed, and how many.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rc_workbench_plugins.verilog.source_file import read_pragmas
from rc_workbench_plugins.vhdl.blocks import SourceBlock, read_blocks
from rc_workbench_plugins.vhdl.syntax import read_file
from rc_workbench_plugins.vhdl.units import units_of


def blocks_of(path: Path) -> list[SourceBlock]:
    file = read_file(path, "work", 0)
    source, _ = read_pragmas(path, file.data, "vhdl", path.name)
    return [block for unit in units_of(file) for block in read_blocks(unit, source)]


def pragmas_put(path: Path, blocks: Sequence[SourceBlock]) -> bytes:
    """A file with a pragma before the first statement of each branch."""
    lines = path.read_bytes().split(b"\n")
    places = {(a.pragma_line, a.pragma_column) for block in blocks for a in block.arms}
    for number, (line, column) in enumerate(sorted(places, reverse=True)):
        text, pragma = lines[line - 1], f"--pragma recap b{number} work()".encode()
        at = len(text.decode("utf-8", "replace")[: column - 1].encode()) if column else 0
        lines[line - 1 : line] = [text[:at], pragma, text[at:]] if at else [pragma, text]
    return b"\n".join(lines)


def marked(path: Path, blocks: Sequence[SourceBlock]) -> int:
    """How many branches hold the pragma that is put before their first statements, all at once."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        copy.write_bytes(pragmas_put(path, blocks))
        return sum(1 for block in blocks_of(copy) for arm in block.arms if arm.pragmas)


def look(folder: Path) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    failed: list[str] = []
    begun = time.process_time()
    for path in vhdl_files(folder):
        counts["files"] += 1
        try:
            file = read_file(path, "work", 0)
            blocks = blocks_of(path)
        except Exception as error:  # a defect, to be told with its file
            failed.append(f"{path}: {type(error).__name__}: {error}")
            continue
        counts["parsed"] += not file.tree.root_node.has_error
        counts["lines"] += len(file.starts)
        counts["blocks"] += len(blocks)
        counts["observable"] += sum(not block.why_not for block in blocks)
        counts["arms"] += sum(len(block.arms) for block in blocks)
        refused.update(block.why_not for block in blocks if block.why_not)
        counts["placed"] += marked(path, blocks) if blocks else 0
    return {
        "folder": folder.name, **counts, "seconds": round(time.process_time() - begun, 1), "failed": failed,
        "refused": dict(refused.most_common()),
    }  # fmt: skip


def vhdl_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in (".vhd", ".vhdl") and path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = [look(folder) for folder in options.folders]
    if options.json:
        print(json.dumps(results, indent=2))
        return
    names = ("files", "parsed", "lines", "blocks", "observable", "arms", "placed", "seconds")
    print(f"{'folder':24}" + "".join(f"{name:>12}" for name in names))
    for result in results:
        print(f"{result['folder']:24}" + "".join(f"{result.get(name, 0):>12}" for name in names))
        for line in (
            *result["failed"],
            *(f"{count} not observable: {why}" for why, count in result["refused"].items()),
        ):
            print(f"    {line}")


if __name__ == "__main__":
    main()
