"""A compiler's command line, as gcc and clang read it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.api.source import suffixes
from workbench.model.diagnostic import Diagnostic, WorkbenchError

SUFFIXES = (*suffixes.C, *suffixes.CPP)
#: options whose value is the next word
_WITH_VALUE = {
    "-o", "-x", "-I", "-D", "-U", "-L", "-l", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix",
    "-iwithprefix", "-iwithprefixbefore", "-isysroot", "-MF", "-MT", "-MQ", "-Xlinker", "-Xassembler",
    "-Xpreprocessor", "-Xclang", "-mllvm", "-u", "-T", "-e", "-z", "-A", "-B", "-aux-info", "--param", "-wrapper",
    "-arch", "-target", "-dumpbase", "-dumpbase-ext", "-dumpdir",
}  # fmt: skip
#: with these nothing is compiled, or not to an object file
_NO_OBJECT = {"-E", "-S", "-M", "-MM", "-fsyntax-only", "-###", "--version", "--help", "-dumpversion", "-dumpmachine"}
_OF_DEPENDENCIES = ("-MD", "-MMD", "-MP", "-MF", "-MT", "-MQ", "-MG")
#: with these the compiler reads or writes further files, which -M does not list
_BESIDE = re.compile(
    r"--?coverage|-(ftest-coverage|f(auto-)?profile-|gsplit-dwarf|save-temps|fdump-|fstack-usage|fcallgraph-info"
    r"|ftime-trace|fopt-info|fsave-optimization-record|fplugin|specs=|aux-info|MJ|Wa,)"
)


@dataclass(frozen=True)
class Command:
    """`words` are those given, response files opened; `sources` are the C and C++ files among them."""

    words: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]  # each with its value
    inputs: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(name for name in self.inputs if name.endswith(SUFFIXES))

    @property
    def makes_objects(self) -> bool:
        """Whether sources are compiled to object files, at least on the way; with -x any file may be one."""
        names = {option[0] for option in self.options}
        other = any(name.startswith(("-x", "-print-")) for name in names)
        return bool(self.sources) and not names & _NO_OBJECT and not other

    @property
    def writes_beside(self) -> bool:
        """Whether the compiler writes, or reads, more files than the object file and those that it lists."""
        return any(_BESIDE.match(option[0]) for option in self.options)

    @property
    def links(self) -> bool:
        names = {option[0] for option in self.options}
        return bool(self.inputs) and not names & {*_NO_OBJECT, "-c", "-r"}

    @property
    def shared(self) -> bool:
        return any(option[0] == "-shared" for option in self.options)

    def value(self, name: str) -> str:
        """An option's value, the last one's; empty where it is not given."""
        found = ""
        for option in self.options:
            if option[0] == name and len(option) > 1:
                found = option[1]
            elif name == "-o" and option[0].startswith("-o") and len(option) == 1 and len(option[0]) > 2:
                found = option[0][2:]
        return found

    @property
    def flags(self) -> tuple[str, ...]:
        """All but inputs, outputs, and what asks for lists of what was read."""
        kept = (
            option
            for option in self.options
            if option[0] != "-c"
            and not option[0].startswith("-o")
            and not option[0].startswith(_OF_DEPENDENCIES)
            and not option[0].startswith(("-l", "-Wl,", "-Xlinker"))
        )
        return tuple(word for option in kept for word in option)

    def dependencies(self, source: str, target: str) -> list[str] | None:
        """The options that only list what a source includes, as this command does besides; None where it does not."""
        names = [option[0] for option in self.options]
        if "-MD" not in names and "-MMD" not in names:
            return None
        given = [word for o in self.options if o[0] in ("-MT", "-MQ", "-MP", "-MG") for word in o]
        listed = self.value("-MF") or os.path.splitext(target)[0] + ".d"
        named = [] if self.value("-MT") or self.value("-MQ") else ["-MT", target]
        return ["-MM" if "-MMD" in names else "-M", *given, *named, "-MF", listed, source]

    def target(self, source: str) -> str:
        """The object file that -c makes of a source."""
        return self.value("-o") or Path(source).stem + ".o"


def read_command(words: Sequence[str]) -> Command:
    """WorkbenchError for a response file that cannot be read."""
    return parse_words(tuple(_opened(words)))


def parse_words(words: Sequence[str]) -> Command:
    """A command whose response files are opened, or are to stay closed."""
    options: list[tuple[str, ...]] = []
    inputs: list[str] = []
    left = iter(words)
    for word in left:
        if word in _WITH_VALUE:
            value = next(left, None)
            options.append((word,) if value is None else (word, value))
        elif word.startswith("-"):
            options.append((word,))
        else:
            inputs.append(word)
    return Command(tuple(words), tuple(options), tuple(inputs))


def _opened(words: Sequence[str], depth: int = 0) -> Iterator[str]:
    for word in words:
        if word.startswith("@") and Path(word[1:]).is_file() and depth < 16:
            try:
                yield from _opened(shlex.split(Path(word[1:]).read_text(encoding="utf-8")), depth + 1)
            except (OSError, ValueError) as error:
                raise WorkbenchError(Diagnostic(f"this list of words cannot be read: {error}", file=word[1:])) from None
        else:
            yield word
