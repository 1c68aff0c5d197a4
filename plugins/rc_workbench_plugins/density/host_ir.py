"""Puts calls of the recorder (`kernels/rho_host.c`) into a host's code, in LLVM's text form (IR).

Each load and store is told with its address, each block with the operations that it does. An operation is arithmetic on
data: on floating-point values, and on integers that come from memory or from a call and go where data go (a store, a
call, a return, a comparison of data). What makes addresses and counts loops is none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from workbench.api.host_probe import HostRegion

_LINE = re.compile(r"^\s+(?:(?P<result>%\S+) = )?(?:(?:tail|musttail|notail) )?(?P<op>[a-z_]+)\b ?(?P<rest>.*)$")
_VALUE = re.compile(r'%(?:[-\w.$]+|"[^"]*")')
_LABEL = re.compile(r'^(?:[-\w.$]+|"[^"]*"):')
_DEFINE = re.compile(r'^define .*?@(?P<name>[-\w.$]+|"[^"]*")\(')
_DBG = re.compile(r"!dbg !(\d+)")
_METADATA = re.compile(r"^!(?P<number>\d+) = (?:distinct )?!(?P<kind>DI\w+)\((?P<fields>.*)\)$")
_FIELD = re.compile(r'(\w+): (?:!(\d+)|"([^"]*)"|(\w+))')
_CALLED = re.compile(r'@([-\w.$]+|"[^"]*")\(')
_VECTOR = re.compile(r"<(?:vscale x )?(\d+) x (.+)>$")

_FLOAT = {"fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "fcmp"}
_INTEGER = {"add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor"}
_CASTS = {"zext", "sext", "trunc", "fpext", "fptrunc", "sitofp", "uitofp", "fptosi", "fptoui", "bitcast", "freeze"}
_PARTS = {"extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue", "phi", "select"}
_PASSES = _FLOAT | _INTEGER | _CASTS | _PARTS | {"icmp"}
_TERMINATORS = {"br", "switch", "ret", "invoke", "resume", "unreachable", "indirectbr", "callbr"}
#: Functions that are arithmetic, with how many operations each is; intrinsics by the word after `llvm.`.
_FUNCTIONS: Mapping[str, int] = {
    **dict.fromkeys(("fmuladd", "fma", "fmaf"), 2),
    **dict.fromkeys(("sqrt", "cbrt", "hypot", "pow", "powi", "exp", "exp2", "log", "log2", "log10", "fmod"), 1),
    **dict.fromkeys(("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "atan2"), 1),
    **dict.fromkeys(("floor", "ceil", "trunc", "rint", "round", "nearbyint", "fabs", "copysign", "fmin", "fmax"), 1),
    **dict.fromkeys(("minnum", "maxnum", "minimum", "maximum", "smin", "smax", "umin", "umax", "abs"), 1),
    **dict.fromkeys(("ctpop", "ctlz", "cttz", "bswap", "bitreverse", "fshl", "fshr"), 1),
}
_DECLARED = (
    "declare void @rho_load(ptr, i64)\ndeclare void @rho_store(ptr, i64)\ndeclare void @rho_operations(i64)\n"
    "declare void @rho_enter()\ndeclare void @rho_leave()\ndeclare void @rho_inside(i32)\n"
)


def kept_whole(text: str, region: HostRegion) -> str:
    """A module that is not optimised yet, with the region's function never put into its callers."""
    names = _entered(text, region)

    def keep(line: str) -> str:
        if (match := _DEFINE.match(line)) and match["name"] in names:
            head, brace, tail = line.rpartition("{")
            before, dbg, after = head.partition("!dbg")
            words = re.sub(r"\balwaysinline\b", "", before).rstrip()
            at = re.search(r"\)(?=[^()]*$)", words)
            place = at.end() if at else len(words)
            return f"{words[:place]} noinline{words[place:]} {dbg}{after}{brace}{tail}"
        return line

    return "\n".join(map(keep, text.split("\n"))) if names else text


def recorded(text: str, region: HostRegion) -> str:
    """An optimised module with the recorder's calls in it."""
    names, metadata = _entered(text, region), _metadata(text)
    within = _Lines(metadata, region) if region.last else None
    out: list[str] = []
    function: list[str] = []
    for line in text.split("\n"):
        if function or line.startswith("define "):
            function.append(line)
            if line == "}":
                match = _DEFINE.match(function[0])
                out += _function(function, bool(match and match["name"] in names), within)
                function = []
        else:
            out.append(line)
    return "\n".join(out) + "\n" + _DECLARED


# ---- the region


def _metadata(text: str) -> dict[str, tuple[str, dict[str, str]]]:
    """Debug information by its number: the kind, and its fields."""
    found = {}
    for line in text.split("\n"):
        if match := _METADATA.match(line):
            fields = {name: number or string or word for name, number, string, word in _FIELD.findall(match["fields"])}
            found[match["number"]] = match["kind"], fields
    return found


def _file_of(metadata: Mapping[str, tuple[str, dict[str, str]]], fields: Mapping[str, str]) -> Path:
    _, of = metadata.get(fields.get("file", ""), ("", {}))
    return Path(of.get("directory", "")) / of.get("filename", "")


def _entered(text: str, region: HostRegion) -> Set[str]:
    """The symbols of the region's function; none where the region is lines."""
    if region.last:
        return frozenset()
    metadata = _metadata(text)
    places: dict[str, int] = {}
    names = set()
    for line in text.split("\n"):
        if not (match := _DEFINE.match(line)):
            continue
        symbol, number = match["name"], _DBG.search(line)
        _, fields = metadata.get(number[1] if number else "", ("", {}))
        if region.function and region.function in (symbol, fields.get("name"), qualified(symbol)):
            names.add(symbol)
        at = int(fields.get("line", 0))
        if region.first and 0 < at <= region.first and _file_of(metadata, fields) == region.file:
            places[symbol] = at
    nearest = max(places.values(), default=0)
    return names | {symbol for symbol, at in places.items() if at == nearest}


def qualified(symbol: str) -> str:
    """The name of a C++ function with its scopes, from its mangled symbol: "Filter::run"; "" for another symbol."""
    if not (match := re.match(r"_ZN?K?L?(?=\d)", symbol)):
        return ""
    parts, at = [], match.end()
    while number := re.compile(r"L?(\d+)").match(symbol, at):
        begin = number.end()
        at = begin + int(number[1])
        parts.append(symbol[begin:at])
        if not symbol.startswith("_ZN"):
            break
    return "::".join(parts)


class _Lines:
    """Whether an instruction comes from the region's lines, also where it was put into another function."""

    def __init__(self, metadata: Mapping[str, tuple[str, dict[str, str]]], region: HostRegion) -> None:
        self._metadata, self._region = metadata, region
        self._known: dict[str, bool] = {}

    def __call__(self, line: str) -> bool:
        number = _DBG.search(line)
        return bool(number) and self._within(number[1] if number else "")

    def _within(self, number: str) -> bool:
        if number not in self._known:
            _, fields = self._metadata.get(number, ("", {}))
            here = self._region.first <= int(fields.get("line", 0)) <= self._region.last
            here = here and _file_of(self._metadata, self._subprogram(fields)) == self._region.file
            self._known[number] = here or ("inlinedAt" in fields and self._within(fields["inlinedAt"]))
        return self._known[number]

    def _subprogram(self, fields: dict[str, str]) -> dict[str, str]:
        """The function of a location: up through its lexical blocks."""
        kind, scope = self._metadata.get(fields.get("scope", ""), ("", {}))
        return self._subprogram(scope) if kind.startswith("DILexicalBlock") else scope


# ---- a function


@dataclass(frozen=True)
class _Instruction:
    result: str
    op: str
    rest: str
    line: str

    @property
    def values(self) -> list[str]:
        return _VALUE.findall(self.rest)

    @property
    def callee(self) -> str:
        called = _CALLED.search(self.rest) if self.op in ("call", "invoke") else None
        return called[1] if called else ""

    @property
    def arithmetic(self) -> int:
        """How many operations a function that is called is, if it is one that is arithmetic."""
        name = self.callee
        name = name.split(".")[1] if name.startswith("llvm.") and "." in name else name
        return _FUNCTIONS.get(name, _FUNCTIONS.get(name[:-1], 0) if name.endswith(("f", "l")) else 0)


def _function(lines: Sequence[str], entered: bool, within: _Lines | None) -> Iterator[str]:
    """A function's lines with the recorder's calls among them."""
    parsed = [_parse(line) for line in lines]
    operations = _operations([one for one in parsed if one])
    inside = within if within and any(within(line) for line in lines[1:]) else None
    count, inner, fresh, now = 0, 0, True, -1  # of the block so far; `inner` of the region's lines
    yield lines[0]
    if entered:
        yield "  call void @rho_enter()"
    for line, one in zip(lines[1:], parsed[1:], strict=True):
        if _LABEL.match(line):
            fresh = True
        if one is None or one.op in ("phi", "landingpad"):
            yield line
            continue
        if inside and (fresh or now != inside(line)):
            now = int(inside(line))
            yield f"  call void @rho_inside(i32 {now})"
        fresh = False
        done = operations.get(id(one), 0)
        count, inner = (count, inner + done) if inside and now else (count + done, inner)
        before, after = _accesses(one)
        yield from before
        if one.op in _TERMINATORS or line.lstrip().startswith("musttail"):
            for number, of_region in ((inner, 1), (count, 0)):
                if number:
                    yield from [f"  call void @rho_inside(i32 {of_region})"] if inside and now != of_region else []
                    now = of_region if inside else now
                    yield f"  call void @rho_operations(i64 {number})"
            count = inner = 0
            if one.op == "invoke" and inside:
                yield f"  call void @rho_inside(i32 {int(inside(line))})"
            elif one.op in ("ret", "resume"):
                yield from ["  call void @rho_inside(i32 0)"] if inside else []
                yield from ["  call void @rho_leave()"] if entered else []
        yield line
        yield from after
        if inside and one.op == "call" and not one.callee.startswith("llvm."):
            fresh = True


def _parse(line: str) -> _Instruction | None:
    match = _LINE.match(line)
    if not match or match["op"] in ("cleanup", "catch", "filter", "to") or not line.startswith("  "):
        return None
    return _Instruction(match["result"] or "", match["op"], match["rest"], line)


def _accesses(one: _Instruction) -> tuple[list[str], list[str]]:
    """The calls that tell what an instruction reads, before it, and what it writes, after it."""
    read, write = "  call void @rho_load(ptr {}, i64 {})", "  call void @rho_store(ptr {}, i64 {})"
    parts = split(one.rest)
    if one.op in ("load", "store"):
        kind = re.sub(r"^(?:(?:volatile|atomic) )+", "", parts[0])
        kind = kind if one.op == "load" else kind[: len(kind) - len(last_value(kind))].rstrip()
        pointer = re.sub(r" (?:syncscope.*|unordered|monotonic|acquire|release|seq_cst)$", "", parts[1])
        place = pointer.removeprefix("ptr "), size_of(kind)
        if not place[1]:
            return [], []
        return ([read.format(*place)], []) if one.op == "load" else ([], [write.format(*place)])
    if one.callee.startswith(("llvm.memcpy.", "llvm.memmove.", "llvm.memset.")) and ".i64" in one.callee:
        target, source, size = (last_value(word) for word in split(one.rest[one.rest.index("(") + 1 :])[:3])
        copied = not one.callee.startswith("llvm.memset.")
        return [read.format(source, size)] * copied, [write.format(target, size)]
    return [], []


def split(text: str) -> list[str]:
    """The parts between commas that are in no brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [*parts, text[begin:].strip()]


def last_value(text: str) -> str:
    """The value at the end of "type attributes value", a constant expression being one."""
    if not text.endswith((")", ">", "]", "}")):
        return text.rpartition(" ")[2]
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] in ")]}>") - (text[at] in "([{<")
        if not depth:
            expression = re.search(r"(?:getelementptr|inttoptr|ptrtoint|bitcast|addrspacecast|splat)[\w ]*$", text[:at])
            return text[expression.start() if expression else at :]
    return text


def size_of(kind: str) -> int:
    """The bytes of a type; 0 for one that is not known."""
    if match := _VECTOR.match(kind):
        return int(match[1]) * size_of(match[2])
    if match := re.match(r"\[(\d+) x (.+)\]$", kind):
        return int(match[1]) * size_of(match[2])
    if kind.startswith("{") and kind.endswith("}"):
        return sum(map(size_of, split(kind[1:-1])))
    if match := re.match(r"i(\d+)$", kind):
        return -(-int(match[1]) // 8)
    sizes = {"float": 4, "double": 8, "half": 2, "bfloat": 2, "ptr": 8, "x86_fp80": 10, "fp128": 16}
    return sizes.get(kind, 0)


# ---- operations


def _operations(of: Sequence[_Instruction]) -> dict[int, int]:
    """How many operations instructions are that are any, by their identity."""
    data = _closed(
        {one.result for one in of if _brings(one)},
        [(one.result, one.values) for one in of if one.op in _PASSES or one.arithmetic],
    )
    goals = {value for one in of for value in _taken(one, data)}
    reached = _reaching(goals, {one.result: one.values for one in of if one.op in _PASSES or one.arithmetic})
    counts = {}
    for one in of:
        number = 0
        if one.op in _FLOAT:
            number = 1
        elif one.op in _INTEGER:
            number = int(one.result in data and one.result in reached)
        elif one.op == "icmp":
            number = int(_compares_data(one, data))
        elif one.arithmetic:
            number = one.arithmetic
        if number:
            lanes = _VECTOR.search(re.sub(r"^(?:\w+ )*?(<[^>]*>).*$", r"\1", one.rest)) if "<" in one.rest else None
            counts[id(one)] = number * (int(lanes[1]) if lanes else 1)
    return counts


def _brings(one: _Instruction) -> bool:
    """Whether an instruction's result is data from elsewhere: a load of anything but an address, or a call."""
    if one.op == "load":
        return not re.match(r"(?:(?:volatile|atomic) )*ptr\b", one.rest)
    return one.op in ("call", "invoke") and bool(one.result) and not re.match(r"[\w ()]*\bptr\b[^(]*@", one.rest)


def _taken(one: _Instruction, data: Set[str]) -> Iterable[str]:
    """The values of an instruction that go where data go."""
    if one.op == "store":
        return _VALUE.findall(split(one.rest)[0])
    if one.op == "icmp":
        return one.values if _compares_data(one, data) else ()
    if one.op in ("ret", "fcmp", "sitofp", "uitofp"):
        return one.values
    if one.op in ("call", "invoke"):
        return () if one.callee.startswith("llvm.") else _VALUE.findall(one.rest.partition("(")[2])
    return ()


def _compares_data(one: _Instruction, data: Set[str]) -> bool:
    values = one.values
    return bool(values) and " ptr " not in f" {one.rest}" and all(value in data for value in values)


def _closed(known: set[str], through: Sequence[tuple[str, Sequence[str]]]) -> Set[str]:
    """The values that come from known ones, through instructions given as (result, values)."""
    users: dict[str, list[str]] = {}
    for result, values in through:
        for value in values:
            users.setdefault(value, []).append(result)
    waiting = list(known)
    while waiting:
        for result in users.get(waiting.pop(), ()):
            if result not in known:
                known.add(result)
                waiting.append(result)
    return known


def _reaching(goals: set[str], values_of: Mapping[str, Sequence[str]]) -> Set[str]:
    """The values that one of the goals is made of."""
    waiting = list(goals)
    while waiting:
        for value in values_of.get(waiting.pop(), ()):
            if value not in goals:
                goals.add(value)
                waiting.append(value)
    return goals
