"""Renames a platform's signals to the names in a project's own top module."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.api.ports import HardwarePort
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Diagnostic, WorkbenchError, near
from workbench.model.hardware import Clock, Hardware, Port
from workbench.model.platform import Platform

_WORD = re.compile(r"[A-Za-z_][\w$]*")
_NO_SIGNALS = {"name", "kind", "clock"}  # of a port


def with_own_names(
    platform: Platform, names: Mapping[str, str], project: Path, keys: tuple[str | int, ...] = ("hardware", "signals")
) -> Platform:
    """The platform with its signals (or a port's prefix) renamed; `!NAME` for a reset that is low.

    WorkbenchError, at its line in the project file, below `keys`, for a name that the platform does not have.
    """
    hardware = platform.hardware
    if not names or hardware is None:
        return platform
    signal_names = set(_names(hardware))
    if unknown := [name for name in names if name not in signal_names]:
        marked, _ = read_marked(project.read_text("utf-8", errors="replace"), str(project))
        problems = []
        for name in unknown:
            message = f"the platform {platform.name} has no signal '{name}'"
            hint = near(name, sorted(signal_names), "Its signals are")
            path = (*keys, name)
            problems.append(
                marked.diagnostic(path, message, hint) if marked else Diagnostic(message, hint, file=str(project))
            )
        raise WorkbenchError(*problems)
    clocks = tuple(_clock(clock, names) for clock in hardware.clocks)
    ports = tuple(_port(port, names) for port in hardware.ports)
    interrupt = names.get(hardware.interrupt, hardware.interrupt)
    own_hardware = hardware.model_copy(update={"clocks": clocks, "ports": ports, "interrupt": interrupt})
    return platform.model_copy(update={"hardware": own_hardware})


def _port(port: Port, names: Mapping[str, str]) -> Port:
    data = _renamed(port.model_dump(), names, _NO_SIGNALS)
    if isinstance(port, HardwarePort) and "names" in data:  # signals named by a prefix
        own_roles = {role: names[signal.name] for role, signal in port.signals().items() if signal.name in names}
        data["names"] = {**data["names"], **own_roles}
    elif isinstance(port, HardwarePort):  # signals that have a name without the template's word
        roles = port.signals().items()
        data |= {role: names[signal.name] for role, signal in roles if data.get(role) == "" and signal.name in names}
    return type(port).model_validate(data)


def _clock(clock: Clock, names: Mapping[str, str]) -> Clock:
    reset = names.get(clock.reset, clock.reset)
    changes = {"signal": names.get(clock.pin, clock.pin), "reset": reset.removeprefix("!")}
    if reset != clock.reset:
        changes["reset_hdl"] = reset if reset.startswith("!") else ""
    return clock.model_copy(update=changes)


def _names(hardware: Hardware) -> Iterator[str]:
    for clock in hardware.clocks:
        yield from (clock.pin, clock.reset)
    yield hardware.interrupt
    for port in hardware.ports:
        yield from _texts(port.model_dump(), _NO_SIGNALS)
        if isinstance(port, HardwarePort):
            yield from (signal.name for signal in port.signals().values())


def _texts(value: Any, left_out: set[str]) -> Iterator[str]:
    if isinstance(value, str):
        yield from _WORD.findall(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in left_out:
                yield from _texts(inner, set())


def _renamed(value: Any, names: Mapping[str, str], left_out: set[str]) -> Any:
    if isinstance(value, str):
        return _WORD.sub(lambda match: names.get(match[0], match[0]), value)
    if isinstance(value, dict):
        return {key: inner if key in left_out else _renamed(inner, names, set()) for key, inner in value.items()}
    return value
