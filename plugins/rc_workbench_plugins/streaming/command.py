"""`workbench calibrate`: the offset and the rate of an FPGA's clock from a file of messages' times."""

import csv
import io
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from workbench.api import Diagnostic, Workbench, WorkbenchError, counted, table
from workbench.api.unstable import read_file, significant
from workbench.api.virtual_time import LEAST_ROWS, FittedClock, Triples, calibrate, per_frame

COLUMNS = ("tP1", "tF2", "tP3")
FRAMES = 10


def add_arguments(parser: ArgumentParser) -> None:
    columns, frames = (
        f"columns {', '.join(COLUMNS)}: counters, in ticks",
        f"number of parts of the messages, to see drift (default {FRAMES})",
    )
    parser.add_argument("file", type=Path, metavar="TRIPLES.csv", help=columns)
    parser.add_argument("--s-p", type=_positive, default=1.0, metavar="NS", help="ns of a processor tick (default 1)")
    parser.add_argument("--s-f", type=_positive, metavar="NS", help="ns of an FPGA cycle (default: fitted)")
    parser.add_argument("--frames", type=_count, default=FRAMES, metavar="N", help=frames)
    parser.add_argument("--json", action="store_true")


def run(arguments: Namespace, workbench: Workbench) -> int:
    """Exit code 1 where no offset exists at one rate."""
    triples = read_triples(arguments.file)
    frames = max(1, min(arguments.frames, len(triples) // LEAST_ROWS))
    clock = _calibrated(arguments, triples)
    parts = per_frame(triples, arguments.s_p, arguments.s_f, frames)
    problems = _problems(clock, parts, arguments, triples)
    if arguments.json:
        workbench.print_json(
            {
                "s_f_ns": clock.s_f_ns,
                "b_f_ns": None if clock.crossed_ns else clock.b_f_ns,
                "lower_ns": clock.lower_ns,
                "upper_ns": clock.upper_ns,
                "per_frame": [
                    {
                        "first": part.first,
                        "last": part.last,
                        "s_f_ns": part.s_f_ns,
                        "b_f_ns": None if part.crossed_ns else part.b_f_ns,
                        "lower_ns": part.lower_ns,
                        "upper_ns": part.upper_ns,
                    }
                    for part in parts
                ],
                "diagnostics": [problem.as_json() for problem in problems],
            }
        )
    else:
        for problem in problems:
            print(problem.text(), file=sys.stderr)
        print(_text(clock, parts))
    return 1 if clock.crossed_ns else 0


def _calibrated(arguments: Namespace, triples: Triples) -> FittedClock:
    try:
        clock = calibrate(triples, arguments.s_p, arguments.s_f)
    except ValueError:
        message = "every message met the same FPGA cycle, so its rate cannot be computed"
        hint = "Send messages over a longer time, or give the rate with --s-f."
        raise WorkbenchError(Diagnostic(message, hint, file=str(arguments.file))) from None
    if clock.s_f_ns <= 0:
        message = "the FPGA's counter falls while the processor's rises"
        hint = "Check the names of the columns. Join the parts of a counter that wrapped or was reset first."
        raise WorkbenchError(Diagnostic(message, hint, file=str(arguments.file)))
    return clock


def _problems(
    clock: FittedClock, parts: Sequence[FittedClock], arguments: Namespace, triples: Triples
) -> list[Diagnostic]:
    if not clock.crossed_ns:
        return []
    crossed = f"the lower bound of the offset is {significant(clock.crossed_ns)} ns above its upper bound"
    if arguments.s_f is not None and triples.t_f2[-1]:
        fitted = calibrate(triples, arguments.s_p)
        wrong = (arguments.s_f / fitted.s_f_ns - 1) * 1e6
        message = f"the FPGA's cycle is not {arguments.s_f:.12g} ns: {crossed}"
        hint = f"These messages fit {fitted.s_f_ns:.9g} ns, {significant(abs(wrong))} ppm away; or --s-p is wrong."
        return [Diagnostic(message, hint, file=str(arguments.file))]
    hint = "The cycle of each frame shows how the rate changes. A counter that wrapped or was reset looks the same."
    if any(part.crossed_ns for part in parts):
        hint += " If the bounds cross within a frame too, use shorter frames: raise --frames."
    return [Diagnostic(f"no single rate fits all messages: {crossed}", hint, file=str(arguments.file))]


def _text(clock: FittedClock, parts: Sequence[FittedClock]) -> str:
    rows = [("Messages", "Cycle, ns", "Offset, ns", "at least", "at most")]
    for part in (clock, *parts):
        offset = "none" if part.crossed_ns else f"{part.b_f_ns:.3f}"
        place = "all" if part is clock else f"{part.first + 1} to {part.last}"
        rows.append((place, f"{part.s_f_ns:.9g}", offset, f"{part.lower_ns:.3f}", f"{part.upper_ns:.3f}"))
    return table(rows)


def read_triples(file: Path) -> Triples:
    """The counters in a file. WorkbenchError with the line of what is wrong."""
    text = read_file(file).decode("utf-8-sig", "replace")

    def wrong(line: int, message: str, hint: str = "") -> WorkbenchError:
        return WorkbenchError(Diagnostic(message, hint, file=str(file), line=line))

    reader = csv.reader(io.StringIO(text, newline=None))

    def next_row() -> list[str] | None:
        try:
            return next(reader, None)
        except csv.Error as error:
            raise wrong(reader.line_num, f"this is not a row of a table: {error}") from None

    heads = [head.strip() for head in next_row() or ()]
    if sorted(heads) != sorted(COLUMNS):
        raise wrong(1, f"the columns are {', '.join(heads) or 'nothing'}", f"Name the columns {','.join(COLUMNS)}.")
    order = [heads.index(name) for name in COLUMNS]
    rows: list[list[int]] = []
    while (cells := next_row()) is not None:
        if not cells:
            continue
        line = reader.line_num
        if len(cells) != len(COLUMNS):
            raise wrong(
                line, f"{counted(len(cells), 'value')} instead of three", f"Each line gives {','.join(COLUMNS)}."
            )
        row = [_ticks(cells[place]) for place in order]
        if None in row:
            bad = cells[order[row.index(None)]].strip()[:40]
            raise wrong(line, f"'{bad}' is not a count of ticks", "Counters are whole numbers from 0 to 2^64 - 1.")
        counters = [tick for tick in row if tick is not None]
        if counters[2] < counters[0]:
            raise wrong(line, "the answer arrived before the message left", "tP3 must be tP1 or more.")
        rows.append(counters)
    if len(rows) < 2:
        raise wrong(1, f"{len(rows)} messages are too few", "Give at least two; a thousand are usual.")
    first_p, first_f = rows[0][:2]
    relative = sorted((p1 - first_p, f2 - first_f, p3 - first_p) for p1, f2, p3 in rows)
    if max(max(map(abs, row)) for row in relative) >= 1 << 62:
        raise wrong(len(rows), "the counters are too far apart", "Check whether a counter's first reading is missing.")
    return Triples(*np.array(relative, np.int64).T)


def _ticks(text: str) -> int | None:
    plain = text.strip()
    if not (plain.isascii() and plain.isdecimal() and len(plain) <= 20):
        return None
    return value if (value := int(plain)) < 1 << 64 else None


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise ArgumentTypeError("must be above 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 0 < value <= 10_000:
        raise ArgumentTypeError("must be from 1 to 10,000")
    return value
