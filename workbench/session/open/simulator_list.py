"""File lists of simulators (`-f rtl.f`): a source, or an option, a word; `//` and `#` begin comments.

`+incdir+`, `+define+`, `-I`, `-D`, `-f`, `-F`, `-v`, `-y` and `+libext+` are followed, as simulators agree on them.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from workbench.api.source.files import expand_sources, is_pattern, within
from workbench.formats.documents import read_text
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.session.open.listed import DEPTH, Listed, value

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\}|\((\w+)\))")
_VALUES = {"-top", "--top-module", "-work", "-timescale", "--timescale", "-o", "-l", "-pvalue"}  # take the next word


def read_list(path: Path, base: Path, listed: Listed, depth: int = 0) -> None:
    """Names in it are relative to `base`; where nothing is there, to the list's own folder."""
    if path in listed.read:
        return
    text, problems = read_text(path, "file list")
    listed.read[path] = None
    listed.problems += problems
    library: list[Path] = []
    endings = [".v", ".sv"]
    words = iter(_words(text or "", path, listed))
    for number, word in words:

        def told(message: str, hint: str = "", line: int = number) -> None:
            listed.problems.append(Diagnostic(message, hint, Severity.WARNING, str(path), line))

        def following(what: str) -> str:
            _, found = next(words, (0, ""))
            if not found:
                told(f"{what} names nothing")
            return found

        def at(name: str) -> Path:
            places = [Path(os.path.normpath(folder / name)) for folder in (base, path.parent)]
            return next((place for place in places if os.path.exists(place)), places[0])

        option, *parts = ([part for part in word.split("+") if part] if word[0] == "+" else []) or [""]
        if option == "incdir":
            folders = [at(part) for part in parts]
            listed.include_dirs.update(dict.fromkeys(place for place in folders if listed.folder(place, told)))
        elif option == "define":
            listed.defines.update(map(_define, parts))
        elif option == "libext":
            endings = parts
        elif word[:2] in ("-I", "-D") and not word.startswith("--"):
            name = word[2:] or following(word)
            if word[:2] == "-D" and name:
                listed.defines.update([_define(name)])
            elif name and listed.folder(at(name), told):
                listed.include_dirs[at(name)] = None
        elif word in ("-f", "-F", "-file"):
            if not (name := following(word)):
                continue
            inner = at(name) if word != "-F" else path.parent / name
            if depth == DEPTH:
                told(f"'{name}' is not read: lists name lists more than {DEPTH} deep")
            elif not os.path.isfile(inner) or not within(inner, listed.allowed):
                told(f"there is no list '{name}' in the project")
            else:
                read_list(inner, inner.parent if word == "-F" else base, listed, depth + 1)
        elif word == "-y":
            if (name := following(word)) and listed.folder(at(name), told):
                library.append(at(name))
        elif word == "-v":
            if name := following(word):
                listed.source(at(name), told)
        elif word in _VALUES:
            following(word)
        elif word[0] in "-+":
            told(f"the option '{word}' is not followed")
        elif is_pattern(word) and not os.path.exists(at(word)):
            found = expand_sources(base, [word]) or expand_sources(path.parent, [word])
            if not found:
                told(f"no file matches '{word}'")
            for one in found:
                listed.source(one, told)
        else:
            listed.source(at(word), told)
    for folder in library:  # what of it the top does not reach is not built
        for one in expand_sources(folder, [f"*{ending}" for ending in endings]):
            listed.source(one, lambda *_: None)


def _define(text: str) -> tuple[str, int | str]:
    name, given, text = text.partition("=")
    return name, value(text) if given else 1


def _words(text: str, path: Path, listed: Listed) -> Iterator[tuple[int, str]]:
    """Each word with its line, variables of the environment replaced."""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)(//|#).*", "", line).removesuffix("\\")
        unknown = [name for found in _VARIABLE.findall(line) for name in found if name and name not in os.environ]
        if unknown:
            message = f"the environment has no variable '{unknown[0]}': this line is left out"
            listed.problems.append(Diagnostic(message, "Set it before the start.", Severity.WARNING, str(path), number))
            continue
        line = _VARIABLE.sub(lambda found: os.environ[found[1] or found[2] or found[3]], line)
        try:
            yield from ((number, word) for word in shlex.split(line) if word)
        except ValueError:
            message = "a quotation mark is not closed: this line is left out"
            listed.problems.append(Diagnostic(message, "", Severity.WARNING, str(path), number))
