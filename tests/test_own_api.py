"""A board's own API is simulated without a plugin: named by the project or the template, or made of the template."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from rc_workbench_plugins.simulated_card.shim import shim_lacks, shim_source

from workbench.api import PlatformSupport
from workbench.api.c_header import header_text
from workbench.api.job import Job
from workbench.cli.main import main
from workbench.hdl.verilate import harness_dir
from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import Host, HostEntry, Platform
from workbench.model.prototypes import without_card
from workbench.model.run import Run
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import content
from workbench.session.program.plugins import load_plugins
from workbench.system.process import run_program

ROOT = Path(__file__).parent.parent
TINY = ROOT / "tests" / "data" / "tiny"
API = ROOT / "platform_templates" / "nallatech_h101"
TEMPLATE = API.with_suffix(".yaml")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The tiny project on a card that no plugin knows: `my_card.yaml` beside it."""
    folder = shutil.copytree(TINY, tmp_path / "tiny")
    own = TEMPLATE.read_text().replace("name: nallatech_h101", "name: my_card").replace("  api: nallatech_h101\n", "")
    (folder / "my_card.yaml").write_text(own)
    file = folder / "tiny.workbench.yaml"
    file.write_text(file.read_text().replace("platform: nallatech_h101", "platform: my_card.yaml"))
    return file


def run(project: Path) -> Run:
    workspace = open_workspace(project, load_plugins())
    return run_workspace(workspace, RunOptions(out=project.parent / "runs" / "run", deterministic=True), Job())


@pytest.fixture(scope="module")
def by_the_plugin(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run(shutil.copytree(TINY, tmp_path_factory.mktemp("known") / "tiny") / "tiny.workbench.yaml")


def same(one: Run, other: Run) -> bool:
    told = ("time_ps", "stdout_sha256", "exit")
    calls = (run.tables["calls"] for run in (one, other))
    first, second = ([table[name].tolist() for name in ("site", "state", "t0_ps", "t1_ps", "bytes")] for table in calls)
    return first == second and all(getattr(one.manifest, n) == getattr(other.manifest, n) for n in told)


def test_an_api_made_of_the_template_runs_as_the_plugins_own_does(project: Path, by_the_plugin: Run) -> None:
    assert same(run(project), by_the_plugin)  # with a header made of it too


def test_a_host_that_polls_what_asks_the_design_nothing_is_ended_and_told_why(project: Path) -> None:
    card = project.parent / "my_card.yaml"
    before, read, after = card.read_text().partition(
        "    - prototype: uint32_t fpgaReadReg(fpga_t *fpga, uint32_t addr)\n"
    )
    card.write_text(before + read + after.replace("kind: receive", "kind: other", 1))
    made = run(project)
    assert made.manifest.status == "failed"
    assert "fpgaReadReg was called 1000000 times in a row and always answered 0" in made.manifest.reason
    assert "give it the kind receive and an address" in made.manifest.reason


def test_parameters_may_have_any_name(project: Path) -> None:
    """Those that the workbench used for its own were taken for the program's."""
    card, host = project.parent / "my_card.yaml", project.parent / "host" / "main.c"
    card.write_text(
        card.read_text().replace("fpgaOpen(int card)", "fpgaOpen(int number)").replace("fpga: card", "fpga: number")
    )
    assert "fpgaOpen(int number)" in card.read_text()
    host.write_text(host.read_text().replace("    for (int round", "    if (!fpga) return 1;\n    for (int round"))
    assert run(project).manifest.exit == 0


def test_the_users_own_header_is_taken(project: Path, by_the_plugin: Run) -> None:
    header = project.parent / "host" / "fpga.h"
    shutil.copyfile(API / "fpga.h", header)
    support = open_workspace(project, load_plugins()).support
    assert support is not None
    assert support.api_dir is None
    assert same(run(project), by_the_plugin)


def test_sources_that_are_named_are_built(project: Path, by_the_plugin: Run) -> None:
    vendor = shutil.copytree(API, project.parent / "vendor")
    named = ("api_dir: vendor\n", "api_sources: [vendor/fpga.c]\n")
    without, card = project.read_text(), project.parent / "my_card.yaml"
    project.write_text(without + "".join(named))
    workspace = open_workspace(project, load_plugins())
    assert "vendor/fpga.c" in content(workspace)
    assert same(run(project), by_the_plugin)
    project.write_text(without)
    card.write_text(card.read_text().replace("\nhost:\n", "\nhost:\n  " + "  ".join(named)))
    assert open_workspace(project, load_plugins()).support == workspace.support
    (vendor / "fpga.c").unlink()
    with pytest.raises(WorkbenchError, match=r"there is no 'fpga\.c'"):
        open_workspace(project, load_plugins())


def test_a_template_names_the_api_that_it_shares_with_another(project: Path) -> None:
    card = project.parent / "my_card.yaml"
    made = card.read_text()
    card.write_text(made.replace("\nhost:\n", "\nhost:\n  api: nallatech_h101\n"))
    support = open_workspace(project, load_plugins()).support
    assert support == PlatformSupport("my_card", card, API, (API / "fpga.c",))
    card.write_text(made.replace("\nhost:\n", "\nhost:\n  api: nalatech_h101\n"))
    with pytest.raises(WorkbenchError, match="there is no platform template with an API 'nalatech_h101'"):
        open_workspace(project, load_plugins())


OPAE = """
  include_lines: ['#include "opae.h"']
  constants: {CSR: 0, SYNC: 1}
  entries:
    - {prototype: 'fpga_result fpgaOpen(fpga_token token, fpga_handle *handle, int flags)', kind: acquire}
    - {prototype: 'fpga_result put(fpga_handle handle, uint64_t at, const void *from, uint64_t len, int flags)',
       kind: send, condition: flags & SYNC, bytes: len, address: at, transfer: write}
    - {prototype: 'fpga_result put(fpga_handle handle, uint64_t at, const void *from, uint64_t len, int flags)',
       kind: send, subtype: later, condition: '!(flags & SYNC)', bytes: len, address: at, transfer: write,
       asynchronous: true}
    - {prototype: 'fpga_result fpgaWait(fpga_handle handle)', kind: wait}
    - {prototype: 'fpga_result poke32(fpga_handle handle, uint32_t bank, uint64_t offset, uint32_t value)', kind: send,
       fpga: bank, bytes: '4', address: offset, transfer: write_reg}
    - {prototype: 'fpga_result peek32(fpga_handle handle, uint32_t bank, uint64_t offset, uint32_t *value)',
       kind: receive, bytes: '4', address: offset, transfer: read_reg}
    - {prototype: 'ssize_t get(fpga_handle handle, void *to, size_t len)', kind: receive, bytes: len, address: '0x101',
       transfer: read}
    - {prototype: 'bool fpgaClose(fpga_handle handle)', kind: release}
"""

OPAE_HOST = """
#include "opae.h"
int main(void)
{
    fpga_handle board;
    uint32_t words[4] = {1, 2, 3, 4}, done = 0, sum = 0;
    if (fpgaOpen(0, &board, 0) || !board) return 1;
    if (put(board, 0, words, sizeof words, SYNC)) return 2;
    if (put(board, 0, words, sizeof words, 0) || fpgaWait(board)) return 3;
    if (poke32(board, 0, 0, 100)) return 4;
    while (!done) if (peek32(board, 0, 0x100, &done)) return 5;
    if (get(board, &sum, 4) != 4 || get(board, &sum, 3) != -1) return 6;
    printf("%u\\n", sum);
    return fpgaClose(board) && !fpgaClose(board) ? 0 : 7;
}
"""


def test_handles_values_counts_and_truths_are_told_apart(project: Path) -> None:
    """Twice 10 and 100, by an API of another make; that nothing is moved of 3 bytes, a word being 4, is told too."""
    card = project.parent / "my_card.yaml"
    text = card.read_text()
    begin, end = text.index("\nhost:\n"), text.index("\n# The application's top level")
    card.write_text(text[:begin] + "\nhost:" + OPAE + text[end:])
    (project.parent / "host" / "main.c").write_text(OPAE_HOST)
    made = run(project)
    assert (made.manifest.exit, made.manifest.reason) == (0, "")
    assert (project.parent / "runs" / "run" / "stdout.txt").read_text() == "120\n"


FAKE = """
#include <stdio.h>
#include "wbcard.h"
struct wbcard { int number, open; };
static struct wbcard cards[2] = {{0, 0}, {1, 0}};
wbcard_t *wbcard_open(int n) { return n < 2 ? (cards[n].open++, &cards[n]) : NULL; }
void wbcard_close(wbcard_t *card) { printf("close %d\\n", card->number), card->open--; }
int wbcard_send(wbcard_t *card, const char *table, const void *data, int64_t address, int64_t bytes)
{
    if (!card || !card->open || bytes != 4)
        return -1;
    return printf("%s %d to %d at %d\\n", table, *(const int *)data, card->number, (int)address), 0;
}
"""


@pytest.mark.parametrize(
    ("handle", "prototypes", "begin"),
    [
        ("by a pointer", ("dev *take(int card)", "int put(dev *board, int at, int value)", "int drop(dev *board)"),
         "dev *a = take(1), *b = take(0); if (!a || !b || take(2)) return 1;"),
        ("filled in", ("int take(int card, dev *to)", "int put(dev board, int at, int value)", "int drop(dev board)"),
         "dev a, b, none = 0; if (take(1, &a) || take(0, &b) || !take(2, &none) || none) return 1;"),
        ("by its number", ("int take(int card)", "int put(int board, int at, int value)", "int drop(int board)"),
         "int a = take(1), b = take(0); if (a < 0 || b < 0 || take(2) >= 0) return 1;"),
        ("without", ("int put(int board, int at, int value)",),
         "int a = 1, b = 0; if (put(2, 0, 0) != -1) return 1;"),
    ],
)  # fmt: skip
def test_every_card_is_told_by_its_handle(handle: str, prototypes: Sequence[str], begin: str, tmp_path: Path) -> None:
    """Two cards, the second opened first. Their library is one that only says what it is asked for."""
    number = {"fpga": "board"} if handle in ("by its number", "without") else {}
    fields = {"take": {"kind": "acquire", "fpga": "card"}, "drop": {"kind": "release", **number},
              "put": {"kind": "send", "transfer": "t", "address": "at", "bytes": "4", "returns": "at",
                      **number}}  # fmt: skip
    entries = [{"prototype": text, **fields[next(name for name in fields if name in text)]} for text in prototypes]
    made = platform(*entries)
    assert without_card(made.host) == ()
    end = "drop(a);" if len(entries) > 1 else ""
    puts = "if (put(a, 16, 7) != 16) return 1; put(b, 32, 8); put(a, 48, 9);"
    host = f"int main(void) {{ {begin} {puts} {end} return 0; }}\n"
    texts = {"api.h": header_text(made.host), "api.c": shim_source(made), "main.c": '#include "api.h"\n' + host}
    for name, text in {**texts, "fake.c": FAKE}.items():
        (tmp_path / name).write_text(text)
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", f"-I{tmp_path}", f"-I{harness_dir()}"]
    sources = [tmp_path / name for name in ("api.c", "main.c", "fake.c")]
    built = run_program([*command, *sources, "-o", tmp_path / "host"])
    assert built.returncode == 0, built.stderr
    done = run_program([tmp_path / "host"])
    said = ["t 7 to 1 at 16", "t 8 to 0 at 32", "t 9 to 1 at 48", *(["close 1"] if end else [])]
    assert (done.returncode, done.stdout.splitlines()) == (0, said)


def test_calls_that_do_not_say_which_card_are_named() -> None:
    made = platform({"prototype": "int put(int at, int value)", "kind": "send", "transfer": "t"})
    assert without_card(made.host) == ("put",)


def platform(*entries: dict[str, str]) -> Platform:
    return Platform(schema_version=1, name="x", host=Host(entries=tuple(map(HostEntry.model_validate, entries))))


@pytest.mark.parametrize(
    ("prototype", "kind", "transfer", "said"),
    [
        ("void w(const int *d)", "send", "", "the entry w names no transfer table"),
        ("void w(const int *a, const int *b)", "send", "t", "it is unclear which parameter of w has the data"),
        ("void r(int a)", "receive", "t", "it is unclear which parameter of r has the data"),
        ("void b::write(const int *d)", "send", "t", "its API is C++, but the template names no header"),
    ],
)
def test_what_cannot_be_made_is_told(prototype: str, kind: str, transfer: str, said: str) -> None:
    entry = {"prototype": prototype, "kind": kind, "transfer": transfer}
    (lack,) = shim_lacks(platform(entry))
    assert said in lack.message
    if "data" in said:
        assert not shim_lacks(platform({**entry, "data": "a"}))


def test_template_check_tells_what_a_template_can_serve(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = project.parent / "my_card.yaml"
    assert main(["template", "check", str(card)]) == 0
    assert "simulate: yes: its API, generated from its entries, on the simulated card" in capsys.readouterr().out
    card.write_text(card.read_text().replace("      transfer: write_reg\n", "", 1))
    main(["template", "check", str(card)])
    assert "simulate: no: the entry fpgaWriteReg names no transfer table" in capsys.readouterr().out
