"""The monitors on a real machine: C that starts them and reads them out through the platform's own calls.

A template says how it moves data (`host.transfers`, ReCAP 2011, section 3.1); the words to move are the build's
`ReadOutPlan`. `resources/board` has the C.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.api.c_header import declarations, in_cpp
from workbench.model.diagnostic import Diagnostic, OfTemplate
from workbench.model.hardware import Hardware
from workbench.model.platform import CallKind, Host, Platform
from workbench.model.prototypes import callees, handles, object_class
from workbench.model.read_out import AgentSettings, ReadOutPlan
from workbench.model.text import counted, listed

_TRANSFERS = ("host", "transfers")
_MOST_BYTES = 4096  # of a read-out in one transfer
_OF_ALL, _OF_EACH = ("rcw_board.h", "rcw_board.c"), "rcw_read_out"


def board_lacks(platform: Platform, fpgas: int = 1) -> tuple[Diagnostic, ...]:
    """What a template has to say before the counters of an application can be read on the machine itself."""
    return tuple(_lacking(platform, fpgas))


def _lacking(platform: Platform, fpgas: int) -> Iterator[Diagnostic]:
    moves = platform.host.transfers
    of_object = bool(re.search(r"\bself\b", f"{moves.send_c} {moves.receive_c}"))
    if of_object and not object_class(platform.host):
        hint = "Name a method that an entry has: self.write(address, data, bytes)."
        yield OfTemplate("its host.transfers call a method of `self` that no entry has", hint, keys=_TRANSFERS)
    if fpgas > 1 and of_object and (untold := _untold(platform.host)):
        hint = "Give its constructor `opens: board`, and its methods and destructor `of: board`."
        yield Diagnostic(f"its {listed(untold)} do not say which FPGA's object they are called on", hint)
    if fpgas > 1 and moves.send_c.strip() and not handles(platform.host) and not of_object:
        hint = "Name the handle in host.transfers as the calls of host.entries do."
        yield OfTemplate("its host.transfers do not say which FPGA they are for", hint, keys=_TRANSFERS)
    if not platform.host.entries:
        yield OfTemplate("it has no host.entries", "Name the calls of its host API.", keys=("host", "entries"))
    for name, text in (("send_c", moves.send_c), ("receive_c", moves.receive_c)):
        if not text.strip():
            hint = "Write the call that moves `words` words of the array `data` to or from `address`."
            message = f"it lacks host.transfers.{name}, which read the counters"
            yield OfTemplate(message, hint, keys=(*_TRANSFERS, name))
    if platform.hardware is None:
        hint = "Describe the port of the application's top module."
        yield OfTemplate("it has no hardware port", hint, keys=("hardware", "ports"))
    elif moved_bytes(platform) > _word_bytes(platform):
        yield OfTemplate(
            f"its smallest transfer ({counted(moved_bytes(platform), 'byte')}) is longer than a word of its port "
            f"({counted(_word_bytes(platform), 'byte')}): a counter cannot be read alone",
            "Name calls in host.transfers that move single words.",
            keys=_TRANSFERS,
        )


def _untold(host: Host) -> list[str]:
    """The methods of the objects that `transfers` call, of which no entry tells the FPGA."""
    of_object = object_class(host)
    return [
        callee.name
        for callee in callees(host.entries)[0].values()
        if callee.prototype.scope == of_object and CallKind.ACQUIRE not in callee.kinds
        and not all(entry.of or entry.fpga for _, entry in callee.entries)
    ]  # fmt: skip


def kept_handles(host: Host) -> dict[str, str]:
    """What the read-out needs of the program's calls: a name that `transfers` use -> its type. `self` is an object."""
    of_object = object_class(host)
    return handles(host) | ({"self": f"::{of_object} *"} if of_object else {})


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


def board_sources(
    platforms: Sequence[Platform], plans: Sequence[ReadOutPlan | None], resources: Path, tree: str
) -> dict[str, str]:
    """Name -> text of the C files, for FPGAs with these platforms and plans, of which one at least is to be read.
    `resources` is the folder of their templates, `tree` tells builds apart."""
    from jinja2 import Environment, StrictUndefined  # what a template lacks is asked without it

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    host = platforms[0].host
    boards = [_board(number, *of) for number, of in enumerate(zip(platforms, plans, strict=True))]
    known = {
        "include_lines": declarations(host),
        "handles": kept_handles(host),
        "cpp": in_cpp(host),
        "transfers": host.transfers,
        "access": host.transfers.access_c or "data[index]",
        "boards": boards,
        "several": len(boards) > 1,
        "stream": next((board["stream"] for board in boards if board["stream"] is not None), None),
        "tree": tree,
    }

    def rendered(name: str, of: Mapping[str, Any]) -> str:
        return environment.from_string((resources / f"{name}.j2").read_text(encoding="utf-8")).render(of)

    suffix = "cpp" if in_cpp(host) else "c"
    read_outs = {
        f"{_OF_EACH}_{board['number']}.{suffix}": rendered(f"{_OF_EACH}.c", known | board)
        for board in boards
        if board["plan"]
    }
    return {name: rendered(name, known) for name in _OF_ALL} | read_outs


def setting_number(fpga: int, monitor: int, code: int) -> int:
    """The number in $RCW_AGENT of a setting of an FPGA's monitor."""
    return (fpga * AgentSettings.MONITORS + monitor) * AgentSettings.CODES + code


def setting_numbers(codes: Sequence[Mapping[int, tuple[int, ...]]]) -> tuple[int, ...]:
    """The numbers in $RCW_AGENT of what switches the agents of FPGAs, of each by monitor."""
    return tuple(
        setting_number(fpga, monitor, code)
        for fpga, of_fpga in enumerate(codes) for monitor, own in of_fpga.items() for code in own
    )  # fmt: skip


def settings_of(text: str, fpga: int) -> dict[int, tuple[int, ...]]:
    """What $RCW_AGENT says of an FPGA, by monitor."""
    codes: dict[int, tuple[int, ...]] = {}
    for number in (int(word) for word in text.split() if word.isdecimal()):
        of, code = divmod(number, AgentSettings.CODES)
        of_fpga, monitor = divmod(of, AgentSettings.MONITORS)
        if of_fpga == fpga:
            codes[monitor] = (*codes.get(monitor, ()), code)
    return codes


def _board(number: int, platform: Platform, plan: ReadOutPlan | None) -> dict[str, Any]:
    """What the C of one FPGA's read-out says."""
    if plan is None or platform.hardware is None:
        return {"number": number, "plan": None, "stream": None}
    return {
        "number": number,
        "plan": plan,
        "moved_bytes": moved_bytes(platform),
        "most_words": most_words(platform, plan),
        "part_bits": 32 // plan.parts,
        "settings": [
            (setting_number(number, n, code), accesses)
            for n, monitor in enumerate(plan.monitors)
            for code, accesses in monitor.settings.items()
        ],
        "period_ns": 1e9 / _clock_hz(platform.hardware, plan),
        "stream": [port.name for port in platform.hardware.ports].index(plan.port) if plan.marks else None,
    }
