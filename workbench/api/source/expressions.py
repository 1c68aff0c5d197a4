"""Expressions of a host language that a person writes in a pragma or a template."""

import re

_TOKEN = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[\[\](){}]|["']|;|//|/\*|[#\\]""")
_BRACKETS = {")": "(", "]": "[", "}": "{"}


def reaches_out(text: str, *, statements: bool = False) -> str:
    """What in a text would reach beyond the one expression that it should be: a bracket or quote that has no partner, a
    semicolon (unless it may be `statements`), a comment, a directive. Empty where nothing does."""
    opened: list[str] = []
    for token in _TOKEN.findall(text):
        if token in _BRACKETS.values():
            opened.append(token)
        elif token in _BRACKETS and (not opened or opened.pop() != _BRACKETS[token]):
            return f"nothing opens the '{token}'"
        elif token in ("'", '"'):
            return f"nothing closes the {token}"
        elif token in ("//", "/*", "#", "\\"):
            return f"'{token}' does not belong in one"
        elif token == ";" and not statements and "{" not in opened:
            return "it is one expression, without ';'"
    return f"nothing closes the '{opened[-1]}'" if opened else ""
