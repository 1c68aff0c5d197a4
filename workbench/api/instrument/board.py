"""The monitors on a real machine: C that starts them and reads them out through the platform's own calls.

A template says how it moves data (`host.transfers`, ReCAP 2011, section 3.1); the words to move are the build's
`ReadOutPlan`. `resources/board` has the C.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from workbench.api.c_header import declarations
from workbench.model.diagnostic import Diagnostic
from workbench.model.hardware import Hardware
from workbench.model.platform import Platform
from workbench.model.prototypes import handles
from workbench.model.read_out import ReadOutPlan
from workbench.model.text import counted

_MOST_BYTES = 4096  # of a read-out in one transfer
_NAMES = ("rcw_board.h", "rcw_board.c")


def board_lacks(platform: Platform) -> tuple[Diagnostic, ...]:
    """What a template has to say before the counters of an application can be read on the machine itself."""
    return tuple(_lacking(platform))


def _lacking(platform: Platform) -> Iterator[Diagnostic]:
    moves = platform.host.transfers
    if not platform.host.entries:
        yield Diagnostic("it has no host.entries", "Name the calls of its host API.")
    for name, text in (("send_c", moves.send_c), ("receive_c", moves.receive_c)):
        if not text.strip():
            hint = "Write the call that moves `words` words of the array `data` to or from `address`."
            yield Diagnostic(f"it has no host.transfers.{name}, by which the counters are read", hint)
    if platform.hardware is None:
        yield Diagnostic("it has no hardware port", "Describe the port of the application's top module.")
    elif moved_bytes(platform) > _word_bytes(platform):
        yield Diagnostic(
            f"its smallest transfer ({counted(moved_bytes(platform), 'byte')}) is longer than a word of its port "
            f"({counted(_word_bytes(platform), 'byte')}): a counter cannot be read alone",
            "Name calls in host.transfers that move single words.",
        )


def moved_bytes(platform: Platform) -> int:
    """The smallest transfer that holds a word of the port."""
    moves = platform.host.transfers
    least = max(moves.minimum_bytes, _word_bytes(platform))
    return -(-least // moves.size_multiplier) * moves.size_multiplier


def most_words(platform: Platform, plan: ReadOutPlan) -> int:
    """How many words of a read-out come in one transfer: one, where the platform's words are not the port's."""
    moves, moved = platform.host.transfers, moved_bytes(platform)
    if moved != _word_bytes(platform):
        return 1
    return max(1, min(plan.block_words, _MOST_BYTES // moved, (moves.maximum_bytes or _MOST_BYTES) // moved))


def _word_bytes(platform: Platform) -> int:
    return platform.hardware.ports[0].word_bits // 8 if platform.hardware else 4


def _clock_hz(hardware: Hardware, plan: ReadOutPlan) -> float:
    """How fast the clock is of the port that the monitors are read through."""
    port = next((port for port in hardware.ports if port.name == plan.port), hardware.ports[0])
    return hardware.clock_of(port).frequency_hz


def board_sources(platform: Platform, plan: ReadOutPlan, resources: Path, tree: str) -> dict[str, str]:
    """Name -> text of the C files. `resources` is the folder of their templates, `tree` tells builds apart."""
    from jinja2 import Environment, StrictUndefined  # what a template lacks is asked without it

    assert platform.hardware is not None
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    known = {
        "include_lines": declarations(platform.host),
        "handles": handles(platform.host),
        "transfers": platform.host.transfers,
        "access": platform.host.transfers.access_c or "data[index]",
        "moved_bytes": moved_bytes(platform),
        "most_words": most_words(platform, plan),
        "part_bits": 32 // plan.parts,
        "period_ns": 1e9 / _clock_hz(platform.hardware, plan),
        "plan": plan,
        "stream": [port.name for port in platform.hardware.ports].index(plan.port) if plan.marks else 0,
        "tree": tree,
    }
    texts = {name: (resources / f"{name}.j2").read_text(encoding="utf-8") for name in _NAMES}
    return {name: environment.from_string(text).render(known) for name, text in texts.items()}
