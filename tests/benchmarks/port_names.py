"""Interfaces told by their signals' names, counted on public tops that were labelled by hand.

`port_names.yaml` has each top's ports as its author declared them, and which of them are an interface. `tuned_on` are
tops that the names were tuned on; `held_out` are others, labelled afterwards. An interface is found where its style,
its side and each of its signals are as labelled.

    python tests/benchmarks/port_names.py [--json] [--misses]
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from command_line import command, show
from rc_workbench_plugins.ports import workbench_port_kinds

from workbench.api.instrument.port_finder import find_ports
from workbench.model.scan import HdlPort

CORPUS = Path(__file__).with_suffix(".yaml")
Interface = tuple[str, frozenset[str]]  # style and side, signals


@dataclass
class Count:
    """Of one style, or of all."""

    labelled: int = 0
    found: int = 0
    right: int = 0
    signals_labelled: int = 0
    signals_found: int = 0
    signals_right: int = 0
    misses: list[str] = field(default_factory=list)

    def shares(self) -> dict[str, Any]:
        def share(part: int, whole: int) -> float | None:
            return round(part / whole, 3) if whole else None

        return {
            "labelled": self.labelled,
            "found": self.found,
            "right": self.right,
            "precision": share(self.right, self.found),
            "recall": share(self.right, self.labelled),
            "signal_precision": share(self.signals_right, self.signals_found),
            "signal_recall": share(self.signals_right, self.signals_labelled),
        }


def ports_of(top: Mapping[str, Any]) -> Iterator[HdlPort]:
    """`NAME` and `NAME:BITS` of the inputs and the outputs."""
    for way in ("in", "out"):
        for word in str(top.get(way, "")).split():
            name, _, bits = word.partition(":")
            yield HdlPort(name, f"{way}put", int(bits or 1))


def labelled(text: str, names: list[str]) -> Interface:
    """`STYLE SIDE: PATTERN ...`; a pattern after `!` takes names out again."""
    what, _, patterns = text.partition(":")
    words = patterns.split()
    out = [word[1:] for word in words if word.startswith("!")]
    mine = {
        name for name in names
        if any(fnmatchcase(name, word) for word in words) and not any(fnmatchcase(name, word) for word in out)
    }  # fmt: skip
    assert mine, f"no port fits '{text}'"
    return what, frozenset(mine)


def count(tops: list[dict[str, Any]]) -> dict[str, Count]:
    """By style; `all` is their sum."""
    counts: dict[str, Count] = {}
    kinds = workbench_port_kinds()
    for top in tops:
        ports = list(ports_of(top))
        names = [port.name for port in ports]
        wanted = [labelled(text, names) for text in top["interfaces"]]
        found = [(f"{port.style} {port.side}", port.names) for port in find_ports(ports, kinds).ports]
        for what in dict.fromkeys(what for what, _ in [*wanted, *found]):
            mine = [signals for one, signals in wanted if one == what]
            theirs = [signals for one, signals in found if one == what]
            common = Counter(mine) & Counter(theirs)
            told, meant = (frozenset().union(*sets) for sets in (theirs, mine))
            for one in (counts.setdefault(what.split()[0], Count()), counts.setdefault("all", Count())):
                one.labelled += len(mine)
                one.found += len(theirs)
                one.right += common.total()
                one.signals_labelled += len(meant)
                one.signals_found += len(told)
                one.signals_right += len(told & meant)
                if Counter(mine) != Counter(theirs):
                    lacking, extra = sorted(meant - told), sorted(told - meant)
                    one.misses.append(f"{top['top']}, {what}: lacks {lacking}, has besides {extra}")
    return counts


def main() -> None:
    parser = command(__doc__, "the same: it takes a second")
    parser.add_argument("--misses", action="store_true", help="what was not found as labelled")
    arguments = parser.parse_args()
    document = {}
    for name, tops in yaml.safe_load(CORPUS.read_text()).items():
        began_s = time.perf_counter()
        counts = count(tops)
        took_s = time.perf_counter() - began_s
        document[name] = {"tops": len(tops), "time_s": round(took_s, 3)} | {
            style: one.shares() for style, one in sorted(counts.items())
        }
        if arguments.misses:
            print("\n".join(counts["all"].misses))
    show(document, arguments.json)


if __name__ == "__main__":
    main()
