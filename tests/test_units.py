"""Quantities as people write them."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.units import UnitError, quantity, unit_of_name, written
from workbench.model.text import counted, times


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("100 MHz", "Hz", 100e6),
        ("13.94 us", "s", 13.94e-6),
        ("13.94us", "s", 13.94e-6),
        ("13.94 µs", "s", 13.94e-6),
        ("32 KiB", "B", 32768.0),
        ("32 kB", "B", 32000.0),
        ("4 MiB", "B", 4194304.0),
        ("2 bytes", "B", 2.0),
        ("18 Kibit", "bit", 18432.0),
        ("360 MB/s", "B/s", 360e6),
        ("360 MB / s", "B/s", 360e6),
        ("1 Gbit/s", "B/s", 125e6),
        ("3.03 ns/B", "s/B", 3.03e-9),
        ("9.56 ns", "s/B", 9.56e-9),
        ("10 ns", "ps", 10000.0),
        ("900 M/s", "/s", 900e6),
        ("12/s", "/s", 12.0),
        ("1 kHz", "/s", 1000.0),
        ("1e-6", "s", 1e-6),
        ("-.5 ms", "s", -0.5e-3),
    ],
)
def test_quantities(text: str, unit: str, value: float) -> None:
    assert quantity(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit", "message", "hint"),
    [
        ("32 KB", "B", "two sizes", "KiB (1024 bytes) or kB (1000 bytes)"),
        ("32 KB/s", "B/s", "two sizes", "KiB"),
        ("100 mhz", "Hz", "no unit 'mhz'", "Did you mean 'MHz'?"),
        ("13 uss", "s", "no unit 'uss'", "Did you mean 'us'?"),
        ("13 parsec", "s", "no unit 'parsec'", '"13.94 us"'),
        ("13 MHz", "s", "'MHz' is not a time", '"13.94 us"'),
        ("13 us", "B", "'us' is not a size", '"32 KiB"'),
        ("3 M", "/s", "'M' is not a rate", '"900 M/s"'),
        ("3 k", "s", "'k' is not a time", '"13.94 us"'),
        ("fast", "B/s", "'fast' is not a rate", '"360 MB/s"'),
        ("9**9**9 s", "s", "is not a unit", ""),
        ("1 s^2", "s", "is not a unit", ""),
        ("1e999 s", "s", "too large", ""),
        ("", "s", "is not a time", ""),
    ],
)
def test_refused(text: str, unit: str, message: str, hint: str) -> None:
    with pytest.raises(UnitError) as caught:
        quantity(text, unit)
    assert message in caught.value.message
    assert hint in caught.value.hint


@given(st.text(max_size=30), st.sampled_from(["s", "Hz", "B", "B/s", "s/B", "bit", "ps"]))
def test_any_text_is_a_number_or_a_unit_error(text: str, unit: str) -> None:
    with suppress(UnitError):
        assert isinstance(quantity(text, unit), float)


@given(st.floats(min_value=1e-15, max_value=1e15), st.sampled_from(["s", "Hz", "B/s"]))
def test_written_reads_back(value: float, unit: str) -> None:
    assert quantity(written(value, unit), unit) == pytest.approx(value, rel=1e-15)


@given(st.integers(min_value=0, max_value=2**50))
def test_sizes_are_written_exactly(size: int) -> None:
    assert quantity(written(size, "B"), "B") == size


def test_written() -> None:
    assert written(13.94e-6, "s") == "13.94 us"
    assert written(32768, "B") == "32 KiB"
    assert written(98304 * 1024 + 1, "B") == "100663297 B"
    assert written(0.25e-9, "s") == "0.25 ns"


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("time_s", "s"), ("clock_hz", "Hz"), ("bytes", "B"), ("maximum_bytes", "B"), ("bandwidth_bytes_per_s", "B/s"),
        ("gap_per_byte_s", "s/B"), ("basic_block_ps", "ps"), ("block_ram_bits", "bit"), ("ops_per_s", ""),
        ("arguments", ""), ("s", ""), ("address", ""), ("sources", ""),
    ],
)  # fmt: skip
def test_unit_of_name(name: str, unit: str) -> None:
    assert unit_of_name(name) == unit


def test_so_many_of_something() -> None:
    assert [counted(n, "branch", "branches") for n in (0, 1, 2)] == ["0 branches", "1 branch", "2 branches"]
    assert [counted(12345, "cycle"), counted(1.0, "visit")] == ["12\u202f345 cycles", "1 visit"]
    assert [times(1), times(2)] == ["once", "2 times"]
