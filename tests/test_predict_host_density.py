"""rho of a project's own host: reads and operations of C and C++ without a mark, counted by hand; and a run for it."""

import shutil
import subprocess
from pathlib import Path

import pytest
from answers import document_of, refusal
from rc_workbench_plugins.density.host import HostDensity, steps
from rc_workbench_plugins.density.host_ir import qualified
from rc_workbench_plugins.density.measured import MeasuredDensity

from workbench.api.host_probe import HostRegion
from workbench.system.process import ProcessResult

TINY = Path(__file__).parent / "data" / "tiny"

#: Sums of products: of 100 pairs, of which 50 stand in x; then twice of what the system wrote into a buffer.
IN_C = """\
#include <stdio.h>
#include <stdlib.h>
static float x[50], y[100], made[100], twice[25];
__attribute__((noinline)) float dot(const float *a, const float *b, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i % 50] * b[i];
    return sum;
}
__attribute__((noinline)) float again(int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        made[i] = (float)i * 2;
    for (int i = 0; i < n; i++)
        sum += made[i];
    return sum;
}
__attribute__((noinline)) float total(void)
{
    float sum = 0;
    for (int i = 0; i < 25; i++)
        sum += twice[i];
    return sum;
}
int main(int count, char **words)
{
    float sum = dot(x, y, 100) + again(100);
    for (int round = 0; round < 3; round++) {
        FILE *file = fopen(words[1], "rb");
        fseek(file, round * 100, SEEK_SET);
        if (fread(twice, 4, 25, file) != 25)
            return 1;
        fclose(file);
        sum += total();
    }
    printf("%g\\n", sum);
    return count < 2;
}
"""

IN_CPP = """\
#include <complex>
#include <cstdio>
#include <vector>
struct Filter {
    std::vector<double> taps;
    double run(const std::vector<double> &in) const;
};
double Filter::run(const std::vector<double> &in) const
{
    double sum = 0;
    for (std::size_t i = 0; i < taps.size(); i++)
        sum += taps[i] * in[i];
    return sum;
}
double worst(const std::vector<double> &in)
{
    double most = 0;
    for (double value : in) {
        if (value > most)
            most = value;
    }
    return most;
}
int main()
{
    Filter filter{std::vector<double>(64, 0.5)};
    const std::vector<double> in(64, 2.0);
    double sum = filter.run(in) + worst(in);
    std::printf("%g\\n", sum);
}
"""


def measured(folder: Path, name: str, text: str, region: HostRegion, arguments: tuple[str, ...] = ()) -> HostDensity:
    """A program compiled by the probe, and run."""
    source = folder / name
    source.write_text(text)
    probe = HostDensity(region)

    def run(command: object) -> ProcessResult:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True)  # type: ignore[call-overload]
        return ProcessResult(done.returncode, done.stdout, done.stderr)

    built = folder / "program.o"
    command = ["gcc", "-O2", "-Wall", "-c", str(source), "-o", str(built)]
    compiled = probe.compile(command, run)
    assert compiled.returncode == 0, compiled.stderr
    program = folder / "program"
    subprocess.run(["g++", built, "-x", "c", *probe.sources, "-x", "none", "-lm", "-o", program], check=True)
    subprocess.run([program, *arguments], env={"RCW_RAW": str(folder)}, check=True, stdout=subprocess.DEVNULL)
    probe.take(folder)
    return probe


def result(probe: HostDensity) -> MeasuredDensity:
    assert probe.measured
    return probe.measured[0]


def test_c_functions_are_counted_by_hand(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(b"".join(int(n).to_bytes(4, "little") for n in range(1, 76)))
    found = result(measured(tmp_path, "a.c", IN_C, HostRegion("dot", function="dot"), (str(data),)))
    assert (found.operations, found.reads, found.first_reads) == (200, 200, 150)
    assert found.misses(100 * 4.0) == 150  # x again after 50 others of x and 50 of y
    assert found.misses(99 * 4.0) == 200
    own = measured(tmp_path, "a.c", IN_C, HostRegion("the program", function="main"), (str(data),))
    assert result(own).reads == 200 + 75 + 3 * 2  # and the file's name, a pointer
    assert own.measured
    assert own.measured[1] == 100  # what the program wrote itself is no input
    fresh = result(measured(tmp_path, "a.c", IN_C, HostRegion("total", function="total"), (str(data),)))
    assert (fresh.reads, fresh.first_reads) == (75, 75)  # the system wrote other data each time


def test_lines_and_the_function_around_a_line_are_regions(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(bytes(300))
    source = tmp_path / "a.c"
    lines = {line: number for number, line in enumerate(IN_C.splitlines(), 1)}
    at = lines["        sum += a[i % 50] * b[i];"]
    around = result(measured(tmp_path, "a.c", IN_C, HostRegion("around", file=source, first=at), (str(data),)))
    of_lines = HostRegion("lines", file=source, first=at, last=at)
    within = result(measured(tmp_path, "a.c", IN_C, of_lines, (str(data),)))
    for found in (around, within):
        assert (found.operations, found.reads, found.first_reads) == (200, 200, 150)
    called = lines["    float sum = dot(x, y, 100) + again(100);"]
    both = result(measured(tmp_path, "a.c", IN_C, HostRegion("calls", file=source, first=called, last=called),
                           (str(data),)))  # fmt: skip
    assert both.reads == 200
    assert both.operations == 200 + 200 + 1  # of both functions, and what adds them


def test_cpp_methods_and_templates_are_measured(tmp_path: Path) -> None:
    words = 2 * (64 + 64)  # of 4 bytes
    run = result(measured(tmp_path, "a.cpp", IN_CPP, HostRegion("run", function="Filter::run")))
    assert run.operations == 2 * 64
    assert words <= run.first_reads <= words + 6  # and where the vectors' data are
    worst = result(measured(tmp_path, "a.cpp", IN_CPP, HostRegion("worst", function="worst")))
    assert worst.operations == 64
    assert 128 <= worst.first_reads <= 128 + 4


@pytest.mark.parametrize(
    ("function", "said"),
    [("nothing", "nothing did not run"), ("main", "main does no operations on data")],
)
def test_what_tells_nothing_is_said(function: str, said: str, tmp_path: Path) -> None:
    text = "static volatile int x;\nint nothing(void) { return 1; }\nint main(void) { return x; }\n"
    assert refusal(measured, tmp_path, "a.c", text, HostRegion(function, function=function)).message == said


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("_ZN6Filter3runERKSt6vectorIdSaIdEE", "Filter::run"), ("_ZNK1a1bEv", "a::b"), ("_Z3dotPf", "dot"), ("main", "")],
)
def test_symbols_have_their_names(symbol: str, name: str) -> None:
    assert qualified(symbol) == name


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny project, whose host weighs the words of each round with the same weights."""
    folder = shutil.copytree(TINY, tmp_path_factory.mktemp("host") / "tiny")
    source = folder / "host" / "main.c"
    weigh = (
        "static const uint32_t weights[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};\n"
        "static uint32_t weigh(const uint32_t *words)\n{\n    uint32_t sum = 0;\n"
        "    for (int i = 0; i < WORDS; i++)\n        sum += words[i] * weights[i];\n    return sum;\n}\n\n"
    )
    put, text = "        #pragma recap put", source.read_text().replace("int main(void)", f"{weigh}int main(void)")
    source.write_text(text.replace(put, f'        printf("%u\\n", weigh(words));\n{put}'))
    return folder / "tiny.workbench.yaml"


def test_a_project_is_measured_and_platforms_ranked(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "weigh.density.yaml"
    asked = ["predict", "density", "--project", str(project), "--region", "weigh", "--out", str(kept), "--json"]
    document = document_of(capsys, asked)
    rounds, words = 3, 16
    operations, inputs_bytes = 2 * words * rounds, 4 * (words * rounds + words)
    assert document["measured"][-1] == pytest.approx(
        {"store_bytes": 4 * 2 * words, "ops_per_byte": operations / inputs_bytes}, rel=1e-4
    )
    names = [row["name"] for row in document["platforms"]]
    limits = [row["limit_ops_per_s"] for row in document["platforms"]]
    assert {"a100", "alveo_u280", "src6_map"} <= set(names)
    assert limits == sorted(limits, reverse=True)
    assert not list(project.parent.glob("runs"))  # the project's runs stay as they are
    again = document_of(capsys, ["predict", "density", str(kept), "--json"])
    assert [row["limit_ops_per_s"] for row in again["platforms"]] == limits


def test_without_a_region_the_whole_program_or_the_hottest_place(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from workbench.session.make.host_model import hottest
    from workbench.session.open.opening import open_workspace
    from workbench.session.program.plugins import load_plugins

    workspace = open_workspace(project, load_plugins())
    assert hottest(workspace).region == "main"
    assert document_of(capsys, ["run", str(project), "--deterministic", "--json"])
    place = hottest(workspace)
    assert place.region.startswith("host/main.c:")
    assert "run-1" in place.why
    shutil.rmtree(project.parent / "runs")


@pytest.mark.parametrize(
    ("region", "said"),
    [
        ("weight", "the host defines no function 'weight'"),
        ("other.c:3", "'other.c' is no source of the host"),
        ("main.c:9-3", "line 3 is before line 9"),
    ],
)
def test_regions_that_are_none(region: str, said: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from workbench.cli.main import main

    assert main(["predict", "density", "--project", str(project), "--region", region]) == 2
    assert said in capsys.readouterr().err


def test_steps_keep_what_rises_and_the_last() -> None:
    import numpy as np

    found = MeasuredDensity(1000, 1000, 4, 10, np.array([2, 3, 500]), np.array([100, 1, 889]))
    assert [store for store, _ in steps(found)] == [4, 8, 2000]


def test_measured_densities_in_a_document(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = "schema_version: 1\nname: m\nelement_bytes: 4\nmeasured:\n  - {store_bytes: 8, ops_per_byte: 1}\n"
    layer = "layers:\n  - {name: ram, layer_bytes: 100, bandwidth_bytes_per_s: 10}\n"
    model = tmp_path / "m.density.yaml"
    model.write_text(f"{text}  - {{store_bytes: 64, ops_per_byte: 3}}\n{layer}")
    assert document_of(capsys, ["predict", "density", str(model), "--json"])["limit_ops_per_s"] == 30
    model.write_text(f"{text}  - {{store_bytes: 4, ops_per_byte: 3}}\n{layer}")
    (problem,) = document_of(capsys, ["predict", "density", str(model), "--json"], 2)["diagnostics"]
    assert (problem["line"], problem["message"]) == (6, "this store_bytes is not larger than the one before it")
    model.write_text(f"{text}eta: alpha\n{layer}")
    (problem,) = document_of(capsys, ["predict", "density", str(model), "--json"], 2)["diagnostics"]
    assert "given twice" in problem["message"]
