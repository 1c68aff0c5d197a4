"""Projects of this repository as applications of `whatif.py`, and the same with parts of them really changed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from workbench.model.blocks import Side
from workbench.model.run import Run

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "platform_templates"
BLOCK_PS = 2000  # what a basic block of the host takes where nothing else is said
TWIN = "twin"  # the name by which a change names the changed project's platform


@dataclass(frozen=True)
class Project:
    """A project file of the repository, and what is otherwise in its folder: `texts` are files, what they have and what
    they get, `settings` and `simulation` those of the project, `clocks` by how much its platform's clocks are faster,
    `bus` by how much its transfers take longer, `files` further ones, from where."""

    path: str
    settings: Mapping[str, int] = field(default_factory=dict)
    simulation: Mapping[str, int | str] = field(default_factory=dict)
    texts: tuple[tuple[str, str, str], ...] = ()
    clocks: Mapping[str, float] = field(default_factory=dict)
    bus: float = 1.0
    files: tuple[tuple[str, str], ...] = ()
    trace: bool = True

    def but(self, **changed: Any) -> Project:
        """The same with more that is otherwise."""
        for name, value in changed.items():
            if name == "texts":
                changed[name] = (*self.texts, *value)
            elif name != "bus":
                changed[name] = {**getattr(self, name), **value}
        return replace(self, **changed)

    @property
    def folder(self) -> str:
        """The name of the folder that it has to itself."""
        words = [Path(self.path).parent.name, Path(self.path).name.removesuffix(".workbench.yaml")]
        words += [f"{name}{value}" for name, value in sorted([*self.settings.items(), *self.simulation.items()])]
        words += [f"{name}x{value:g}" for name, value in sorted(self.clocks.items())]
        words += [f"bus{self.bus:g}"] if self.bus != 1 else []
        words += [after for _, _, after in self.texts]
        return re.sub(r"[^\w.]+", "-", "_".join(words)).strip("-")[:200]

    def make(self, folder: Path) -> Path:
        """Copy it into `folder`; its project file there."""
        source = ROOT / self.path
        shutil.copytree(source.parent, folder, dirs_exist_ok=True)
        path = folder / source.name
        project = yaml.safe_load(path.read_text(encoding="utf-8"))
        project["settings"] = {**project.get("settings", {}), **self.settings}
        parameters = project.get("hardware", {}).get("parameters", {})
        parameters |= {name: value for name, value in self.settings.items() if name in parameters}
        project["simulation"] = {**project.get("simulation", {}), **self.simulation}
        if str(project["platform"]).startswith("../"):
            shutil.copy((source.parent / project["platform"]).resolve(), folder / "card.yaml")
            project["platform"] = "card.yaml"
        if self.clocks or self.bus != 1:
            project["platform"] = self._platform(folder, project["platform"])
        path.write_text(yaml.safe_dump(project, sort_keys=False), encoding="utf-8")
        for name, source_of in self.files:
            shutil.copy(source_of, folder / name)
        for name, before, after in self.texts:
            text = (folder / name).read_text(encoding="utf-8")
            assert before in text, f"{name} of {self.path} has no '{before}'"
            (folder / name).write_text(text.replace(before, after), encoding="utf-8")
        return path

    def _platform(self, folder: Path, name: str) -> str:
        bundled = not name.endswith(".yaml")
        template = (TEMPLATES / f"{name}.yaml") if bundled else folder / name
        platform = yaml.safe_load(template.read_text(encoding="utf-8"))
        if bundled:
            platform["name"] = "card"
        for clock in platform["hardware"]["clocks"]:
            clock["frequency_hz"] = _times(clock["frequency_hz"], self.clocks.get(clock["name"], 1))
        for table in platform["transfer_tables"].values():
            for point in table["points"]:
                point["time_s"] = _times(point["time_s"], self.bus)
        made = folder / ("card.yaml" if bundled else name)
        made.write_text(yaml.safe_dump(platform, sort_keys=False), encoding="utf-8")
        return made.name


def _times(value: str | float, factor: float) -> str | float:
    """A quantity as templates have it, so many times."""
    number, _, unit = str(value).partition(" ")
    return f"{float(number) * factor!r} {unit}" if unit else float(number) * factor


@dataclass(frozen=True)
class Application:
    """A project and what is really changed in it: by how much its clocks are faster, its transfers and the host's code
    slower, and texts of its files, each with the changes of the catalogue that these are."""

    name: str
    base: Project
    clocks: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    buses: tuple[float, ...] = (2, 4)
    hosts: tuple[float, ...] = ()
    edits: tuple[tuple[tuple[tuple[str, str, str], ...], tuple[str, ...]], ...] = ()

    def twins(self) -> Iterator[tuple[Project, str, tuple[str, ...]]]:
        """The changed projects, what is changed, and the changes of `edits`."""
        for clock, factors in self.clocks.items():
            for factor in factors:
                yield self.base.but(clocks={clock: factor}), "clock", ()
        for factor in self.buses:
            yield self.base.but(bus=factor), "bus", ()
        for factor in self.hosts:
            yield self.base.but(simulation={"basic_block_ps": round(factor * BLOCK_PS)}), "host", ()
        for texts, lines in self.edits:
            yield self.base.but(texts=texts), "edit", lines


def speeds(base: Project, twin: Project, run: Run) -> list[str]:
    """The changes of the catalogue that make another speed of clocks, buses and host of a project's run."""
    texts = []
    for clock in run.manifest.clocks:
        factor = twin.clocks.get(clock.name, 1) / base.clocks.get(clock.name, 1)
        if factor != 1:
            texts.append(f"clock clock={clock.name} frequency_hz={clock.frequency_hz * factor!r}")
    if twin.bus != base.bus:
        texts.append(f"platform platform={TWIN}")
    before, after = (int(one.simulation.get("basic_block_ps", BLOCK_PS)) for one in (base, twin))
    if before != after:
        hosts = [block.id for block in run.manifest.blocks if block.side is Side.HOST]
        texts += [f"host block={name} state=* factor={after / before!r}" for name in hosts]
    return texts


DATA, EXAMPLES, RISCV = "tests/data", "resources/examples", "tests/benchmarks/riscv_app"


def of(name: str) -> Project:
    return Project(f"{DATA}/applications/{name}/{name}.workbench.yaml")


def foreign(core: Path) -> list[Application]:
    """The RISC-V core of `riscv_marks.py`, without marks, with a host that does otherwise."""
    main = "host/main.c"
    stop, load = (
        f"    fpgaWrite{text};\n"
        for text in ("Reg(fpga, CONTROL, 0)", "(fpga, program, MEMORY, sizeof program / sizeof *program)")
    )
    parts = "    for (int i = 0; i < 21; i += 7)\n        fpgaWrite(fpga, program + i, MEMORY + i, 7);\n"
    lines = (ROOT / RISCV / main).read_text(encoding="utf-8").splitlines(keepends=True)
    at = {text: f"{main}:{lines.index(text) + 1}" for text in (stop, load)}
    base = Project(f"{RISCV}/riscv.workbench.yaml", files=(("hdl/picorv32.v", str(core / "picorv32.v")),))
    return [
        Application("RISC-V core", base, {"clk": (2,)}, (2,), edits=(
            (((main, stop, ""),), (f"calls calls={at[stop]} factor=0",)),
            (((main, load, parts),), (f"split calls={at[load]} count=3",)),
        )),
    ]  # fmt: skip


def _streaming() -> list[Application]:
    """Streaming applications, with blocks on processor cores and in the FPGA."""
    queues, search = f"{EXAMPLES}/queues", f"{EXAMPLES}/blastn"
    scale = Project(
        f"{DATA}/streaming/scale.workbench.yaml",
        texts=(("scale.workbench.yaml", "streaming:\n", "streaming:\n  mapping:\n    scale: card\n"),),
    )

    fpga = Project(f"{search}/fpga.workbench.yaml")

    def depths(file: str, before: int, edge: str, *after: int) -> Any:
        return tuple(
            (((file, f"depth={before}", f"depth={words}"),), (f"depth fifo={edge} words={words}",)) for words in after
        )

    return [
        Application("queue into the FPGA", Project(f"{queues}/into.workbench.yaml"), {"clk": (2,)}, (4,), (4, 20)),
        Application("queue out of the FPGA", Project(f"{queues}/out.workbench.yaml"), {"clk": (2,)}, (4,), (4, 20)),
        Application("Laplace, two walks", Project(f"{EXAMPLES}/laplace/two.workbench.yaml"), {}, (), (0.5, 2)),
        Application("similar sequences", Project(f"{search}/blastn.workbench.yaml"), {}, (), (0.5, 4),
                    depths("blastn.x", 256, "Silence.db", 512, 1024, 1960)),
        Application("similar sequences in the FPGA", fpga, {"clk": (2,)}, (2, 4),
                    (4, 20), depths("blastn.x", 256, "Silence.db", 512, 1024, 1960)),
        Application("numbers scaled in the FPGA", scale, {"clk": (2,)}, (2, 4), (4, 20),
                    depths("scale.x", 16, "App.a", 64, 128, 256)),
    ]  # fmt: skip


def applications() -> list[Application]:
    summer, receiver, level, tiny = "summer.v", "receiver.vhd", "hdl/level.v", "hdl/tiny_top.v"
    two_words = (
        (summer, "sum <= sum + words[at[7:0]];", "sum <= sum + words[at[7:0]] + words[at[7:0] + 8'd1];"),
        (
            summer,
            "at <= at + 9'd1;\n            left <= left - 9'd1;",
            "at <= at + 9'd2;\n            left <= left - 9'd2;",
        ),
        (summer, "irq <= left == 9'd1;", "irq <= left == 9'd2;"),
    )
    two_samples = (
        (level, "reg [31:0] sample, peak", "reg [31:0] sample, second, peak"),
        (level, "    wire [31:0] magnitude",
         "    wire [31:0] other = second[31] ? -second : second;\n    wire [31:0] magnitude"),
        (level, "next != 11'd1023", "next != 11'd1022"),
        (level, "sample <= samples[next[9:0]];",
         "{sample, second} <= {samples[next[9:0]], samples[next[9:0] + 10'd1]};"),
        (level, "next <= next + 1;", "next <= next + 2;"),
        (level, "sum <= sum + magnitude;", "sum <= sum + magnitude + other;"),
        (level, "if (magnitude > peak)\n                    peak <= magnitude;",
         "if (magnitude > peak || other > peak)\n                    peak <= magnitude > other ? magnitude : other;"),
    )  # fmt: skip
    every_other = (
        (level, "reg        busy, valid, done;", "reg        busy, valid, done, half;"),
        (level, "busy && next != 11'd1023;", "busy && !(next == 11'd1023 && half);\n            half <= !half;"),
        (level, "valid <= busy;", "valid <= busy && half;"),
        (level, "next <= next + 1;", "next <= next + {10'b0, half};"),
        (level, "busy <= 1;", "busy <= 1;\n            half <= 0;"),
    )
    by_itself = (
        (level, "wr_en && addr == 32'h400", "wr_en && addr == 32'h3ff"),
        ("host/meter.cpp", "    board_.set_register(start, 1);\n", ""),
        ("host/meter.cpp", "start = 0x400, ", ""),
    )
    look = "state block=level.scan state=look factor="
    add = "state block=tiny_top.adder state=add factor="
    digest = "state block=right:receiver.take state=digest factor="
    delay = Project(f"{DATA}/tiny/tiny.workbench.yaml", texts=((tiny, "DELAY = 4", "DELAY = 200"),))
    own_board = Project(f"{EXAMPLES}/own_board/own_board.workbench.yaml")
    pdf2d = f"{EXAMPLES}/pdf2d"
    original = Project(f"{pdf2d}/original.workbench.yaml", {"POINTS": 4096, "CORES": 2})
    optimised = Project(f"{pdf2d}/optimised.workbench.yaml", {"POINTS": 32768, "CORES": 4})
    return [
        Application("two cards", of("two_cards"), {"clk": (2,)}, hosts=(5,), edits=(
            (two_words, ("state 'block=card[*].summer.core' state=add factor=0.5",)),
        )),
        Application("words from one FPGA to another", of("two_fpgas"), {"clk": (2,)}, (2, 8), edits=tuple(
            (((receiver, "PACE : natural := 8", f"PACE : natural := {pace}"),), (f"{digest}{(pace - 1) / 7!r}",))
            for pace in (2, 4, 16)
        )),
        Application("level meter in C++", own_board, {"clk": (2, 1.5)}, hosts=(0.5, 2, 5), edits=(
            (two_samples, (f"{look}0.5",)),
            (every_other, (f"{look}2",)),
            (by_itself, ("control_in_fpga calls=host/meter.cpp:9",)),
        )),
        Application("small buffer", delay, {"clk": (2,)}, edits=tuple(
            (((tiny, "DELAY = 200", f"DELAY = {cycles}"),), (f"{add}{cycles / 200!r}",))
            for cycles in (50, 100, 250)
        )),
        Application("copy engine", of("copy"), {"clk": (2,)}),
        Application("filter on streams", of("fir"), {"aclk": (2,)}, hosts=(5, 0.2)),
        Application("two branches of a stream", of("fork_join"), {"clk": (2,)}, hosts=(5,)),
        Application("words through two clocks", of("round_trip"), {"fast": (2, 0.5)}),
        Application("hashes", of("sha256"), {"s_axi_aclk": (2,)}),
        Application("sums on a faster clock", of("two_clocks"), {"fast": (2, 0.5)}),
        Application("2-D PDF, original", original, {"clk": (2, 1.5)}, hosts=(0.5, 4)),
        *_streaming(),
        Application("2-D PDF, optimised", optimised, {"clk": (2, 1.5)}, hosts=(0.5, 8)),
    ]  # fmt: skip
