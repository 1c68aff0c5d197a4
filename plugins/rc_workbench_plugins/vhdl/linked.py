"""GHDL's Verilog of one half of a design, joined to the user's Verilog: modules left out, names and values as they are
there, and for each entity that Verilog instantiates a module of its name."""

import re
from collections.abc import Iterable, Mapping, Sequence

from rc_workbench_plugins.vhdl.boxes import default_of, spellings
from rc_workbench_plugins.vhdl.joined import Part
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.types import Type
from rc_workbench_plugins.vhdl.units import Component
from rc_workbench_plugins.vhdl.values import kind_of, meant
from workbench.hdl.verilog.heads import Head

_MODULE = re.compile(r"^module (\w+)\n.*?^endmodule\n+", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"^module (\w+)\n.*?\);\n", re.MULTILINE | re.DOTALL)
_PORT = re.compile(r"(input|output|inout) +(?:reg +)?(?:\[(\d+):(\d+)\] +)?(\w+)")
_VALUE = re.compile(r"\.(\w+)\(([^()]*)\)")
_CONNECTED = re.compile(r"\.(\w+)\(")
INNER = "recap_vhdl"


def linked(
    verilog: str, heads: Mapping[str, Head], components: Iterable[Component], types: Mapping[str, Type | str]
) -> str:
    """The Verilog without the empty modules that GHDL writes for those of `heads` (by small letters), whose instances
    get the names that these have, and values of the generics' own types."""
    kinds: dict[str, dict[str, str]] = {}
    for component in components:
        own = {plain(g.name): kind_of(g.type, types) for g in component.interface.generics}
        kinds.setdefault(plain(component.name), own)
    text = _MODULE.sub(lambda module: "" if module[1].lower() in heads else module[0], verilog)
    names = "|".join(map(re.escape, heads))
    if not names:
        return text
    instance = re.compile(
        rf"^  (?P<module>{names})(?: #\((?P<values>.*?)\)\n   )? (?P<label>\S+) \((?P<ports>.*?)\);$",
        re.MULTILINE | re.DOTALL | re.IGNORECASE,
    )

    def as_there(written: re.Match[str]) -> str:
        name = written["module"].lower()
        head, of = heads[name], kinds.get(name, {})
        values = ", ".join(
            f".{head.spelled(generic) or generic}({meant(of.get(plain(generic), ''), value)})"
            for generic, value in _VALUE.findall(f"{written['values']})" if written["values"] else "")
        )
        ports = _CONNECTED.sub(lambda port: f".{head.spelled(port[1]) or port[1]}(", written["ports"])
        return f"  {head.name}{f' #({values})' if values else ''} {written['label']} ({ports});"

    return instance.sub(as_there, text)


def module_of(
    parts: Sequence[Part], texts: Mapping[int, str], asked: Iterable[str], types: Mapping[str, Type | str]
) -> str:
    """The module that Verilog instantiates for one entity: by its parameters' values it holds what GHDL made of the
    entity with these. `texts` are their texts, each with its top at its end."""
    first = parts[0]
    spelled = spellings(first.unit, asked)
    heads = {part.number: _ports(texts[part.number]) for part in parts}
    lines: list[str] = []
    parameters = [f"parameter {spelled[plain(g.name)]} = {default_of(g, types)}" for g in first.unit.generics]
    for name, (way, _) in heads[first.number].items():
        widths = {part.number: heads[part.number][name][1] for part in parts}
        lines.append(f"{way} {_range(parts, widths)}{spelled.get(name, name)}")
    head = f" #({', '.join(parameters)})" if parameters else ""
    inner = ", ".join(f".{own}({spelled.get(own, own)})" for own in heads[first.number])
    cases = " else ".join(
        f"if ({_asks(part)}) begin : {block_of(part)}\n"
        f"        {_top(texts[part.number])} {INNER} ({_connected(inner, texts[part.number])});\n    end"
        for part in parts
    )
    ports = ",\n    ".join(lines)
    return f"module {first.box}{head} (\n    {ports}\n);\n    generate {cases} endgenerate\nendmodule\n"


def block_of(part: Part) -> str:
    """The generate block around what GHDL made of an entity with some values."""
    return f"recap_{part.number}"


def _connected(inner: str, text: str) -> str:
    """Connections by the names that the module has itself."""
    own = {match[4].lower(): match[4] for match in _PORT.finditer(_head(text))}
    return re.sub(r"\.(\w+)\(", lambda port: f".{own.get(port[1], port[1])}(", inner)


def _asks(part: Part) -> str:
    return " && ".join(f"{name} == {value}" for name, value in part.parameters.items()) or "1"


def _range(parts: Sequence[Part], widths: Mapping[int, int]) -> str:
    """A port's range: 0 bits stand for a single one without a range."""
    several = set(widths.values())
    if several == {0}:
        return ""
    text = str(next(iter(several)))
    if len(several) > 1:
        text = "".join(f"({_asks(part)}) ? {widths[part.number] or 1} : " for part in parts) + "1"
    return f"[({text}) - 1:0] "


def _head(text: str) -> str:
    return list(_HEAD.finditer(text))[-1][0]


def _top(text: str) -> str:
    return list(_HEAD.finditer(text))[-1][1]


def _ports(text: str) -> dict[str, tuple[str, int]]:
    """The last module's ports by small letters: direction, and bits (0: without a range)."""
    ports = {}
    for way, high, low, name in _PORT.findall(_head(text)):
        ports[name.lower()] = way, abs(int(high) - int(low)) + 1 if high else 0
    return ports
