"""What of an API made of a template is C++'s alone: methods, the objects that hold a card, and how a call answers.

An object holds the card that its constructor, or a method of kind `acquire`, opened; one that is constructed of another
holds that one's. An object that is not known, as one that was copied, is of the only card that is open, else of the
first. The generated functions use no member of theirs, so a class is whatever the API's header declares; what its text
says is read in `shim_classes.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from rc_workbench_plugins.simulated_card.shim_classes import WORD, Classes
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import CallKind, HostEntry
from workbench.model.prototypes import Prototype

_ELSE = "Name sources that implement it: host.api_sources."
#: What of the library is included before the API's own headers.
STANDARD = ("map", "memory", "optional", "stdexcept", "string", "type_traits", "utility", "vector")
OBJECTS = """
static std::map<const void *, wbcard_t *> rcw_objects;

template <class T> static const void *rcw_at(const T &object) { return &object; }
template <class T> static const void *rcw_at(T *object) { return object; }
template <class T> static const void *rcw_at(const std::shared_ptr<T> &object) { return object.get(); }
template <class T> static const void *rcw_at(const std::unique_ptr<T> &object) { return object.get(); }

static inline wbcard_t *rcw_only() /* the card that is open, where one alone is */
{
    wbcard_t *only = nullptr;
    for (wbcard_t *card : rcw_cards)
        if (card && only) return nullptr;
        else if (card) only = card;
    return only;
}

/* An object that is returned by value may stand elsewhere than where it was made. */
static inline wbcard_t *rcw_held(const void *object)
{
    auto found = rcw_objects.find(object);
    if (found != rcw_objects.end()) return found->second;
    wbcard_t *only = rcw_only();
    return only ? only : rcw_numbered(0);
}

static inline int rcw_drop(const void *object)
{
    auto found = rcw_objects.find(object);
    wbcard_t *card = found != rcw_objects.end() ? found->second : object ? rcw_only() : nullptr;
    if (found != rcw_objects.end()) rcw_objects.erase(found);
    return card ? rcw_release(card) : 0;
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

static inline wbcard_t *rcw_opened(long number)
{
    return rcw_acquire(number) ? nullptr : rcw_cards[number];
}

/* Zeros for whatever a member or a result refers to that nobody looks at. */
struct rcw_any {
    template <class T> operator T &() const
    {
        alignas(T) static unsigned char at[sizeof(T)];
        return reinterpret_cast<T &>(at);
    }
};

template <class R> static R rcw_answer(int status)
{
    if constexpr (std::is_reference_v<R>) {
        static std::remove_cv_t<std::remove_reference_t<R>> none{};
        return static_cast<R>(none);
    } else if constexpr (std::is_pointer_v<R>) return nullptr;
    else if constexpr (std::is_arithmetic_v<R> || std::is_enum_v<R>) return (R)status;
    else return R{};
}

/* An object that a function of the API makes holds its card. No constructor of the library's is at hand: what has no
 * virtual methods begins as zeros, of what has some a class that is derived from it is made. */
template <class T> struct rcw_concrete { using type = T; };

template <class T> static T *rcw_new(wbcard_t *card)
{
    if (!card) return nullptr;
    T *object;
    if constexpr (std::is_polymorphic_v<T>) object = new typename rcw_concrete<T>::type();
    else object = static_cast<T *>(memset(::operator new(sizeof(T)), 0, sizeof(T)));
    rcw_objects[object] = card;
    return object;
}

template <class R> struct rcw_maker {
    static R make(wbcard_t *card, const char *name)
    {
        rcw_refused(name, card ? 0 : -1);
        if constexpr (std::is_default_constructible_v<R>) {
            R object{};
            rcw_objects[&object] = card; /* its place is the caller's: it is not moved */
            return object;
        } else {
            alignas(R) unsigned char at[sizeof(R)] = {};
            return std::move(reinterpret_cast<R &>(at));
        }
    }
};
template <class T> struct rcw_maker<const T> : rcw_maker<T> {};
template <class T> struct rcw_maker<T *> {
    static T *make(wbcard_t *card, const char *) { return rcw_new<std::remove_const_t<T>>(card); }
};
template <class T> struct rcw_maker<T &> {
    static T &make(wbcard_t *card, const char *name)
    {
        static std::map<wbcard_t *, std::remove_const_t<T> *> made;
        rcw_refused(name, card ? 0 : -1);
        auto &object = made[card];
        return *(object ? object : object = rcw_new<std::remove_const_t<T>>(card));
    }
};
template <class T, class D> struct rcw_maker<std::unique_ptr<T, D>> {
    static std::unique_ptr<T, D> make(wbcard_t *card, const char *)
    {
        auto *object = rcw_new<std::remove_const_t<T>>(card);
        if constexpr (std::is_pointer_v<D>) return std::unique_ptr<T, D>(object, [](auto *) {});
        else return std::unique_ptr<T, D>(object);
    }
};
template <class T> struct rcw_maker<std::shared_ptr<T>> {
    static std::shared_ptr<T> make(wbcard_t *card, const char *)
    {
        return std::shared_ptr<T>(rcw_new<std::remove_const_t<T>>(card));
    }
};
template <class T> struct rcw_maker<std::optional<T>> {
    static std::optional<T> make(wbcard_t *card, const char *name)
    {
        (void)name;
        std::optional<T> made;
        if (!card) return made;
        if constexpr (std::is_default_constructible_v<T>) made.emplace();
        else made.emplace(rcw_maker<T>::make(card, name));
        rcw_objects[&*made] = card;
        return made;
    }
};
template <class T, class A> struct rcw_maker<std::vector<T, A>> { /* one of each card */
    static std::vector<T, A> make(wbcard_t *, const char *name)
    {
        std::vector<T, A> made;
        const int count = wbcard_count();
        for (int number = 0; number < count; number++) made.push_back(rcw_maker<T>::make(rcw_opened(number), name));
        for (int number = 0; number < count; number++) rcw_objects[rcw_at(made[number])] = rcw_cards[number];
        return made;
    }
};
"""


def head(prototype: Prototype, classes: Classes) -> str:
    """The first line of a definition outside the class. A result's type stands behind, where the class's names hold."""
    parameters = ", ".join(declaration for declaration, _ in prototype.parameters)
    after = f" {prototype.qualifiers}" if prototype.qualifiers else ""
    if not prototype.returns:
        begins = _begins(classes, prototype.scope) if prototype.is_constructor else ""
        return f"{prototype.qualified}({parameters}){after}{begins}"
    return f"auto {prototype.qualified}({parameters}){after} -> {prototype.returns}"


def _begins(classes: Classes, name: str) -> str:
    """What a constructor initialises: references refer to zeros, and constants are zero."""
    held = classes.bodies[name].held if name in classes.bodies else ()
    return f" : {', '.join(f'{member}(rcw_any())' for member in held)}" if held else ""


def missing(classes: Classes, known: Collection[str]) -> Iterator[str]:
    """Definitions that the API's classes need besides those of its entries' functions (`known`, by their names): of
    private constructors, and of copies and moves, which hold the card of the other object."""
    for name, body in classes.bodies.items():
        for kind, parameters, after in body.specials:
            default = not WORD.search(parameters.replace("void", ""))
            if default and f"{name}::{kind}" in known:
                continue
            result = "" if kind != "operator=" else f"{name} &"
            other = "" if default else "rcw_other"
            plain = re.sub(r"(&&?)\s*\w*\s*\)$", rf"\1{other})", parameters) if other else "()"
            holds = f"rcw_objects[this] = rcw_held(rcw_at({other}));" if other else ""
            begins = "" if result else _begins(classes, name)
            yield f"{result}{name}::{kind}{plain} {after}{begins} {{ {holds}{' return *this;' if result else ''} }}"


def concrete(classes: Classes, known: Collection[str]) -> Iterator[str]:
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
            if f"{name}::{method.name}" not in known:
                does = "".join(f"(void){argument}; " for _, argument in method.parameters)
                does += f"return rcw_answer<{method.returns}>(0);" if method.returns != "void" else ""
            after = f" {method.qualifiers}" if method.qualifiers else ""
            methods.append(f"    {method.returns} {method.name}({declared}){after} override {{ {does} }}")
        lines = [f"struct {own} final : {last if inside else name} {{", *methods, "};"]
        yield from [f"namespace {space} {{", *lines, "}"] if inside else lines
        yield f"template <> struct rcw_concrete<{name}> {{ using type = {f'{space}::' if inside else ''}{own}; }};"


def action(prototype: Prototype, entry: HostEntry, classes: Classes) -> list[str] | None:
    """What a call of this entry does where that is of an object's life; None for any other. WorkbenchError where an
    object would have to be made of which it is not known how."""
    number = f"(long)({entry.fpga.strip() or '0'})"
    if prototype.is_constructor:
        source = classes.object_of(prototype)
        if entry.kind is CallKind.ACQUIRE:
            return [f"int rcw_status = rcw_take(this, {number});", answer(prototype, "rcw_status", classes)]
        return [f"rcw_objects[this] = rcw_held({source});", "return;"] if source else ["return;"]
    if prototype.is_destructor:
        return [
            "if (rcw_objects.count(this)) rcw_drop(this);"
            if entry.kind is CallKind.RELEASE
            else "rcw_objects.erase(this);",
            "return;",
        ]
    if classes.makes_object(prototype) and not classes.can_make(prototype.returns):
        raise WorkbenchError(
            Diagnostic(f"how {prototype.qualified} makes the {prototype.returns} that it returns is not known", _ELSE)
        )
    if classes.makes_object(prototype) and not entry.kind.moves:
        opens = entry.kind is CallKind.ACQUIRE
        return [_made(prototype, classes, f"rcw_opened({number})" if opens else "")]
    if entry.kind is CallKind.ACQUIRE and classes.has_object(prototype):
        return [f"int rcw_status = rcw_take(this, {number});", answer(prototype, "rcw_status", classes)]
    if entry.kind is CallKind.RELEASE and (held := classes.object_of(prototype)):
        return [f"int rcw_status = rcw_drop({held});", answer(prototype, "rcw_status", classes)]
    return None


def _made(prototype: Prototype, classes: Classes, card: str = "") -> str:
    holder = classes.object_of(prototype)
    card = card or (f"rcw_held({holder})" if holder else "rcw_numbered(0)")
    return f'return rcw_maker<{prototype.returns}>::make({card}, "{prototype.qualified}");'


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
        return f'rcw_refused("{prototype.qualified}", {status}); {_made(prototype, classes)}'
    if kind.endswith("&"):
        own = classes.has_object(prototype) and classes.known(kind)
        returns = "*this" if own else f"rcw_answer<{kind}>({status})"
        return f'rcw_refused("{prototype.qualified}", {status}); return {returns};'
    return f"return rcw_answer<{kind}>({status});"
