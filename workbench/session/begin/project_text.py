"""Writes a project file with a comment that gives the reason for each choice."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from workbench.api.brought import brought
from workbench.api.languages import either
from workbench.model.application import SCHEMA_VERSION, HardwareSources, HostSources
from workbench.model.scan import HdlTop
from workbench.model.text import capitalised

_PLAIN = re.compile(r"[A-Za-z_./][\w./-]*")
_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")  # words with a meaning in YAML
_WIDTH = 100


@dataclass(frozen=True)
class Decision:
    """A choice and its reason; `others` are the alternatives. `unknown`: no source says the value, it is assumed."""

    what: str
    value: str
    reason: str
    others: tuple[str, ...] = ()
    unknown: bool = False


@dataclass(frozen=True)
class HardwareParts:
    """The hardware part of a project. `own_names` are the top's names for the platform's signals, `constants` the
    values of inputs that nothing drives, `defines` the values of macros that the sources use but do not define."""

    top: HdlTop
    read_out: tuple[int, int]
    own_names: Mapping[str, str]
    constants: Mapping[str, int]
    defines: Mapping[str, int | float | str]


def project_text(
    name: str,
    platform: str,
    host: HostSources,
    hardware: HardwareParts,
    settings: Mapping[str, int | float | str],
    decisions: Sequence[Decision],
) -> str:
    """The text of a project file with the reason for each choice as a comment."""
    reasons = {one.what: one.reason for one in decisions}
    setting_reasons = {one.value.split(" = ")[0]: one.reason for one in decisions if one.what == "setting"}

    def lines() -> Iterator[str]:
        yield "# Settings found in this folder, with reasons. You may change every line."
        yield f"schema_version: {SCHEMA_VERSION}"
        yield f"name: {_scalar(name)}"
        yield from _comment_lines("", reasons["platform"])
        yield f"platform: {_scalar(platform)}"
        yield ""
        yield from _host_lines(host, reasons)
        yield ""
        yield from _hardware_lines(hardware, reasons)
        if settings:
            yield ""
            yield "# What `--set NAME=VALUE` changes: macros of the host, and parameters of the same name."
            yield "settings:"
            yield from (f"  {key}: {_scalar(value)} # {setting_reasons[key]}" for key, value in settings.items())

    return "\n".join(lines()) + "\n"


def _host_lines(host: HostSources, reasons: Mapping[str, str]) -> Iterator[str]:
    if host.sources:
        yield "host:"
        yield from _comment_lines("  ", reasons["host sources"])
        if host.language != HostSources.model_fields["language"].default:
            yield f"  language: {_scalar(host.language)}"
        yield f"  sources: [{', '.join(map(_scalar, host.sources))}]"
    else:
        program = f"no {either(brought('host_languages'))} program was found"
        yield from _comment_lines("", f"{program}: name its sources for a run (host: {{sources: [main.c]}})")
    if host.include_dirs:
        yield f"  include_dirs: [{', '.join(map(_scalar, host.include_dirs))}]"
    if "C++ standard" in reasons:
        yield from _comment_lines("  ", reasons["C++ standard"])
        yield f"  flags: [{', '.join(map(_scalar, host.flags))}]"


def _hardware_lines(hardware: HardwareParts, reasons: Mapping[str, str]) -> Iterator[str]:
    top, where = hardware.top, reasons.get("unused addresses") or reasons["read-out addresses"]
    yield "hardware:"
    yield from _comment_lines("  ", reasons["top"])
    yield f"  top: {top.name}"
    yield from _comment_lines("  ", reasons["hardware sources"])
    yield "  sources:"
    yield from (f"    - {_scalar(source)}" for source in top.sources)
    if top.vhdl_standard != HardwareSources.model_fields["vhdl_standard"].default:
        yield from _comment_lines("  ", "GHDL cannot read these in a later standard")
        yield f"  vhdl_standard: {top.vhdl_standard}"
    if top.include_dirs:
        yield f"  include_dirs: [{', '.join(map(_scalar, top.include_dirs))}]"
    if hardware.defines:
        yield from _comment_lines("  ", "macros that the sources use but do not define")
        yield "  defines:"
        yield from (f"    {key}: {_scalar(value)}" for key, value in hardware.defines.items())
    if top.parameters:
        yield from _comment_lines("  ", reasons["parameters"])
        yield "  parameters:"
        yield from (f"    {key}: {_scalar(value)}" for key, value in top.parameters)
    if hardware.own_names:
        why = reasons.get("port", "by their names")
        yield from _comment_lines("  ", f"names of the platform's signals in this design: {why}")
        yield "  signals:"
        yield from (f"    {key}: {_scalar(value)}" for key, value in hardware.own_names.items())
    if hardware.constants:
        yield from _comment_lines("  ", "inputs that nothing drives, with the values to give them")
        yield "  constants:"
        yield from (f"    {key}: {value}" for key, value in hardware.constants.items())
    yield from _comment_lines("  ", f"addresses of the counter read-out: {where}")
    yield f"  read_out: {{first: {hardware.read_out[0]:#x}, last: {hardware.read_out[1]:#x}}}"


def _comment_lines(indent: str, reason: str) -> list[str]:
    return [f"{indent}# {line}" for line in wrap(capitalised(reason) + ".", _WIDTH)]


def _scalar(value: int | float | str) -> str:
    if isinstance(value, str) and (not _PLAIN.fullmatch(value) or value.lower() in _WORDS):
        return json.dumps(value)
    return str(value)
