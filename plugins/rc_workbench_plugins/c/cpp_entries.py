"""Which declarations of a C++ source the template's prototypes mean: by scope, name and the types of the parameters."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from clang.cindex import AccessSpecifier, Cursor, CursorKind, LinkageKind, Type, conf

from rc_workbench_plugins.c.clang_parse import children, overridden
from workbench.api import Callee, Prototype

K = CursorKind
FUNCTIONS = {
    K.FUNCTION_DECL,
    K.FUNCTION_TEMPLATE,
    K.CXX_METHOD,
    K.CONSTRUCTOR,
    K.DESTRUCTOR,
    K.CONVERSION_FUNCTION,
}
_STRUCTORS = (K.CONSTRUCTOR, K.DESTRUCTOR)
_CLASSES = {K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE, K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
_HOLDERS = {K.NAMESPACE, K.NAMESPACE_ALIAS, *_CLASSES}
_QUALIFIERS = re.compile(r"\b(?:\w+::)+|\b(?:struct|class|enum|typename)\b\s*")


class Entries:
    """The declarations of one parsed source that the template's callees mean, but for the `wrapped` ones in C.

    `of` tells a called function's callee."""

    def __init__(self, tops: Sequence[Cursor], callees: Mapping[str, Callee], wrapped: Container[str]) -> None:
        self.declared: dict[str, Cursor] = {}
        self._keys: dict[str, str] = {}
        self.opening = {key for key, callee in callees.items() if any(entry.opens for _, entry in callee.entries)}
        self._names = {callee.prototype.name for callee in callees.values()}
        members: dict[tuple[str, ...], list[Cursor]] = {(): list(_open(tops))}
        for key, callee in callees.items():
            prototype = callee.prototype
            scope = tuple(re.sub(r"<.*", "", part) for part in _parts(prototype.scope))
            member = _meant([m for m in _members(members, scope) if _is_named(m, prototype)], prototype)
            if member is not None and not (key in wrapped and in_c(member)):
                self.declared[key] = member
                self._keys[member.get_usr()] = key
        self.structors = any(
            one.semantic_parent.kind in _CLASSES and one.kind in _STRUCTORS for one in self.declared.values()
        )

    def of(self, function: Cursor | None) -> str | None:
        """The key of the callee that a function is, or overrides; None where the template does not speak of it."""
        if function is None or function.kind not in FUNCTIONS:
            return None
        template = conf.lib.clang_getSpecializedCursorTemplate(function)
        for one in (function, *([template] if template is not None else [])):
            if key := self._keys.get(one.get_usr()):
                return key
        if function.kind is K.CXX_METHOD and function.spelling in self._names:
            return next((key for base in overridden(function) if (key := self.of(base))), None)
        return None

    def destructor(self, kind: Cursor) -> str | None:
        """The callee that is the destructor of a class."""
        return next(iter(self._members(kind, K.DESTRUCTOR)), None)

    def constructors(self, kind: Cursor) -> list[str]:
        """The callees that are constructors of a class."""
        return self._members(kind, K.CONSTRUCTOR)

    def _members(self, kind: Cursor, what: CursorKind) -> list[str]:
        if kind.kind not in _CLASSES or all(one.kind is not what for one in self.declared.values()):
            return []
        return [key for one in _open(children(kind)) if one.kind is what and (key := self.of(one))]

    def named(self, name: str, arguments: int) -> list[str]:
        """The callees among methods of that name that take so many arguments: for calls that only a template's
        arguments tell."""
        return [
            key
            for key, one in self.declared.items()
            if one.spelling == name
            and one.semantic_parent.kind in _CLASSES
            and sum(c.kind is K.PARM_DECL for c in children(one)) >= arguments
        ]


def _parts(scope: str) -> list[str]:
    depth, parts = 0, [""]
    for piece in re.split(r"(::|<|>)", scope):
        depth += (piece == "<") - (piece == ">")
        if piece == "::" and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return parts if scope else []


def _open(cursors: Iterable[Cursor]) -> Iterator[Cursor]:
    """Declarations, those too that stand in `extern "C" {}` and in inline namespaces."""
    for cursor in cursors:
        kind = cursor.kind
        if kind.is_preprocessing():
            continue
        if kind is K.LINKAGE_SPEC or (kind is K.NAMESPACE and conf.lib.clang_Cursor_isInlineNamespace(cursor)):
            yield from _open(children(cursor))
        else:
            yield cursor


def _members(known: dict[tuple[str, ...], list[Cursor]], scope: tuple[str, ...]) -> list[Cursor]:
    """What is declared in a scope, or in a namespace that it is another name of, or that it uses
    (`namespace sycl { using namespace vendor::sycl; }`)."""
    if scope not in known:
        holders = [m for m in _members(known, scope[:-1]) if m.spelling == scope[-1] and m.kind in _HOLDERS]
        known[scope] = [member for holder in holders for member in _open(children(holder))]
        for other in (*holders, *known[scope]):
            if other.kind in (K.NAMESPACE_ALIAS, K.USING_DIRECTIVE):
                known[scope] += _members(known, _path([*children(other)][-1].referenced))
    return known[scope]


def _path(namespace: Cursor) -> tuple[str, ...]:
    if namespace.kind is not K.NAMESPACE:
        return ()
    inline = conf.lib.clang_Cursor_isInlineNamespace(namespace)
    return (*_path(namespace.semantic_parent), *(() if inline else (namespace.spelling,)))


def _is_named(cursor: Cursor, prototype: Prototype) -> bool:
    if cursor.kind not in FUNCTIONS:
        return False
    if prototype.is_constructor:
        return re.sub(r"<.*", "", cursor.spelling) == prototype.name and cursor.kind in (
            K.CONSTRUCTOR,
            K.FUNCTION_TEMPLATE,
        )
    if prototype.is_destructor:
        return cursor.kind is K.DESTRUCTOR
    return cursor.spelling == prototype.name


def _meant(candidates: list[Cursor], prototype: Prototype) -> Cursor | None:
    """The overload whose parameters have the prototype's types; or which takes more, all with defaults, as an
    implementation may; or the only one that has so many."""
    wanted = [_plain(kind) for kind in prototype.types]
    parameters = {one: [c for c in children(one) if c.kind is K.PARM_DECL] for one in dict.fromkeys(candidates)}
    same = [
        one
        for one, given in parameters.items()
        if [_plain(c.type.spelling) for c in given[: len(wanted)]] == wanted
        and all(map(_has_default, given[len(wanted) :]))
    ]
    if same:
        template = prototype.text.startswith("template")
        return min(same, key=lambda one: ((one.kind is K.FUNCTION_TEMPLATE) != template, len(parameters[one])))
    as_many = {one.get_usr(): one for one, given in parameters.items() if len(given) == len(wanted)}
    return next(iter(as_many.values())) if len(as_many) == 1 else None


def _has_default(parameter: Cursor) -> bool:
    return any(token.spelling == "=" for token in parameter.get_tokens())


def _plain(kind: str) -> str:
    bare = " ".join(_QUALIFIERS.sub("", kind.replace("...", "")).split())
    if not re.search(r"[*&]", bare):
        bare = re.sub(r"\bconst\b\s*", "", bare)
    bare = {"unsigned": "unsigned int", "long int": "long"}.get(bare, bare)
    return re.sub(r"\s*([^\w\s])\s*", r"\1", bare)


def is_movable(kind: Type) -> bool:
    """Whether an object of a class can be moved or copied, as far as its declaration tells."""
    head = kind.get_canonical().get_declaration()
    if head.kind not in _CLASSES:
        return True
    own = [
        c for c in children(head) if c.kind is K.CONSTRUCTOR and (c.is_copy_constructor() or c.is_move_constructor())
    ]
    if own:
        return any(one.access_specifier is not AccessSpecifier.PRIVATE and not one.is_deleted_method() for one in own)
    parts = (c.type for c in children(head) if c.kind in (K.FIELD_DECL, K.CXX_BASE_SPECIFIER))
    return all(is_movable(part) for part in parts)


def in_c(function: Cursor) -> bool:
    """Whether a wrapper in C can stand in for a function: by its linkage, or as a header gives it to each source."""
    if function.kind is not K.FUNCTION_DECL:
        return False
    internal = function.linkage is LinkageKind.INTERNAL
    return internal or str(conf.lib.clang_Cursor_getMangling(function)) == function.spelling
