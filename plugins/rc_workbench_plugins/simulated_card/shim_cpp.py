"""What of an API made of a template is C++'s alone: methods, the objects that hold a card, and how a call answers.

An object holds the card that its constructor, or a method of kind `acquire`, opened; one that is constructed of another
holds that one's. An object that is not known, as one that was copied, is of the only card that is open, else of the
first. The generated functions use no member of theirs, so a class is whatever the API's header declares; what its text
says is read in `shim_classes.py`.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from rc_workbench_plugins.simulated_card.shim_classes import INTEGER, WORD, Classes
from workbench.api import CallKind, Diagnostic, HostEntry, Prototype, WorkbenchError
from workbench.api.unstable import type_of

_ELSE = "Name sources that implement it: host.api_sources."
_SIZES = ("size", "size_bytes", "bytes", "length", "len", "nbytes", "count", "n")
#: What a constructor does for an object that a call of the API makes.
_MADE = "if (rcw_making.card) rcw_made(this, rcw_making.card);"


def head(prototype: Prototype, classes: Classes) -> str:
    """The first line of a definition outside the class. A result's type stands behind, where the class's names hold."""
    parameters = ", ".join(declaration for declaration, _ in prototype.parameters)
    after = f" {prototype.qualifiers}" if prototype.qualifiers else ""
    if not prototype.returns:
        begins = _begins(classes, prototype.scope, prototype.parameters) if prototype.is_constructor else ""
        return f"{prototype.qualified}({parameters}){after}{begins}"
    return f"auto {prototype.qualified}({parameters}){after} -> {prototype.returns}"


def _begins(classes: Classes, name: str, parameters: Sequence[tuple[str, str]] = (), other: str = "") -> str:
    """What a constructor initialises: members of parameters of their name or of the same of another object (`other`),
    else as `rcw_begin` does."""
    if name not in classes.bodies:
        return ""
    begun = list(_bases(classes, name, parameters))
    for _, member, valued in classes.bodies[name].members:
        given = f"{other}.{member}" if other else _named_as(member, parameters)
        begun += [f"{member}(rcw_begin<decltype({name}::{member})>({given}))"] if given or not valued else []
    return f" : {', '.join(begun)}" if begun else ""


def _bases(classes: Classes, name: str, parameters: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Initialisers of the bases that cannot begin without arguments."""
    for base in classes.bodies[name].bases:
        whole = classes.whole(base)
        if whole in classes.bodies and (needed := classes.bodies[whole].needs):
            named = [(_named_as(of, parameters), type_of(text, of)) for text, of in needed]
            yield f"{base}({', '.join(given or f'rcw_begin<{kind}>()' for given, kind in named)})"
        elif not whole and base.startswith("std::") and "<" not in base:
            yield f"{base}(rcw_begin<{base}>())"


def _named_as(member: str, parameters: Sequence[tuple[str, str]]) -> str:
    plain = re.sub(r"^(?:m_|_)|_$", "", member)
    return next((name for _, name in parameters if re.sub(r"^_|_$", "", name) == plain), "")


def key_of(name: str, prototype: Prototype) -> tuple[str, ...]:
    """What tells a function from others of its name."""
    return (name, *("".join(kind.split()) for kind in prototype.types))


def missing(classes: Classes, known: Collection[tuple[str, ...]]) -> Iterator[str]:
    """Definitions that the API's classes need besides those of its entries' functions (`known`, by their keys): of
    private constructors and methods, and of copies and moves, which hold the card of the other object."""
    for name, body in classes.bodies.items():
        for method in body.others:
            yield from _idle(name, method, classes) if key_of(f"{name}::{method.name}", method) not in known else ()
    for name, body in classes.bodies.items():
        for kind, parameters, after in body.specials:
            default = not WORD.search(parameters.replace("void", ""))
            if default and (f"{name}::{kind}",) in known:
                continue
            result = "" if kind != "operator=" else f"{name} &"
            other = "" if default else "rcw_other"
            plain = re.sub(r"(&&?)\s*\w*\s*\)$", rf"\1{other})", parameters) if other else "()"
            holds = f"rcw_objects[this] = rcw_place_of(rcw_at({other}));" if other else _MADE
            if result:
                holds += "".join(f" rcw_assign({member}, {other}.{member});" for _, member, _ in body.members)
            begins = "" if result else _begins(classes, name, other=other)
            yield f"{result}{name}::{kind}{plain} {after}{begins} {{ {holds}{' return *this;' if result else ''} }}"


def _idle(name: str, method: Prototype, classes: Classes) -> Iterator[str]:
    """A method that no entry is of: it does nothing, and an object that it begins or ends is known, or forgotten."""
    declared = ", ".join(text for text, _ in method.parameters)
    after = f" {method.qualifiers}" if method.qualifiers else ""
    begins, does = "", f"return rcw_answer<{method.returns}>(0);"
    if not method.returns:
        ends = method.is_destructor
        begins = "" if ends else _begins(classes, name, method.parameters)
        does = "rcw_objects.erase(this);" if ends else _MADE
    elif method.returns == "void":
        does = ""
    gives = f" -> {method.returns}" if method.returns else ""
    does = "".join(f"(void){name}; " for _, name in method.parameters) + does
    yield f"{'auto ' if gives else ''}{name}::{method.name}({declared}){after}{gives}{begins} {{ {does} }}"


def concrete(classes: Classes, known: Collection[tuple[str, ...]]) -> Iterator[str]:
    """A class that can be made of each that has methods without a definition: each calls that of the entry."""
    for number, name in enumerate(sorted(classes.bodies)):
        pure = classes.pure_of(name)
        if not pure:
            continue
        own, (space, _, last) = f"rcw_of_{number}", name.rpartition("::")
        inside = space and space not in classes.names
        methods = []
        for method in pure:
            given = ", ".join(argument for _, argument in method.parameters)
            declared = ", ".join(text for text, _ in method.parameters)
            does = f"return {last if inside else name}::{method.name}({given});"
            if key_of(f"{name}::{method.name}", method) not in known:
                does = "".join(f"(void){argument}; " for _, argument in method.parameters)
                does += f"return rcw_answer<{method.returns}>(0);" if method.returns != "void" else ""
            after = f" {method.qualifiers}" if method.qualifiers else ""
            methods.append(f"    {method.returns} {method.name}({declared}){after} override {{ {does} }}")
        base = last if inside else name
        given = ", ".join(f"rcw_begin<{type_of(text, of)}>()" for text, of in classes.bodies[name].needs)
        methods = [f"    {own}() : {base}({given}) {{}}", *methods] if given else methods
        lines = [f"struct {own} final : {base} {{", *methods, "};"]
        yield from [f"namespace {space} {{", *lines, "}"] if inside else lines
        yield f"template <> struct rcw_concrete<{name}> {{ using type = {f'{space}::' if inside else ''}{own}; }};"


def action(prototype: Prototype, entry: HostEntry, classes: Classes) -> list[str] | None:
    """What a call of this entry does where that is of an object's life; None for any other. WorkbenchError where an
    object would have to be made of which it is not known how."""
    number = f"(long)({entry.fpga.strip() or '0'})"
    if prototype.is_constructor:
        source = classes.object_of(prototype)
        if entry.kind is CallKind.ACQUIRE:
            return [f'{_MADE} else rcw_refused("{prototype.qualified}", rcw_take(this, {number}));', "return;"]
        if source:
            return [f"rcw_objects[this] = {_place(prototype, classes, source, entry.address)};", "return;"]
        return [_MADE, "return;"]
    if prototype.is_destructor:
        return [
            "if (rcw_objects.count(this)) rcw_drop(this);"
            if entry.kind is CallKind.RELEASE
            else "rcw_objects.erase(this);",
            "return;",
        ]
    if classes.makes_object(prototype) and not classes.can_make(prototype.returns, prototype.scope):
        raise WorkbenchError(
            Diagnostic(f"it is unknown how {prototype.qualified} creates its {prototype.returns}", _ELSE)
        )
    if classes.makes_object(prototype) and not entry.kind.moves:
        opens = f"{{rcw_opened({number}), 0}}" if entry.kind is CallKind.ACQUIRE else ""
        return [_created(prototype, classes, opens or _place(prototype, classes, address=entry.address))]
    if entry.kind is CallKind.ACQUIRE and classes.has_object(prototype):
        return [f"int rcw_status = rcw_take(this, {number});", answer(prototype, "rcw_status", classes)]
    if entry.kind is CallKind.OTHER and classes.holds_data(prototype) and not prototype.parameters:
        if prototype.returns.endswith("*"):
            return [f"return ({prototype.returns})rcw_memory(this);"]
        if INTEGER.fullmatch(prototype.returns) and prototype.name in _SIZES:
            return [f"return ({prototype.returns})rcw_place_of(this).bytes;"]
    if entry.kind is CallKind.RELEASE and (held := classes.object_of(prototype)):
        return [f"int rcw_status = rcw_drop({held});", answer(prototype, "rcw_status", classes)]
    return None


def _created(prototype: Prototype, classes: Classes, place: str = "") -> str:
    place, fills = place or _place(prototype, classes), ""
    kind = classes.whole_of(prototype.returns, prototype.scope)
    if kind in classes.bodies:
        members = classes.bodies[kind].members
        numbers = [
            (name, _named_as(name, prototype.parameters)) for text, name, _ in members if INTEGER.fullmatch(text)
        ]
        begun = [(f"rcw_object.{name}", given) for name, given in numbers if given]
        held = [name for text, name, _ in members if kind in classes.holders and _holds_bytes(text)]
        begun += [(f"rcw_object.{name}", "rcw_memory(rcw_at)") for name in held]
        fills = " ".join(f"{member} = (decltype({member})){given};" for member, given in begun)
    if fills:
        fills = f", [&](void *rcw_at) {{ auto &rcw_object = *static_cast<{kind} *>(rcw_at); {fills} }}"
    return f'return rcw_make<{prototype.returns}>({place}, "{prototype.qualified}"{fills});'


def _holds_bytes(kind: str) -> bool:
    to = re.sub(r"\bvolatile\b|\s*\*$", "", kind).strip()
    return kind.count("*") == 1 and kind.endswith("*") and (to in ("void", "std::byte") or bool(INTEGER.fullmatch(to)))


def _place(prototype: Prototype, classes: Classes, holder: str = "", address: str = "") -> str:
    """Where an object is that a call makes: on the card of another object, and behind that one's own address."""
    holder = holder or classes.object_of(prototype)
    begins = f"(int64_t)({address.strip() or '0'})"
    size = next((n for text, n in prototype.parameters if n in _SIZES and INTEGER.fullmatch(type_of(text, n))), "0")
    if not holder:
        return f"rcw_place{{rcw_numbered(0), {begins}, (int64_t)({size})}}"
    return f"rcw_place{{rcw_held({holder}), rcw_place_of({holder}).address + {begins}, (int64_t)({size})}}"


def begins_at(prototype: Prototype, classes: Classes, address: str) -> str:
    """What an address is counted from: where the object of the call begins, and those that it is given. Nothing where
    the expression asks the object itself."""
    if "self" in WORD.findall(address):
        return ""
    objects = ["this"] if classes.has_object(prototype) else []
    objects += [f"rcw_at({name})" for text, name in prototype.parameters if classes.known(type_of(text, name))]
    return "".join(f"rcw_place_of({one}).address + " for one in objects)


def answer(prototype: Prototype, status: str, classes: Classes, size: str = "0") -> str:
    """The statement that tells the caller how it went: a status, a count, a truth, the object; else by an exception."""
    kind = prototype.returns
    if kind in ("", "void"):
        return f'rcw_refused("{prototype.qualified}", {status}); return;'
    if kind == "bool":
        return f"return {status} == 0;"
    if kind.removeprefix("std::") in ("ssize_t", "size_t"):
        return f"return {status} ? ({kind})-1 : ({kind})({size});"
    if classes.makes_object(prototype):
        return f'rcw_refused("{prototype.qualified}", {status}); {_created(prototype, classes)}'
    if kind.endswith("&"):
        own = classes.has_object(prototype) and classes.known(kind)
        returns = "*this" if own else f"rcw_answer<{kind}>({status})"
        return f'rcw_refused("{prototype.qualified}", {status}); return {returns};'
    return f"return rcw_answer<{kind}>({status});"
