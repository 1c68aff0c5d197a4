"""A moment of a run for a waveform viewer: the design's signals around it, or the blocks' states as signals, with a
save file for GTKWave and a command file for Surfer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.api.waveforms import Piece, scopes_of, write_states_vcd
from workbench.formats.vcd import read_head
from workbench.model.blocks import Block, Side, fpga_of
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import Run
from workbench.session.program.files import write_result, write_result_text
from workbench.traces.trace import trace_of

#: Signals that are shown at most.
MOST_SIGNALS = 60
#: GTKWave's window, the column of names in it, and what is beside the waves (pixels). Its zoom is the binary logarithm
#: of the time that `FRAME_PX` pixels take.
WINDOW_PX, NAMES_PX, BESIDE_PX, FRAME_PX = (1400, 800), 300, 60, 200
STATES = "states.vcd"


@dataclass(frozen=True)
class Signal:
    """A signal: `name` includes its scopes; `bits` is a range that some viewers need after it, as in "[7:0]"."""

    name: str
    bits: str = ""


@dataclass(frozen=True)
class WaveMoment:
    """The view for a viewer. Times are picoseconds, the unit of `waves`; `of_design` says whether these are the
    design's own signals, `gtkwave` and `surfer` are the files that open the view there."""

    waves: Path
    signals: tuple[Signal, ...]
    time_ps: int
    from_ps: int
    to_ps: int
    label: str
    of_design: bool
    gtkwave: Path
    surfer: Path


def wave_moment(
    run: Run, blocks: Sequence[Block], time_ps: int, window_ps: int, folder: Path, label: str = ""
) -> WaveMoment:
    """A moment with a window of time around it, these blocks' signals first. Writes into `folder`. WorkbenchError if
    the run has neither waveforms nor a trace, or a file cannot be written."""
    end_ps = run.manifest.time_ps
    from_ps, to_ps = max(time_ps - window_ps, 0), min(time_ps + window_ps, end_ps)
    waves, signals = _of_design(run, blocks)
    of_design = waves is not None
    if waves is None:
        trace = trace_of(run)
        if trace is None:
            problem = "this run has neither waveforms nor a trace"
            raise WorkbenchError(Diagnostic(problem, "Run it again with --waves or --trace.", file=str(run.path or "")))
        waves, all_blocks = folder / STATES, run.manifest.blocks

        def pieces(number: int) -> list[Piece]:
            return [trace.between(number, from_ps, to_ps)]

        write_result(waves, lambda file: write_states_vcd(all_blocks, pieces, file, from_ps, to_ps))
        first = [block.id for block in blocks]
        others = [block for block in all_blocks if block.id not in first]
        signals = [Signal(".".join((*scopes_of(block), "state"))) for block in (*blocks, *others)]
    moment = WaveMoment(
        waves.resolve(), tuple(signals[:MOST_SIGNALS]), time_ps, from_ps, to_ps, label or "moment", of_design,
        folder / "moment.gtkw", folder / "moment.sucl",
    )  # fmt: skip
    write_result_text(moment.gtkwave, _gtkwave_text(moment))
    write_result_text(moment.surfer, _surfer_text(moment))
    return moment


def wave_files(folder: Path | None) -> list[Path]:
    """The waveform files of a run's FPGAs, in their order."""
    if folder is None:
        return []
    numbers = {int(number): file for file in folder.glob("waves-*.vcd") if (number := file.stem[6:]).isdecimal()}
    return [numbers[one] for one in sorted(numbers)] or [*folder.glob("waves.vcd")]


def _of_design(run: Run, blocks: Sequence[Block]) -> tuple[Path | None, list[Signal]]:
    """The run's own waveforms, and the signals of the blocks' instances in them."""
    files = wave_files(run.path)
    places = list(dict.fromkeys(fpga_of(one.id) for one in run.manifest.blocks if one.side is Side.FPGA))
    by_place = dict(zip(places, files, strict=True)) if len(places) == len(files) else {}
    names = [(one.id.removeprefix(fpga_of(one.id)), by_place.get(fpga_of(one.id))) for one in blocks]
    first = next((scope for _, scope in names if scope), None)
    for path in [first] if first else files:
        signals = _signals(path)
        inner = [name for name, scope in names if scope in (None, path)]
        scope_parts = [tuple(part.lower() for part in name.split(".")[:-1]) for name in inner]
        mine = [s for place in scope_parts for s in signals if place and _scope(s)[-len(place) :] == place]
        if mine:
            return path, list(dict.fromkeys(mine))
    if not files:
        return None, []
    wave_file = first or files[0]
    signals = _signals(wave_file)
    depth = min((s.name.count(".") for s in signals), default=0)
    return wave_file, [s for s in signals if s.name.count(".") == depth]


def _signals(path: Path) -> list[Signal]:
    return [Signal(".".join((*one.scopes, one.name)), one.bits) for one in read_head(path).variables]


def _scope(signal: Signal) -> tuple[str, ...]:
    return tuple(signal.name.lower().split(".")[:-1])


def _gtkwave_text(moment: WaveMoment) -> str:
    """The text of a save file: the waveforms, the position, and the marker."""
    from io import StringIO

    from vcd.gtkw import GTKWSave

    text = StringIO()
    save = GTKWSave(text)
    save.comment("RC Workbench: a moment of a run")  # the first line identifies the kind of file
    save.dumpfile(str(moment.waves))
    save.timestart(moment.from_ps)
    frames = (WINDOW_PX[0] - NAMES_PX - BESIDE_PX) / FRAME_PX
    save.size(*WINDOW_PX)
    save.signals_width(NAMES_PX)
    save.sst_expanded(False)
    save.zoom_markers(-math.log2(max((moment.to_ps - moment.from_ps) / frames, 1)), moment.time_ps)
    for signal in moment.signals:  # with its scopes: GTKWave shows the part after the last dot
        alias = (signal.name if moment.of_design else signal.name.removesuffix(".state")).replace(".", "/")
        save.trace(signal.name + signal.bits, alias=alias, datafmt="hex" if moment.of_design else "ascii")
    return text.getvalue()


def _surfer_text(moment: WaveMoment) -> str:
    """The text of a command file: https://docs.surfer-project.org/book."""
    commands = [f"variable_add {signal.name}" for signal in moment.signals]
    head = "# RC Workbench: a moment of a run"
    return "\n".join([head, *commands, f"cursor_set {moment.time_ps}", "goto_cursor", "marker_set #1"]) + "\n"
