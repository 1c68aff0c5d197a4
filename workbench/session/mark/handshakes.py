"""Recognises handshakes in a branch's signals, by the same table of names as ports."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from workbench.api.port_styles import OTHERS, PortStyle
from workbench.model.scan import Term

Side = Literal["valid", "ready"]

#: Possible suffixes after the recognised word.
_BEHIND = re.compile(r"_(?:i|o|in|out|reg|r|q)\Z")
_INDEX = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_LEAST_LETTERS = 3  # letters of a recognised word
_GLUED_LETTERS = 4  # letters of a word that may directly follow other letters
_UNGLUED = {"read", "write", "access", "accept"}  # words that are endings of other words
_BUFFERS = ("full", "empty")
_LEVELS = ("ready", "rdy", "accept", "full")  # signals of a taking side; others, such as rd_en, request a word


@dataclass(frozen=True)
class Asks:
    """A handshake signal in a branch's condition. `on` says whether the branch is taken while the signal's side agrees.
    `buffer` marks full or empty signals, `level` signals that may agree without a transfer. `stem` is the signal's name
    before the recognised word."""

    term: Term
    side: Side
    on: bool
    buffer: bool
    stem: str
    level: bool = False


class HandshakeWords:
    """The words of handshakes, of all port styles."""

    def __init__(self, styles: Iterable[PortStyle] = ()) -> None:
        self._styles = (*styles, *OTHERS)

    @cached_property
    def _sides(self) -> Mapping[str, tuple[Side, bool]]:
        """Word -> its side, and whether the side agrees while the signal is low; the longest word first."""
        side_of_word: dict[str, tuple[Side, bool]] = {}
        for style in self._styles:
            ends = {role.name: role.ends for role in style.roles}
            for shake in style.handshakes:
                sides: tuple[tuple[str, Side, bool], ...] = (
                    (shake.valid, "valid", shake.valid_low),
                    (shake.ready, "ready", shake.ready_low),
                )
                for role, side, low in sides:
                    for end in ends.get(role, ()):
                        if len(end) >= _LEAST_LETTERS and not end.endswith("_n"):
                            side_of_word.setdefault(end, (side, low))
        return dict(sorted(side_of_word.items(), key=lambda item: -len(item[0])))

    def asks(self, term: Term) -> Asks | None:
        """The meaning of a signal, or of a record's field; None if it belongs to no known handshake."""
        record, _, field = _INDEX.sub("", term.signal.lower()).rpartition(".")
        name = _BEHIND.sub("", field)
        low = name.endswith("_n")
        name = name.removesuffix("_n")
        for word, (side, when_low) in self._sides.items():
            before = name.removesuffix(word)
            glued = len(word) >= _GLUED_LETTERS and word not in _UNGLUED
            if before != name and (not before or before.endswith("_") or glued):
                on = term.high ^ low ^ when_low
                stem = before.strip("_") or _BEHIND.sub("", record.rpartition(".")[2])
                return Asks(term, side, on, word.endswith(_BUFFERS), stem, word.endswith(_LEVELS))
        return None
