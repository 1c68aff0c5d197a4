"""The pragma language: one grammar and one parser for every language (ReCAP 2011, section 4, Fig. 4).

    NAME CATEGORY(reasons, targets, messages): condition

`|` joins several reasons, targets or messages. `work` takes no arguments, `overhead` an optional reason; `send`,
`recv`, `wait_send` and `wait_recv` an optional reason, then a target and a message. The condition is the rest of
the line, in the language of the file, without a comment that may follow it; it is kept as text.

A target is `$CPU`, `$MEM` or a hierarchical name such as `top.core[3].ctrl` or `core[*]`.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from workbench.api.languages import Syntax
from workbench.api.source.metric_text import BEGINS, BadMetric, parse_metric
from workbench.model.custom import PlacedMetric
from workbench.model.diagnostic import Diagnostic, Severity, nearest
from workbench.model.pragma import Category, PlacedPragma, Pragma

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_INDEXED = rf"{_NAME}(?:\[(?:[0-9]+|\*)\])*"
NAME = re.compile(_NAME)
REASON = NAME
TARGET = re.compile(rf"\$CPU|\$MEM|{_INDEXED}(?:\.{_INDEXED})*")
MESSAGE = re.compile(r"[A-Za-z0-9_]+")

_EXAMPLE = "Write NAME CATEGORY(reason, target, message): condition, as in writeX send(data, top.in, x1): words > 0."
_PARTS = (
    ("reason", REASON, "A reason is a plain name, such as data or buffer_empty."),
    ("target", TARGET, "A target is $CPU, $MEM or a hierarchical name, such as top.core[3].ctrl or core[*]."),
    ("message", MESSAGE, "A message is a plain name or number, such as x1."),
)
#: How many arguments a category takes at most; one that takes three needs the second and third.
_ARGUMENTS = {Category.WORK: 0, Category.OVERHEAD: 1}

#: Pragmas as C and Verilog have them too, which are no comments.
_NO_COMMENT = re.compile(r'\b_Pragma\s*\(\s*"recap\b|`pragma\s+recap\b')
_SPLICE = re.compile(r"\\[ \t]*\r?\n")

Locate = Callable[[int], tuple[int, int]]


class _Bad(Exception):
    """What is wrong at an offset of the pragma's text, and what would be right."""

    def __init__(self, offset: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.offset, self.message, self.hint = offset, message, hint


def format_pragma(pragma: Pragma) -> str:
    """The pragma's text without what stands before it in a source; `parse_pragma` reads it back."""
    lists = ["|".join(part) for part in (pragma.reasons, pragma.targets, pragma.messages)]
    arguments = ", ".join(lists[: _ARGUMENTS.get(pragma.category, 3)])
    condition = f": {pragma.condition}" if pragma.condition else ""
    return f"{pragma.name} {pragma.category.value}({arguments}){condition}"


def parse_pragma(
    text: str, file: str | None = None, line: int = 1, column: int = 1
) -> tuple[Pragma | None, tuple[Diagnostic, ...]]:
    """Read a pragma's text (what follows `recap`), which starts at `line` and `column`.

    A pragma that cannot be read is None, with diagnostics; it may be usable and still have warnings.
    """
    return _parse(text, file, lambda offset: (line, column + offset))


def find_pragmas(source: str, syntax: Syntax, file: str) -> tuple[tuple[PlacedPragma, ...], tuple[Diagnostic, ...]]:
    """All pragmas of a source text, in order. Strings, and comments that merely mention one, are left alone.

    A pragma begins its line, after blanks. One that stands after code, that is written as in another language, or that
    is addressed to a misspelt `recap`, is reported and not used.
    """
    pragmas, _, problems = _find(source, syntax, file, metrics=False)
    return pragmas, problems


def find_marks(
    source: str, syntax: Syntax, file: str
) -> tuple[tuple[PlacedPragma, ...], tuple[PlacedMetric, ...], tuple[Diagnostic, ...]]:
    """The same of hardware's text, with its metrics, which stand where pragmas do."""
    return _find(source, syntax, file, metrics=not syntax.directives)


def _find(
    source: str, syntax: Syntax, file: str, metrics: bool
) -> tuple[tuple[PlacedPragma, ...], tuple[PlacedMetric, ...], tuple[Diagnostic, ...]]:
    pragmas: list[PlacedPragma] = []
    found: list[PlacedMetric] = []
    problems: list[Diagnostic] = []
    if "\r" in source and "\n" not in source:
        hint = "Save it with line ends of LF or CRLF."
        problems.append(Diagnostic("this file has lines that end in CR only", hint, Severity.WARNING, file, 1, 1))
    starts = _line_starts(source)
    for line in _pragma_lines(source, syntax):

        def locate(offset: int, offsets: Sequence[int] = line.offsets) -> tuple[int, int]:
            return _position(starts, offsets[offset])

        if line.who.lower() != "recap":
            problems += _misspelt(line.who, file, *locate(line.who_at))
            continue
        if not line.alone:
            problems.append(_after_code(file, *locate(0)))
            continue
        if metrics and BEGINS.match(line.text, line.body_at):
            try:
                found.append(PlacedMetric(parse_metric(line.text[line.body_at :]), file, *locate(0)))
            except BadMetric as bad:
                place = locate(line.body_at + bad.offset)
                problems.append(Diagnostic(bad.message, bad.hint, Severity.ERROR, file, *place))
            continue
        pragma, more = _parse(" " * line.body_at + line.text[line.body_at :], file, locate)
        problems += more
        if pragma is not None:
            pragmas.append(PlacedPragma(pragma, file, *locate(0)))
    for at in _elsewhere(source, syntax):
        hint = f"Write {syntax.pragma}NAME CATEGORY(...) on a line of its own."
        text = "this is not a pragma in this language; it is ignored"
        problems.append(Diagnostic(text, hint, Severity.WARNING, file, *_position(starts, at)))
    return tuple(pragmas), tuple(found), tuple(problems)


def _elsewhere(source: str, syntax: Syntax) -> Iterator[int]:
    """Where pragmas stand as other languages have them."""
    if "recap" not in source.lower():
        return
    yield from (at for at, text in comments(source, syntax) if syntax.elsewhere.match(text))
    covered = [one.span() for one in syntax.tokens.finditer(source)]
    for one in _NO_COMMENT.finditer(source):
        if not any(start <= one.start() < end for start, end in covered):
            yield one.start()


def comments(source: str, syntax: Syntax) -> Iterator[tuple[int, str]]:
    """The comments with their offsets; text in strings does not count."""
    return ((match.start(), match[0]) for match in syntax.tokens.finditer(source) if match["comment"] is not None)


def pragma_extent(source: str, syntax: Syntax, line: int) -> tuple[int, int, int] | None:
    """Where the recap pragma of a line (from 1) stands: the offsets of its comment's start, of its own text's end, and
    of its line's end, which a comment may come between. None where there is no such pragma."""
    starts = _line_starts(source)
    for line_text in _pragma_lines(source, syntax):
        if line_text.alone and line_text.who.lower() == "recap" and _position(starts, line_text.offsets[0])[0] == line:
            length = max(len(line_text.text.rstrip()), line_text.body_at)
            return line_text.offsets[0], line_text.offsets[length - 1] + 1, line_text.offsets[-1]
    return None


@dataclass(frozen=True)
class _PragmaLine:
    """A logical line that begins like a pragma of anyone.

    `text` has its own comments blanked; `offsets` are those of its characters and its end in the source.
    """

    text: str
    offsets: Sequence[int]
    alone: bool
    who: str
    who_at: int
    body_at: int


def _pragma_lines(source: str, syntax: Syntax) -> Iterator[_PragmaLine]:
    if "pragma" not in source.lower():
        return
    for start, alone in _candidates(source, syntax):
        end = _line_end(source, start, spliced=syntax.directives)
        text, offsets = _splice(source, start, end) if syntax.directives else (source[start:end], range(start, end + 1))
        if opening := syntax.any_pragma.match(text):
            body_at = opening.end()
            text = text[:body_at] + _without_comments(text[body_at:], syntax)
            yield _PragmaLine(text, offsets, alone, opening["who"], opening.start("who"), body_at)


def _parse(text: str, file: str | None, locate: Locate) -> tuple[Pragma | None, tuple[Diagnostic, ...]]:
    def diagnostic(offset: int, message: str, hint: str, severity: Severity = Severity.ERROR) -> Diagnostic:
        line, column = locate(offset)
        return Diagnostic(message, hint, severity, file, line, column)

    try:
        name, position = _name(text)
        category, position = _category(text, position, name)
        arguments, position = _arguments(text, position, category)
        condition = _condition(text, position)
        lists = [_items(index, offset, part) for index, (offset, part) in enumerate(arguments)]
    except _Bad as bad:
        return None, (diagnostic(bad.offset, bad.message, bad.hint),)
    warnings: list[Diagnostic] = []
    kept: list[tuple[str, ...]] = []
    for (title, _, _), items in zip(_PARTS, lists, strict=False):
        seen: dict[str, int] = {}
        for offset, item in items:
            if item in seen:
                warnings.append(
                    diagnostic(offset, f"the {title} {item} is given twice", "Leave one out.", Severity.WARNING)
                )
            seen.setdefault(item, offset)
        kept.append(tuple(seen))
    kept += [()] * (3 - len(kept))
    return Pragma(name, category, kept[0], kept[1], kept[2], condition), tuple(warnings)


def _skip_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _name(text: str) -> tuple[str, int]:
    start = _skip_blanks(text, 0)
    match = NAME.match(text, start)
    if match is None:
        instead = f", not '{text[start]}'" if start < len(text) else ""
        raise _Bad(start, f"a pragma begins with the state's name{instead}", _EXAMPLE)
    after = text[match.end() : match.end() + 1]
    if match[0] in set(Category) and (not text[match.end() :].strip() or text[match.end() :].lstrip()[0] in "(:"):
        raise _Bad(start, f"'{match[0]}' is a category; the state's name is missing before it", _EXAMPLE)
    if after and not after.isspace():
        raise _Bad(match.end(), f"'{after}' cannot be part of the state's name", _EXAMPLE)
    return match[0], match.end()


def _category(text: str, position: int, name: str) -> tuple[Category, int]:
    start = _skip_blanks(text, position)
    match = NAME.match(text, start)
    names = [category.value for category in Category]
    choices = f"Categories are {', '.join(names)}."
    if match is None:
        raise _Bad(start, f"the category is missing after '{name}'", choices)
    if match[0] not in names:
        close = nearest(match[0].lower(), names, 0.5)
        hint = f"Did you mean '{close}'?" if close else choices
        raise _Bad(start, f"there is no category '{match[0]}'", hint)
    return Category(match[0]), match.end()


def _arguments(text: str, position: int, category: Category) -> tuple[list[tuple[int, str]], int]:
    """The arguments with their offsets, and where the rest begins. Checks how many the category takes."""
    limit = _ARGUMENTS.get(category, 3)
    shape = f"{category.value}({', '.join(title for title, _, _ in _PARTS[:limit])})"
    opening = _skip_blanks(text, position)
    if not text.startswith("(", opening):
        if limit == 3:
            raise _Bad(opening, f"{category.value} needs a target and a message", f"Write {shape}.")
        return [], opening
    closing, colon = text.find(")", opening), text.find(":", opening)
    if closing < 0 or 0 <= colon < closing:
        raise _Bad(opening, "this parenthesis is never closed", f"Write {shape}.")
    inside = text[opening + 1 : closing]
    arguments: list[tuple[int, str]] = []
    offset = opening + 1
    for part in inside.split(",") if inside.strip() else []:
        arguments.append((offset, part))
        offset += len(part) + 1
    if len(arguments) > limit:
        start, part = arguments[limit]
        takes = {0: "no arguments", 1: "only a reason"}.get(limit, "three arguments")
        raise _Bad(_skip_blanks(text, start), f"{category.value} takes {takes}", f"Write {shape}.")
    if limit == 3 and len(arguments) < 3:
        missing = ("a target and a message", "a target and a message", "a message")[len(arguments)]
        hint = f"Write {shape}; the reason may be left empty: {category.value}(, target, message)."
        raise _Bad(closing, f"{category.value} needs {missing}", hint)
    return arguments, closing + 1


def _items(index: int, offset: int, text: str) -> list[tuple[int, str]]:
    """The items that `|` joins in one argument, with their offsets. The reason alone may be empty."""
    title, pattern, hint = _PARTS[index]
    if not text.strip():
        if index == 0:
            return []
        raise _Bad(offset + len(text), f"the {title} is empty", hint)
    items: list[tuple[int, str]] = []
    for part in text.split("|"):
        item, start = part.strip(), offset + _skip_blanks(part, 0)
        if pattern.fullmatch(item) is None:
            raise _Bad(start, f"'{item}' is not a valid {title}" if item else f"a {title} is missing beside '|'", hint)
        items.append((start, item))
        offset += len(part) + 1
    return items


def _condition(text: str, position: int) -> str | None:
    start = _skip_blanks(text, position)
    if start == len(text):
        return None
    if text[start] != ":":
        raise _Bad(start, f"unexpected '{text[start:].split()[0]}'", "A condition begins with a colon.")
    condition = text[start + 1 :].strip()
    if not condition:
        raise _Bad(start, "the condition is empty", "Leave the colon out, or write an expression after it.")
    return condition


def _candidates(source: str, syntax: Syntax) -> Iterator[tuple[int, bool]]:
    """Offsets at which a pragma may begin, and whether it stands alone on its line."""
    if not syntax.directives:
        for start, _ in comments(source, syntax):
            yield start, not source[source.rfind("\n", 0, start) + 1 : start].strip()
        return
    covered = [token.span() for token in syntax.tokens.finditer(source)]
    index = 0
    for match in re.finditer(r"^[ \t]*(?=#)", source, re.MULTILINE):
        while index < len(covered) and covered[index][1] <= match.start():
            index += 1
        in_token = index < len(covered) and covered[index][0] < match.end()
        continued = re.search(r"\\[ \t]*\r?\n\Z", source[max(0, match.start() - 80) : match.start()])
        if not in_token and continued is None:
            yield match.end(), True


def _line_end(source: str, start: int, *, spliced: bool) -> int:
    position = start
    while True:
        end = source.find("\n", position)
        if end < 0:
            return len(source)
        if not (spliced and source[start:end].rstrip(" \t\r").endswith("\\")):
            return end
        position = end + 1


def _splice(source: str, start: int, end: int) -> tuple[str, list[int]]:
    """The logical line and, for each of its characters and its end, the offset in the source."""
    offsets: list[int] = []
    position = start
    for match in _SPLICE.finditer(source, start, end):
        offsets += range(position, match.start())
        position = match.end()
    offsets += range(position, end + 1)
    return "".join(source[offset] for offset in offsets[:-1]), offsets


def _without_comments(text: str, syntax: Syntax) -> str:
    """The text with the language's own comments blanked, so that offsets stay."""

    def blank(token: re.Match[str]) -> str:
        return " " * len(token[0]) if token["comment"] is not None else token[0]

    return syntax.tokens.sub(blank, text)


def _line_starts(source: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", source))]


def _position(starts: list[int], offset: int) -> tuple[int, int]:
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


def _misspelt(who: str, file: str, line: int, column: int) -> list[Diagnostic]:
    if not nearest(who.lower(), ["recap"], 0.75):
        return []
    message = f"a pragma for '{who}' is not read here"
    return [Diagnostic(message, "Did you mean 'recap'?", Severity.WARNING, file, line, column)]


def _after_code(file: str, line: int, column: int) -> Diagnostic:
    hint = "Move it to a line before the statement that it applies to."
    return Diagnostic("a pragma must begin its line; this one is not used", hint, Severity.WARNING, file, line, column)
