"""Host APIs that ship with a stand-in: every call of the template is exercised by a program, and counted exactly."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

from host_prototypes import compared
from host_templates import TEMPLATES, expected, measure, templates

from workbench.formats.platform_file import load_platform
from workbench.model.prototypes import callees


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
def test_prototypes_are_those_of_the_header(name: str) -> None:
    """A header may give a function further parameters, all with defaults. (The vendors' own headers are held against by
    hand: tests/benchmarks/host_prototypes.py.)"""
    rows = list(compared(name, TEMPLATES / name))
    assert rows
    assert not [row for row in rows if row.verdict not in ("same", "and more", "same (value)")]
