"""A network between ranks measured by a program that the workbench writes: L, o, g, G come back as they are."""

import json
from pathlib import Path

import pytest

from workbench.cli.main import main
from workbench.formats.platform_file import load_platform, parse_platform
from workbench.model.diagnostic import WorkbenchError
from workbench.model.network import Network
from workbench.session.bench.network import measured_network, with_network

TEMPLATE = Path(__file__).parents[1] / "platform_templates" / "nallatech_h101.yaml"
L, O, G_SHORT, G, GAMMA = 40e-6, 3e-6, 7e-6, 2e-9, 0.5e-9  # noqa: E741
SIZES, ROW = (1, 1024, 65536, 262144), 16


def printed() -> str:
    """What the program prints of a network by LogGP, of 4 ranks."""
    lines = ["ranks 4 0", f"row {ROW} 0"]
    for size in SIZES:
        way, gap = 2 * O + L + G * size, max(G_SHORT, G * size)
        answer = way + 2 * O + L
        lines += [
            f"send {size} {O}", f"receive {size} {O}", f"ping {size} {way}", f"one {size} {answer}",
            f"train {size} {answer + (ROW - 1) * gap}",
        ]  # fmt: skip
    for size in SIZES[1:3]:
        lines += [
            f"broadcast {size} {2 * (L + 2 * O + G * size)}",
            f"reduce {size} {2 * (L + 2 * O + (G + GAMMA) * size)}",
        ]
    return "\n".join(["a line of something else", *lines])


def test_parameters_are_those_of_the_network() -> None:
    times = measured_network(printed())
    assert (times.ranks, times.latency_s, times.overhead_s) == (4, pytest.approx(L), pytest.approx(O))
    assert times.gap_s == pytest.approx(G_SHORT)
    assert times.gap_per_byte_s == pytest.approx(G)
    assert times.reduction_per_byte_s == pytest.approx(GAMMA)
    assert [name for name, _, _ in times.collectives] == ["broadcast", "reduce"] * 2
    assert times.lost == ()
    assert [size for size, _, _ in times.messages] == list(SIZES)
    assert times.fit_error == pytest.approx(0, abs=1e-9)
    way_s = 2 * O + L + G * 1024
    slower = measured_network(printed().replace(f"ping 1024 {way_s}", f"ping 1024 {2 * way_s}"))
    assert slower.fit_error == pytest.approx(0.5)
    for change in (("train 65536", "train"), ("ranks 4", "ranks 1")):
        with pytest.raises(WorkbenchError, match="did not print its times"):
            measured_network(printed().replace(*change))


def test_what_is_lost_in_the_noise_is_named() -> None:
    times = measured_network(printed().replace(f"ping 1 {2 * O + L + G}", "ping 1 1e-6"))
    assert (times.latency_s, times.lost) == (0, ("L",))


def test_a_measured_network_goes_into_the_template() -> None:
    text, times = TEMPLATE.read_text(), measured_network(printed())
    platform, _ = load_platform(TEMPLATE)
    assert platform is not None
    for name, count in (("cluster", len(platform.networks) + 1), ("Gigabit Ethernet", len(platform.networks))):
        written = with_network(text, platform, name, times, "measured: test")
        measured, problems = parse_platform(written)
        assert measured is not None
        assert not problems
        assert len(measured.networks) == count
        network = next(one for one in measured.networks if one.name == name)
        expected = Network(
            name=name, latency_s=L, overhead_s=O, gap_s=G_SHORT, gap_per_byte_s=G, reduction_per_byte_s=GAMMA
        )
        for key in ("latency_s", "overhead_s", "gap_s", "gap_per_byte_s", "reduction_per_byte_s"):
            assert getattr(network, key) == pytest.approx(getattr(expected, key)), key
        assert network.source == "measured: test"
        assert "latency_s: 16 us # with overhead" in written  # all else stays as it is


def test_on_the_simulated_card_the_templates_numbers_come_back(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    words = [
        "template",
        "network",
        str(TEMPLATE),
        "--name",
        "Gigabit Ethernet",
        "--ranks",
        "2",
        "--repeats",
        "1",
        "--json",
    ]
    assert main(words) == 0
    measured = json.loads(capsys.readouterr().out)
    platform, _ = load_platform(TEMPLATE)
    assert platform is not None
    given = next(one for one in platform.networks if one.name == "Gigabit Ethernet")
    for key in ("latency_s", "overhead_s", "gap_s", "gap_per_byte_s", "reduction_per_byte_s"):
        assert measured[key] == pytest.approx(getattr(given, key), rel=1e-4), key
    assert measured["fit_error"] < 1e-3


def test_on_a_machine_its_own_commands_build_and_run_it(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    said = tmp_path / "said.txt"
    said.write_text(printed().replace(f"reduce 65536 {2 * (L + 2 * O + (G + GAMMA) * 65536)}", "reduce 65536 1e-6"))
    compiler, out = tmp_path / "compiler.sh", tmp_path / "mine.yaml"
    compiler.write_text(f'echo "#!/bin/sh\ncat {said}" > "$4"\nchmod +x "$4"\ntest -s "$5"\n')
    words = ["template", "network", str(TEMPLATE), "--name", "cluster", "--out", str(out), "--json"]
    assert main([*words, "--mpirun", "env", "--mpicc", f"sh {compiler}"]) == 0
    output = capsys.readouterr()
    measured = json.loads(output.out)
    assert (measured["latency_s"], measured["lost"]) == (pytest.approx(L), ["gamma"])
    assert "measured below 0 because of noise, taken as 0: gamma" in output.err
    platform, _ = load_platform(out)
    assert platform is not None
    assert platform.networks[-1].name == "cluster"
    assert main([*words, "--mpirun", "false", "--mpicc", f"sh {compiler}"]) != 0
    assert "mpirun ended with exit code 1" in capsys.readouterr().err
