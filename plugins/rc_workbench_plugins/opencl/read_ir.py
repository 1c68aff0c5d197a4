"""Kernels of an LLVM module, as plain data.

llvmlite tells operands and their types; what it does not tell (predicates, element types, masks, lines) stands in the
module's own text, whose lines are the instructions in their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rc_workbench_plugins.opencl.accesses import GROUP_COPIES, INLINED, with_accesses
from rc_workbench_plugins.opencl.ir_text import ModuleText
from rc_workbench_plugins.opencl.kernel import (
    VOID,
    Argument,
    BasicBlock,
    Constant,
    Instruction,
    Kernel,
    Operand,
    Space,
    Type,
    Variable,
)
from rc_workbench_plugins.opencl.layout import SPACES, read_type, split_type
from workbench.api import Diagnostic, WorkbenchError

if TYPE_CHECKING:
    from llvmlite.binding import ModuleRef, ValueRef

_GLOBAL = re.compile(r"^@(\S+) = .*?addrspace\((\d+)\) (?:global|constant) (.*)$", re.MULTILINE)
_ALIGN = re.compile(r", align (\d+)")
_MANGLED = re.compile(r"_Z(\d+)")
_INTRINSIC = re.compile(r"llvm\.([a-z]+(?:\.[a-z]+)*?)\.(?:v|i|f|p)\d")
_FIRST_PARAMETER = re.compile(r"(?:P|U3AS\d+|[KVr])*(?:Dv\d+_)?(D?[a-z])")
_BASE = re.compile(r"(\w+?)(?: __attribute__\(\(ext_vector_type\((\d+)\)\)\))?(\*?)")
_ELEMENT_BYTES = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "int": 4, "uint": 4, "float": 4,
                  "long": 8, "ulong": 8, "double": 8, "size_t": 8}  # fmt: skip
_OPAQUE = re.compile(r"\bimage\dd|\bsampler_t|\bpipe\b|\bevent_t|\bqueue_t")
#: by the letters of mangled names
_LETTER_BYTES = {"c": 1, "a": 1, "h": 1, "s": 2, "t": 2, "Dh": 2, "i": 4, "j": 4, "f": 4, "l": 8, "m": 8, "d": 8}
#: attributes that clang knows, of which it tells what macros made of them
_SIZES = ("reqd_work_group_size", "work_group_size_hint")
_FLAGS = frozenset(["fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "samesign", "volatile"])
_TABLE_PLACE = re.compile(r"getelementptr (?:inbounds |nuw |nusw )*\(i8, ptr addrspace\(\d+\) @([\w.$-]+), i64 (\d+)\)")
_NULL = re.compile(r"addrspacecast \(ptr(?: addrspace\(\d+\))? null to ptr(?: addrspace\(\d+\))?\)")
#: where private arrays begin: no place is the null pointer
_FIRST_PLACE = 16
#: what says nothing to hardware or to who runs it
_SILENT = re.compile(r"(llvm\.)?(lifetime|dbg|assume|experimental\.noalias)|(read_|write_)?mem_fence$|prefetch$")


def is_kernel(function: ValueRef) -> bool:
    """Whether a function is a kernel, by its calling convention."""
    return " spir_kernel " in str(function).partition("{")[0]


def kernels(
    module: ModuleRef, source: Path, attributes: Callable[[str], Mapping[str, tuple[int, ...]]]
) -> Iterator[tuple[str, Kernel | WorkbenchError]]:
    """Every kernel of a module that clang made of `source`, in the file's order, with its name; `attributes` tells what
    its declaration asks for. Of a kernel that holds what has no meaning here, the error that says what, with its line.
    """
    text = ModuleText(str(module), source)
    for function in module.functions:
        if not function.is_declaration and is_kernel(function):
            try:
                yield function.name, _Reader(function, text).kernel(attributes(function.name))
            except WorkbenchError as error:
                yield function.name, error


class _Reader:
    """One function's instructions, read in order."""

    def __init__(self, function: ValueRef, text: ModuleText) -> None:
        self._function, self._text, self._layout = function, text, text.layout
        self._variables: dict[str, Variable] = {}
        self._private_bytes = 0
        self._generic: dict[str, tuple[Operand, Type]] = {}  # pointers to any space, by what they were made of

    def kernel(self, attributes: Mapping[str, tuple[int, ...]]) -> Kernel:
        head, lines = self._text.function(self._function.name)
        notes = {name: int(number) for name, number in re.findall(r"!(\w+) !(\d+)", head)}
        self._line = int((re.findall(r"\bline: (\d+)", self._text.metadata.get(notes.get("dbg", -1), "")) or [0])[0])
        names = _plain_names(block.name for block in self._function.blocks)
        blocks, latches = [], {}
        for block in self._function.blocks:
            said = [(instruction, next(lines)) for instruction in block.instructions]
            instructions = tuple(read for one, line in said if (read := self._instruction(one, line, names)))
            targets = re.findall(r"label %(\"[^\"]+\"|[\w.$-]+)", said[-1][1])
            blocks.append(BasicBlock(names[block.name], instructions, tuple(names[t.strip('"')] for t in targets)))
            if match := re.search(r"!llvm\.loop !(\d+)", said[-1][1]):
                latches[names[block.name]] = int(match[1])
        order = _reverse_postorder(blocks)
        at = {block.name: number for number, block in enumerate(order)}
        loops = {
            target: latches[block.name]
            for block in order
            if block.name in latches
            for target in block.successors
            if at[target] <= at[block.name]
        }
        return Kernel(
            name=self._function.name,
            file=str(self._text.source),
            line=self._line,
            arguments=tuple(self._arguments(notes, re.findall(r"byval\((%[^)]+)\)", head))),
            variables=tuple(self._variables.values()),
            blocks=with_accesses(order),
            private_bytes=self._private_bytes,
            attributes={**attributes, **{name: self._text.integers(notes[name]) for name in _SIZES if name in notes}},
            unrolls={header: factor for header, n in loops.items() if (factor := self._text.unroll(n)) is not None},
            loop_lines={header: place for header, n in loops.items() if (place := self._text.loop_place(n))[0]},
        )

    def _arguments(self, notes: Mapping[str, int], structures: Iterable[str]) -> Iterator[Argument]:
        """`structures` are the types of those that are passed by value."""
        by_value = iter(structures)
        said = [self._text.strings(notes.get(f"kernel_arg_{what}")) for what in ("type", "base_type", "type_qual")]
        for argument, name, base, qualities in zip(self._function.arguments, *said, strict=True):
            kind = read_type(str(argument.type))
            structure = next(by_value, "") if kind and kind.space is Space.PRIVATE else ""
            if kind is None or (kind.space is Space.PRIVATE and not structure) or _OPAQUE.search(base):
                self._unsupported(f"the argument '{argument.name}' of type '{name}'", self._line)
            if structure:
                size, align = self._layout.size(structure), self._layout.align(structure)
                at, fields = self._private(size, align), tuple(self._layout.scalars(structure))
                yield Argument(argument.name, kind, name, size, "const" in qualities.split(), fields, at)
                continue
            element = _BASE.fullmatch(base)
            size = 0
            if element and element[1] in _ELEMENT_BYTES:  # what a name of the source's own stands for
                name = f"{element[1]}{element[2] or ''}{element[3]}"
                size = _ELEMENT_BYTES[element[1]] * _lanes_in_memory(int(element[2] or 1)) if element[3] else 0
            if not size and base.endswith("*"):
                structure = f"%struct.{base.rstrip('*').removeprefix('struct ')}"
                size = self._layout.size(structure) if structure in self._layout.structures else 0
            yield Argument(argument.name, kind, name, size, "const" in qualities.split())

    def _instruction(self, one: ValueRef, line: str, names: Mapping[str, str]) -> Instruction | None:
        """One instruction as data; None of what only tells compilers something."""
        place = re.search(r"!dbg !(\d+)", line)
        number, column = self._text.place(int(place[1])) if place else (0, 0)
        operands = [operand for operand in one.operands if _value_kind(operand) != "basic_block"]
        variant, unsigned, callee = "", False, operands[-1] if operands else None
        if one.opcode == "call" and callee is not None:
            operands.pop()
            variant, unsigned = _callee(callee.name)
            if _SILENT.match(variant):
                return None
        elif one.opcode in ("icmp", "fcmp", "atomicrmw"):
            variant = _word_before_type(line)
        types = tuple(self._type(operand) for operand in operands)
        if one.opcode == "addrspacecast":
            self._generic[one.name] = self._operand(operands[0], number), types[0]
            return None
        kind = read_type(str(one.type))
        if kind is None:
            self._unsupported(f"a value of type '{one.type}'", number)
        align = _ALIGN.search(line)
        instruction = Instruction(
            opcode=one.opcode,
            type=kind or VOID,
            operands=tuple(self._operand(operand, number) for operand in operands),
            result="" if kind is VOID else f"%{one.name}",
            line=number,
            column=column,
            variant=variant,
            operand_types=types,
            unsigned=unsigned,
            align=int(align[1]) if align else 0,
        )
        if variant in GROUP_COPIES and callee is not None:
            return replace(instruction, numbers=(_copied_bytes(callee.name),))
        if one.opcode == "phi":
            return replace(instruction, labels=tuple(names[block.name] for block in one.incoming_blocks))
        if one.opcode == "getelementptr":
            return self._address(instruction, line, operands)
        if one.opcode == "alloca":
            inner = split_type(line.partition("alloca ")[2])[0]
            aligned = max(int((_ALIGN.findall(line) or [1])[0]), self._layout.align(inner))
            return replace(
                instruction, operands=(), operand_types=(), numbers=(self._private(self._layout.size(inner), aligned),)
            )
        if one.opcode == "shufflevector":
            return replace(instruction, operands=instruction.operands[:2], numbers=_mask(line))
        if one.opcode == "switch":
            cases = tuple(int(n) for n in re.findall(r"i\d+ (-?\d+), label", line))
            return replace(instruction, operands=instruction.operands[:1], operand_types=types[:1], numbers=cases)
        return instruction

    def _address(self, instruction: Instruction, line: str, operands: list[ValueRef]) -> Instruction:
        """A getelementptr as its base, a constant offset, and what each index that varies counts in bytes."""
        rest = re.sub(r"^.*?getelementptr (?:(?:inbounds|nuw|nusw|inrange\([^)]*\)) )*", "", line)
        inner = split_type(rest)[0]
        offset, varying, scales = 0, [], []
        for at, index in enumerate(operands[1:]):
            fixed = int(index.get_constant_value(signed_int=True)) if _value_kind(index) == "constant_int" else None
            if at and fixed is not None and self._layout.is_structure(inner):
                place, inner = self._layout.field(inner, fixed)
                offset += place
                continue
            inner = self._layout.element(inner) if at else inner
            if fixed is not None:
                offset += fixed * self._layout.size(inner)
            else:
                varying.append(at + 1)
                scales.append(self._layout.size(inner))
        kept = [0, *varying]
        return replace(
            instruction,
            operands=tuple(instruction.operands[at] for at in kept),
            operand_types=tuple(instruction.operand_types[at] for at in kept),
            numbers=(offset, *scales),
        )

    def _private(self, size: int, align: int) -> int:
        """A place of its own in every work item's private memory."""
        begins = -(-(self._private_bytes or _FIRST_PLACE) // align) * align
        self._private_bytes = begins + size
        return begins

    def _type(self, operand: ValueRef) -> Type:
        if operand.name in self._generic:
            return self._generic[operand.name][1]
        return read_type(str(operand.type)) or VOID

    def _operand(self, operand: ValueRef, line: int) -> Operand:
        kind = _value_kind(operand)
        if operand.name in self._generic:
            return self._generic[operand.name][0]
        if kind in ("argument", "instruction"):
            return f"%{operand.name}"
        if kind == "global_variable":
            return self._variable(operand.name)
        type_text, said = split_type(str(operand))
        if kind == "constant_expr" and (match := _TABLE_PLACE.fullmatch(said)):
            return self._variable(match[1], int(match[2]))
        said = "null" if _NULL.fullmatch(said) else said
        try:
            read = read_type(type_text)
            return Constant(read, self._layout.numbers(type_text, said)) if read else Constant(VOID, (0,))
        except (ValueError, KeyError):
            return self._unsupported(f"the literal '{said[:60]}'", line)

    def _variable(self, name: str, offset: int = 0) -> str:
        """A variable of the module by the name that operands say, "@x", or "@x+4" for what lies inside of it."""
        if f"@{name}" not in self._variables:
            match = next(g for g in _GLOBAL.finditer(self._text.whole) if g[1].strip('"') == name)
            kind, rest = split_type(match[3])
            space, local = SPACES.get(int(match[2])), int(match[2]) == 3
            value = re.split(r", (?:align|section|!)", rest)[0]
            try:
                initial = None if local else tuple(self._layout.literal(kind, value))
            except (ValueError, KeyError):
                self._unsupported(f"the table '{name}'", self._line)
            align = int((_ALIGN.findall(rest) or [1])[0])
            size = self._layout.size(kind)
            self._variables[f"@{name}"] = Variable(f"@{name}", space or Space.CONSTANT, size, align, initial)
        return f"@{name}+{offset}" if offset else f"@{name}"

    def _unsupported(self, what: str, line: int) -> NoReturn:
        hint = "Write it with numbers, vectors of them, and pointers to global, local and constant memory."
        raise WorkbenchError(
            Diagnostic(f"{what} is not understood here", hint, file=str(self._text.source), line=line or self._line)
        )


def _value_kind(value: ValueRef) -> str:
    """What a value is; "" of what llvmlite has no name for: literals of types that only LLVM's targets know."""
    try:
        return str(value.value_kind.name)
    except ValueError:
        return ""


def _callee(name: str) -> tuple[str, bool]:
    """A called function's plain name, "sqrt" of "_Z4sqrtf", "smax" of "llvm.smax.i32", and whether its first parameter
    is unsigned."""
    if match := _MANGLED.match(name):
        ends = match.end() + int(match[1])
        parameter = _FIRST_PARAMETER.match(name, ends)
        return name[match.end() : ends], parameter is not None and parameter[1] in "hjtmy"
    if match := _INTRINSIC.match(name):
        return match[1], False
    return name, False


def _copied_bytes(name: str) -> int:
    """The size of what an asynchronous copy's first pointer points to, by the function's whole name."""
    match = re.search(r"PU3AS\dV?K?(?:Dv(\d+)_)?(D?[a-z])", name)
    assert match is not None, name
    return _lanes_in_memory(int(match[1] or 1)) * _LETTER_BYTES[match[2]]


def _word_before_type(line: str) -> str:
    """The predicate of a comparison or the operation of an atomicrmw, behind the flags that may stand before it."""
    words = line.partition(" = ")[2].split()[1:]
    return next(word for word in words if word not in _FLAGS)


def _mask(line: str) -> tuple[int, ...]:
    """A shufflevector's mask, -1 for what is undefined."""
    match = re.search(r", <(\d+) x i32> (<[^>]*>|zeroinitializer|poison|undef|splat \(i32 (\d+)\))(?:, !|$)", line)
    assert match is not None, line
    lanes, said = int(match[1]), match[2]
    if said.startswith("<"):
        return tuple(-1 if n in ("poison", "undef") else int(n) for n in re.findall(r"i32 (-?\w+)", said))
    return (int(match[3]) if match[3] else 0 if said == "zeroinitializer" else -1,) * lanes


def _lanes_in_memory(lanes: int) -> int:
    return 4 if lanes == 3 else lanes


def _plain_names(names: Iterable[str]) -> dict[str, str]:
    """Blocks' names without what inlining appended to them, as far as they stay different."""
    plain: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        short = INLINED.sub("", name).removeprefix("__clang_ocl_kern_imp_")
        plain[name] = name if short in taken else short
        taken.add(plain[name])
    return plain


def _reverse_postorder(blocks: list[BasicBlock]) -> list[BasicBlock]:
    """The blocks that the entry reaches, each after those before it but for loops."""
    by_name = {block.name: block for block in blocks}
    order: list[BasicBlock] = []
    seen = {blocks[0].name}
    waiting = [(blocks[0], iter(blocks[0].successors))]
    while waiting:
        successors = waiting[-1][1]
        following = next((s for s in successors if s not in seen), None)
        if following is None:
            order.append(waiting.pop()[0])
        else:
            seen.add(following)
            waiting.append((by_name[following], iter(by_name[following].successors)))
    return order[::-1]
