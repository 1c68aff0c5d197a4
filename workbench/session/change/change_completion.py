"""Completes a change while it is typed: kinds and fields from the catalogue, names from the run."""

from collections.abc import Iterable
from dataclasses import fields
from pathlib import PurePath

from workbench.model.blocks import Side
from workbench.model.changes import CHANGES, ScaleState
from workbench.model.platform import Platform
from workbench.model.run import Manifest


def completions(text: str, manifest: Manifest, platform: Platform | None = None) -> tuple[int, tuple[str, ...]]:
    """The position in `text` at which its last word begins, and the possible words, in order.

    Of a list (`calls=a,b`) it is the last element. Numbers have no completion.
    """
    before, _, word = text.rpartition(" ")
    start = len(before) + 1 if " " in text else 0
    kind = CHANGES.get(text.split(" ", 1)[0])
    if not start:
        return 0, _matching(word, CHANGES)
    if kind is None:
        return start, ()
    name, equals, value = word.partition("=")
    if not equals:
        present_fields = {part.partition("=")[0] for part in before.split()[1:]}
        return start, _matching(word, (f"{each.name}=" for each in fields(kind) if each.name not in present_fields))
    last = value.rpartition(",")[2]
    side = Side.FPGA if kind is ScaleState else Side.HOST
    block = next((part.partition("=")[2] for part in before.split() if part.startswith("block=")), "")
    return start + len(word) - len(last), _matching(last, _names(name, block, side, manifest, platform))


def _names(field: str, block: str, side: Side, manifest: Manifest, platform: Platform | None) -> Iterable[str]:
    """The names in the run that a field of a change may have."""
    blocks = [b for b in manifest.blocks if b.side is side]
    match field:
        case "calls":
            sites = manifest.sites
            yield from dict.fromkeys(f"{PurePath(s.file).name}:{s.line}" for s in sites)
            yield from dict.fromkeys(name for s in sites for name in (s.label, s.callee) if name)
        case "block":
            yield from dict.fromkeys(name for b in blocks for name in (b.group, b.id))
        case "state":
            yield from ("*",) if side is Side.HOST else ()
            yield from dict.fromkeys(s.name for b in blocks if block in ("", b.id, b.group) for s in b.states)
        case "group":
            groups = [b.group for b in manifest.blocks if b.side is Side.FPGA]
            yield from (group for group in dict.fromkeys(groups) if groups.count(group) > 1)
        case "clock":
            yield from (clock.name for clock in manifest.clocks)
        case "fifo":
            yield from (fifo.id for fifo in manifest.fifos)
        case "stream":
            yield from (stream.id for stream in manifest.streams)
        case "table":
            yield from platform.transfer_tables if platform else ()


def _matching(word: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that contain the word, those that begin with it first."""
    candidates, low = list(names), word.lower()
    begin = [name for name in candidates if name.lower().startswith(low)]
    return (*begin, *(name for name in candidates if low in name.lower() and name not in begin))
