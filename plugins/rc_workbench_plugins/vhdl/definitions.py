"""Where the name at a place of a VHDL source is declared: looked up from the innermost region around it outwards."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tree_sitter import Node

from rc_workbench_plugins.vhdl.design import by_language, libraries_of, read_units
from rc_workbench_plugins.vhdl.syntax import VhdlFile, child, children, matches, plain, text_of
from rc_workbench_plugins.vhdl.units import Unit
from workbench.api import Definition, HardwareSources, Job, expand_sources
from workbench.api.source import suffixes
from workbench.api.source.lines import name_at
from workbench.hdl.verilog import definitions as verilog
from workbench.hdl.verilog.design import source_files
from workbench.hdl.verilog.heads import read_modules

_WORD = re.compile(rb"[A-Za-z]\w*|\\[^\\\n]+\\")
_BEFORE = re.compile(rb"([A-Za-z]\w*)\s*(?:\([^()\n]*\)\s*)?\.\s*$")
#: What declares names in a scope, and the name of the kind where it is not the node's own.
_DECLARE = {
    "signal_declaration": "signal", "constant_declaration": "constant", "variable_declaration": "variable",
    "file_declaration": "file", "alias_declaration": "alias", "attribute_declaration": "attribute",
    "type_declaration": "type", "subtype_declaration": "subtype", "component_declaration": "component",
    "subprogram_declaration": "subprogram", "subprogram_definition": "subprogram",
    "package_instantiation_declaration": "package", "interface_declaration": "parameter",
    "interface_signal_declaration": "parameter", "interface_constant_declaration": "parameter",
    "interface_variable_declaration": "parameter", "interface_type_declaration": "type",
    "parameter_specification": "parameter",
}  # fmt: skip
_SCOPES = {
    "process_statement": "process", "block_statement": "block", "for_generate_statement": "generate",
    "if_generate_statement": "generate", "case_generate_statement": "generate",
    "component_instantiation_statement": "instance",
}  # fmt: skip
_NAMES = ("identifier", "library_type", "library_function", "operator_symbol", "library_constant_character")
_AROUND = (
    "process_statement", "block_statement", "for_generate_statement", "if_generate", "elsif_generate", "else_generate",
    "case_generate_alternative", "subprogram_definition", "loop_statement", "architecture_definition",
    "entity_declaration", "package_declaration", "package_definition", "sequential_block_statement",
)  # fmt: skip


def definition(
    root: Path, hardware: HardwareSources, parameters: Mapping[str, str], file: Path, line: int, column: int, _: Job
) -> Definition | None:
    """None where no name stands there, or none that is known."""
    paths = [path for path in expand_sources(root, hardware.sources) if path.suffix.lower() in suffixes.VHDL]
    files, units = read_units([path.resolve() for path in paths], {})
    here = next((one for one in files if one.path == file.resolve()), None)
    if here is None or not 0 < line <= len(here.starts):
        return None
    offset = here.starts[line - 1] + column - 1
    word = next((w for w in _WORD.finditer(here.data, here.starts[line - 1]) if w.start() <= offset <= w.end()), None)
    if word is None:
        return None
    name = plain(word[0].decode("utf-8", "replace"))
    declaration = next(_candidates(here, units, word, name), None)
    if declaration is None:
        return None
    at, node, kind = declaration
    return Definition(str(at.path), *at.place(node), text_of(node), kind)


def definition_in_both(
    root: Path, hardware: HardwareSources, parameters: Mapping[str, str], file: Path, line: int, column: int, job: Job
) -> Definition | None:
    """The definition of a name by the file's language; a unit of the other language by its name."""
    of_vhdl, of_verilog = by_language(root, hardware)
    if file.suffix.lower() in suffixes.VHDL:
        own = definition(root, of_vhdl, parameters, file, line, column, job)
    else:
        own = verilog.definition(root, of_verilog, parameters, file, line, column, job)
    return own or _unit(root, of_vhdl, of_verilog, name_at(file, line, column))


def _unit(root: Path, of_vhdl: HardwareSources, of_verilog: HardwareSources, name: str) -> Definition | None:
    """The entity or module of a name, whatever language asks for it."""
    paths, _ = source_files(root.resolve(), of_vhdl.sources)
    for one in read_units(paths, libraries_of(root, of_vhdl))[1]:
        if one.kind == "entity" and plain(one.name) == plain(name):
            return Definition(str(one.file.path), one.line, 1, one.name, "entity")
    for path, text in read_modules(root, of_verilog).files.items():
        for unit in text.units:
            if unit.kind == "module" and unit.name.lower() == name.lower():
                return Definition(str(path), unit.line, 1, unit.name, "module")
    return None


def _candidates(
    file: VhdlFile, units: Sequence[Unit], word: re.Match[bytes], name: str
) -> Iterator[tuple[VhdlFile, Node, str]]:
    node = file.tree.root_node.descendant_for_byte_range(word.start(), word.end() - 1)
    before = _BEFORE.search(file.data, max(0, word.start() - 200), word.start())
    if before is not None:  # a part of something: a package, or a record
        of = plain(before[1].decode("utf-8", "replace"))
        for unit in units:
            if unit.kind == "package" and plain(unit.name) == of:
                yield from _named(unit.file, _declared(unit.node), name)
        yield from _units(units, name)
        for unit in units:
            yield from ((unit.file, one, "field") for one in _fields(unit.node) if plain(text_of(one)) == name)
        return
    if _is_formal(file, word) and (instance := _instance(node)) is not None:
        unit_name = plain(re.split(r"[\s(]", _instantiated(instance))[0].rpartition(".")[2])
        for unit in units:
            heads = [unit.node] if unit.kind == "entity" and plain(unit.name) == unit_name else []
            for head in heads:
                yield from _named(unit.file, _interface(head), name)
    around: Node | None = node
    while around is not None:
        if around.type in _AROUND:
            yield from _named(file, _declared(around), name)
        if around.type == "architecture_definition":
            of = plain(text_of(around.child_by_field_name("entity")))
            for unit in units:
                if unit.kind == "entity" and plain(unit.name) == of:
                    yield from _named(unit.file, _interface(unit.node), name)
        around = around.parent
    for unit in units:
        if unit.kind == "package":
            yield from _named(unit.file, _declared(unit.node), name)
    yield from _units(units, name)


def _is_formal(file: VhdlFile, word: re.Match[bytes]) -> bool:
    """Whether a name stands before `=>`."""
    return file.data[word.end() :].lstrip()[:2] == b"=>"


def _instance(node: Node | None) -> Node | None:
    while node is not None and node.type != "component_instantiation_statement":
        node = node.parent
    return node


def _instantiated(instance: Node) -> str:
    named = child(instance, "instantiated_unit")
    text = text_of(named) if named is not None else text_of(instance.child_by_field_name("component"))
    return re.sub(r"^(entity|component|configuration)\s+", "", text, flags=re.IGNORECASE)


def _units(units: Sequence[Unit], name: str) -> Iterator[tuple[VhdlFile, Node, str]]:
    for unit in units:
        if plain(unit.name) == name and unit.kind in ("entity", "package", "configuration", "context"):
            named = unit.node.child_by_field_name(unit.kind) or child(unit.node, "identifier")
            if named is not None:
                yield unit.file, named, unit.kind


def _named(file: VhdlFile, declared: Iterator[tuple[Node, str]], name: str) -> Iterator[tuple[VhdlFile, Node, str]]:
    return ((file, node, kind) for node, kind in declared if plain(text_of(node)) == name)


def _interface(entity: Node) -> Iterator[tuple[Node, str]]:
    for clause, kind in (("port_clause", "port"), ("generic_clause", "generic")):
        for one in children(child(child(child(entity, "entity_head"), clause), "interface_list")):
            yield from ((name, kind) for name in _of(one))


def _declared(scope: Node) -> Iterator[tuple[Node, str]]:
    """The names that a scope declares itself, and the labels in it."""
    pending = list(reversed(scope.children))
    while pending:
        node = pending.pop()
        if node.type in _DECLARE:
            yield from ((name, _DECLARE[node.type]) for name in _of(node))
            for literal in matches(node, "(enumeration_literal) @l") if node.type == "type_declaration" else ():
                yield from ((name, "enumeration literal") for name in literal.children[:1])
        if node.type in _SCOPES:
            label = child(child(node, "label_declaration"), "label")
            if label is not None:
                yield label, _SCOPES[node.type]
        elif node.type not in _DECLARE:
            pending += reversed(node.children)


def _of(declaration: Node) -> Iterator[Node]:
    """The nodes of the names that a declaration declares."""
    listed = child(declaration, "identifier_list")
    if listed is not None:
        yield from (name for name in children(listed) if name.type != ",")
        return
    for field in ("type", "component", "package", "attribute"):
        if (named := declaration.child_by_field_name(field)) is not None and named.type != "name":
            yield named
            return
    specification = child(declaration, "function_specification", "procedure_specification")
    if specification is not None:
        named = specification.child_by_field_name("function") or specification.child_by_field_name("procedure")
        if named is not None:
            yield named
        return
    named = child(declaration, *_NAMES)
    if named is not None:
        yield named


def _fields(node: Node) -> Iterator[Node]:
    for one in matches(node, "(element_declaration) @e"):
        yield from _of(one)
