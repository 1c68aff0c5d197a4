"""Reads file lists of simulators (`-f rtl.f`): each word is a source or an option; `//` and `#` begin comments.

`+incdir+`, `+define+`, `-I`, `-D`, `-f`, `-F`, `-v`, `-y` and `+libext+` are supported, with the meaning common to
simulators.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.api.source.files import expand_sources, is_pattern, within
from workbench.formats.documents import read_text
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.session.open.listed import DEPTH, Listed, value

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\}|\((\w+)\))")
_VALUES = {"-top", "--top-module", "-work", "-timescale", "--timescale", "-o", "-l", "-pvalue"}  # take the next word


def read_list(path: Path, base: Path, listed: Listed, depth: int = 0) -> None:
    """Read a list. Its names are relative to `base`, or, if nothing is there, to the list's own folder."""
    if path in listed.read:
        return
    text, problems = read_text(path, "file list")
    listed.read[path] = None
    listed.problems += problems
    _Reader(path, base, listed, depth).read(_words(text or "", path, listed))


class _Reader:
    """Processes the words of one list, each at its line."""

    def __init__(self, path: Path, base: Path, listed: Listed, depth: int) -> None:
        self._path, self._base, self._listed, self._depth = path, base, listed, depth
        self._library: list[Path] = []
        self._endings: Sequence[str] = (".v", ".sv")
        self._line = 0
        self._with_plus = {"incdir": self._folders, "define": self._defines, "libext": self._library_endings}
        self._with_name = {"-f": self._list, "-F": self._list_here, "-file": self._list,
                           "-y": self._library_folder, "-v": self._source,
                           "-I": self._folder, "-D": self._define}  # fmt: skip

    def read(self, words: Iterator[tuple[int, str]]) -> None:
        self._words = words
        for self._line, word in words:
            self._take(word)
        for folder in self._library:  # parts that the top does not reach are not built
            for one in expand_sources(folder, [f"*{ending}" for ending in self._endings]):
                self._listed.source(one, lambda *_: None)

    def _take(self, word: str) -> None:
        plus, *parts = ([part for part in word.split("+") if part] if word[0] == "+" else []) or [""]
        option = word[:2] if word[:2] in ("-I", "-D") else word
        if plus in self._with_plus:
            self._with_plus[plus](parts)
        elif option in self._with_name:
            if name := word.removeprefix(option) or self._following(word):
                self._with_name[option](name)
        elif word in _VALUES:
            self._following(word)
        elif word[0] in "-+":
            self._warn(f"the option '{word}' is ignored")
        elif is_pattern(word) and not os.path.exists(self._at(word)):
            self._pattern(word)
        else:
            self._source(word)

    def _warn(self, message: str, hint: str = "") -> None:
        self._listed.problems.append(Diagnostic(message, hint, Severity.WARNING, str(self._path), self._line))

    def _following(self, what: str) -> str:
        _, word = next(self._words, (0, ""))
        if not word:
            self._warn(f"{what} names nothing")
        return word

    def _at(self, name: str) -> Path:
        places = [Path(os.path.normpath(folder / name)) for folder in (self._base, self._path.parent)]
        return next((place for place in places if os.path.exists(place)), places[0])

    def _folder(self, name: str) -> None:
        if self._listed.folder(self._at(name), self._warn):
            self._listed.include_dirs[self._at(name)] = None

    def _folders(self, names: Sequence[str]) -> None:
        for name in names:
            self._folder(name)

    def _define(self, text: str) -> None:
        name, equals, text = text.partition("=")
        self._listed.defines[name] = value(text) if equals else 1

    def _defines(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._define(text)

    def _library_endings(self, endings: Sequence[str]) -> None:
        self._endings = endings

    def _library_folder(self, name: str) -> None:
        if self._listed.folder(self._at(name), self._warn):
            self._library.append(self._at(name))

    def _list(self, name: str) -> None:
        self._read_inner(name, self._at(name), self._base)

    def _list_here(self, name: str) -> None:
        inner = self._path.parent / name
        self._read_inner(name, inner, inner.parent)

    def _read_inner(self, name: str, inner: Path, base: Path) -> None:
        if self._depth == DEPTH:
            self._warn(f"'{name}' is not read: lists are nested more than {DEPTH} deep")
        elif not os.path.isfile(inner) or not within(inner, self._listed.allowed):
            self._warn(f"there is no list '{name}' in the project")
        else:
            read_list(inner, base, self._listed, self._depth + 1)

    def _source(self, name: str) -> None:
        self._listed.source(self._at(name), self._warn)

    def _pattern(self, word: str) -> None:
        paths = expand_sources(self._base, [word]) or expand_sources(self._path.parent, [word])
        if not paths:
            self._warn(f"no file matches '{word}'")
        for one in paths:
            self._listed.source(one, self._warn)


def _words(text: str, path: Path, listed: Listed) -> Iterator[tuple[int, str]]:
    """Each word with its line, with environment variables replaced."""
    text = re.sub(r"/\*.*?\*/", lambda groups: "\n" * groups[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)(//|#).*", "", line).removesuffix("\\")
        unknown = [name for groups in _VARIABLE.findall(line) for name in groups if name and name not in os.environ]
        if unknown:
            message = f"the environment has no variable '{unknown[0]}': this line is left out"
            listed.problems.append(Diagnostic(message, "Set it before the start.", Severity.WARNING, str(path), number))
            continue
        line = _VARIABLE.sub(lambda groups: os.environ[groups[1] or groups[2] or groups[3]], line)
        try:
            yield from ((number, word) for word in shlex.split(line) if word)
        except ValueError:
            message = "a quotation mark is not closed: this line is left out"
            listed.problems.append(Diagnostic(message, "", Severity.WARNING, str(path), number))
