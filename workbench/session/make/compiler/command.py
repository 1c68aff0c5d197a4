"""Parses a compiler's command line as gcc and clang do."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath

from workbench.api.languages import C_FILES, compilers_of
from workbench.model.diagnostic import Diagnostic, WorkbenchError

STDIN = "-"
Option = tuple[str, ...]
#: options whose value is the next word (`gcc --help=separate`, and those that the driver and clang take)
_WITH_VALUE = {
    "-o", "-x", "-I", "-D", "-U", "-L", "-l", "-F", "-include", "-imacros", "-isystem", "-iquote", "-idirafter",
    "-iprefix", "-iwithprefix", "-iwithprefixbefore", "-isysroot", "-imultiarch", "-imultilib", "-MF", "-MT", "-MQ",
    "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-mllvm", "-u", "-T", "-e", "-z", "-A", "-B", "-aux-info",
    "--param", "-wrapper", "-arch", "-J", "-R", "-Hd", "-Hf", "-Xf", "-Tbss", "-Tdata", "-Ttext", "--output-pch=",
    "-target", "-dumpbase", "-dumpbase-ext", "-dumpdir", "--sysroot", "-specs", "--entry", "--dump", "--dumpbase",
    "--dumpbase-ext", "--dumpdir", "--include-prefix", "--include-with-prefix", "--include-with-prefix-after",
    "--include-with-prefix-before",
}  # fmt: skip
#: long names, some with a value: `--output x`, `--output=x`
_LONG = {
    "--output": "-o", "--language": "-x", "--include-directory": "-I", "--include-directory-after": "-idirafter",
    "--define-macro": "-D", "--undefine-macro": "-U", "--library-directory": "-L", "--include": "-include",
    "--imacros": "-imacros", "--for-linker": "-Xlinker", "--for-assembler": "-Xassembler", "--force-link": "-u",
    "--assert": "-A", "--prefix": "-B",
}  # fmt: skip
_LONG_ALONE = {
    "--compile": "-c", "--assemble": "-S", "--preprocess": "-E", "--dependencies": "-M", "--user-dependencies": "-MM",
    "--write-dependencies": "-MD", "--write-user-dependencies": "-MMD", "--shared": "-shared",
    "--print-missing-file-dependencies": "-MG", "--save-temps": "-save-temps", "--static": "-static",
}  # fmt: skip
#: short names that a value may follow in the same word, and which are looked for here
_JOINED = re.compile(r"-(?:MF|MT|MQ|x|o(?!bj))(?=.)")
#: with these nothing is compiled, or not to an object file
_NO_OBJECT = re.compile(
    r"-([ESM]|MM|fsyntax-only|###|dump(version|fullversion|machine|specs)|-(version|help\b.*|target-help)|-?print-.*)"
)
_OF_DEPENDENCIES = ("-MD", "-MMD", "-MP", "-MF", "-MT", "-MQ", "-MG")
#: with these the compiler reads or writes further files, which -M does not list
_BESIDE = re.compile(
    r"--?coverage|-(ftest-coverage|f(auto-)?profile-|gsplit-dwarf|save-temps|fdump-|fstack-usage|fcallgraph-info"
    r"|ftime-trace|fopt-info|fsave-optimization-record|fplugin|specs=|aux-info|MJ|Wa,)"
)
_PREPROCESSED = (".i", ".ii")
_NO_HOST_LANGUAGES = re.compile(r"|\.(ii?|[sS]|o|a|l[oa]|so|\d+)")


@dataclass(frozen=True)
class Input:
    """A named file, and the language that -x gives it; "" if its suffix decides."""

    name: str
    language: str = ""

    @property
    def is_source(self) -> bool:
        """Whether this is a host language's source by its suffix, and -x does not say otherwise."""
        return bool(known := _language_of(self.name)) and self.language in ("", known)

    @property
    def is_other_code(self) -> bool:
        """Whether this is compiled as C or C++ without being such a file: preprocessed, with another suffix, or
        standard input (`-`)."""
        has_code_suffix = self.name.endswith(_PREPROCESSED) or bool(_language_of(self.name))
        is_language = self.language in ("c", "c++", "cpp-output", "c++-cpp-output")
        return (is_language or (not self.language and has_code_suffix)) and not self.is_source

    @property
    def why_not_recorded(self) -> str:
        """The reason why calls in other code are not recorded."""
        if self.name == STDIN:
            return "it comes from standard input"
        if self.name.endswith(_PREPROCESSED):
            return "it is preprocessed"
        return f"-x {self.language} and its name do not agree"

    @property
    def is_linked(self) -> bool:
        """Whether it becomes part of a program, and not a precompiled header."""
        return not self.language.endswith("-header") and (bool(self.language) or not _HEADER.search(self.name))


_HEADER = re.compile(r"\.(h|H|hh|hp|hxx|hpp|HPP|h\+\+|tcc)$")


def _language_of(name: str) -> str:
    """The -x name of a source's language, by its suffix; "" if no host language has such sources. Plugins are loaded if
    the suffix is not that of C or C++."""
    suffix = PurePath(name).suffix
    if compilers := compilers_of(C_FILES).get(suffix):
        return compilers
    return "" if _NO_HOST_LANGUAGES.fullmatch(suffix) else guests().get(suffix, "")


@cache
def guests() -> dict[str, str]:
    """The -x names of the plugins' languages, by file suffix."""
    from workbench.session.program.plugins import load_plugins

    return compilers_of(kind for language in load_plugins().host_languages.values() for kind in language.files)


@dataclass(frozen=True)
class CompilerCommand:
    """The inputs and options in their order; options have their short names, each with its value."""

    items: tuple[Input | Option, ...]

    @property
    def options(self) -> tuple[Option, ...]:
        return tuple(item for item in self.items if isinstance(item, tuple))

    @property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(item for item in self.items if isinstance(item, Input))

    @property
    def sources(self) -> tuple[str, ...]:
        """The files in host languages."""
        return tuple(one.name for one in self.inputs if one.is_source)

    @property
    def other_code(self) -> tuple[Input, ...]:
        """Other inputs that are compiled as C or C++."""
        return tuple(one for one in self.inputs if one.is_other_code)

    @property
    def makes_objects(self) -> bool:
        """Whether sources are compiled to object files, at least on the way."""
        return bool(self.sources) and self._makes_any

    @property
    def compiles_other_code(self) -> bool:
        return bool(self.other_code) and self._makes_any

    @property
    def _makes_any(self) -> bool:
        return not any(_NO_OBJECT.fullmatch(option[0]) for option in self.options)

    @property
    def writes_beside(self) -> bool:
        """Whether the compiler writes, or reads, files other than the object file and the listed ones."""
        return any(_BESIDE.match(option[0]) for option in self.options)

    @property
    def links(self) -> bool:
        names = {option[0] for option in self.options}
        return any(one.is_linked for one in self.inputs) and self._makes_any and not names & {"-c", "-r"}

    @property
    def shared(self) -> bool:
        return any(option[0] == "-shared" for option in self.options)

    def value(self, name: str) -> str:
        """An option's last value; "" if it is not given."""
        return next((option[1] for option in reversed(self.options) if option[0] == name and len(option) > 1), "")

    @property
    def flags(self) -> tuple[str, ...]:
        """All but inputs, their languages, outputs, and the options that list dependencies."""
        remaining = (
            option
            for option in self.options
            if option[0] not in ("-c", "-o", "-x")
            and option[0] not in _OF_DEPENDENCIES
            and not option[0].startswith(("-l", "-Wl,", "-Xlinker"))
        )
        return tuple(word for option in remaining for word in option)

    def dependencies(self, source: str, target: str) -> list[str] | None:
        """The options that only list a source's includes, as this command does too; None if it does not."""
        names = [option[0] for option in self.options]
        if "-MD" not in names and "-MMD" not in names:
            return None
        target_words = [word for o in self.options if o[0] in ("-MT", "-MQ", "-MP", "-MG") for word in o]
        listed = self.value("-MF") or os.path.splitext(target)[0] + ".d"
        target_option = [] if self.value("-MT") or self.value("-MQ") else ["-MT", target]
        return ["-MM" if "-MMD" in names else "-M", *target_words, *target_option, "-MF", listed, source]

    def with_objects(self, objects: Mapping[str, str]) -> list[str]:
        """The words of a command that links object files in place of sources, and lists nothing."""
        words: list[str] = []
        for item in self.items:
            if isinstance(item, tuple):
                words += item if item[0] not in _OF_DEPENDENCIES else ()
            elif item.name in objects and item.is_source:
                as_object = ["-x", "none", objects[item.name], "-x", item.language]
                words += as_object if item.language else [objects[item.name]]
            else:
                words.append(item.name)
        return words

    def target(self, source: str) -> str:
        """The object file that -c makes from a source."""
        return self.value("-o") or Path(source).stem + ".o"


def read_command(words: Sequence[str]) -> CompilerCommand:
    """The command with its response files. WorkbenchError for one that cannot be read."""
    return parse_words(tuple(_opened(words)))


def parse_words(words: Sequence[str]) -> CompilerCommand:
    """The command, with its response files opened or left as they are."""
    items: list[Input | Option] = []
    language = ""
    remaining = iter(words)
    for word in remaining:
        if word == STDIN or not word.startswith("-"):
            items.append(Input(word, language))
            continue
        name, equals, value = word.partition("=")
        option: Option
        if name in _LONG:
            option = (_LONG[name], value if equals else next(remaining, ""))
        elif word in _LONG_ALONE:
            option = (_LONG_ALONE[word],)
        elif word in _WITH_VALUE:
            following = next(remaining, None)
            option = (word,) if following is None else (word, following)
        elif word.startswith("-Wp,-M"):
            items += _for_preprocessor(word)
            continue
        elif joined := _JOINED.match(word):
            option = (joined[0], word[joined.end() :])
        else:
            option = (word,)
        if option[0] == "-x" and len(option) > 1:
            language = "" if option[1] == "none" else option[1]
        items.append(option)
    return CompilerCommand(tuple(items))


def _for_preprocessor(word: str) -> Iterator[Option]:
    """The options in `-Wp,-MMD,file`: the preprocessor's own -MD and -MMD take the list's file name as their value."""
    parts = iter(word.split(",")[1:])
    for part in parts:
        if part in ("-MD", "-MMD"):
            yield (part,)
            if listed := next(parts, ""):
                yield ("-MF", listed)
        else:
            yield from parse_words([part, *([next(parts, "")] if part in ("-MT", "-MQ", "-MF") else [])]).options


def _opened(words: Sequence[str], depth: int = 0) -> Iterator[str]:
    for word in words:
        if word.startswith("@") and Path(word[1:]).is_file() and depth < 16:
            try:
                text = Path(word[1:]).read_text(encoding="utf-8", errors="surrogateescape")
            except OSError as error:
                raise WorkbenchError(Diagnostic(f"this list of words cannot be read: {error}", file=word[1:])) from None
            yield from _opened(_split(text), depth + 1)
        else:
            yield word


def _split(text: str) -> list[str]:
    """The words of a response file by gcc's rules: a backslash keeps the next character, in quotes too."""
    words: list[str] = []
    word: list[str] | None = None
    quote, escaped = "", False
    for character in text:
        if not (quote or escaped) and character.isspace():
            words += [] if word is None else ["".join(word)]
            word = None
            continue
        word = [] if word is None else word
        if not escaped and character == "\\":
            escaped = True
        elif not escaped and character == quote:
            quote = ""
        elif not (escaped or quote) and character in "'\"":
            quote = character
        else:
            word.append(character)
            escaped = False
    return words if word is None else [*words, "".join(word)]
