"""The reference of the plugin API, read from the source without importing it: signatures, fields and docstrings, as
data and as a help page."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from inspect import cleandoc
from pathlib import Path
from typing import Any

import workbench
from workbench.api import API_VERSION
from workbench.api.lazy import sources
from workbench.session.program.c_declarations import Declaration, declarations

MODULES = ("workbench.api", "workbench.api.hdl", "workbench.api.window")
#: Headers of the run-time, with the promised declarations of each and their purpose.
HEADERS = {
    "card/ports/port.h": (
        "A port's driver on the simulated card",
        "Failure ClockDomain Transfer Port Absent put_word get_word put_ones low_bits",
    ),
    "host/recap.h": (
        "What an instrumented host program calls",
        "rcw_slot rcw_unit rcw_add_unit rcw_call rcw_start rcw_ready rcw_enter rcw_go rcw_leave",
    ),
}
_HEAD = f"""# What a plugin may import

API version {API_VERSION}. [Back to plugins](plugins.md).

Made by `workbench plugins api` from the code. Each name below is imported from the module that its section names. A
name that is listed here neither disappears nor changes while the API version stays. Other modules of `workbench` are
not promised.
"""
_PROMISED = re.compile(r"Promised to plugins: (.*?)\.(?:\s|$)", re.DOTALL)


@dataclass(frozen=True)
class Name:
    """A promised name. `lines` are its signature, then those of its public members; `about` is its docstring."""

    name: str
    lines: tuple[str, ...]
    about: str


def api_names(module: str) -> dict[str, list[Name]]:
    """The promised names of a module, grouped by their own modules."""
    groups: dict[str, list[Name]] = {}
    for name, home in sources(str(_path(module))).items():
        title = re.split(r"\.\s|\n\n", ast.get_docstring(_tree(home)) or home)[0].replace("\n", " ").rstrip(".")
        groups.setdefault(title, []).append(_name(home, name))
    return groups


def header_names(header: str) -> Sequence[Declaration]:
    """The promised declarations of a header of the run-time, below `resources`."""
    names = HEADERS[header][1].split()
    text = files("workbench.resources").joinpath(header).read_text("utf-8")
    return [one for one in declarations(text) if one.name in names]


def api_json() -> dict[str, Any]:
    """Every promised name with its signature and members, and the version of the promise."""
    names = {module: [name for group in api_names(module).values() for name in group] for module in MODULES}
    promised = {module: {name.name: list(name.lines) for name in group} for module, group in names.items()}
    promised |= {header: {one.name: one.text.splitlines() for one in header_names(header)} for header in HEADERS}
    return {"api_version": API_VERSION, "names": promised}


def api_page() -> str:
    """The help page."""
    parts = [_HEAD]
    for module in MODULES:
        parts.append(f"## {module}\n\n{ast.get_docstring(_tree(module))}\n")
        for title, names in api_names(module).items():
            parts += [f"### {title}\n", *map(_entry, names)]
    for header, (title, _) in HEADERS.items():
        parts.append(f"## {title}\n\nFrom `resources/{header}`.\n")
        parts += [f"{one.about}\n\n{_code(one.text.splitlines())}".lstrip() for one in header_names(header)]
    return "\n".join(parts)


def _entry(name: Name) -> str:
    return f"#### {name.name}\n\n{_code(name.lines)}\n{name.about}\n".rstrip() + "\n"


def _code(lines: Sequence[str]) -> str:
    return "".join(f"    {line}\n" for line in lines)


# ---- from the source


def _path(module: str) -> Path:
    path = Path(workbench.__file__).parent.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_path(module).read_text("utf-8"))


def _name(module: str, name: str) -> Name:
    node = _definition(module, name)
    if isinstance(node, ast.ClassDef):
        about = ast.get_docstring(node) or ""
        promised = _PROMISED.search(about)
        members = [
            f"    {line}"
            for member, line in _members(module, node).items()
            if not promised or f"`{member}`" in promised[1]
        ]
        return Name(name, (_class_line(node), *members), about)
    if isinstance(node, ast.FunctionDef):
        return Name(name, (_signature(node),), ast.get_docstring(node) or "")
    return Name(name, (ast.unparse(node),), _comment_above(module, node))


def _definition(module: str, name: str) -> ast.stmt:
    """The place in a module that defines a name. LookupError if there is none."""
    for node in _tree(module).body:
        defined = getattr(node, "name", "")
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined = name if name in (ast.unparse(target) for target in targets) else ""
        if defined == name:
            return node
    raise LookupError(f"{module} does not define '{name}'")


def _class_line(node: ast.ClassDef) -> str:
    bases = ", ".join(map(ast.unparse, node.bases))
    return f"class {node.name}({bases})" if bases else f"class {node.name}"


def _members(module: str, node: ast.ClassDef) -> dict[str, str]:
    """The public members of a class and of its bases in the workbench, by name."""
    members: dict[str, str] = {}
    for base in map(ast.unparse, reversed(node.bases)):  # as a data class takes their fields
        if (home := _home(module, base)) is not None:
            members |= _members(home, _class(home, base))
    for name, line in _own_members(node):
        if not name.startswith("_"):
            members[name] = line
    return members


def _own_members(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign):
            yield ast.unparse(item.target), _field(item)
        elif isinstance(item, ast.Assign):
            yield ast.unparse(item.targets[0]), ast.unparse(item)
        elif isinstance(item, ast.FunctionDef) and any("property" in ast.unparse(d) for d in item.decorator_list):
            yield item.name, f"{item.name}: {ast.unparse(item.returns) if item.returns else 'object'}"
        elif isinstance(item, ast.FunctionDef):
            yield item.name, _signature(item)


def _field(item: ast.AnnAssign) -> str:
    """A field with its default; other arguments of `field(...)` are not promised."""
    line, value = f"{ast.unparse(item.target)}: {ast.unparse(item.annotation)}", item.value
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("field", "Field"):
        keywords = {keyword.arg: keyword.value for keyword in value.keywords}
        factory = keywords.get("default_factory")
        default = next(iter(value.args), keywords.get("default"))
        if default is None and factory is not None:
            return f"{line} = {ast.unparse(factory)}()"
        value = default
    return line if value is None or ast.unparse(value) == "..." else f"{line} = {ast.unparse(value)}"


def _signature(node: ast.FunctionDef) -> str:
    arguments = re.sub(r"^(self|cls)(, |$)", "", ast.unparse(node.args))
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments}){returned}"


def _class(module: str, name: str) -> ast.ClassDef:
    node = _definition(module, name)
    assert isinstance(node, ast.ClassDef)
    return node


def _home(module: str, name: str) -> str | None:
    """The module of the workbench that defines a class which this one uses; None for another library's."""
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]:
            return _home(node.module, name) if (node.module or "").startswith("workbench.") and node.module else None
    try:
        return module if isinstance(_definition(module, name), ast.ClassDef) else None
    except LookupError:
        return None


def _comment_above(module: str, node: ast.stmt) -> str:
    """The `#:` lines above an assignment."""
    above = _path(module).read_text("utf-8").splitlines()[: node.lineno - 1]
    lines: list[str] = []
    while above and above[-1].startswith("#:"):
        lines.insert(0, above.pop().removeprefix("#:").strip())
    return cleandoc("\n".join(lines))
