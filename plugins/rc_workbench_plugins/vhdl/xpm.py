"""AMD's parameterized macros (XPM) in VHDL: stand-ins of `resources/hdl/xpm/xpm.vhd`, with what they instantiate."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

LIBRARY = "xpm"
_FILE = Path(str(files("workbench.resources"))) / "hdl" / "xpm" / "xpm.vhd"
_ENTITY = re.compile(r"^entity (\w+) is\n(.*?)^end entity;", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(r"\bentity work\.(\w+)")


@cache
def entities() -> Mapping[str, str]:
    """The text of each macro, and of what macros instantiate, by its name in lower case."""
    units = re.split(r"^(?=library ieee;)", _FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name[1]: unit for unit in units if (name := _ENTITY.search(unit))}


def macros(names: Collection[str]) -> str:
    """The entities of these macros, after those that they instantiate."""
    known = entities()
    inner = dict.fromkeys(one for name in sorted(names) for one in _INSTANCE.findall(known[name]))
    return "".join(known[name] for name in (*inner, *sorted(names)))


def package(name: str, macros_used: Collection[str]) -> str:
    """A package of that name with the components of these macros."""
    heads = (_ENTITY.search(entities()[macro]) for macro in sorted(macros_used))
    components = "".join(f"component {one[1]} is\n{one[2]}end component;\n" for one in heads if one)
    return f"library ieee; use ieee.std_logic_1164.all;\npackage {name} is\n{components}end package;\n"
