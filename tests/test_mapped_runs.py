"""A program that reaches its card through memory, on the simulated card: plain, and with each access recorded."""

import shutil
from pathlib import Path

import yaml

from workbench.api.job import Job
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

DATA = Path(__file__).parent / "data" / "tiny"
TEMPLATE = Path(__file__).parents[1] / "platform_templates" / "nallatech_h101.yaml"
HEADER = "#include <stddef.h>\nvoid *cardMap(const char *device, size_t length);\n"
STAND_IN = """#include "mapped_card.h"
#include "wbcard.h"
void *cardMap(const char *device, size_t length)
{
    return device[0] == '/' ? wbcard_map(wbcard_open(0), "write_reg", "read_reg", 0, 4, (int64_t)length) : NULL;
}
"""
MAIN = """#include <stdint.h>
#include <stdio.h>
#include "mapped_card.h"
enum { DONE = 0x100, SUM = 0x101, WORDS = 16 };
int main(void)
{
    volatile uint32_t *card = cardMap("/dev/card0", 0x1000);
    uint32_t *data = (uint32_t *)card;
    for (int i = 0; i < WORDS; i++)
        data[i] = 3u * i;
    #pragma recap polling wait_recv(done, tiny_top, get)
    while (!card[DONE]) { }
    printf("%u\\n", card[SUM]);
    return 0;
}
"""
ENTRIES = [
    {"prototype": "void *cardMap(const char *device, size_t length)", "kind": "acquire", "opens": "bar",
     "mapped_bytes": "length", "condition": 'like(device, "/dev/card*")', "fpga": "0"},
    {"access": "write", "of": "bar", "kind": "send", "address": "offset / 4", "transfer": "write_reg"},
    {"access": "read", "of": "bar", "kind": "receive", "address": "offset / 4", "transfer": "read_reg"},
]  # fmt: skip


def test_plain_and_instrumented_runs_move_the_same(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA, tmp_path / "tiny")
    template = yaml.safe_load(TEMPLATE.read_text())
    api = {"include_lines": ['#include "mapped_card.h"'], "api_dir": "api", "api_sources": ["api/card.c"]}
    del template["suggestions"]
    (folder / "mine.yaml").write_text(yaml.safe_dump({**template, "name": "mine", "host": {**api, "entries": ENTRIES}}))
    for name, text in (("api/mapped_card.h", HEADER), ("api/card.c", STAND_IN), ("host/main.c", MAIN)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    project = folder / "tiny.workbench.yaml"
    project.write_text(project.read_text().replace("platform: nallatech_h101", "platform: mine.yaml"))
    workspace = open_workspace(project, load_plugins())
    runs = [
        run_workspace(workspace, RunOptions(out=tmp_path / name, deterministic=True, plain=name == "plain"), Job())
        for name in ("plain", "run")
    ]
    plain, run = runs
    assert [(one.path / "stdout.txt").read_text() for one in runs] == [f"{sum(range(0, 48, 3))}\n"] * 2
    calls = run.tables["calls"]
    assert calls["address"][1:].tolist() == [*range(16), 0x100, 0x101]
    assert calls["bytes"][1:].tolist() == [4] * 18
    assert calls["value_bytes"].tolist() == [0] * 17 + [4] * 2
    assert calls["value"][-2:].tolist() == [1, sum(range(0, 48, 3))]
    assert (calls["t1_ps"] - calls["t0_ps"])[1:].tolist() == [16_000_000] * 16 + [32_000_000] * 2
    assert (calls["port_first_ps"][1:] > calls["t0_ps"][1:]).all()  # each made its own transfer
    states = [run.manifest.blocks[0].states[n].name for n in calls["state"]]
    assert states == ["cardMap", *["memory write"] * 16, "polling", "memory read"]
    assert 320_000_000 < plain.manifest.time_ps <= run.manifest.time_ps < 321_000_000
