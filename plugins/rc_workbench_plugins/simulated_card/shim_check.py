"""Compiles the API that is made of a template, without a project: what a build would say of it."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rc_workbench_plugins.simulated_card.shim import MADE_API_FLAGS, OF_ENTRY, shim_lacks, shim_source
from workbench.api import Diagnostic, Platform, PlatformSupport, Severity
from workbench.api.c_header import in_cpp
from workbench.api.compile import gcc_diagnostics
from workbench.api.unstable import ENGLISH, find_compiler, run_program
from workbench.hdl.verilate import harness_dir

_MOST, _SECONDS = 3, 60
_ELSE = "Name sources that implement it on the simulated card: host.api_sources."


def shim_problems(platform: Platform, support: PlatformSupport | None) -> tuple[Diagnostic, ...]:
    """The compiler's first errors, with the entry that each is of; none where a header or a compiler is not at hand."""
    if (support and support.api_sources) or not platform.host.entries or shim_lacks(platform, support):
        return ()
    cpp = in_cpp(platform.host)
    compiler = find_compiler("c++" if cpp else "c")
    if isinstance(compiler, Diagnostic):
        return ()
    text = shim_source(platform, support)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / ("api.cpp" if cpp else "api.c")
        file.write_text(text, encoding="utf-8")
        flags = ["-std=gnu++20", *MADE_API_FLAGS] if cpp else []
        folders = [support.api_dir] if support and support.api_dir else []
        options = [*flags, *(f"-I{one}" for one in folders), "-idirafter", str(harness_dir()), "-S", "-o", "/dev/null"]
        command: list[str | Path] = [compiler.path, "-w", *options, file]
        ended = run_program(command, timeout_s=_SECONDS, env=ENGLISH)
        errors = [one for one in gcc_diagnostics(ended.stderr) if one.severity is Severity.ERROR]
    if any("No such file" in one.message for one in errors):
        return ()
    return tuple(_at_entry(one, text.splitlines(), str(file)) for one in errors[:_MOST])


def _at_entry(error: Diagnostic, lines: Sequence[str], file: str) -> Diagnostic:
    if error.file != file or not error.line:
        message = f"the library that is generated for the simulated card does not compile: {error.message}"
        return replace(error, message=message, hint=_ELSE)
    named = (line for line in reversed(lines[: error.line]) if line.startswith(OF_ENTRY))
    entry = next(named, "").removeprefix(OF_ENTRY).removesuffix(" */")
    of = f"of {entry}" if entry else "for its classes"
    message = f"the code generated {of} for the simulated card does not compile: {error.message}"
    return Diagnostic(message, f"The line is: {lines[error.line - 1].strip()}. {_ELSE}")
