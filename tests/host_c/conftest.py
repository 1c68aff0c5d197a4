"""A tiny host API that writes down its own calls, so that what was recorded can be held against what happened."""

import hashlib
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from rc_workbench_plugins.c import CLanguage

from workbench.api import HostBuild
from workbench.api.host_stats import HostStats, read_stats
from workbench.api.records import read_calls
from workbench.model.application import HostSources
from workbench.model.platform import Platform
from workbench.model.scan import HostScan

HEADER = """
#ifndef FAKE_H
#define FAKE_H
#include <stdint.h>
typedef struct { int number; } fake_t;
fake_t *fakeOpen(int card);
int fakeWrite(fake_t *f, const uint32_t *data, uint32_t addr, int words);
int fakeRead(fake_t *f, uint32_t *data, uint32_t addr, int words);
uint32_t fakeReg(fake_t *f, uint32_t addr);
int fakeMove(fake_t *f, void *data, int bytes, int to_card);
int fakeControl(fake_t *f, int what, ...);
void fakeEach(fake_t *f, void (*each)(int), int times);
void fakeClose(fake_t *f);
uint32_t fakePeekImplementation(fake_t *f, uint32_t addr);
#define fakePeek(f, addr) fakePeekImplementation(f, (addr))
#define fakePoll(f) while (!fakeReg(f, 0)) { }
#endif
"""
LIBRARY = """
#include "fake.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
static FILE *to;
static void note(const char *name)
{ if (!to) to = fopen(getenv("FAKE_LOG"), "w"); fprintf(to, "%s\\n", name); fflush(to); }
fake_t *fakeOpen(int card) { note("fakeOpen"); fake_t *f = malloc(sizeof *f); f->number = card; return f; }
int fakeWrite(fake_t *f, const uint32_t *data, uint32_t addr, int words) { note("fakeWrite"); return words; }
int fakeRead(fake_t *f, uint32_t *data, uint32_t addr, int words)
{ note("fakeRead"); for (int i = 0; i < words; i++) data[i] = addr + i; return words; }
uint32_t fakeReg(fake_t *f, uint32_t addr) { static int n; note("fakeReg"); return addr ? addr : ++n % 3 == 0; }
int fakeMove(fake_t *f, void *data, int bytes, int to_card) { note("fakeMove"); return bytes; }
int fakeControl(fake_t *f, int what, ...)
{
    note("fakeControl");
    va_list rest; va_start(rest, what);
    int sum = what;
    for (int i = 0; i < what; i++) sum += va_arg(rest, int);
    va_end(rest);
    return sum;
}
void fakeEach(fake_t *f, void (*each)(int), int times) { note("fakeEach"); for (int i = 0; i < times; i++) each(i); }
void fakeClose(fake_t *f) { note("fakeClose"); free(f); }
uint32_t fakePeekImplementation(fake_t *f, uint32_t addr) { note("fakePeek"); return addr * 2; }
"""
PLATFORM = """
schema_version: 1
name: fake
host:
  include_lines: ['#include "fake.h"']
  constants: {WORD_BYTES: 4}
  entries:
    - {prototype: fake_t *fakeOpen(int card), kind: acquire, fpga: card}
    - {prototype: 'int fakeWrite(fake_t *f, const uint32_t *data, uint32_t addr, int words)', kind: send,
       bytes: words * WORD_BYTES, address: addr, fpga: f->number, reason: data}
    - {prototype: 'int fakeRead(fake_t *f, uint32_t *data, uint32_t addr, int words)', kind: receive,
       bytes: words * WORD_BYTES, address: addr, fpga: f->number}
    - {prototype: 'uint32_t fakeReg(fake_t *f, uint32_t addr)', kind: receive, bytes: '4', address: addr}
    - {prototype: 'int fakeMove(fake_t *f, void *data, int bytes, int to_card)', kind: send, subtype: out,
       condition: to_card == 1, bytes: bytes}
    - {prototype: 'int fakeMove(fake_t *f, void *data, int bytes, int to_card)', kind: receive, subtype: in,
       condition: to_card == 0, bytes: bytes}
    - {prototype: 'int fakeControl(fake_t *f, int what)', kind: other}
    - {prototype: 'void fakeEach(fake_t *f, void (*each)(int), int times)', kind: wait}
    - {prototype: 'uint32_t fakePeek(fake_t *f, uint32_t addr)', kind: receive, bytes: '4', address: addr}
    - {prototype: void fakeClose(fake_t *f), kind: release}
"""
RUNTIME = Path(__file__).parents[2] / "resources" / "host"


@dataclass
class Ran:
    """One run of a host: what it printed, what really happened, what was recorded (`calls` as they ended)."""

    exit: int
    stdout: bytes
    stderr: str
    truth: list[str]
    calls: NDArray[np.void]
    rows: NDArray[np.void]
    stats: HostStats | None
    build: HostBuild | None

    @property
    def recorded(self) -> Counter[str]:
        assert self.build is not None
        return Counter(self.build.sites[s].callee for s in self.calls["site"])

    @property
    def states(self) -> list[str]:
        assert self.build is not None
        return [self.build.blocks[0].states[s].name for s in self.calls["state"]]


class Project:
    """A host project in a folder of its own, on the fake API."""

    def __init__(self, folder: Path, api: Path, runtime: list[Path]) -> None:
        self.root, self.api, self.runtime = folder / "project", api, runtime
        self.work = folder / "work"
        self.root.mkdir()
        self.work.mkdir()
        self.language = CLanguage()
        self.platform = Platform.model_validate(yaml.safe_load(PLATFORM))
        self.sources: list[str] = []
        self.include_dirs: tuple[str, ...] = ()
        self.defines: dict[str, str] = {}
        self.flags: tuple[str, ...] = ("-O1",)

    def file(self, name: str, text: str | bytes, *, source: bool | None = None) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if source if source is not None else name.endswith(".c"):
            self.sources.append(name)
        return path

    @property
    def host(self) -> HostSources:
        return HostSources(
            sources=tuple(self.sources), include_dirs=(*self.include_dirs, str(self.api)), flags=self.flags
        )

    def scan(self) -> HostScan:
        return self.language.scan(self.root, self.host, self.platform, self.defines)

    def instrument(self) -> HostBuild:
        return self.language.instrument(self.root, self.host, self.platform, self.defines, self.work / "build")

    def run(
        self, build: HostBuild | None, *, name: str = "host", flags: Sequence[str] = (), record: bool = True,
        trace: bool = True, extra: Sequence[str | Path] = (), env: dict[str, str] | None = None,
    ) -> Ran:  # fmt: skip
        """Compile as the simulated card's builder does, and run."""
        executable = self.work / name
        own = [f"-I{self.api}", *(f"-I{d}" for d in (build.include_dirs if build else ()))]
        user = [*self.flags, *(f"-I{self.root / d}" for d in self.include_dirs), *own]
        user += [f"-D{key}={value}" for key, value in self.defines.items()]
        objects = []
        for n, source in enumerate(build.sources if build else [self.root / s for s in self.sources]):
            objects.append(compile_c(source, self.work / f"{name}_{n}.o", [*user, *flags]))
        if build:
            for made in build.extra_sources[:2]:
                objects.append(compile_c(made, self.work / f"{name}_{made.stem}.o", ["-O2", "-Wall", "-Werror", *own]))
            objects += self.runtime
        subprocess.run(["gcc", *objects, self.api / "fake.o", *extra, "-o", executable, "-pthread"], check=True)
        return self.execute(executable, build, record=record, trace=trace, env=env)

    def execute(
        self, executable: Path, build: HostBuild | None, *, record: bool = True, trace: bool = True,
        env: dict[str, str] | None = None,
    ) -> Ran:  # fmt: skip
        raw = self.work / f"raw_{executable.name}"
        raw.mkdir(exist_ok=True)
        log = self.work / "truth"
        log.unlink(missing_ok=True)
        recording = {"RCW_RAW": str(raw), **({"RCW_TRACE": "1"} if trace else {})} if record else {}
        environment = {**os.environ, "FAKE_LOG": str(log), **recording, **(env or {})}
        done = subprocess.run([executable], env=environment, capture_output=True, timeout=60)
        truth = log.read_text().split() if log.exists() else []
        calls = read_calls(raw).in_order("t1_ps").at()
        stats = read_stats(raw)
        rows = read_rows(stats)
        rows = rows[rows["count"] > 0]
        return Ran(done.returncode, done.stdout, done.stderr.decode(), truth, calls, rows, stats, build)


def read_rows(stats: HostStats | None) -> NDArray[np.void]:
    """The rows of all threads, one thread's after the other's."""
    parts = [thread.rows for thread in stats.threads] if stats else []
    return np.concatenate(parts) if parts else np.zeros(0, [("count", "<i8")])


def compile_c(source: Path, target: Path, flags: Sequence[str]) -> Path:
    done = subprocess.run(["gcc", *flags, "-c", source, "-o", target], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="session")
def fake_api(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("api")
    (folder / "fake.h").write_text(HEADER)
    (folder / "fake.c").write_text(LIBRARY)
    compile_c(folder / "fake.c", folder / "fake.o", ["-O1"])
    return folder


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runtime")
    flags = ["-O2", "-Wall", "-Wextra"]
    return [compile_c(source, folder / f"{source.stem}.o", flags) for source in sorted(RUNTIME.glob("*.c"))]


@pytest.fixture
def project(tmp_path: Path, fake_api: Path, runtime: list[Path]) -> Project:
    return Project(tmp_path, fake_api, runtime)


@pytest.fixture
def untouched() -> Callable[[Path], dict[str, str]]:
    """Hashes of all files below a folder."""

    def hashes(folder: Path) -> dict[str, str]:
        return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}

    return hashes
