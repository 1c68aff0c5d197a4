"""Types of C++ as text that can be written anywhere, and functions as numbers."""

import re

from clang.cindex import Type, TypeKind

from workbench.api.compile import digest

_UNSPELLABLE = re.compile(r"\((?:anonymous|unnamed|lambda)|type-parameter|<dependent|auto\b")


class Unfit(Exception):
    """Why a call cannot be rewritten."""


def spelled(kind: Type) -> str:
    """A type as it can be written anywhere; empty where it has no name."""
    canonical = kind.get_canonical()
    if canonical.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        inner = spelled(canonical.get_pointee())
        return inner and f"{inner} {'&' if canonical.kind is TypeKind.LVALUEREFERENCE else '&&'}"
    text = str(canonical.spelling)
    if not text or _UNSPELLABLE.search(text) or canonical.kind in (TypeKind.DEPENDENT, TypeKind.UNEXPOSED):
        return ""
    return f"rcw_same<{text}>::type" if re.search(r"[(\[]", text) else text


def number_of(key: str) -> int:
    """The number of a callee by its key: the same in all sources, never 0."""
    return int(digest([key])[:7], 16) + 1
