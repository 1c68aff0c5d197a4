"""How the fuzzer reads what other tools and people leave: lists of sources, traces, headers, kernels, settings, names
of any bytes, and the records of a run that was ended."""

import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import fuzz_inputs as inputs
import fuzz_records
from fuzz_readers import Read, clean, command, contents, plugins, unchanged

_CORE = {
    "name": "a:b:tiny:1.0",
    "filesets": {
        "rtl": {
            "files": ["hdl/tiny_top.v", {"hdl/w.vh": {"is_include_file": True}}, "tool_verilator ? (hdl/tiny_top.v)"],
            "file_type": "verilogSource", "depend": [">=a:b:other:1.0"],
        },
    },
    "targets": {"default": {"filesets": ["rtl"], "parameters": ["N=3", "DEEP"]}},
    "parameters": {"DEEP": {"datatype": "bool", "default": True, "paramtype": "vlogdefine"}},
}  # fmt: skip
_LIST = b"// the top\n+incdir+hdl +define+A=4+B\n-sv_lib x\nhdl/tiny_top.v # and\n-y hdl +libext+.v -F more.f\n/* */\n"
_COMMANDS = [
    {"directory": ".", "file": "host/main.c", "command": "cc -Ihost -DNAME='\"a b\"' -O0 -c host/main.c"},
    {"directory": "host", "file": "main.c", "arguments": ["cc", "-I", "x", "-DS=6", "-flto", "-o", "x.o", "@flags"]},
]
_EVENTS = {
    "traceEvents": [
        {"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "server"}},
        {"ph": "X", "pid": 7, "tid": 1, "ts": 100, "dur": 10, "name": "serve", "cat": "work"},
        {"ph": "B", "pid": 7, "tid": 2, "ts": 104.5, "name": "log", "args": {"start_ps": 3}},
        {"ph": "E", "pid": 7, "tid": 2, "ts": 106},
    ],
    "otherData": {"run": "r", "time_ps": 2 * 10**8, "simulated": True},
}
_STORED: dict[str, Any] = {
    "window": {"theme": "dark", "scale_pct": "120", "key.run": "F5", "cache_mb": "100", "folder.cache": ""},
    "trusted": {"/home/me/a.workbench.yaml": "own", "/b": {"host/main.c": "00ff"}},
    "recent": ["/home/me/a.workbench.yaml"], "durations": {"/a": {"Build": 1.5}},
}  # fmt: skip
_LAUNCH = "{global_size: [64], arguments: {n: 64}}"


def _structured(data: Any, rng: random.Random, dumped: Callable[[Any], str] = json.dumps) -> bytes:
    """A JSON document with values, keys or bytes changed."""
    if rng.random() < 0.6:
        for _ in range(rng.choice((1, 1, 3))):
            data = inputs.spoilt(data, rng)
        return dumped(data).encode("utf-8", "replace")
    text = dumped(data).encode()
    return inputs.mutated(text, rng, [text])


def _opened(project: Path) -> bool:
    from workbench.model.diagnostic import WorkbenchError
    from workbench.session.open.opening import open_workspace

    try:
        return clean(open_workspace(project, plugins()).diagnostics)
    except WorkbenchError as error:
        return clean(error.diagnostics)


def read_list(rng: random.Random, folder: Path) -> bool:
    """A FuseSoC core, a simulator's list or a compilation database that the tiny project names."""
    project = inputs.project_copy()
    name = rng.choice(("listed.core", "listed.f", "compile_commands.json"))
    data = {
        "listed.core": lambda: b"CAPI=2:\n" + inputs.yaml_document(_CORE, rng),
        "listed.f": lambda: inputs.mutated(_LIST, rng, [_LIST]),
        "compile_commands.json": lambda: _structured(_COMMANDS, rng),
    }[name]()
    (project / name).write_bytes(data)
    text = (inputs.TINY / "tiny.workbench.yaml").read_text()
    named = text.replace("hdl/*.v", name) if name.startswith("listed") else text
    (project / "listed.workbench.yaml").write_text(named)
    before = contents(project)
    try:
        return _opened(project / "listed.workbench.yaml")
    finally:
        unchanged(project, before)
        (project / name).unlink()


def read_trace(rng: random.Random, folder: Path) -> bool:
    """Chrome's trace events, imported and opened."""
    from workbench.formats.run_folder import open_run

    with tempfile.TemporaryDirectory(dir=folder) as own:
        trace, out = Path(own, "trace.json"), Path(own, "run")
        trace.write_bytes(_structured(_EVENTS, rng))
        content = command("import", str(trace), "--out", str(out))
        if out.exists():
            faults = open_run(out)[1]
            assert not faults, faults
        return content


def read_header(rng: random.Random, folder: Path) -> bool:
    """A vendor's header, of which a template is begun."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        header = Path(own, "api.h")
        seed = rng.choice(inputs.seeds("header"))
        header.write_bytes(inputs.mutated(seed, rng, inputs.seeds("header")))
        before = contents(Path(own))
        content = command("template", "new", f"{own}/own.yaml", "--header", str(header))
        unchanged(Path(own), before)
        return content


def read_kernel(rng: random.Random, folder: Path) -> bool:
    """An OpenCL kernel, or its launch, predicted."""
    kernel, launch = rng.choice(inputs.seeds("kernel")), _LAUNCH
    if rng.random() < 0.5:
        kernel = inputs.mutated(kernel, rng, inputs.seeds("kernel"))
    else:
        launch = inputs.mutated(_LAUNCH.encode(), rng, [_LAUNCH.encode()]).decode("utf-8", "replace")
    (folder / "kernel.cl").write_bytes(kernel)
    launched = launch if launch.startswith("{") else "{" + launch
    return command("predict", "opencl", str(folder / "kernel.cl"), "--board", "de5_net", f"--launch={launched}")


def read_vhdl(rng: random.Random, folder: Path) -> bool:
    """A design in VHDL, scanned."""
    project = inputs.project_copy()
    source = project / "design.vhd"
    source.write_bytes(inputs.mutated(rng.choice(inputs.seeds("vhdl")), rng, inputs.seeds("vhdl")))
    text = (inputs.TINY / "tiny.workbench.yaml").read_text()
    (project / "in_vhdl.workbench.yaml").write_text(text.replace("hdl/*.v", "design.vhd"))
    return command("scan", str(project / "in_vhdl.workbench.yaml"))


def read_stored(rng: random.Random, folder: Path) -> bool:
    """What the workbench remembers of its user, read as it starts."""
    from workbench.system import store

    name = rng.choice(sorted(_STORED))
    with patch.dict(os.environ, {"RCW_PREFERENCES": str(folder)}):
        (folder / f"{name}.json").write_bytes(_structured(_STORED[name], rng))
        content = store.load(name, None) is not None
        command("settings", "list") if rng.random() < 0.02 else _opened(inputs.project_copy() / "tiny.workbench.yaml")
        (folder / f"{name}.json").unlink()
    return content


def read_name(rng: random.Random, folder: Path) -> bool:
    """A project in a folder, or with a source, whose name has any bytes."""
    odd = [bytes([n]) for n in range(1, 256) if n != ord("/")] + ["é".encode(), "\u202e".encode(), b"*", b"[", b"  "]
    name = os.fsdecode(b"".join(rng.choices(odd, k=rng.choice((1, 2, 5, 40)))))
    if name in (".", ".."):
        return True
    with tempfile.TemporaryDirectory(dir=folder) as own:
        project = Path(shutil.copytree(inputs.TINY, Path(own) / (name if rng.random() < 0.6 else "tiny")))
        if rng.random() < 0.5:
            (project / "hdl" / f"{name}.v").write_text("module other; endmodule\n")
        if rng.random() < 0.3:
            return command("new", str(project), "--out", f"{own}/made.workbench.yaml")
        before = contents(Path(own))
        if rng.random() < 0.1:
            content = command("instrument", str(project), "--out", f"{own}/copies")
        else:
            content = _opened(project / "tiny.workbench.yaml")
        unchanged(Path(own), before)
        return content


@cache
def _interrupted_run() -> Path:
    """A run folder whose run was ended before its tables were made."""
    from collect import leave_records

    from workbench.formats.run_folder import RunWriter
    from workbench.testing.runs import synthetic_platform, synthetic_run

    made = synthetic_run(cores=1, rounds=1).manifest
    writer = RunWriter(Path(tempfile.mkdtemp(prefix="fuzz-")) / "run", replace(made, traced=False))
    leave_records(writer.path.parent / "left", 300)
    for record in (writer.path.parent / "left" / "raw").iterdir():
        shutil.copyfile(record, writer.raw / record.name)
    (writer.raw / "host_threads.txt").write_text("0 0 700000000 1 0 0 5\n1 5 700000000 1 0 0 5\n")
    (writer.raw / "host_names.txt").write_text("1 worker\n")
    template = inputs.ROOT / "platform_templates" / f"{synthetic_platform().name}.yaml"
    template = template if template.exists() else inputs.ROOT / "platform_templates" / "nallatech_h101.yaml"
    shutil.copyfile(template, writer.path / "platform.yaml")
    return writer.path


def read_interrupted(rng: random.Random, folder: Path) -> bool:
    """A run that was ended, with damaged records: opened, its tables are made."""
    from workbench.formats.run_folder import open_run

    with tempfile.TemporaryDirectory(dir=folder) as own:
        run = Path(shutil.copytree(_interrupted_run(), Path(own) / "run"))
        records = [file for file in sorted((run / "raw").iterdir()) if file.stat().st_size]
        for file in rng.sample(records, rng.choice((1, 1, 2))):
            file.write_bytes(fuzz_records.damaged(file.read_bytes(), rng, file.suffix == ".txt"))
        command("report", str(run))
        return not any("damaged" in told.message for told in open_run(run)[0].manifest.diagnostics)


FOREIGN: dict[str, tuple[Read, float]] = {
    "lists": (read_list, 0.04), "trace": (read_trace, 0.03), "header": (read_header, 0.01),
    "kernel": (read_kernel, 0.003), "vhdl": (read_vhdl, 0.005), "stored": (read_stored, 0.04),
    "names": (read_name, 0.03), "interrupted": (read_interrupted, 0.02),
}  # fmt: skip
