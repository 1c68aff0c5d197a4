"""Fixes errors in the Verilog that GHDL 2.0 writes, line by line, or refuses them at the user's line.

Each form was told from GHDL 2.0's writer and those of later versions (src/synth/netlists-disp_verilog.adb), and tried
by simulating designs made at random beside their translation (tests/benchmarks/vhdl_synthesis.py). The forms of later
versions, which are right, stay as they are.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from pygments.lexer import words
from pygments.lexers.hdl import SystemVerilogLexer, VhdlLexer

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.files import SOURCE_LIMIT, read_regular

_ONE = r"(\d+'b\w+|[\w$]+)"
_SIGNED = rf"\$signed\({_ONE}\)"
_UNSIGNED = rf"\$unsigned\({_ONE}\)"
#: (as GHDL writes it, as it is meant): wholly VHDL, or without the signs or the direction.
_FORMS = tuple(
    (re.compile(rf"^  {form}$", re.MULTILINE), rf"  {meant}")
    for form, meant in (
        (rf"assign (\w+) = {_SIGNED} >> {_ONE};", r"assign \1 = $signed(\2) >>> \3;"),
        (rf"assign (\w+) = {_ONE} / {_ONE}; // sdiv", r"assign \1 = $signed(\2) / $signed(\3);"),
        (rf"assign (\w+) = {_ONE} % {_ONE}; // srem", r"assign \1 = $signed(\2) % $signed(\3);"),
        (
            rf"assign (\w+) = {_ONE} % {_ONE}; // smod",  # the sign of the right, where Verilog's has that of the left
            r"assign \1 = $signed(\2) % $signed(\3) + ($signed(\2) % $signed(\3) != 0 && "
            r"$signed(\2) < 0 != $signed(\3) < 0 ? $signed(\3) : 0);",
        ),
        (rf"(\w+) <= std_logic_vector\(abs {_SIGNED}\);", r"assign \1 = $signed(\2) < 0 ? -\2 : \2;"),
        (
            rf"(\w+) <= {_ONE} when {_SIGNED} ([<>]) {_SIGNED} else {_ONE};",
            r"assign \1 = $signed(\3) \4 $signed(\5) ? \2 : \6;",
        ),
        (
            rf"(\w+) <= std_logic_vector \(rotate_left \({_UNSIGNED}, to_integer \({_UNSIGNED}\)\)\);",
            r"assign \1 = {\2, \2} >> ($bits(\1) - \3 % $bits(\1));",
        ),
        (
            rf"(\w+) <= std_logic_vector \((?:resize \()?{_UNSIGNED}(?:, \d+\))? \+ "
            rf"(?:resize ?\()?{_UNSIGNED}(?:, \d+\))?\);",
            r"assign \1 = \2 + \3;",
        ),
        (rf"(\w+) <= {_ONE}; -- \(\w+\)", r"assign \1 = \2;"),
        (r"assign (\w+) = (\w+)\[(.*) -: (\d+)\]; //\(dyn_extract\)", r"assign \1 = \2[\3 +: \4];"),
    )
)  # fmt: skip
_INSERT = re.compile(
    r"^  always @\* begin // \(dyn_insert\)\n    (?P<out>\w+) <= (?P<into>.*);\n(?P<when>    if \(.*\)\n)?"
    r"    \w+ \[(?P<place>.*) -: (?P<less>\d+)\] <= (?P<value>.*);$", re.MULTILINE,
)  # fmt: skip
_AT_ONCE = re.compile(r"^(      \S+: \w+|  initial\n    \w+) <= ", re.MULTILINE)
_CUT = re.compile(r"(\d+)'b0+(1[01]{31})\b")
_SIGNED_CONSTANT = re.compile(r"\$const_SB32\{i\d+\} #\(\$val=(\d+)\)")
_INSTANCE = re.compile(r"%(\d+):\S+ := \$(?!const_)")
_SET = re.compile(r"^.*\bn(?P<of>\d+)_[oq] (?:=|<=) .*$", re.MULTILINE)
_TRUNCATED = re.compile(r"^  assign n(?P<of>\d+)_o = (?P<all>\w+)\[(?:(?P<high>\d+):)?0\];  // trunc$")
_RESIZE = re.compile(r"(?:[\w.]*\.)?resize\b", re.IGNORECASE)
_COMPARED = re.compile(
    r"^  assign (?P<of>\w+) = (?:\$(?P<signed>(?:un)?signed)\()?[\w$]+\)? (?P<how>[=!]=|[<>]=?) "
    r"(?:\$(?:un)?signed\()?(?P<bits>\d+)'b[01]+\)?;$"
)
_OPERATOR = re.compile(r"^\s*(?:/=|[<>]=?|=)")
_NUMBER = re.compile(r"\s*(\d[\d_]*)\s*(?![\w.#*/+&-])")
_DECLARED = re.compile(r"^ *(?:wire|reg|\(?input|output) +\[(\d+):0\] (\w+)")
_WIDE = re.compile(r'"([01XZ]{33,})"')
_EMPTY = re.compile(r"\b0'b(?!\w)")  # what goes into a port of a null range: GHDL gives that one bit
_ASSERTED = re.compile(
    r"(?P<before>(?:^ */\*#? *(?P<file>.+):(?P<line>\d+):(?P<column>\d+) +\*/\n)?  always @\*\n    if \(.*\)\n)"
    r"      \$fatal\(1, .*\);\n", re.MULTILINE,
)  # fmt: skip
_COVERED = re.compile(r"^  \w+: assert .* severity \w+; --  \w+\n", re.MULTILINE)  # PSL, in VHDL's words
_STRING = re.compile(r'"[^"\n]*"')
_STATEMENT = re.compile(r'[^;"]*(?:"[^"\n]*"[^;"]*)*;')
_FAILURE = re.compile(r"\bseverity\s+failure\b", re.IGNORECASE)
_CASE = re.compile(r"(    case \(\w+\)\n(?:      \d+'b[01]+: (\w+) <= .*\n)+)    endcase")
_OTHERS = re.compile(
    r"^  with \w+ select (\w+) <=\n(?:    .* when (?:\"[01]+\"|'[01]'),\n)+    (.*) when others;", re.MULTILINE
)
_RESET = re.compile(
    r"^  always @\(.* or posedge .*\)\n    if \(.*\)\n      (?P<of>\w+) <= .*\n    else\n      .*\n(?!  initial)",
    re.MULTILINE,
)
_UNSETTLED = re.compile(r"^  initial\n    (\w+) <= (?!\d)\w+;\n", re.MULTILINE)
_BEGINS = re.compile(r"^  (?:signal|constant) (\w+) ?: .* := (.*);", re.MULTILINE)
_PART = re.compile(r"(\w+) \((\d+)(?: downto (\d+))?\)")
_REPEATED = re.compile(r"\((\d+) downto 0 => '(.)'\)")
_PLACE = re.compile(r"^ */\*#? *(.+):(\d+):(\d+) +\*/$")
_COMMENT = re.compile(r"^ *(?:/\*.*\*/|--.*)\n", re.MULTILINE)  # where in the sources it comes from
#: What has no Verilog in it, or another meaning; what is told of it, and what would be right.
_EDGE = re.compile(r"^  assign \w+ = 1'b0; // (?:pos|neg)edge$")
_OF_VALUE = (
    "GHDL writes no Verilog for a clock edge that is used as a value",
    "Write the clocked process with the edge alone as its first condition, as in `if rising_edge(clk) then`.",
)
_OF_MEMORY = (
    "GHDL writes no Verilog for this process: it treats an array as a memory, which is read in several places",
    "Write it in a loop, `for i in a'range loop if index = i then a(i) <= word; end if; end loop;`, or read one place.",
)
_CLOCKED = re.compile(r"(?:rising_edge|falling_edge)\s*\([^)]*\)\s*\)?\s*then\b", re.IGNORECASE)
_GATE = re.compile(r"^   gate_(\w+) ")
_OF_GATE = ("GHDL synthesises this, but writes no Verilog for it", "A newer GHDL may.")
_OWN = re.compile(r"^  (?:wire|reg) (?:\[\d+:\d+\] )?(\w+);$", re.MULTILINE)
_PARAMETERS = re.compile(r"^  #\(parameter\n((?:    \w+,\n)*    \w+)\)$", re.MULTILINE)


def fixed(verilog: str, written: Callable[[str], str]) -> str:
    """The Verilog as GHDL means it; `written` gives what it writes of the same netlist in another form, "vhdl" or
    "raw". WorkbenchError, with the user's lines, for what cannot be fixed."""
    _lines.cache_clear()
    if refused := list(_refused(verilog)):
        raise WorkbenchError(*refused)
    written = cache(written)
    verilog = _ASSERTED.sub(_asserted, _COVERED.sub("", verilog))
    verilog = "\nmodule ".join(_called_once(module) for module in verilog.split("\nmodule "))
    verilog = _PARAMETERS.sub(lambda head: f"  #(parameter {head[1].strip().replace(',', ' = 0,')} = 0)", verilog)
    text = _with_signs(verilog, written("raw")) if _CUT.search(verilog) else verilog
    text = _with_wide_numbers(_resized(text, written))
    text = _WIDE.sub(lambda digits: _literal(digits[1]), text)
    text = _EMPTY.sub("1'b0", text)
    for form, meant in _FORMS:
        text = form.sub(meant, text)
    text = _INSERT.sub(_inserted, text)
    text = _COMMENT.sub("", text)
    if _CASE.search(text) or _RESET.search(text) or _UNSETTLED.search(text):
        text = _with_beginnings(_with_defaults(text, vhdl := written("vhdl")), vhdl)
    text = _AT_ONCE.sub(r"\1 = ", text)
    return _kept_words().sub(lambda word: word[0] if word["kept"] else f"{word[0]}_", text)


def _refused(verilog: str) -> Iterator[Diagnostic]:
    place: re.Match[str] | None = None
    for line in verilog.splitlines():
        if match := _PLACE.match(line):
            place = match
        elif place and (_EDGE.match(line) or _GATE.match(line)):
            file, at, column = place[1], int(place[2]), int(place[3])
            whole = _CLOCKED.match(_source_at(file, at, column))
            what, hint = _OF_GATE if _GATE.match(line) else _OF_MEMORY if whole else _OF_VALUE
            yield Diagnostic(what, hint, file=file, line=at, column=column)


def _asserted(form: re.Match[str]) -> str:
    """An assertion ends a simulation where its severity is "failure": GHDL's Verilog does so with each, and with what
    PSL covers."""
    place = _source_from(form["file"], int(form["line"]), int(form["column"])) if form["file"] else ""
    statement = _STATEMENT.match(place)
    if statement is None or not _FAILURE.search(_STRING.sub("", statement[0])):
        return ""
    said = _STRING.search(statement[0])
    words = re.sub(r"[\\%\"]", " ", said[0][1:-1]) if said else "an assertion failed"
    return f'{form["before"]}      $fatal(1, "{words}");\n'


def _called_once(module: str) -> str:
    """What an instance gives out is called by its label and its port: `core_q`, as many call the signal that takes it
    too. The two are one then, but where the signal takes something else."""
    for name, times in Counter(_OWN.findall(module)).items():
        if times == 1:
            continue
        taken = re.compile(
            rf"^  assign {name} = {name}; // \(signal\)\n|"
            rf"^  always @\*\n    {name} = {name}; // \(isignal\)\n(?:  initial\n    {name} <= .*;\n)?", re.MULTILINE
        )  # fmt: skip
        by_way = rf"^  assign {name} = (\w+); // \(signal\)\n(?=(?s:.)*^  assign \1 = {name}; // \(signal\)$)"
        if not taken.search(module):
            taken = re.compile(by_way, re.MULTILINE)
        if times > 2 or not taken.search(module):
            hint = "Give one of them another name: the signal, the instance, or the generate or block that holds one."
            raise WorkbenchError(Diagnostic(f"GHDL writes two signals of the design as '{name}'", hint))
        declared = re.compile(rf"^  (?:reg|wire) ((?:\[\d+:\d+\] )?{name});\n", re.MULTILINE)
        module = declared.sub(r"  wire \1;\n", declared.sub("", taken.sub("", module), 1))
    return module


def _with_signs(verilog: str, raw: str) -> str:
    """Negative constants of more than 32 bits have zeros above these; the raw netlist tells which are meant so."""
    users: list[tuple[int, str]] = []  # the instances around a line, by their indents
    negative: dict[str, set[str]] = {}
    for line in raw.splitlines():
        indent = len(line) - len(line.lstrip())
        users = [user for user in users if user[0] < indent]
        if users and (match := _SIGNED_CONSTANT.search(line)) and int(match[1]) >> 31:
            negative.setdefault(users[-1][1], set()).add(f"{int(match[1]):032b}")
        if match := _INSTANCE.search(line):
            users.append((indent, match[1]))

    def signed(line: re.Match[str]) -> str:
        low = negative.get(line["of"], set())
        return _CUT.sub(lambda c: f"{c[1]}'b{'1' * int(c[1])}"[:-32] + c[2] if c[2] in low else c[0], line[0])

    return _SET.sub(signed, verilog)


def _resized(verilog: str, written: Callable[[str], str]) -> str:
    """A signed number of fewer bits has the sign and low bits beside it (IEEE 1076.2), where the Verilog takes low bits
    alone, as `to_signed` does. The raw netlist tells what is signed, the user's line whether it is `resize`."""
    lines, place = verilog.splitlines(), ""
    highest: dict[str, str] = {}
    signed: set[str] | None = None
    for number, line in enumerate(lines):
        if match := _PLACE.match(line):
            place = _source_at(match[1], int(match[2]), int(match[3]))
        elif line.startswith("module "):
            highest = {}
        elif match := _DECLARED.match(line):
            highest[match[2]] = match[1]
        elif (match := _TRUNCATED.match(line)) and _RESIZE.match(place):
            if signed is None:
                signed = set(re.findall(r"%(\d+):\S+ := \$strunc\b", written("raw")))
            if match["of"] in signed and (top := highest.get(match["all"])):
                low = f", {match['all']}[{int(match['high']) - 1}:0]" if match["high"] else ""
                lines[number] = f"  assign n{match['of']}_o = {{{match['all']}[{top}]{low}}};"
    return "\n".join([*lines, ""])


def comparisons(verilog: str) -> Iterator[tuple[str, int, str, int]]:
    """Where the VHDL compares vectors with what is constant: file, line, what follows the operator there, and how many
    bits GHDL compares."""
    _lines.cache_clear()
    place: re.Match[str] | None = None
    for line in verilog.splitlines():
        if match := _PLACE.match(line):
            place = match
        elif (match := _COMPARED.match(line)) and place:
            after = _OPERATOR.sub("", _source_at(place[1], int(place[2]), int(place[3])), count=1)
            yield place[1], int(place[2]), after, int(match["bits"])


def _with_wide_numbers(verilog: str) -> str:
    """Where a vector is compared with a number that needs more bits, GHDL compares that one's low bits."""
    lines, place = verilog.splitlines(), ""
    for number, line in enumerate(lines):
        if match := _PLACE.match(line):
            place = _source_at(match[1], int(match[2]), int(match[3]))
        elif (match := _COMPARED.match(line)) and (with_ := _NUMBER.match(_OPERATOR.sub("", place, count=1))):
            bits = int(match["bits"]) - (match["signed"] == "signed")
            if int(with_[1].replace("_", "")) >> bits:
                lines[number] = f"  assign {match['of']} = 1'b{int(match['how'] in ('!=', '<', '<='))};"
    return "\n".join([*lines, ""])


def _source_at(file: str, line: int, column: int) -> str:
    """What stands in a source from a place on, to the end of its line."""
    lines = _lines(file)
    return lines[line - 1][column - 1 :] if line <= len(lines) else ""


def _source_from(file: str, line: int, column: int) -> str:
    """What stands in a source from a place on."""
    return "\n".join([_source_at(file, line, column), *_lines(file)[line:]])


@lru_cache(8)
def _lines(file: str) -> tuple[str, ...]:
    """The lines of a file, cached: each line of a netlist asks for one."""
    try:
        return tuple(read_regular(Path(file), SOURCE_LIMIT).decode("latin-1").splitlines())
    except OSError:
        return ()


def _inserted(form: re.Match[str]) -> str:
    return (
        f"  always @* begin\n    {form['out']} = {form['into']};\n{form['when'] or ''}"
        f"    {form['out']}[{form['place']} +: {int(form['less']) + 1}] = {form['value']};"
    )


def _with_defaults(verilog: str, vhdl: str) -> str:
    """The VHDL has the values of `others` in a choice (github.com/ghdl/ghdl#2041)."""
    others = {target: value.removeprefix("wrap_") for target, value in _OTHERS.findall(vhdl)}

    def with_default(case: re.Match[str]) -> str:
        if case[2] in others:
            return f"{case[1]}      default: {case[2]} <= {_value(others[case[2]])};\n    endcase"
        arms = case[1].splitlines()[1:]
        if len(arms) < 1 << int(arms[0].split("'")[0]):
            hint = "This is GHDL 2.0; a later one writes it completely."
            raise WorkbenchError(Diagnostic(f"GHDL does not say what '{case[2]}' is for all other choices", hint))
        return case[0]

    return _CASE.sub(with_default, verilog)


def _with_beginnings(verilog: str, vhdl: str) -> str:
    """The VHDL has what a register with an asynchronous reset begins with, and which part of a constant one does: the
    Verilog takes that from a signal, which does not have it yet as a simulation begins."""
    values = dict(_BEGINS.findall(vhdl))

    def begins(register: str) -> str:
        value = values.get(register, "")
        if part := _PART.fullmatch(value):
            value = _bits(values.get(part[1], ""), int(part[2]), int(part[3] or part[2]))
        elif value.isidentifier():
            value = values.get(value, "")
        return f"  initial\n    {register} <= {_literal(value[1:-1])};\n" if value else ""

    text = _RESET.sub(lambda register: register[0] + begins(register["of"]), verilog)
    return _UNSETTLED.sub(lambda initial: begins(initial[1]) or initial[0], text)


def _bits(literal: str, high: int, low: int) -> str:
    digits = literal[-2:0:-1]
    return f'"{digits[low : high + 1][::-1]}"' if literal else ""


def _value(vhdl: str) -> str:
    """A value as it stands in the VHDL: a literal, so many of one, a name, or a part of one."""
    if vhdl[0] in "'\"":
        return _literal(vhdl[1:-1])
    if repeated := _REPEATED.fullmatch(vhdl):
        return _literal(repeated[2] * (int(repeated[1]) + 1))
    if part := _PART.fullmatch(vhdl):
        return f"{part[1]}[{part[2]}:{part[3]}]" if part[3] else f"{part[1]}[{part[2]}]"
    return vhdl


def _literal(digits: str) -> str:
    return f"{len(digits)}'b{re.sub('[^01Z]', 'x', digits)}"


@cache
def _kept_words() -> re.Pattern[str]:
    """Words that Verilog keeps for itself: `kept` where they are meant so, at the start of a line or as an edge.
    Elsewhere they are names, to which an underscore is put: no name of VHDL ends in one."""
    some = "|".join(_words(SystemVerilogLexer.tokens["root"]) - _words(VhdlLexer.tokens["keywords"]))
    kept = rf"^[ #(]*(?:{some})(?=:| (?!<?=)|$)|(?:pos|neg)edge(?= \w)"
    return re.compile(rf"(?P<kept>{kept})|(?<![$\w])(?:{some})\b", re.MULTILINE)


def _words(rules: Iterable[Any]) -> set[str]:
    of_rules = (rule[0].words for rule in rules if isinstance(rule, tuple) and isinstance(rule[0], words))
    return {word for some in of_rules for word in some if word.isidentifier()}
