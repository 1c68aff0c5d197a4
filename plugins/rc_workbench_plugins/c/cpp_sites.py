"""Writes a C++ call as a lambda that records it: the text that goes where the call begins, in recap.hpp's words."""

import re
from collections.abc import Iterable, Mapping

from rc_workbench_plugins.c.cpp_forms import Form
from rc_workbench_plugins.c.numbering import Hook
from rc_workbench_plugins.c.wrappers import USES, bits, escaped, into_streams
from workbench.api import Callee, CallKind, HostEntry, Platform, Prototype
from workbench.api.instrument.board import kept_handles
from workbench.api.unstable import QueueEntry, object_class, opened, type_of

_WORD = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*")
_SCALAR = re.compile(r"(?:(?:unsigned|signed|long|short|int|char|bool|float|double|size_t|u?int\d+_t)\b\s*)+\*?")


def opening(
    hook: Hook,
    form: Form,
    unit: str,
    platform: Platform,
    opened_as: Mapping[str, int],
    recorded: int | None = None,
) -> str:
    """The lambda up to where the user's object follows; whole where there is none. `unit` names the slots' table,
    `opened_as` numbers what calls open, `recorded` what would record the call once more."""
    wrapper = hook.wrappers[-1]
    takes = [f"{kind} rcw_{n}" for n, kind in enumerate(form.parameters)]
    given = ", ".join(f"static_cast<decltype(rcw_{n}) &&>(rcw_{n})" for n in range(len(form.parameters)))
    call = f"{form.call[0]}{given}{form.call[1]}"
    words = SiteWords(wrapper.callee, form, platform.host.constants, opened_as, call)
    code = _code(hook)
    body = f"rcw_site rcw_s(rcw_here_{unit}, {'rcw_code' if len(hook.wrappers) > 1 else code}); "
    before, after = words.opens()
    body += f"{words.described()}{f'{{ {before} }} ' if before else ''}"
    body += words.at_the_board(platform)
    body += f"rcw_expects rcw_e({recorded}); " if recorded is not None else ""
    body += f"rcw_s.go({len(wrapper.states)}); "
    if moved := words.moved():
        kind, made = f"rcw_moved<decltype({call})>", "RCW_UNCOUNTED"
        body += f"return {kind}::of([&]() {made} -> decltype({call}) {{ return {call}; }}, "
        body += f"[&](typename {kind}::type *rcw_made) {made} {{ (void)rcw_made; {moved} }});"
    elif after:
        body += f"return rcw_returned<decltype({call})>::of(rcw_s, [&]() RCW_UNCOUNTED -> decltype({call}) "
        body += f"{{ return {call}; }}, [&](typename rcw_returned<decltype({call})>::made rcw_made) RCW_UNCOUNTED "
        body += f"{{ (void)rcw_made; {after} }});"
    else:
        body += f"return {call};"
    body = f"if (!rcw_0) return; {body}" if form.of_pointer else body
    outer = [
        *(["int rcw_code"] if len(hook.wrappers) > 1 else []),
        *([f"{form.object}rcw_self"] if form.object else []),
    ]
    captures = [*(["rcw_code"] if len(hook.wrappers) > 1 else []), *(["&rcw_self"] if form.object else [])]
    inner = f"[{', '.join(captures)}]({', '.join(takes)}) RCW_CALL -> decltype({call}) {{ {body} }}"
    if not outer:
        return f"({inner})"
    chosen = f"{code}{', ' if form.object else '))'}" if len(hook.wrappers) > 1 else ""
    return f"([]({', '.join(outer)}) RCW_UNCOUNTED {{ return {inner}; }}({chosen}"


def _code(hook: Hook) -> str:
    """The number for `rcw_site`, chosen by the wrappers' conditions where the call stands."""
    *conditional, last = hook.wrappers
    numbers = {w.name: 2 * w.slot + (w.otherwise is not None) for w in hook.wrappers}
    chain = "".join(f"({w.condition}) ? {numbers[w.name]} : " for w in conditional)
    return f"{chain}{numbers[last.name]}"


class SiteWords:
    """A callee's expressions, over the arguments of one call, whose text is `call`."""

    def __init__(
        self, callee: Callee, form: Form, constants: Mapping[str, int | float | str], opened_as: Mapping[str, int],
        call: str = "",
    ) -> None:  # fmt: skip
        self.callee, self.form, self.constants, self.opened_as = callee, form, constants, opened_as
        self.declared: dict[str, str] = {}  # what declares a name of the prototype, where the call tells what it is
        prototype, defaults = callee.prototype, dict(callee.prototype.defaults)
        self.makes = prototype.is_constructor
        if form.object and not self.makes:
            self.declared["self"] = f"auto &self = ({form.only} &)rcw_self;" if form.only else "auto &self = rcw_self;"
        shift = 1 if form.object_is_first else 0
        for n, (declaration, name) in enumerate(prototype.parameters):
            kind, at = type_of(declaration, name), n - shift
            if "..." in declaration:
                continue
            if at < 0:
                self.declared[name] = f"auto &{name} = rcw_self;"
            elif at >= len(form.parameters):
                if name in defaults:
                    self.declared[name] = f"const auto {name} = {defaults[name]};"
            elif not form.only:
                self.declared[name] = f"auto &&{name} = rcw_{at};"
            elif _SCALAR.fullmatch(kind):
                self.declared[name] = f"auto {name} = rcw_as<{kind}>(rcw_{at}, 0);"
        kinds = _template_kinds(prototype)
        for one in kinds:
            given = {kind: f"rcw_{n - shift}" for n, kind in enumerate(prototype.types)
                     if 0 <= n - shift < len(form.parameters) and not form.only}  # fmt: skip
            given |= {prototype.returns: call} if call and not form.only else {}
            if type_name := next(filter(None, (_kind_of(one, kind, value) for kind, value in given.items())), ""):
                self.declared[one] = f"using {one} = {type_name};"
        self.unknown = {*kinds, *(name for _, name in prototype.parameters)} - self.declared.keys()

    def described(self) -> str:
        """Evaluates the entries' expressions before the call."""
        every = [entry for _, entry in self.callee.entries]
        texts = [text for e in every for text in (e.condition, e.bytes, e.address, e.fpga, self.called_on(e))]
        texts += [e.queue or f"self {self._first()}" for e in every if isinstance(e, QueueEntry)]
        entries = " ".join(self._entry(n, entry) for n, (_, entry) in enumerate(self.callee.entries))
        only = self.form.only
        holds = f"rcw_s.open() && rcw_is<{only}>(rcw_self)" if only else "rcw_s.open()"
        return f"if ({holds}) {{ {self._names(texts)} {entries} }} "

    def _entry(self, which: int, entry: HostEntry) -> str:
        fields = [
            f"rcw_s.it.{name} = {kind}({self._text(expression)});"
            for name, kind, expression in (
                ("bytes", "(int64_t)", entry.bytes),
                ("address", "(int64_t)", entry.address),
                ("fpga", "(int32_t)(intptr_t)", entry.fpga),
            )
            if expression.strip() and self.tells(expression)
        ]
        fields += [self._queue(entry)] if isinstance(entry, QueueEntry) else []
        holds, before = f"rcw_s.open() && ({self._text(entry.condition) or 1})", ""
        of, on = opened(entry.of), self.called_on(entry)
        if of and on:
            chosen, value = bits(of.names, self.opened_as), f"rcw_value({self._text(on)})"
            before = f"const rcw_object *rcw_o{which} = rcw_of({value}, {chosen}); "
            holds = f"rcw_o{which} && {holds}"
            fields.insert(0, f"rcw_s.it.fpga = rcw_o{which}->fpga;")
            if entry.kind is CallKind.RELEASE:  # others may get the same as soon as the call is made
                fields.append(f"rcw_closed({chosen}, {value});")
        return f"{before}if ({holds}) {{ rcw_s.it.which = {which}; {' '.join(fields)} }}"

    def moved(self) -> str:
        """What says after a queue's call how many elements went in or came out; empty for other calls."""
        said = []
        for which, (_, entry) in enumerate(self.callee.entries):
            if isinstance(entry, QueueEntry):
                flag = self.callee.prototype.returns == "bool"
                elements = entry.elements if self.tells(entry.elements) else ""
                text = self._text(elements) or ("result" if flag else "1")
                names = self._names([text], {"result": "auto &result = *rcw_made;"})
                said.append(f"if (rcw_s.it.which == {which}) {{ {names} rcw_s.moved((int64_t)({text})); }}")
        return " ".join(said)

    def _queue(self, entry: QueueEntry) -> str:
        """The queue that a call pushes into or pops from."""
        given = entry.queue or ("self" if "self" in self.declared and not self.form.object_is_first else self._first())
        return f"rcw_s.it.address = rcw_queue(rcw_value({self._text(given)}));" if self.tells(given) else ""

    def at_the_board(self, platform: Platform) -> str:
        """On a real machine: keep what the read-out needs of this call, let the monitors count from the first transfer
        until the board is released, and say what goes into a stream in which they have reserved words."""
        prototype, kinds, host = self.callee.prototype, self.callee.kinds, platform.host
        of_object = object_class(host)
        ends = CallKind.RELEASE in kinds or (prototype.is_destructor and prototype.scope == of_object)
        if CallKind.ACQUIRE in kinds or not (ends or not USES.isdisjoint(kinds)):
            return ""
        keeps = []
        for which, name in enumerate(kept_handles(host)):
            if name == "self" and "self" in self.declared and prototype.scope == of_object and not self.form.only:
                caught = self.form.caught
                # above a class in its header its name is not known yet; there it is the object's own
                kind = "void" if caught and caught.header else f"::{of_object}"
                keeps.append(f"rcw_keeps(rcw_at, {which}, ({kind} *)&rcw_self);")
            elif name in self.declared and name in {one for _, one in prototype.parameters}:
                keeps.append(f"{{ {self._names([name])} rcw_keeps(rcw_at, {which}, {name}); }}")
        act = "rcw_board_end(rcw_at);" if ends else "rcw_board_begin(rcw_at);"
        at = "const int rcw_at = rcw_board_of(rcw_s.it);"
        streams = into_streams(self.callee, platform)
        sends = " ".join(self._sends(which, *of) for which, of in streams.items())
        before = "rcw_streams rcw_into; " if streams else ""
        return f"{before}if (rcw_s.me && rcw_board_begin) {{ {at} {' '.join(keeps)} {act} {sends}}} "

    def _sends(self, which: int, port: int, data: str, size: str) -> str:
        """Before data of the entry `which` go into the stream of a port: where they are, if this call tells it."""
        if not self.tells(data, size):
            data, size = "NULL", "-1"
        begins = f"rcw_into.begin(rcw_at, {port}, (const void *)({self._text(data)}), (int64_t)({self._text(size)}));"
        return f"if (rcw_s.it.which == {which}) {{ {self._names([data, size])} {begins} }} "

    def called_on(self, entry: HostEntry) -> str:
        """What an entry holds for alone: an expression; empty where it holds for all, or a call does not tell."""
        of = opened(entry.of)
        first = "self" if "self" in self.declared and not self.form.object_is_first else self._first()
        on = (of.expression or first) if of else ""
        return on if self.tells(on) else ""

    def opens(self) -> tuple[str, str]:
        """What comes before and after the call, whose result is then `rcw_made`; empty where there is nothing to do.
        Where a variable will be the object that is made, it is known before."""
        given = [(which, entry, opens) for which, (_, entry) in enumerate(self.callee.entries)
                 if (opens := opened(entry.opens)) and self.tells(opens.expression, entry.mapped_bytes)]  # fmt: skip
        names = bits((name for _, _, opens in given for name in opens.names), self.opened_as)
        variable = self.makes and bool(self.form.object)
        statements: dict[bool, list[str]] = {False: [], True: []}
        texts: dict[bool, list[str]] = {False: [], True: []}
        created = {"result", "self"} if self.makes else {"result"}
        results: dict[str, bool] = {}  # what may have been opened before, where that went unseen
        for which, entry, opens in given:
            early = variable and not opens.expression
            value = self._text(opens.expression) or ("rcw_self" if early else "rcw_made")
            if not opens.expression or not created.isdisjoint(_WORD.findall(opens.expression)):
                results[value] = early
            about = f"{self.opened_as[opens.names[0]]}, {names}, (uint64_t)({self._text(entry.mapped_bytes) or 0})"
            statements[early].append(f"if (rcw_s.it.which == {which}) rcw_opens({value}, {about}, rcw_s.it);")
            texts[early] += [opens.expression, entry.mapped_bytes]
        for value, early in results.items():
            statements[early].append(f"if (rcw_s.it.which < 0) rcw_closed({names}, rcw_value({value}));")
        known = {name: f"auto &{name} = rcw_made;" for name in sorted(created)}
        before = [self._names(texts[True]), *statements[True]]
        return " ".join(before).strip(), " ".join([self._names(texts[False], known), *statements[False]]).strip()

    def tells(self, *texts: str) -> bool:
        """Whether a call tells all that expressions speak of."""
        return all(self.unknown.isdisjoint(_WORD.findall(text)) for text in texts)

    def _first(self) -> str:
        return next((name for _, name in self.callee.prototype.parameters), "0")

    def _names(self, texts: Iterable[str], more: Mapping[str, str] = {}) -> str:
        used = {word for text in texts for word in _WORD.findall(text)}
        return " ".join(declared for name, declared in {**more, **self.declared}.items() if name in used)

    def _text(self, expression: str) -> str:
        own = {name for _, name in self.callee.prototype.parameters}
        return _WORD.sub(lambda m: m[0] if m[0] in own else _constant(m[0], self.constants), expression.strip())


def _template_kinds(prototype: Prototype) -> list[str]:
    """The names of the types over which a function is a template."""
    own = re.match(r"template\s*<([^<>]*)>", prototype.text)
    return re.findall(r"\b(?:class|typename)\s+(\w+)", own[1]) if own else []


def _kind_of(name: str, kind: str, value: str) -> str:
    """C++ for a template's type by a value whose declared type is that type, or an array or pointer of it."""
    bare = f"typename rcw_bare<decltype({value})>::type"
    plain = re.sub(r"\bconst\b|[&*\s]", "", kind)
    if plain == name:
        return bare
    return f"typename rcw_first<{bare}>::type" if re.fullmatch(rf"[\w:]+<{name}\b.*>", plain) else ""


def unfollowed(hook: Hook, form: Form) -> str:
    """What a call does not tell of its name on, or opens, though an entry asks; empty where it tells all."""
    words = SiteWords(hook.api_use.callee, form, {}, {})
    for _, entry in hook.api_use.callee.entries:
        if entry.of and not words.called_on(entry):
            return "is called on"
        opening = opened(entry.opens)
        if opening and not words.tells(opening.expression, entry.mapped_bytes):
            return "opens"
        if opening and form.unseen and (opening.expression or not form.object):
            return "opens"
    return ""


def _constant(word: str, constants: Mapping[str, int | float | str]) -> str:
    if word in ("like", "order_of") and word not in constants:
        return f"rcw_{word}"
    value = constants.get(word)
    return word if value is None else f'"{escaped(value)}"' if isinstance(value, str) else f"({value!r})"
