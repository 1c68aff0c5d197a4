"""How much real HDL can be observed: every clocked block of folders of HDL marked, instrumented and checked.

    python tests/benchmarks/hdl_corpus.py DIR... [--parse] [--only WORD] [--first N] [--time S] [--jobs N]
        [--cycles N] [--seconds S] [--keep FILE] [--json] [--quick]

Verilog, SystemVerilog and VHDL, and designs in both. Works on a copy. Each branch that a pragma can be put before gets
one; each module or entity with clocked blocks then becomes a design of its own, with the files that it needs (where
several define the same thing, the nearest), its parameters' defaults, and its ports brought out beside a memory-style
port. What becomes of it is told as it goes. First, of the files:

- `files`, `parsed`: files, and those without an error of syntax, with every folder of DIR to include from, and the
  files of DIR that define what they use of macros. A file that only others include is a part of those, and files that
  are `lacking` need an include or a macro that no file of DIR has: neither counts;
- `blocks`, `observable`: clocked blocks, and those that could be observed on their clock; `branches`, and `placed`,
  those that hold the pragma that is put where reading says, all at once; `ended`: files whose reading was ended.

And of the designs:

- `benches`: their clock is made within, as in test benches; `alone`: Verilator (GHDL, where there is VHDL) does not
  elaborate them as they are; `designs`: those that it does;
- `refused`: not instrumented, with what the user is told; `instrumented`: what the same tool elaborates as well then;
  `observed`: blocks that are observed in at least one of them;
- `proved`, `simulated`: those proved to behave as before (`workbench prove`), or simulated beside the original for
  --cycles where they cannot be, `equivalent`: both together; `failed`: what else went wrong, in --json with file and
  reason;
- `equal`: those whose VHDL also was held against what GHDL synthesises of it, as before a run, `wrong`: where that is
  another thing;
- `left`: not tried, as --time (seconds, for each DIR) was over.

`elaborated` is another name of `designs` in --json. --quick begins no design after 30 s.

--only takes the files whose path holds a word: only they are read and marked. --parse does no more than read. What
--keep names is written design by design, and what it holds already is not tried again. --cycles 0 simulates nothing:
what is not proved has then failed.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from command_line import command
from hdl_corpus_designs import Task, Tried, try_design
from hdl_corpus_files import Corpus, Seen, copied, read_one

from workbench.api.compile import needed
from workbench.api.equivalence import Limits
from workbench.system.toolchain import find_yosys

FILES = ("files", "parsed", "lacking", "ended", "lines", "blocks", "observable", "branches", "placed")
DESIGNS = ("benches", "alone", "designs", "refused", "instrumented", "observed", "proved", "simulated", "failed",
           "equal", "wrong", "left")  # fmt: skip
DONE = ("proved", "simulated")


def of_files(seen: Sequence[Seen]) -> dict[str, int]:
    known = [one for one in seen if not one.lacks]
    return {
        "files": len(known), "parsed": sum(not one.wrong and not one.ended for one in known),
        "lacking": len(seen) - len(known), "ended": sum(bool(one.ended) for one in seen),
        "lines": sum(one.lines for one in seen), "blocks": sum(one.blocks for one in seen),
        "observable": sum(len(one.observable) for one in seen), "branches": sum(one.branches for one in seen),
        "placed": sum(one.placed for one in seen),
    }  # fmt: skip


def of_designs(tried: Sequence[Tried]) -> dict[str, Any]:
    counts = Counter(one.what for one in tried)
    broken = sum(one.what == "failed" and not one.observed for one in tried)
    designs = sum(counts[n] for n in ("refused", "failed", *DONE))
    return {
        **{name: counts[name] for name in DESIGNS}, "designs": designs, "elaborated": designs,
        "equivalent": sum(counts[name] for name in DONE),
        "failed": [{"file": one.file, "why": one.why} for one in tried if one.what == "failed"],
        "instrumented": counts["failed"] - broken + sum(counts[name] for name in DONE),
        "observed": len({place for one in tried for place in one.observed}),
        "equal": sum(one.checked == "equal" for one in tried),
        "wrong": sum(one.checked.startswith("wrong") for one in tried),
    }  # fmt: skip


def reasons(seen: Sequence[Seen], tried: Sequence[Tried]) -> Iterator[str]:
    for one in seen:
        for what in ("ended", "wrong", "lacks"):
            if why := getattr(one, what):
                yield f"{what}: {one.file}: {why}"
    refused = Counter(why for one in seen for why in one.refused)
    yield from (f"not observable: {count} blocks: {why}" for why, count in refused.most_common())
    for trial in sorted(tried, key=lambda one: one.what):
        if trial.why or trial.checked not in ("", "equal"):
            told = f" (synthesis {trial.checked})" if trial.checked not in ("", "equal") else ""
            yield f"{trial.what}: {trial.name} ({trial.file}): {trial.why}{told}"


def table(names: Sequence[str], found: Mapping[str, Any]) -> str:
    counts = {name: len(found[name]) if isinstance(found[name], list) else found[name] for name in names}
    return "\n".join(("  ".join(names), "  ".join(f"{counts[name]:>{len(name)}}" for name in names)))


def look(root: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Read, mark and try all of a folder."""
    until = time.time() + options.time
    copied(root, folder)
    corpus = Corpus(folder)
    names = [name for name in corpus.names if options.only in name and name not in corpus.fragments]
    limits = Limits(prove_s=options.seconds, cycles=options.cycles, simulate_s=20)
    kept = [Tried(**row["tried"]) for row in _kept(options.keep) if row["folder"] == str(root)]
    tried = [one for one in kept if options.only in one.file]
    with ProcessPoolExecutor(options.jobs) as pool:
        seen = list(pool.map(partial(read_one, corpus, not options.parse), names))
        corpus.before = {one.file: one.before for one in seen}
        print(f"{root.name}\n{table(FILES, of_files(seen))}", file=sys.stderr, flush=True)
        past = {(one.file, one.name) for one in kept}
        tasks = [] if options.parse else [Task(s.file, *design) for s in seen for design in s.designs][: options.first]
        tasks = [task for task in tasks if (task.file, task.name) not in past]
        works = [pool.submit(try_design, corpus, limits, until, task) for task in tasks]
        for number, work in enumerate(as_completed(works), 1):
            one = shortened(work.result(), folder)
            tried.append(one)
            if one.what != "left":
                said = f"{number}/{len(tasks)} {one.name}: {one.what} {one.checked[:60]} {one.why[:200]}"
                print(said, file=sys.stderr, flush=True)
                if options.keep is not None:
                    with options.keep.open("a") as file:
                        file.write(json.dumps({"folder": str(root), "tried": vars(one)}) + "\n")
    told = list(reasons(seen, tried))
    return {"folder": root.name, **of_files(seen), **({} if options.parse else of_designs(tried)), "told": told}


def shortened(tried: Tried, folder: Path) -> Tried:
    why = " ".join(tried.why.replace(f"{folder}/", "").split())[:400]
    return Tried(tried.file, tried.name, tried.what, why, tried.observed, tried.checked)


def _kept(file: Path | None) -> Iterator[dict[str, Any]]:
    if file is not None and file.is_file():
        yield from map(json.loads, file.read_text().splitlines())


def main() -> None:
    parser = command(__doc__, "as --time 30")
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--parse", action="store_true", help="read the files, and no more")
    parser.add_argument("--only", default="", metavar="WORD", help="files whose path holds this")
    parser.add_argument(
        "--first", type=int, default=None, metavar="N", help="so many designs, the smallest files' first"
    )
    parser.add_argument("--time", type=float, default=float("inf"), metavar="S", help="begin no design after it")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cycles", type=int, default=2000, help="of what is not proved")
    parser.add_argument("--seconds", type=float, default=60, help="at most, to prove a design")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="what came of each design, to go on from")
    options = parser.parse_args()
    options.time = min(options.time, 30.0) if options.quick else options.time
    needed(find_yosys())
    results = []
    for root in options.folders:
        with TemporaryDirectory() as folder:
            results.append(look(root.resolve(), Path(folder).resolve(), options))
    if options.json:
        print(json.dumps(results, indent=2))
        return
    for result in results:
        print(result["folder"])
        for names in (FILES, *([] if options.parse else [DESIGNS])):
            print(table(names, result))
        for line in result["told"]:
            print(f"    {line}")


if __name__ == "__main__":
    main()
