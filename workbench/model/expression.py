"""The one safe expression language: conditions of rules, formulas of models. simpleeval does the evaluating.

Numbers and arrays (elementwise), `+ - * / // % **`, comparisons, `and or not`, texts in `==` and `!=`, and the
functions `min max abs sqrt log log2 ceil floor where`. A name may be dotted (`rate.avg`): it is one key of the values.
A reader may allow names that begin with a family and texts (`call('readBins').time`): texts hold any characters.
Nothing else can be written, so nothing of the machine can be reached. Arithmetic is IEEE double precision:
1/0 is inf, 0/0 is nan, and nothing grows without bound.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from simpleeval import SimpleEval

from workbench.model.diagnostic import Diagnostic, WorkbenchError, near

_LENGTH_LIMIT = 2000
_DEPTH_LIMIT = 60


def _number(value: Any) -> Any:
    if isinstance(value, str):
        raise TypeError
    return np.asarray(value, dtype=np.float64) if isinstance(value, np.ndarray) else np.float64(value)


def _numeric(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: function(*(_number(operand) for operand in operands))


def _fold(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda *operands: reduce(function, [_number(operand) for operand in operands])


def _equal(left: Any, right: Any) -> Any:
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) and isinstance(right, str) and left == right
    return np.equal(_number(left), _number(right))


_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: _numeric(np.add),
    ast.Sub: _numeric(np.subtract),
    ast.Mult: _numeric(np.multiply),
    ast.Div: _numeric(np.divide),
    ast.FloorDiv: _numeric(np.floor_divide),
    ast.Mod: _numeric(np.mod),
    ast.Pow: _numeric(np.power),
    ast.USub: _numeric(np.negative),
    ast.UAdd: _numeric(np.positive),
    ast.Not: _numeric(np.logical_not),
    ast.Lt: _numeric(np.less),
    ast.LtE: _numeric(np.less_equal),
    ast.Gt: _numeric(np.greater),
    ast.GtE: _numeric(np.greater_equal),
    ast.Eq: _equal,
    ast.NotEq: lambda left, right: np.logical_not(_equal(left, right)),
}
#: Name -> (function, how many arguments it takes; None for one or more).
_FUNCTIONS: dict[str, tuple[Callable[..., Any], int | None]] = {
    "min": (_fold(np.minimum), None),
    "max": (_fold(np.maximum), None),
    "abs": (_numeric(np.abs), 1),
    "sqrt": (_numeric(np.sqrt), 1),
    "log": (_numeric(np.log), 1),
    "log2": (_numeric(np.log2), 1),
    "ceil": (_numeric(np.ceil), 1),
    "floor": (_numeric(np.floor), 1),
    "where": (_numeric(lambda condition, yes, no: np.where(condition != 0, yes, no)), 3),
}
_CALLABLE = {name: function for name, (function, _) in _FUNCTIONS.items()} | {
    "and": _fold(np.logical_and),  # keywords: no one can write a call of them
    "or": _fold(np.logical_or),
}
FUNCTIONS = tuple(_FUNCTIONS)
_OF_THREAD = threading.local()
_CONSTANTS = {"true": True, "false": False}
_ASSIGNMENT = re.compile(r"(?<![=!<>])=(?!=)")
_WITH_UNIT = re.compile(r"\d +(?:[pnuµmkMG]i?)?(?:s|Hz|B|W|J)\b")
_HOW = "Write for example 2 * (n + 1), with numbers, names, + - * / // % ** and functions."
_UNITS = "A formula has no units: write 4e-9 in place of 4 ns."
_COMMON = {"&&": "Write `and`.", "||": "Write `or`.", "!": "Write `not`.", "?": "Write where(condition, yes, no)."}


@dataclass(frozen=True)
class Expression:
    """A checked expression. `names` are the dotted names it reads; two are equal when their texts are."""

    text: str
    names: frozenset[str] = field(compare=False)
    _tree: ast.expr = field(compare=False, repr=False)

    @staticmethod
    def parse(
        text: str,
        names: Iterable[str] | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int = 1,
        families: Iterable[str] = (),
        prefix: str = "",
    ) -> tuple[Expression | None, tuple[Diagnostic, ...]]:
        """Check a text that is at `line` and `column`. None, with diagnostics, where it is not an expression.

        `names` are those it may read; None allows any. `families` may begin a name, as `member_name` writes it,
        and so may `prefix`, whatever follows it.
        """

        def at(offset: int, message: str, hint: str) -> Diagnostic:
            return Diagnostic(message, hint, file=file, line=line, column=None if line is None else column + offset)

        try:
            tree = _parsed(text)
            reader = _Reader(text, None if names is None else frozenset(names), frozenset(families), prefix)
            tree = reader.expression(tree, 0)
            if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
                raise _Bad(0, "an expression gives a number or a condition, not a text", "")
        except _Bad as bad:
            return None, (at(bad.offset, bad.message, bad.hint),)
        return Expression(text, frozenset(reader.used), tree), ()

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The value: a float or bool, or an array where a value is one. Raises WorkbenchError for a missing value, a
        text used as a number, or arrays of different shapes."""
        missing = sorted(self.names - values.keys())
        if missing:
            raise WorkbenchError(Diagnostic(f"'{self.text}' needs {', '.join(missing)}, which has no value here"))
        evaluator = _evaluator()
        evaluator.names = {name: values[name] for name in self.names}
        try:
            with np.errstate(all="ignore"):
                result = evaluator.eval(self.text, self._tree)
        except TypeError:
            raise WorkbenchError(Diagnostic(f"'{self.text}' uses a text as a number")) from None
        except ValueError as error:
            raise WorkbenchError(Diagnostic(f"'{self.text}' cannot be computed: {error}")) from None
        if isinstance(result, str):
            raise WorkbenchError(Diagnostic(f"'{self.text}' is a text, not a number"))
        return result if np.ndim(result) else _plain(result)


def _evaluator() -> SimpleEval:
    """The thread's own: making one takes longer than most expressions do."""
    if not hasattr(_OF_THREAD, "evaluator"):
        _OF_THREAD.evaluator = SimpleEval(_OPERATORS, _CALLABLE)
    evaluator: SimpleEval = _OF_THREAD.evaluator
    return evaluator


def _plain(result: Any) -> float | bool:
    plain = np.asarray(result).item()
    return plain if isinstance(plain, bool) else float(plain)


class _Bad(Exception):
    def __init__(self, offset: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.offset, self.message, self.hint = offset, message, hint


def _parsed(text: str) -> ast.expr:
    start = len(text) - len(text.lstrip())
    if not text.strip():
        raise _Bad(0, "the expression is empty", "Write for example count > 3.")
    if len(text) > _LENGTH_LIMIT:
        raise _Bad(0, f"this expression is too long ({len(text)} characters)", f"At most {_LENGTH_LIMIT}.")
    flat = "".join(" " if character.isspace() else character for character in text[start:])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python remarks on what looks like a call of a number
            tree = ast.parse(flat, mode="eval").body
    except SyntaxError as error:
        offset = min(start + error.offset - 1, len(text)) if error.offset else len(text.rstrip())  # 0: at the end
        hint = next((hint for sign, hint in _COMMON.items() if sign in text.replace("!=", "")), "")
        if not hint and (assignment := _ASSIGNMENT.search(text)):
            offset, hint = assignment.start(), "Two values are compared with ==."
        hint = hint or (_UNITS if _WITH_UNIT.search(text) else _HOW)
        raise _Bad(offset, f"this is not an expression: {error.msg}", hint) from None
    except (ValueError, RecursionError, MemoryError):
        raise _Bad(start, "this is not an expression", "Use plain characters, and few levels of parentheses.") from None
    # columns of the tree count UTF-8 bytes of `flat`; make them count characters of `text`
    encoded = flat.encode("utf-8", errors="replace")
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            node.col_offset = start + len(encoded[: node.col_offset].decode("utf-8", errors="ignore"))
            node.end_col_offset = start + len(encoded[: node.end_col_offset].decode("utf-8", errors="ignore"))
    return tree


class _Reader:
    """Rewrites a tree with only what the language has: dotted names as one name, `and` and `or` as calls."""

    def __init__(self, text: str, names: frozenset[str] | None, families: frozenset[str], prefix: str = "") -> None:
        self._text, self._names, self._families, self._prefix = text, names, families, prefix
        self.used: set[str] = set()

    def expression(self, node: ast.expr, depth: int) -> ast.expr:
        if depth > _DEPTH_LIMIT:
            raise _Bad(node.col_offset, "this expression has too many levels", "Split it, or use min and max.")
        deeper = depth + 1
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name() | ast.Attribute():
                return self._name(node)
            case ast.UnaryOp() if type(node.op) in _OPERATORS:
                return ast.UnaryOp(node.op, self._operand(node.operand, deeper))
            case ast.BinOp() if type(node.op) in _OPERATORS:
                return ast.BinOp(self._operand(node.left, deeper), node.op, self._operand(node.right, deeper))
            case ast.BoolOp():
                name = "and" if isinstance(node.op, ast.And) else "or"
                return _call(name, [self._operand(value, deeper) for value in node.values])
            case ast.Compare() if all(type(operator) in _OPERATORS for operator in node.ops):
                return self._comparison(node, deeper)
            case ast.Call():
                return self._call(node, deeper)
        hint = "Use numbers, names, + - * / // % **, comparisons, and, or, not, and functions."
        if isinstance(node, ast.IfExp):
            hint = "Write where(condition, yes, no)."
        source = self._text[node.col_offset : node.end_col_offset]
        raise _Bad(node.col_offset, f"'{source[:40]}' is not allowed in an expression", hint)

    def _operand(self, node: ast.expr, depth: int) -> ast.expr:
        """An expression where a number is needed."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            raise _Bad(node.col_offset, "a text is here instead of a number", "Texts are compared with == or !=.")
        return self.expression(node, depth)

    def _constant(self, node: ast.Constant) -> ast.expr:
        value = node.value
        if isinstance(value, bool | str):
            return node
        if isinstance(value, int | float):
            try:
                return ast.Constant(float(value))
            except OverflowError:
                raise _Bad(node.col_offset, "this number is too large", "Numbers go up to 1.8e308.") from None
        raise _Bad(node.col_offset, f"'{str(value)[:20]}' is not allowed in an expression", "Write a real number.")

    def _name(self, node: ast.Name | ast.Attribute) -> ast.expr:
        parts: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            first = inner.id
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in self._families:
            first = self._member(inner.func.id, inner)
        else:
            raise _Bad(node.col_offset, "only names may have dots", "Values have no attributes.")
        name = ".".join([first, *reversed(parts)])
        if name in _CONSTANTS and name not in (self._names or ()):
            return ast.Constant(_CONSTANTS[name])
        own = bool(self._prefix) and name.startswith(self._prefix)
        if self._names is not None and name not in self._names and not own:
            raise _Bad(
                node.col_offset,
                f"there is no value '{name}'",
                near(name, sorted(self._names), "Values are") or "There are no values here.",
            )
        self.used.add(name)
        return ast.Name(name, ast.Load())

    def _member(self, family: str, node: ast.Call) -> str:
        texts = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        named = [text for text in texts if isinstance(text, str)]
        if node.keywords or not named or len(named) < len(node.args):
            raise _Bad(node.col_offset, f"{family} takes names in quotation marks", f"Write {family}('NAME').time.")
        return member_name(family, *named)

    def _comparison(self, node: ast.Compare, depth: int) -> ast.expr:
        operands = [node.left, *node.comparators]
        pairs: list[ast.expr] = []
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            read = self.expression if isinstance(operator, ast.Eq | ast.NotEq) else self._operand
            pairs.append(ast.Compare(read(left, depth), [operator], [read(right, depth)]))
        return pairs[0] if len(pairs) == 1 else _call("and", pairs)

    def _call(self, node: ast.Call, depth: int) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self._families:
            source = self._text[node.col_offset : node.end_col_offset]
            raise _Bad(node.col_offset, f"'{source[:40]}' is not a value by itself", f"Write {source}.time.")
        if name not in _FUNCTIONS:
            called = self._text[node.func.col_offset : node.func.end_col_offset]
            hint = near(name, sorted(_FUNCTIONS), "Functions are")
            raise _Bad(node.col_offset, f"there is no function '{called[:40]}'", hint)
        wanted = _FUNCTIONS[name][1]
        given = len(node.args)
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise _Bad(node.col_offset, f"{name} takes plain values", f"Write {name}(a, b).")
        if (wanted is None and not given) or (wanted is not None and given != wanted):
            counted = "at least one value" if wanted is None else f"{wanted} value{'s' if wanted > 1 else ''}"
            values = "abc"[:wanted] if wanted is not None else "ab"
            raise _Bad(node.col_offset, f"{name} takes {counted}, not {given}", f"Write {name}({', '.join(values)}).")
        return _call(name, [self._operand(argument, depth) for argument in node.args])


def member_name(family: str, *texts: str) -> str:
    """How a member of a family is written in an expression: `state('host.main', 'poll')`."""
    return f"{family}({', '.join(map(repr, texts))})"


def _call(name: str, arguments: list[ast.expr]) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), arguments, [])
