"""`host.build`: the host program built by the project's own make, in a copy, for the simulated card and the board."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from answers import refusal

from workbench.api.compile import run_all
from workbench.api.job import Job
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import Run
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import TrustState, content, trust_sentences
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins

TINY = Path(__file__).parent / "data" / "tiny"
LAPLACE = TINY.parents[2] / "resources" / "examples" / "laplace"
#: a generator that is built and run, an archive, threads that wait for each other in a loop, a library that is not here
FILES = {
    "host/Makefile": "CFLAGS = -O2 -Wall -Wno-unknown-pragmas -I.\n"
    "app: main.o libmove.a\n\t$(CC) $^ $(BOARD) -lfpga -pthread -o $@\n"
    "main.o: table.h\ntable.h: gen\n\t./gen > $@\nlibmove.a: move.o\n\tar rcs $@ $^\n",
    "host/gen.c": '#include <stdio.h>\nint main(void) { puts("enum { WORDS = 16 };"); return 0; }\n',
    "host/move.h": '#include "fpga.h"\nuint32_t later(fpga_t *fpga, int word);\n',
    "host/move.c": '#include "move.h"\n#include <pthread.h>\n#include <stdatomic.h>\n\n'
    "static atomic_int ready;\nstatic fpga_t *card;\nstatic uint32_t found;\n\n"
    "static void *read_it(void *word)\n{\n    found = fpgaReadReg(card, (int)(intptr_t)word);\n    ready = 1;\n"
    "    return 0;\n}\n\nuint32_t later(fpga_t *fpga, int word)\n{\n    pthread_t other;\n    card = fpga;\n"
    "    pthread_create(&other, 0, read_it, (void *)(intptr_t)word);\n    while (!ready)\n        ;\n"
    "    pthread_join(other, 0);\n    return found;\n}\n",
}
SUM = "1128\n"
GERMAN_GCC = """#!/bin/sh
locale="${{LC_ALL:-${{LC_MESSAGES:-$LANG}}}}"
[ "$locale" = C ] || locale="${{LANGUAGE:-$locale}}"
case $locale in de*) ;; *) exec {gcc} "$@" ;; esac
exec 3>&1
said=$({gcc} "$@" 2>&1 >&3)
code=$?
printf "%s\\n" "$said" | sed "s/error:/Fehler:/; s/undeclared/nicht deklariert/" >&2
exit $code
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(TINY, tmp_path_factory.mktemp("project") / "tiny")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    source = folder / "host" / "main.c"
    text = source.read_text().replace(", WORDS = 16", "").replace('"fpga.h"', '"fpga.h"\n#include "table.h"', 1)
    text = text.replace('"table.h"', '"table.h"\n#include "move.h"')
    source.write_text(text.replace("fpgaReadReg(fpga, SUM)", "later(fpga, SUM)"))
    (folder / "host" / "main.o").write_bytes(b"\x7fELF of another build, and newer than its source")
    return folder / "tiny.workbench.yaml"


def opened(project: Path, name: str, build: str = "make -C host app", **given: object) -> Workspace:
    path = project.with_name(f"{name}.workbench.yaml")
    host = f"  build: {json.dumps(build)}\n  program: host/app\n"
    text = project.read_text().replace("[host/main.c]\n", f"[host/main.c, host/move.c]\n{host}")
    path.write_text(text + "".join(f"\n{key}: {json.dumps(value)}\n" for key, value in given.items()))
    return open_workspace(path, load_plugins())


@pytest.fixture(scope="module")
def card(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run on the simulated card."""
    options = RunOptions(out=tmp_path_factory.mktemp("runs") / "card", trace=True, deterministic=True)
    return run_workspace(opened(project, "card"), options, Job())


def test_the_card_runs_what_make_built_and_counts_its_calls(project: Path, card: Run) -> None:
    assert card.path is not None
    assert card.complete
    assert (card.path / "stdout.txt").read_text() == SUM
    sites = card.manifest.sites
    stats = card.tables["call_stats"]
    counted = {
        (sites[site].file, sites[site].line, sites[site].callee): int(count)
        for site, count in zip(stats["site"], stats["count"], strict=True)
    }
    assert counted == {
        ("host/main.c", 13, "fpgaOpen"): 1,
        ("host/main.c", 18, "fpgaWrite"): 3,
        ("host/main.c", 20, "fpgaReadReg"): 3,
        ("host/main.c", 25, "fpgaClose"): 1,
        ("host/move.c", 11, "fpgaReadReg"): 1,
    }
    assert [block.id for block in card.manifest.blocks][:2] == ["host.main", "host.thread_1"]
    assert len(card.tables["calls"]["site"]) == 9
    assert len(card.manifest.threads) == 2
    assert sorted(path.name for path in (project.parent / "host").iterdir()) == [
        "Makefile", "gen.c", "main.c", "main.o", "move.c", "move.h",
    ], "nothing is written beside the user's sources"  # fmt: skip


@pytest.fixture
def translated_gcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gcc that speaks German to a user whose locale is German, by gettext's rules."""
    (tmp_path / "bin").mkdir()
    for name in ("cc", "gcc"):
        script = tmp_path / "bin" / name
        script.write_text(GERMAN_GCC.format(gcc=shutil.which("gcc")))
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    for name, value in {"LANG": "de_DE.UTF-8", "LANGUAGE": "de:en"}.items():
        monkeypatch.setenv(name, value)
    for name in ("LC_ALL", "LC_MESSAGES", "CC"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("translated_gcc")
@pytest.mark.parametrize("build", [None, "cd host && cc -c main.c"])
def test_a_gcc_that_speaks_the_users_language_is_asked_in_english(build: str | None, tmp_path: Path) -> None:
    mine = shutil.copytree(TINY, tmp_path / "tiny") / "tiny.workbench.yaml"
    source = mine.parent / "host" / "main.c"
    source.with_name("move.c").write_text("")
    source.write_text(f"{source.read_text()}\nint wrong(void) {{ return cart; }}\n")
    told = subprocess.run(["gcc", "-fsyntax-only", "-w", "-I.", source], capture_output=True, text=True)
    assert "Fehler:" in told.stderr, "gcc is in German"
    workspace = opened(mine, "german", build) if build else open_workspace(mine, load_plugins())
    one = refusal(run_workspace, workspace, RunOptions(out=tmp_path / "run"), Job())
    assert (one.file, one.line) == (str(source), len(source.read_text().splitlines()))
    assert "undeclared" in one.message


def test_what_is_wrong_is_told_at_the_users_own_line(project: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(project.parent, tmp_path / "tiny") / "tiny.workbench.yaml"
    source = mine.parent / "host" / "move.c"

    def told(text: str, build: str) -> tuple[str | None, int | None, str]:
        source.write_text(text)
        with pytest.raises(WorkbenchError) as refused:
            run_workspace(
                opened(mine, "wrong", build), RunOptions(out=tmp_path / f"run-{len(list(tmp_path.iterdir()))}"), Job()
            )
        (one,) = refused.value.diagnostics
        return one.file and Path(one.file).name, one.line, one.message

    good = FILES["host/move.c"]
    compiled = "cd host && cc -c move.c"
    undeclared = "‘cart’ undeclared (first use in this function); did you mean ‘card’?"
    assert told(good.replace("    card = fpga", "    cart = fpga"), compiled) == ("move.c", 19, undeclared)
    pragma = "#pragma recap get recv(data, tiny_top.adder, s1): wordz\n    found = fpga"
    message = "the condition of the pragma 'get' does not compile here: use of undeclared identifier 'wordz'"
    assert told(good.replace("found = fpga", pragma), compiled) == ("move.c", 11, message)
    message = "the command host.build produced no host/app"
    assert told(good, compiled) == ("wrong.workbench.yaml", None, message)
    message = "the command host.build ended with exit code 1: what"
    assert told(good, "echo what; false") == ("wrong.workbench.yaml", None, message)
    assert told(good, "true")[2] == "the command host.build started no compiler"


def test_whoever_is_asked_for_trust_reads_the_command(project: Path) -> None:
    workspace = opened(project, "asked")
    said = "built by `make -C host app`, run in a copy of this folder with your rights, network and all, and started"
    assert any(said in sentence for sentence in trust_sentences(workspace, TrustState(False)))
    assert "host/Makefile" in content(workspace)


def test_a_streaming_application_has_no_build_of_its_own(tmp_path: Path) -> None:
    made = shutil.copytree(LAPLACE, tmp_path / "laplace") / "eight.workbench.yaml"
    made.write_text(made.read_text() + "\nhost: {build: make}\n")
    with pytest.raises(
        WorkbenchError, match=r"eight.workbench.yaml:\d+:\d+: error: the host of a streaming application"
    ):
        open_workspace(made, load_plugins())


def test_the_first_word_of_a_step_is_of_what_it_compiles(tmp_path: Path) -> None:
    heard: list[str] = []
    job = Job(lambda event: heard.append(event.text))
    run_all([["gcc", "--version"]], job, cwd=tmp_path, what="the simulated card")
    assert heard == [f"the simulated card: {done} of 1 compiler call done" for done in (0, 1)]
