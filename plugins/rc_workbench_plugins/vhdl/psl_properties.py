"""Properties of PSL as automata (IEEE 1850); what is not watched is named.

Properties are conditions, sequences, `->`, `|->`, `|=>`, `next`, `next_a`, `next_e`, `next_event`, `until`, `until_`,
`before`, `eventually!`, and the strong ones of these (`!`), which fail where the run ends before. Sequences have `;`,
`:`, `|`, `&`, `&&`, `within` and the repetitions `[*]`, `[+]`, `[->]` and `[=]`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rc_workbench_plugins.vhdl.blocks import bare, closing
from rc_workbench_plugins.vhdl.syntax import plain
from workbench.hdl.watched import ANY, MOST_DELAY, ClockedRegister, Property, Unwatched, properties, sequences

#: What ends a condition where it is not within parentheses.
_TEMPORAL = (
    "->", "|->", "|=>", "<->", ";", ":", "|", "&", "&&", "{", "}", "[*", "[+", "[->", "[=", "@", "!", "until", "until_",
    "before", "before_", "abort", "sync_abort", "async_abort", "within", "next", "next_a", "next_e", "next_event",
    "eventually", "always", "never", "forall", "whilenot",
)  # fmt: skip
_PAST = ("prev", "rose", "fell", "stable")


@dataclass
class Reader:
    """Reads a property's `tokens` from `at` on. `signals` are as in `properties`; `name` begins registers' names."""

    tokens: list[str]
    signals: Mapping[str, str]
    name: str
    at: int = 0
    disable: int | None = None
    conditions: dict[str, int] = field(default_factory=dict)
    kept: list[ClockedRegister] = field(default_factory=list)
    _registers: dict[str, list[str]] = field(default_factory=dict)  # of a signal, one for each cycle before

    def whole(self) -> Property:
        """All of it. Raises Unwatched."""
        what = self._always()
        if self.at < len(self.tokens):
            raise self._wrong()
        return what

    # ---- properties, those that bind least first

    def _always(self) -> Property:
        if self._takes("always"):
            return self._always()
        if self._takes("never"):
            return properties.negated(properties.of(sequences.strong(self._as_sequence(self._always()))))
        what = self._implication()
        if self._takes("abort", "sync_abort", "async_abort"):
            if self.disable is not None:
                raise Unwatched("it has a second abort")
            self.disable = self._number(self._condition())
        return what

    def _implication(self) -> Property:
        left = self._until()
        if word := self._takes("->", "|->", "|=>"):
            return properties.implied(self._as_sequence(left), self._implication(), word == "|=>")
        return left

    def _until(self) -> Property:
        left = self._next()
        if word := self._takes("until", "until_", "before", "before_"):
            is_strong = bool(self._takes("!"))
            word += self._takes("_") if is_strong else ""
            first, second = (self._one_cycle(one, word) for one in (left, self._next()))
            if word.startswith("until"):
                last = sequences.fused(first, second) if word == "until_" else second
                return properties.of(properties.until(first, last, is_strong))
            ((number, holds),) = second.steps[0][1]
            not_yet = sequences.condition(number, not holds)
            last = first if word == "before_" else sequences.fused(first, not_yet)
            return properties.of(properties.until(not_yet, last, is_strong))
        return left

    def _next(self) -> Property:
        if self._takes("eventually"):
            self._needs("!")
            return properties.of(properties.awaited(0, None, sequences.strong(properties.plain(self._next())), True))
        if word := self._takes("next", "next_a", "next_e", "next_event"):
            is_strong = bool(self._takes("!"))
        if word == "next":
            low, _ = self._bounds() if self._takes("[") else (1, 1)
            return properties.next_(low, self._next(), is_strong)
        if word in ("next_a", "next_e"):
            self._needs("[")
            low, high = self._bounds()
            if high is None:
                raise Unwatched(f"'{word}' has no end: write [{low} to {low + 8}]")
            inner = self._next()
            if word == "next_e":
                return properties.of(properties.awaited(low, high, properties.plain(inner), is_strong))
            times = high - low + 1
            each = sequences.repeated(self._one_cycle(inner, word), times, times)
            all_ = sequences.then(sequences.repeated(ANY, low, low), each)
            return properties.of(all_ if is_strong else sequences.weak(all_))
        if word == "next_event":
            self._needs("(")
            number = self._number(self._condition())
            self._needs(")")
            times, _ = self._bounds() if self._takes("[") else (1, 1)
            event = sequences.at_times(number, times, times)
            if is_strong:
                return properties.of(sequences.fused(event, properties.plain(self._next())))
            return properties.implied(event, self._next())
        if self._peek() == "(" and self._is_property():
            self.at += 1
            what = self._always()
            self._needs(")")
            return what
        found = self._within()
        return properties.of(found if self._takes("!") else sequences.weak(found))

    def _is_property(self) -> bool:
        """Whether the parentheses here are around all of a property, and not part of a condition."""
        end = self._closing(self.at)
        following = self.tokens[end + 1].lower() if end + 1 < len(self.tokens) else ")"
        temporal = any(one.lower() in _TEMPORAL for one in self.tokens[self.at : end])
        return temporal and (following in _TEMPORAL or following == ")")

    # ---- sequences, those that bind most last

    def _within(self) -> sequences.Sequence:
        found = self._repetition()
        while self._takes("within"):
            found = sequences.within(found, self._repetition())
        return found

    def _concatenation(self) -> sequences.Sequence:
        found = self._fusion()
        while self._takes(";"):
            found = sequences.then(found, self._fusion())
        return found

    def _fusion(self) -> sequences.Sequence:
        found = self._union()
        while self._takes(":"):
            found = sequences.fused(found, self._union())
        return found

    def _union(self) -> sequences.Sequence:
        found = self._intersection()
        while self._takes("|"):
            found = sequences.either(found, self._intersection())
        return found

    def _intersection(self) -> sequences.Sequence:
        found = self._within()
        while word := self._takes("&", "&&"):
            found = (sequences.together if word == "&&" else sequences.both)(found, self._within())
        return found

    def _repetition(self) -> sequences.Sequence:
        if self._peek() in ("[*", "[+"):
            found = ANY
        elif self._takes("{"):
            found = self._concatenation()
            self._needs("}")
        else:
            found = sequences.condition(self._number(self._condition()))
        while word := self._takes("[*", "[+", "[->", "[="):
            low: int
            high: int | None
            if self._takes("]"):
                low, high = {"[*": (0, None), "[+": (1, None)}.get(word, (1, 1))
            else:
                low, high = self._bounds()
            if word in ("[*", "[+"):
                found = sequences.repeated(found, low, high)
                continue
            ((number, _),) = self._one_cycle(properties.of(found), word).steps[0][1]
            found = sequences.at_times(number, low, high)
            if word == "[=":
                found = sequences.then(found, sequences.repeated(sequences.condition(number, False), 0, None))
        return found

    # ---- conditions

    def _condition(self) -> str:
        """The tokens to the next that is none of a condition's, as VHDL."""
        start = self.at
        while self.at < len(self.tokens) and self.tokens[self.at].lower() not in _TEMPORAL and self._peek() != ")":
            self.at = self._closing(self.at) + 1 if self._peek() == "(" else self.at + 1
        tokens = self.tokens[start : self.at]
        if not tokens:
            raise self._wrong()
        if other := next((one for one in tokens if one.lower() in _TEMPORAL and one not in ("&", "|", ":", ";")), ""):
            raise Unwatched(f"'{other}' is within a condition: split the property into conditions")
        return bare(self._text(tokens, 0))

    def _text(self, tokens: list[str], before: int) -> str:
        """Tokens as VHDL, with what signals were so many cycles before."""
        parts: list[str] = []
        at = 0
        while at < len(tokens):
            word = tokens[at].lower()
            if word in _PAST and tokens[at + 1 : at + 2] == ["("]:
                end = closing(tokens, at + 1)
                parts.append(self._past(word, tokens[at + 2 : end], before))
                at = end + 1
                continue
            parts.append(self._register(tokens[at], before) if before else tokens[at])
            at += 1
        return " ".join(parts)

    def _past(self, word: str, tokens: list[str], before: int) -> str:
        cycles = 1
        if word == "prev" and "," in tokens:
            cut = len(tokens) - 1 - tokens[::-1].index(",")
            if tokens[cut + 1 :] and "(" not in tokens[cut:]:
                cycles, tokens = _cycles("".join(tokens[cut + 1 :])), tokens[:cut]
        now, then = (self._text(tokens, before + n) for n in (0, cycles))
        if word == "prev":
            return f"({then})"
        if word == "stable":
            return f"({now} = {then})"
        type_ = self.signals.get(plain(tokens[0].partition(".")[0]), "") if tokens else ""
        whole = len(tokens) == 1 or (tokens[1] == "(" and closing(tokens, 1) == len(tokens) - 1)
        is_bit = whole and plain(type_) != "boolean"
        now, then = (f"({one} = '1')" if is_bit else f"({one})" for one in (now, then))
        return f"({now} and not {then})" if word == "rose" else f"(not {now} and {then})"

    def _register(self, token: str, before: int) -> str:
        """What keeps a signal so many cycles; of another word that itself."""
        name, dot, field_ = token.partition(".")
        type_ = self.signals.get(plain(name), "")
        if not type_:
            return token
        chain = self._registers.setdefault(plain(name), [])
        while len(chain) < before:
            register = f"{self.name}_{len(self.kept)}"
            self.kept.append(
                ClockedRegister(f"signal {register} : {type_}; ", f"{register} <= {chain[-1] if chain else name};")
            )
            chain.append(register)
        return f"{chain[before - 1]}{dot}{field_}"

    # ---- tokens

    def _peek(self) -> str:
        return self.tokens[self.at].lower() if self.at < len(self.tokens) else ""

    def _takes(self, *words: str) -> str:
        word = self._peek()
        if word in words:
            self.at += 1
            return word
        return ""

    def _needs(self, word: str) -> None:
        if not self._takes(word):
            raise self._wrong(f" where '{word}' should be")

    def _wrong(self, more: str = "") -> Unwatched:
        word = self._peek()
        what = "it ends early" if not word else f"'{word}' is not watched" if not more else f"'{word}' is written{more}"
        return Unwatched(what if word in _TEMPORAL or more or not word else f"'{word}' is not expected there")

    def _closing(self, at: int) -> int:
        end = closing(self.tokens, at)
        if end < 0:
            raise Unwatched("a parenthesis is not closed")
        return end

    def _bounds(self) -> tuple[int, int | None]:
        """Numbers of cycles up to a bracket."""
        end = next((n for n in range(self.at, len(self.tokens)) if self.tokens[n] == "]"), -1)
        if end < 0:
            raise Unwatched("a bracket is not closed")
        text = " ".join(self.tokens[self.at : end])
        self.at = end + 1
        low, _, high = (part.strip() for part in re.sub(r"\bto\b", ":", text).partition(":"))
        if not high:
            return _cycles(low), _cycles(low)
        return _cycles(low), None if high.lower() == "inf" else _cycles(high)

    def _number(self, text: str) -> int:
        return self.conditions.setdefault(text, len(self.conditions))

    def _as_sequence(self, what: Property) -> sequences.Sequence:
        ((more, last), *others) = what
        if more is not None or last is None or others:
            raise Unwatched("an implication is on the left of another one, or within never")
        return last

    def _one_cycle(self, what: Property, word: str) -> sequences.Sequence:
        found = self._as_sequence(what)
        if len(found.steps) != 1 or len(found.steps[0][1]) != 1 or found.empty:
            raise Unwatched(f"'{word}' takes only conditions of one cycle")
        return found


def _cycles(text: str) -> int:
    if not text.isdecimal() or int(text) > MOST_DELAY:
        raise Unwatched(f"'{text}' is not a number of cycles up to {MOST_DELAY}")
    return int(text)
