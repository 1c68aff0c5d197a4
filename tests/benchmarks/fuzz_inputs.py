"""What the fuzzer mutates, and how: bundled documents, sources and a synthetic run, in bytes, words and values."""

import json
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
TINY = ROOT / "tests" / "data" / "tiny"

#: Values that documents of strangers may hold in any place.
VALUES: tuple[Any, ...] = (
    "", None, [], {}, True, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, -(10**400), 1e308, -1e-320, 0.5, float("nan"),
    "x", "-", "*", "nan", "inf", "1e999", "13 KB", "1 furlong", "𝔘*()", "\u202e", "x" * 5000, "../../../**", "/**/*.c",
    "/dev/zero", "a[0]", "((((", "1" * 400, "count > 3", "x/0", "%s%n{0}", [[[[[[]]]]]], {"a": {"b": 1}}, ["x"] * 300,
)  # fmt: skip
#: Pieces of text that parsers stumble on.
PIECES = (
    "\x00", "\r", "\r\n", "\x1b[31m", "\xff", "\u2028", "\ufeff", "𝔘", "!!timestamp ", "!!binary x", "!!int ",
    "&a [*a]", "*a", "<<: ", "? ", "---\n", "%YAML 9\n", "{", "[" * 200, "(" * 2000, ": ", "- ", "|", ">-\n", '"', "'",
    "\\", "\t", "/*", "*/", "//", "`line 9 \"x.v\" 1\n", "`define A `A\n", "`include \"a.v\"\n", "`ifdef X\n",
    "`endif\n", "#include \"main.c\"\n", "#include <\xe4.h>\n", "#define A A\n", "#if 0\n", "#line 7 \"y.c\"\n",
    "#pragma recap ", "//pragma recap ", "--pragma recap ", "#pragma recap x send(, $CPU, 1): ", "\\\n", "begin ",
    "end ", "endmodule\n",
    "if (x) ", "else ", "9" * 30, "$CPU", "R\"(", "??/", "0x", "1e9999", "_Pragma(\"recap x work\")", "é",
)  # fmt: skip


def mutated(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """A few changes of bytes, words and lines."""
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(data) + 1)
        upto = min(len(data), at + rng.choice((1, 1, 3, 20, 300)))
        lines = data.splitlines(keepends=True) or [b""]
        line = rng.randrange(len(lines))
        kind = rng.randrange(11)
        if kind == 0:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + data[upto:]
        elif kind == 2:
            data = data[:upto] + data[at:]
        elif kind in (3, 4, 5):
            data = data[:at] + rng.choice(PIECES).encode() + data[at:]
        elif kind == 6:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            data = data[:at] + other[start : start + 400] + data[upto:]
        elif kind == 7:
            lines.insert(rng.randrange(len(lines)), lines.pop(line))
            data = b"".join(lines)
        elif kind == 8:
            lines[line] = lines[line][:1000] * rng.choice((2, 50, 1000))
            data = b"".join(lines)
        elif kind == 9:
            words = data.split(b" ")
            word = rng.randrange(len(words))
            words[word] = rng.choice((words[word][:1000] * 40, str(rng.choice(VALUES)).encode(), rng.choice(words)))
            data = b" ".join(words)
        else:
            data = rng.choice((data[:at], data.replace(b"\n", b"\r"), data.replace(b"\n", b"\r\n"), data[at:]))
        data = data[: 1 << 20]
    return data


def spoilt(value: Any, rng: random.Random) -> Any:
    """Plain data with one value, key or item changed somewhere within."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        kind = rng.random()
        if kind < 0.75:
            return {**value, key: spoilt(value[key], rng)}
        if kind < 0.85:
            return {k: v for k, v in value.items() if k != key}
        return {**value, str(rng.choice(VALUES))[:80]: value[key]}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at, kind = rng.randrange(len(value)), rng.random()
        if kind < 0.75:
            return [*value[:at], spoilt(value[at], rng), *value[at + 1 :]]
        return value[:at] + value[at + 1 :] if kind < 0.85 else [*value, value[at]]
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300 and rng.random() < 0.4:
        return value * rng.choice((-1, 0, 2, 1000, 0.5, 1e15))
    return rng.choice(VALUES)


def document(seeds: list[bytes], rng: random.Random) -> bytes:
    """A YAML document spoilt in its text or in its values."""
    seed = rng.choice(seeds)
    if rng.random() < 0.5:
        return mutated(seed, rng, seeds)
    data = _plain(seed)
    for _ in range(rng.choice((1, 1, 1, 3))):
        data = spoilt(data, rng)
    try:
        return yaml.dump(data, Dumper=yaml.CDumper, allow_unicode=True, sort_keys=False).encode("utf-8", "replace")
    except yaml.YAMLError:
        return seed


def yaml_document(data: Any, rng: random.Random) -> bytes:
    """Plain data as YAML, spoilt in its values or its text."""
    return document([yaml.safe_dump(data, sort_keys=False).encode()], rng)


@cache
def _plain(text: bytes) -> Any:
    return yaml.load(text, Loader=yaml.CSafeLoader)


#: Kinds of model that are computed from a document alone.
MODELS = ("ratss", "density", "queueing", "rat")


@cache
def seeds(kind: str) -> list[bytes]:
    """The texts that inputs of a kind are made from."""
    resources = ROOT / "resources"
    patterns: dict[str, list[tuple[Path, str]]] = {
        "template": [(ROOT / "platform_templates", "*.yaml"), (ROOT / "plugins", "example_plugin/**/*_card.yaml")],
        "project": [(TINY, "*.yaml"), (resources, "examples/pdf2d/*.workbench.yaml")],
        **{kind: [(ROOT / "plugins", f"rc_workbench_plugins/{kind}/models/*.yaml")] for kind in MODELS},
        "rules": [(ROOT / "plugins", "**/rules.yaml")],
        "c": [(TINY, "host/*.c"), (resources, "examples/pdf2d/host/*.c")],
        "verilog": [(TINY, "hdl/*.v"), (resources, "examples/pdf2d/hdl/**/*.v")],
        "kernel": [(ROOT / "plugins", "rc_workbench_plugins/opencl/kernels/*.cl")],
        "vhdl": [(ROOT / "tests" / "data", "**/*.vhd")],
        "header": [(ROOT / "platform_templates", "*/*.h")],
    }
    found = [path.read_bytes() for folder, pattern in patterns[kind] for path in sorted(folder.glob(pattern))]
    assert found, kind
    return found


_LAPLACE = ROOT / "resources" / "examples" / "laplace"
#: A streaming application's files, by name.
STREAMS = {
    "laplace.x": (_LAPLACE / "laplace.x").read_bytes(),
    "laplace.workbench.yaml": (_LAPLACE / "two.workbench.yaml").read_bytes(),
    "asked.query": b"""m1: measure rate at e1
measure hist(bins=16, low=0, high=10) occupancy at e1  // how full
measure mean(frame=1 ms) latency at e1 when m1 > 100 ktps & !backpressure at e4
a1: assert m1 >= 100 Mtps | util at e4 < 50 %
""",
}


def one_changed(texts: list[bytes], rng: random.Random) -> list[bytes]:
    """Some texts, of which one has a few changes."""
    chosen = rng.randrange(len(texts))
    return [mutated(text, rng, texts) if number == chosen else text for number, text in enumerate(texts)]


@cache
def project_copy() -> Path:
    """A copy of the tiny project, one for this process."""
    return Path(shutil.copytree(TINY, Path(tempfile.mkdtemp(prefix="fuzz-")) / "tiny"))


@cache
def run_copy() -> Path:
    """A synthetic run written to a folder, one for this process."""
    from workbench.formats.run_folder import RunWriter
    from workbench.testing.runs import synthetic_run

    run = synthetic_run(cores=2, rounds=2)
    writer = RunWriter(Path(tempfile.mkdtemp(prefix="fuzz-")) / "run")
    writer.finish(run.manifest, run.tables)
    return writer.path


def _as_before(original: Path, folder: Path) -> Path:
    """`folder` with exactly the files of `original`; those that still have its time and size are left as they are."""
    present = {file.relative_to(folder): file.stat() for file in folder.rglob("*") if file.is_file()}
    for file in (file for file in original.rglob("*") if file.is_file()):
        name, is_meant = file.relative_to(original), file.stat()
        has = present.pop(name, None)
        if has is None or (has.st_mtime_ns, has.st_size) != (is_meant.st_mtime_ns, is_meant.st_size):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, folder / name)
    for name in present:
        (folder / name).unlink()
    return folder


def damaged_run(rng: random.Random) -> Path:
    """A copy of the run with a file or two spoilt, its checksums gone in most (they would tell at once)."""
    folder = _as_before(run_copy(), run_copy().with_name("damaged"))
    if rng.random() < 0.9:
        (folder / "checksums.json").unlink()
    columns = sorted((folder / "tables").rglob("*.npy"))
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.5:
            manifest = folder / "manifest.json"
            text = manifest.read_bytes()
            changed = mutated(text, rng, [text]) if rng.random() < 0.4 else _spoilt_json(text, rng)
            manifest.write_bytes(changed)
        else:
            column = rng.choice(columns)
            column.write_bytes(_spoilt_column(column.read_bytes(), rng))
    return folder


def _spoilt_json(text: bytes, rng: random.Random) -> bytes:
    try:
        return json.dumps(spoilt(json.loads(text), rng)).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return text


def _spoilt_column(data: bytes, rng: random.Random) -> bytes:
    """A column with another header, another length, or another number in it."""
    kind = rng.randrange(4)
    if kind == 0:
        return mutated(data[:128], rng, [data]) + data[128:]
    if kind == 1:
        return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.5 else data + data[128:]
    if len(data) <= 136:
        return data
    at = 128 + 8 * rng.randrange((len(data) - 128) // 8)
    number = rng.choice((-1, 0, 1, 255, 2**31, 2**52, 2**62, -(2**63), 2**63 - 1, rng.getrandbits(62)))
    return data[:at] + number.to_bytes(8, "little", signed=True) + data[at + 8 :]
