"""The templates that ship: they read without a word, and hold the numbers that the papers print."""

import re
from pathlib import Path

import pytest
from rc_workbench_plugins import platforms

from workbench.cli.main import main
from workbench.formats.platform_file import callee_name, load_platform
from workbench.model.platform import CallKind, Platform
from workbench.session.edit.platform_document import PlatformDocument
from workbench.session.program.plugins import load_plugins

SUPPORT = {support.name: support for support in platforms.workbench_platforms()}


def template(name: str) -> Platform:
    platform, problems = load_platform(SUPPORT[name].template)
    assert problems == ()
    assert platform is not None
    return platform


@pytest.mark.parametrize("name", list(SUPPORT))
def test_templates_read_without_a_word(name: str) -> None:
    assert template(name).name == name


@pytest.mark.parametrize("name", [name for name, support in SUPPORT.items() if support.board])
def test_a_template_begun_from_an_api_has_a_complete_board(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    assert main(["template", "new", str(mine), "--of", name]) == 0
    platform, problems = load_platform(mine, load_plugins().port_kinds)
    assert problems == ()
    assert platform is not None
    assert platform.hardware is not None
    named = {entry.transfer for entry in platform.host.entries if entry.transfer}
    assert named <= platform.transfer_tables.keys()
    assert simulated_lacks(platform, name) == []


def simulated_lacks(platform: Platform, name: str) -> list[str]:
    """What the simulated card lacks to stand behind it."""
    targets = [one for one in load_plugins().targets.values() if one.simulated]
    return [lack.message for target in targets for lack in target.lacks(platform, SUPPORT[name])]


def test_every_api_comes_with_a_board_of_its_own_or_an_example() -> None:
    for name, support in SUPPORT.items():
        platform = template(name)
        if name == "mpi":  # it has no board: it goes beside the API of one
            assert simulated_lacks(platform, name) == ["it has no hardware port"]
            continue
        whole = platform.hardware and platform.transfer_tables
        assert support.board or whole or not platform.host.entries, name


def test_a_copy_in_the_window_has_the_example_board_too(tmp_path: Path) -> None:
    document = PlatformDocument(load_plugins(), lambda: None)
    document.open(SUPPORT["xrt_native"].template)
    assert document.read_only
    document.save_as(tmp_path / "mine.yaml")
    platform, problems = load_platform(tmp_path / "mine.yaml", load_plugins().port_kinds)
    assert problems == ()
    assert platform is not None
    assert platform.hardware is not None


def test_a_row_faster_than_a_memory_bank_names_the_width_to_correct(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    main(["template", "new", str(mine), "--of", "xrt_native"])
    mine.write_text(
        mine.read_text().replace("{bytes: 1024, time_s: 2.65 us, source: assumed}", "{bytes: 1024, time_s: 1 us}")
    )
    _, problems = load_platform(mine, load_plugins().port_kinds)
    assert [(d.message.partition(":")[0], d.hint) for d in problems] == [
        (
            f"row 2 of '{table}' is faster than the port",
            "It takes at least 2.56 us, or word_bits of the port 'ddr' is more than 32.",
        )
        for table in ("write", "read")
    ]


def test_every_template_is_offered() -> None:
    folder = SUPPORT["nallatech_h101"].template.parent
    assert {p.stem for p in folder.glob("*.yaml")} == set(SUPPORT)


def test_nallatech_printed_points() -> None:
    tables = template("nallatech_h101").transfer_tables
    rates = {(name, p.bytes): p.bytes / p.time_s for name, table in tables.items() for p in table.points}
    assert rates["write", 128 << 10] == pytest.approx(360e6, rel=1e-5)  # ReCAP, section 5.1
    assert rates["write", 4 << 20] == pytest.approx(291e6, rel=1e-5)
    assert rates["read", 256 << 10] == pytest.approx(106.4e6, rel=1e-5)  # RATSS, section 4.3.1
    assert {tables[name].points[0].time_s for name in ("write", "write_reg")} == {16e-6}
    assert {tables[name].points[0].time_s for name in ("read", "read_reg")} == {32e-6}
    thirty_two = 32 * (128 << 10) / rates["write", 128 << 10]
    assert ((4 << 20) / rates["write", 4 << 20]) / thirty_two == pytest.approx(1.2371, abs=1e-4)
    # section 6.2: 32 KB is the least size that reaches 95 % of the best rate
    best = max(rate for (name, _), rate in rates.items() if name == "write")
    ideal = [p.bytes for p in tables["write"].points if p.bytes / p.time_s >= 0.95 * best]
    assert ideal == [32 << 10, 64 << 10, 128 << 10, 256 << 10]


def test_every_row_says_where_it_comes_from() -> None:
    for table in template("nallatech_h101").transfer_tables.values():
        for point in table.points:
            assert re.match(r"interpolated$|(RATSS|ReCAP) \d\.\d(\.\d)?: ", point.source)


def test_nallatech_networks_are_table_ii_and_iii() -> None:
    networks = {network.name: network for network in template("nallatech_h101").networks}
    assert networks["PCI-X write"].gap_per_byte_s == pytest.approx(1 / (1064e6 * 0.31), rel=1e-15)
    assert networks["PCI-X read"].gap_per_byte_s == pytest.approx(1 / (1064e6 * 0.10), rel=1e-15)
    ethernet = networks["Gigabit Ethernet"]
    assert ethernet.reduction_per_byte_s * 4 == pytest.approx(1.9e-8)
    assert (ethernet.latency_s, ethernet.overhead_s, ethernet.gap_s) == (1.08e-4, 6.75e-6, 1.64e-5)


def test_nallatech_entries_match_the_header() -> None:
    api = SUPPORT["nallatech_h101"].api_dir
    assert api is not None
    header = (api / "fpga.h").read_text()
    declared = {" ".join(line.split()).rstrip(";") for line in header.splitlines() if line.rstrip().endswith(");")}
    entries = template("nallatech_h101").host.entries
    assert {entry.prototype for entry in entries} == declared
    assert {callee_name(entry.prototype) for entry in entries} == set(re.findall(r"\b(fpga[A-Z]\w*)\(", header))
    assert {entry.kind for entry in entries} == set(CallKind) - {
        CallKind.OTHER,
        CallKind.SEND_MESSAGE,
        CallKind.AWAIT_MESSAGE,
    }


def test_src6_layers() -> None:
    memories = template("src6_map").memories
    # Steffen 2007, section 4.1
    assert [(m.bytes, m.bandwidth_bytes_per_s, m.latency_s) for m in memories] == [
        (0.6e6, 6.4e9, 0.0),
        (28e6, 1.4e9, 20e-6),
    ]
    (snap,) = template("src6_map").networks
    assert (snap.latency_s, snap.gap_s, snap.gap_per_byte_s) == (1.01e-5, 6.4e-7, 1.25e-9)


def test_a10_ref_is_of_intels_documents() -> None:
    # documents 683267 (sections 1.2 and 3.6.1), 683332 and 683461
    found = template("a10_ref")
    assert found.opencl is not None
    assert (found.opencl.banks, found.opencl.dsps, found.opencl.logic_blocks) == (1, 1518, 427_200)
    assert (found.device.luts, found.device.registers) == (2 * 427_200, 4 * 427_200)


def test_de5_net_is_the_papers_board() -> None:
    # Wang, He, Zhang, Jiang 2016, section 3.1 and Table 2
    board = template("de5_net").opencl
    assert board is not None
    assert (board.banks, board.transaction_bytes) == (2, 64)
    assert [row.logic for row in board.clocks] == sorted(row.logic for row in board.clocks)
    assert board.clocks[-1].logic == 1
    assert all(row.least_clock_hz < row.most_clock_hz for row in board.clocks)
    assert (board.logic_blocks, board.dsps) == (234_720, 256)
    assert (board.logic_available, board.memory_available, board.dsp_available) == (0.83, 0.89, 1.0)
    table = board.latency_cycles.model_dump()
    assert [table[k] for k in ("fp_sqrt", "fp_mul", "fp_add", "local_memory", "fp_div")] == [
        28, 5, 7, 7, 14]  # fmt: skip
    assert [table[k] for k in ("int_mul", "int_div", "branch", "int_add")] == [3, 32, 1, 1]


def test_api_sources_are_there() -> None:
    assert all(path.is_file() for path in SUPPORT["nallatech_h101"].api_sources)
    assert isinstance(SUPPORT["nallatech_h101"].template, Path)
