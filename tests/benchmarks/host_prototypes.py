"""Whether the prototypes of the host APIs that ship are those of the vendors' real headers, as libclang reads them.

    python tests/benchmarks/host_prototypes.py [--json] [--quick] [--all] TEMPLATE=FOLDER ...

Each FOLDER holds the headers of one version of an API, as its project or package brings them (the workbench ships none
of them). Beside what the template's `include_lines` bring, each of its prototypes is declared in one source, and its
type is held against those of all functions of that scope and name:

    same         one has the very type, after typedefs
    and more     one has, but for further parameters with defaults, which a call need not give
    differs      there are such declarations, of other types: they are shown
    not found    the headers declare no such name

Whether a parameter has a default belongs to it. A template whose `include_lines` are the system's own (XDMA, UIO and
VFIO) is held against the system's. The constants that a stand-in's headers define, by enum or macro, are compared by
value too. `--all` shows all of it, not only what is not the same.
"""

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from clang.cindex import Cursor, CursorKind, TranslationUnit, TypeKind, conf
from command_line import command, show
from rc_workbench_plugins.c import clang_parse

from workbench.formats.platform_file import load_platform
from workbench.model.application import HostSources
from workbench.model.prototypes import Prototype, callees

TEMPLATES = Path(str(files("workbench.platform_templates")))
K = CursorKind
_FUNCTIONS = {K.FUNCTION_DECL, K.FUNCTION_TEMPLATE, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR}
_IF = re.compile(r"^typename .*?\benable_if<.*?, ([\w: *&]+)>::type$")
_MISSING = re.compile(r"'(.+)' file not found")


@dataclass(frozen=True)
class Row:
    template: str
    folder: str
    what: str
    verdict: str
    real: tuple[str, ...] = ()


def main() -> int:
    parser = command(__doc__, "the first template only")
    parser.add_argument("held", nargs="+", metavar="TEMPLATE=FOLDER")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    pairs = [held.partition("=") for held in arguments.held[: 1 if arguments.quick else None]]
    rows = [row for name, _, folder in pairs for row in compared(name, Path(folder))]
    show({"rows": [asdict(row) for row in rows]}, arguments.json)
    return 0


def told(rows: list[Row], *, everything: bool) -> Iterator[str]:
    for key in dict.fromkeys((row.template, row.folder) for row in rows):
        own = [row for row in rows if (row.template, row.folder) == key]
        counts = Counter(row.verdict for row in own)
        yield f"{key[0]:18} {key[1]}: " + ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        for row in own:
            if everything or not row.verdict.startswith("same"):
                yield f"    {row.verdict}: {row.what}"
                yield from (f"        {text}" for text in row.real)


def compared(name: str, folder: Path) -> Iterator[Row]:
    """The rows of one template."""
    platform, _ = load_platform(TEMPLATES / f"{name}.yaml")
    assert platform is not None
    prototypes = [callee.prototype for callee in callees(platform.host.entries)[0].values()]
    cpp = any(prototype.cpp for prototype in prototypes)
    own = TEMPLATES / name
    headers = [header for line in platform.host.include_lines for header in re.findall(r'[<"](.+?)[>"]', line)]
    headers += sorted(file.name for file in own.glob("*.h") if file.name not in headers)
    lines = ["#include <stdint.h>", *(f"#include <{header}>" for header in headers)]
    names = [] if folder == own else constants(parsed(lines, own, cpp=cpp), own)
    lines += [
        *asked(prototypes, cpp=cpp),
        *(f"enum rcw_of_{n} {{ rcw_value_{n} = (long long)({one}) }};" for n, one in enumerate(names)),
    ]
    unit = parsed(lines, folder, cpp=cpp)
    for problem in clang_parse.problems(unit):
        if not Path(problem.file or "").name.startswith("rcw_"):
            yield Row(name, str(folder), "the headers", "not read wholly", (problem.text(),))
    made = {cursor.spelling: cursor for cursor in unit.cursor.get_children() if cursor.spelling.startswith("rcw_")}
    for number, prototype in enumerate(prototypes):
        real = list(dict.fromkeys(one.canonical for one in declarations(unit, number, prototype, cpp=cpp)))
        verdict = verdict_of(made[f"rcw_{number}"], real, prototype) if real else "not found"
        shown = () if verdict == "same" else tuple(dict.fromkeys(declaration(one) for one in real))
        yield Row(name, str(folder), prototype.text, verdict, shown)
    theirs = values(unit, len(names))
    ours = values(parsed(lines, own, cpp=cpp), len(names)) if names else {}
    for number, one in enumerate(names):
        if number in ours:
            verdict = "not found" if number not in theirs else "same" if ours[number] == theirs[number] else "differs"
            shown = () if verdict != "differs" else (f"{ours[number]} here, {theirs[number]} in the header",)
            yield Row(name, str(folder), one, f"{verdict} (value)", shown)


def constants(unit: TranslationUnit, folder: Path) -> list[str]:
    """The names of enumerators and of macros without parameters that the folder's headers define."""
    found = []
    for top in unit.cursor.get_children():
        where = clang_parse.place(top.location)
        for one in top.walk_preorder() if where and where.file.is_relative_to(folder.resolve()) else ():
            if one.kind is K.ENUM_CONSTANT_DECL:
                found.append(qualified(one))
            elif one.kind is K.MACRO_DEFINITION and not conf.lib.clang_Cursor_isMacroFunctionLike(one):
                found.append(one.spelling)
    return list(dict.fromkeys(found))


def qualified(cursor: Cursor) -> str:
    parent = cursor.semantic_parent
    if parent.kind is K.ENUM_DECL and not conf.lib.clang_EnumDecl_isScoped(parent):
        parent = parent.semantic_parent
    return cursor.spelling if parent.kind is K.TRANSLATION_UNIT else f"{qualified(parent)}::{cursor.spelling}"


def values(unit: TranslationUnit, number: int) -> dict[int, int]:
    """The values that the asked constants have, of those that have one."""
    wrong = {
        one.location.line for one in unit.diagnostics if one.severity >= 3 and "rcw_asked" in str(one.location.file)
    }
    found = {
        int(inner.spelling.removeprefix("rcw_value_")): inner.enum_value
        for one in unit.cursor.get_children()
        if one.kind is K.ENUM_DECL and one.spelling.startswith("rcw_of_") and one.location.line not in wrong
        for inner in one.get_children()
    }
    return {n: found[n] for n in range(number) if n in found}


def parsed(lines: list[str], folder: Path, *, cpp: bool) -> TranslationUnit:
    """The lines as a source that includes headers from wherever below the folder they stand, the least deep first."""
    flags = ["-std=c++17" if cpp else "-std=gnu11", "-ferror-limit=0", "-D_GNU_SOURCE"]
    with tempfile.TemporaryDirectory() as made:
        source = Path(made) / f"rcw_asked.{'cpp' if cpp else 'c'}"
        source.write_text("\n".join(lines) + "\n")
        flags = [*clang_parse.arguments(source.parent, HostSources(sources=(source.name,)), {}, cpp=cpp), *flags]
        while True:
            unit = clang_parse.parse(source, flags)
            assert unit is not None
            missing = [found[1] for one in unit.diagnostics if (found := _MISSING.match(one.spelling))]
            roots = {f"-I{root}" for header in missing if (root := include_root(folder, header))} - {*flags}
            if not roots:
                return unit
            flags += sorted(roots)


def include_root(folder: Path, header: str) -> Path | None:
    found = sorted(folder.rglob(header), key=lambda file: (len(file.parts), file))
    return found[0].parents[len(Path(header).parts) - 1].resolve() if found else None


def asked(prototypes: Iterable[Prototype], *, cpp: bool) -> Iterator[str]:
    """For each prototype a function of its type, and what makes the compiler look for those that have its name."""
    for number, one in enumerate(prototypes):
        head = re.match(r"(template\s*<[^<>]*>)?", one.text)
        parameters = ", ".join((*(text for text, _ in one.parameters), *(["..."] if one.variadic else [])))
        yield f"{head and head[0]} {one.returns or 'void'} rcw_{number}({parameters or ('' if cpp else 'void')});"
        if cpp:
            yield f"using rcw_scope_{number} = {one.scope or 'int'};"
            yield f"namespace rcw_names_{number} {{ using {one.scope}::{one.name}; }}"


def declarations(unit: TranslationUnit, number: int, prototype: Prototype, *, cpp: bool) -> Iterator[Cursor]:
    """The functions of a prototype's scope and name: in C those of that name, in C++ as the compiler looks them up."""
    tops = [one for one in unit.cursor.get_children() if not one.kind.is_preprocessing()]
    if not cpp:
        yield from (one for one in tops if one.kind is K.FUNCTION_DECL and one.spelling == prototype.name)
    for top in tops:
        if top.spelling == f"rcw_scope_{number}":
            yield from members(top.underlying_typedef_type.get_canonical().get_declaration(), prototype)
        if top.spelling == f"rcw_names_{number}":
            yield from (named for one in top.get_children() for named in overloads(one))


def members(kind: Cursor, prototype: Prototype) -> Iterator[Cursor]:
    """Of a class, or else of its bases."""
    if prototype.is_constructor:
        found = [
            one for one in kind.get_children() if one.kind in _FUNCTIONS and one.spelling.split("<")[0] == kind.spelling
        ]
    else:
        found = [one for one in kind.get_children() if one.kind in _FUNCTIONS and one.spelling == prototype.name]
    yield from found
    if not found:
        for base in kind.get_children():
            if base.kind is K.CXX_BASE_SPECIFIER:
                yield from members(base.type.get_canonical().get_declaration(), prototype)


def overloads(using: Cursor) -> Iterator[Cursor]:
    for one in using.get_children():
        if one.kind is K.OVERLOADED_DECL_REF:
            for n in range(conf.lib.clang_getNumOverloadedDecls(one)):
                yield conf.lib.clang_getOverloadedDecl(one, n)
        elif one.referenced is not None and one.referenced.kind in _FUNCTIONS:
            yield one.referenced


def verdict_of(ours: Cursor, real: Iterable[Cursor], prototype: Prototype) -> str:
    wanted, types = shape(ours)
    const, static = prototype.text.endswith("const"), prototype.text.startswith("static ")
    defaults = [name in dict(prototype.defaults) for _, name in prototype.parameters]
    verdicts = set()
    for one in real:
        found, takes = shape(one)
        given = [any(token.spelling == "=" for token in parameter.get_tokens()) for parameter in parameters(one)]
        of_class = one.semantic_parent.kind is not K.NAMESPACE
        number = len(types)
        if (
            (found == wanted or (found[0] == wanted[0].rpartition("::")[2] and found[1] == wanted[1]))
            and (takes[:number], given[:number]) == (types, defaults)
            and all(given[number:])
            and (one.is_const_method(), of_class and one.is_static_method()) == (const, static)
        ):
            verdicts.add("and more" if takes[number:] else "same")
    return next((verdict for verdict in ("same", "and more") if verdict in verdicts), "differs")


def shape(function: Cursor) -> tuple[tuple[str, bool], list[str]]:
    """What it returns and whether it takes anything more; the parameters' types; after typedefs. Of a template that is
    there for fit arguments only (`std::enable_if`), it is what it then returns, whose scope libclang does not say."""
    kind = function.type.get_canonical()
    if kind.kind is not TypeKind.FUNCTIONPROTO:
        return (kind.get_result().spelling, True), []
    returns = _IF.sub(r"\1", kind.get_result().spelling)
    return (returns, kind.is_function_variadic()), [one.spelling for one in kind.argument_types()]


def parameters(function: Cursor) -> list[Cursor]:
    return [one for one in function.get_children() if one.kind is K.PARM_DECL]


def declaration(function: Cursor) -> str:
    """A declaration's text, up to its body."""
    text = " ".join(token.spelling for token in function.get_tokens())
    where = clang_parse.place(function.location)
    text = re.split(r" [{;]", re.sub(r"\s*([(),*&:<>])\s*", r"\1", text))[0]
    return f"{Path(where.file).name if where else ''}:{where.line if where else 0}: {text[:300]}"


if __name__ == "__main__":
    sys.exit(main())
