"""What of an API made of a template is C++'s alone: methods, the objects that hold a card, and how a call answers.

An object holds the card that its constructor, or a method of kind `acquire`, opened; one that is constructed of another
holds that one's. An object that is not known, as one that was copied, is of the first card. The generated functions use
no member of theirs, so a class is whatever the API's header declares.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import CallKind, HostEntry
from workbench.model.prototypes import Prototype, type_of

_ELSE = "Name sources that implement it: host.api_sources."
_WORD = re.compile(r"[A-Za-z_]\w*")
_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL | re.MULTILINE)
#: A scope's begin or end, and a class that is declared: the macro of a library may stand before its name.
_SCOPES = re.compile(
    r"(?P<friend>\bfriend\s+)?(?<!enum )\b(?P<kind>namespace|class|struct)\s+(?:[A-Z_]+\s+)?(?P<name>\w[\w:]*)"
    r"(?:\s+final)?\s*(?::(?!:)[^{};()]*)?(?P<end>[{;])|[{}]"
)
OBJECTS = """
#include <map>
#include <memory>
#include <stdexcept>
#include <type_traits>
static std::map<const void *, wbcard_t *> rcw_objects;

template <class T> static const void *rcw_at(const T &object) { return &object; }
template <class T> static const void *rcw_at(T *object) { return object; }
template <class T> static const void *rcw_at(const std::shared_ptr<T> &object) { return object.get(); }
template <class T> static const void *rcw_at(const std::unique_ptr<T> &object) { return object.get(); }

static inline wbcard_t *rcw_held(const void *object)
{
    auto found = rcw_objects.find(object);
    return found == rcw_objects.end() ? rcw_numbered(0) : found->second;
}

static inline int rcw_drop(const void *object)
{
    auto found = rcw_objects.find(object);
    int status = found == rcw_objects.end() ? -1 : rcw_release(found->second);
    if (found != rcw_objects.end()) rcw_objects.erase(found);
    return status;
}

static inline int rcw_take(const void *object, long number)
{
    int status = rcw_acquire(number);
    if (!status) rcw_objects[object] = rcw_cards[number];
    return status;
}

static inline void rcw_refused(const char *name, int status)
{
    if (status) throw std::runtime_error(std::string(name) + ": the simulated card refused this call");
}

template <class R> static R rcw_answer(int status)
{
    if constexpr (std::is_pointer_v<R>) return nullptr;
    else if constexpr (std::is_arithmetic_v<R> || std::is_enum_v<R>) return (R)status;
    else return R{};
}
"""


@dataclass(frozen=True)
class Classes:
    """What the API's headers say of classes: their names, and types within them that are declared and not defined."""

    names: frozenset[str] = frozenset()
    undefined: tuple[str, ...] = ()

    def has_object(self, prototype: Prototype) -> bool:
        """Whether a function is called on an object."""
        made = prototype.is_constructor or prototype.is_destructor
        return bool(prototype.scope) and not prototype.is_static and (made or prototype.scope in self.names)

    def object_of(self, prototype: Prototype) -> str:
        """C++ for the object that tells which card a call is for; empty where none does."""
        if self.has_object(prototype) and not prototype.is_constructor:
            return "this"
        named = (name for text, name in prototype.parameters if self._known(type_of(text, name)))
        return next((f"rcw_at({name})" for name in named), "")

    def makes_object(self, prototype: Prototype) -> bool:
        """Whether a function returns an object of the API's, or a pointer to one, that it would have to make."""
        return "&" not in prototype.returns and self._known(prototype.returns)

    def _known(self, kind: str) -> bool:
        return not {name.rpartition("::")[2] for name in self.names}.isdisjoint(_WORD.findall(kind))


def classes_of(texts: Iterable[str], prototypes: Iterable[Prototype]) -> Classes:
    """The classes of headers' texts, and those that the prototypes show."""
    names = {one.scope for one in prototypes if one.is_constructor or one.is_destructor or "const" in one.qualifiers}
    declared: set[str] = set()
    for text in texts:
        scopes: list[tuple[str, str]] = []  # kind and name; both empty for other braces
        for found in _SCOPES.finditer(_NOISE.sub(" ", text)):
            kind, name, end = found["kind"] or "", found["name"] or "", found["end"]
            whole = "::".join([*(outer for _, outer in scopes if outer), name])
            if found[0] == "}":
                scopes = scopes[:-1]
            elif end != ";":
                scopes.append((kind, name))
                names |= {whole} if kind in ("class", "struct") else set()
            elif scopes and scopes[-1][0] in ("class", "struct") and not found["friend"]:
                declared.add(whole)
    return Classes(frozenset(names), tuple(sorted(declared - names)))


def head(prototype: Prototype) -> str:
    """The first line of a definition outside the class. A result's type stands behind, where the class's names hold."""
    parameters = ", ".join(declaration for declaration, _ in prototype.parameters)
    after = f" {prototype.qualifiers}" if prototype.qualifiers else ""
    if not prototype.returns:
        return f"{prototype.qualified}({parameters}){after}"
    return f"auto {prototype.qualified}({parameters}){after} -> {prototype.returns}"


def action(prototype: Prototype, entry: HostEntry, classes: Classes) -> list[str] | None:
    """What a call of this entry does where that is of an object's life; None for any other. WorkbenchError where an
    object would have to be made."""
    number = f"(long)({entry.fpga.strip() or '0'})"
    if prototype.is_constructor:
        source = classes.object_of(prototype)
        if entry.kind is CallKind.ACQUIRE:
            return [f"int rcw_status = rcw_take(this, {number});", answer(prototype, "rcw_status")]
        return [f"rcw_objects[this] = rcw_held({source});", "return;"] if source else ["return;"]
    if prototype.is_destructor:
        return ["rcw_drop(this);" if entry.kind is CallKind.RELEASE else "rcw_objects.erase(this);", "return;"]
    if entry.kind is CallKind.ACQUIRE and classes.has_object(prototype):
        return [f"int rcw_status = rcw_take(this, {number});", answer(prototype, "rcw_status")]
    if entry.kind is CallKind.RELEASE and (held := classes.object_of(prototype)):
        return [f"int rcw_status = rcw_drop({held});", answer(prototype, "rcw_status")]
    if classes.makes_object(prototype):
        raise WorkbenchError(
            Diagnostic(f"how {prototype.qualified} makes the object that it returns is not known from its entry", _ELSE)
        )
    return None


def answer(prototype: Prototype, status: str, size: str = "0") -> str:
    """The statement that tells the caller how it went: a status, a count, a truth, the object; else by an exception."""
    kind = prototype.returns
    if kind in ("", "void"):
        return f'rcw_refused("{prototype.qualified}", {status}); return;'
    if kind == "bool":
        return f"return {status} == 0;"
    if kind.removeprefix("std::") in ("ssize_t", "size_t"):
        return f"return {status} ? ({kind})-1 : ({kind})({size});"
    if kind.endswith("&"):
        return f'rcw_refused("{prototype.qualified}", {status}); return *this;'
    return f"return rcw_answer<{kind}>({status});"
