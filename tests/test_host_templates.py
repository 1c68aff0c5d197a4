"""Host APIs that ship with a stand-in: every call of the template is exercised by a program, and counted exactly."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

from host_templates import TEMPLATES, expected, measure, templates

from workbench.formats.platform_file import load_platform
from workbench.model.platform import Host
from workbench.model.prototypes import callees
from workbench.system.process import run_program


@pytest.mark.parametrize("name", ["xdma"])  # all of them: tests/benchmarks/host_templates.py
def test_every_call_is_exercised_and_counted_exactly(name: str) -> None:
    row = measure(name)
    assert not row.wrong
    assert row.entries == row.exercised == row.counted_exactly > 0


def test_calls_in_cpp_are_counted_exactly() -> None:
    """Methods, overloads, templates, operators, default arguments and constructors. Destructors are called where no
    text stands for them: that is told."""
    row = measure("xrt_native")
    assert all("xrt::device::~device" in line for line in row.wrong)
    assert row.counted_exactly == row.exercised >= row.entries - 1


@pytest.mark.parametrize("name", templates())
def test_programs_are_expected_to_make_every_call_of_their_template(name: str) -> None:
    platform, problems = load_platform(TEMPLATES / f"{name}.yaml")
    assert platform is not None
    assert not problems
    told = expected(name)["calls"]
    titles = [f"{c.name} [{e.subtype}]" if e.subtype else c.name
              for c in callees(platform.host.entries)[0].values() for _, e in c.entries]  # fmt: skip
    titles += [
        f"memory {e.access} [{e.subtype}]" if e.subtype else f"memory {e.access}"
        for e in platform.host.entries
        if e.access
    ]
    assert sorted(told) == sorted(titles)
    assert all(count > 0 for count, _ in told.values())


@pytest.mark.parametrize("name", templates())
def test_prototypes_are_those_of_the_header(name: str, tmp_path: Path) -> None:
    """A compiler says so, of all but templates, which nothing but a call can be held against."""
    platform, _ = load_platform(TEMPLATES / f"{name}.yaml")
    assert platform is not None
    cpp = any(callee.prototype.cpp for callee in callees(platform.host.entries)[0].values())
    source = tmp_path / f"declared.{'cpp' if cpp else 'c'}"
    source.write_text("\n".join([*platform.host.include_lines, *declared(platform.host)]) + "\n")
    done = run_program(["g++" if cpp else "gcc", "-fsyntax-only", f"-I{TEMPLATES / name}", source])
    assert done.returncode == 0, done.stderr


def declared(host: Host) -> Iterator[str]:
    """What compiles only where the header has the very prototypes. In these APIs a class lies in a namespace."""
    yield "#ifdef __cplusplus\n#include <type_traits>\n#endif"
    for number, callee in enumerate(callees(host.entries)[0].values()):
        one = callee.prototype
        types = ", ".join(one.types)
        if not one.cpp:
            yield f"extern {one.text};"
        elif one.text.startswith("template"):
            continue
        elif one.is_constructor:
            yield f'static_assert(std::is_constructible<{", ".join([one.scope, *one.types])}>::value, "");'
        elif not one.is_destructor:
            of_class = "" if one.text.startswith("static ") or "::" not in one.scope else f"{one.scope}::"
            const = " const" if one.text.endswith("const") else ""
            yield f"auto rcw_{number} = static_cast<{one.returns} ({of_class}*)({types}){const}>(&{one.qualified});"
