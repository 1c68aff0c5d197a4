"""Repairs the records of a program on a real machine: a board that dies half-way, a full disk or an incomplete copy
damages them. Each file is repaired in place, and every loss is reported."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api import HdlBuild, HdlLanguage, HostBuild
from workbench.api.host_stats import STATS, read_stats, slots_and_clock
from workbench.api.instrument.crossing import SLOWER
from workbench.api.records import (
    SHORT_CALLS,
    STORED_CALLS,
    TRIPLES,
    Records,
    of_fpga,
    read_calls,
    read_counters,
    read_end,
    read_records,
)
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import PS_PER_S, RunClock
from workbench.model.run_tables import MOST_AMOUNT
from workbench.model.text import counted, listed, prefixed, time_text
from workbench.run.sound_ranks import RANK_FILES, sound_rank
from workbench.run.sound_stats import Lost, sound_stats

_CALL_FILES = (STATS, "recording.txt", "host_calls.bin")
#: The files of a machine's records.
_FILES = ("host_*.bin", "recording.txt", "board*.txt", "counters*.bin", "triples*.bin", *RANK_FILES)
_NUMBER = re.compile(r"-?\d{1,18}")
#: The keys of a text's numbers, with each one's least value and meaning.
_NUMBERS = {
    "recording.txt": {
        "cost_ps_per_call": (-MOST_AMOUNT, "what recording a call cost"),
        "cost_ps_spread": (0, "the uncertainty of the cost of recording"),
        "lost": (0, "how many calls came faster than they could be recorded"),
        "time_ps": (1, "the time from the last call to the program's end"),
    },
    "board.txt": {
        "errors": (0, "how many accesses to the counters failed"),
        "taken_ps": (0, "how long it took to read the counters"),
    },
}
_PIECE = 1 << 18  # records in memory together
_HINT = "The intact part is used. Copy the file again if the machine still has it."
_SHORTER = 0.99  # later than the last call's end: more than the error of aligned clocks
_FASTER = 1000.0  # at most this many times faster than the platform's clock


def check_records(raw: Path, hdl: HdlBuild, tree: str) -> None:
    """Raise WorkbenchError for a folder without records, or with records of another build than this tree's."""
    if not any((raw / name).is_file() and (raw / name).stat().st_size for name in _CALL_FILES):
        hint = "Run the program with RCW_RAW set to this folder, and let it end by itself."
        raise WorkbenchError(Diagnostic("this folder holds no records of a run", hint, file=str(raw)))
    for number in range(len(hdl.each)):
        path = raw / of_fpga("board.txt", number)
        of_tree = read_end(path).get("tree", "") if path.is_file() else ""
        if of_tree and not tree.startswith(of_tree):  # a cut file may have only a part of the name
            hint = "Collect with the tree that the program was built from, or build and run this tree."
            raise WorkbenchError(Diagnostic("these records come from another build", hint, file=str(raw)))


def keep_sound(
    raw: Path,
    shown: Path,
    host: HostBuild,
    hdl: HdlBuild,
    languages: Sequence[HdlLanguage],
    clocks: Sequence[RunClock],
    tree: str,
) -> tuple[Diagnostic, ...]:
    """Remove impossible records in `raw`, and report each loss under the file's name in `shown`.

    `languages` are those of each FPGA's design, `clocks` the run's, `tree` is the build's id.
    """

    def lost(name: str, what: str, loss: str) -> None:
        problems.append(Diagnostic(f"this record is damaged: {what}. Lost: {loss}", _HINT, file=str(shown / name)))

    problems: list[Diagnostic] = []
    for pattern in _FILES:
        for path in sorted(raw.glob(pattern)):
            if not path.is_file():
                path.rename(path.with_name(f"{path.name}.not_a_file"))
                lost(path.name, "it is a folder or a device", "all of it")
    unknown_slots = sound_stats(raw, host, lost, SHORT_CALLS.itemsize)
    _sound_text(raw / "recording.txt", "recording.txt", lost)
    if (raw / "host_calls.bin").exists():
        _sound_calls(raw, unknown_slots, lost)
    _sound_time(raw, lost)
    sound_rank(raw, lost)
    for number, (one, language) in enumerate(zip(hdl.each, languages, strict=True)):
        end_path, counters = (raw / of_fpga(name, number) for name in ("board.txt", "counters.bin"))
        triples = raw / of_fpga("triples.bin", number)
        clock = next((clock for clock in clocks if clock.name.startswith(hdl.places[number])), None)
        _sound_text(end_path, "board.txt", lost)
        cycles = None
        if counters.exists() and one.read_out:
            if read_end(end_path).get("tree") != tree:
                lost(end_path.name, "it does not name the build", "whether the counters are those of this build")
            words = _sound_words(counters, number, one, language, lost)
            if words is None:
                whole = counters.stat().st_size >= 4 * one.read_out.words
                if hint := _too_slow(triples, clock) if whole and clock else "":
                    problems[-1] = replace(problems[-1], hint=hint)
                counters.unlink()
            else:
                cycles = one.read_out.monitors[0].cycles(words)
        if triples.exists():
            _sound_triples(triples, clock, cycles, lost)
    if not (raw / STATS).exists() and "time_ps" not in read_end(raw / "recording.txt"):
        hint = "Run the program again."
        what = "these records do not make a run: the program's duration is missing"
        raise WorkbenchError(Diagnostic(what, hint, file=str(shown)), *problems)
    return tuple(problems)


def _sound_text(path: Path, kind: str, lost: Lost) -> None:
    """Keep the complete lines with possible numbers."""
    if not path.exists():
        return
    limits = _NUMBERS[kind]
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    words = (line.strip().partition(" ") for line in lines[:-1])
    pairs = dict.fromkeys((key, value) for key, _, value in words if key)
    several = Counter(key for key, _ in pairs)
    can_be = (key not in limits or _can_be(value, limits[key][0]) for key, value in pairs)
    usable = {key: value for (key, value), can in zip(pairs, can_be, strict=True) if can and several[key] == 1}
    missing = [key for key in limits if key not in usable]
    if missing or lines[-1]:
        damage = "it ends early" if lines[-1] else f"it has no usable value of {listed(missing, len(missing))}"
        lost(path.name, damage, listed([limits[key][1] for key in missing], len(missing)) or "its last line")
    if len(usable) < len(pairs) or lines[-1]:
        path.write_text("".join(f"{key} {value}\n" for key, value in usable.items()), encoding="utf-8")


def _can_be(text: str, least: int) -> bool:
    return _NUMBER.fullmatch(text) is not None and least <= int(text) <= MOST_AMOUNT


def _sound_time(raw: Path, lost: Lost) -> None:
    """Let a run last at least until its last call's end."""
    stats, end = read_stats(raw), read_end(raw / "recording.txt")
    if stats is None or "time_ps" not in end:
        return
    time_ps = int(end["time_ps"])
    if time_ps < _SHORTER * stats.last_ps:
        last_call = time_text(stats.last_ps / PS_PER_S)
        lost("recording.txt", f"the run lasted {time_text(time_ps / PS_PER_S)}, its calls {last_call}",
             _NUMBERS["recording.txt"]["time_ps"][1])  # fmt: skip
        other_lines = "".join(f"{key} {value}\n" for key, value in end.items() if key != "time_ps")
        (raw / "recording.txt").write_text(other_lines, encoding="utf-8")


def _sound_calls(raw: Path, unknown_slots: NDArray[np.int64], lost: Lost) -> None:
    """Remove records of calls with names that do not exist, or with times outside the run."""
    path, stats, described = raw / "host_calls.bin", read_stats(raw), slots_and_clock(raw)
    if stats is None or described is None:
        path.unlink()
        lost(path.name, f"{STATS}, which explains it, is missing or damaged", "the list of calls")
        return
    for file, kind in ((path, SHORT_CALLS), (raw / "host_long_calls.bin", STORED_CALLS)):
        if file.exists() and file.stat().st_size % kind.itemsize:
            lost(file.name, "it ends within a record", "its last call")
    slots, clock, _ = described
    known_slots = np.setdiff1d(np.arange(len(slots)), unknown_slots)
    threads = sum(not thread.process for thread in stats.threads)
    last_ps, wrong = stats.last_ps / _SHORTER, 0
    count = len(read_records(path, SHORT_CALLS))
    records = np.memmap(path, SHORT_CALLS, "r+", shape=(count,)) if count else np.zeros(0, SHORT_CALLS)
    for begin in range(0, count, _PIECE):
        part = records[begin : begin + _PIECE]
        t0_ps = clock.at(part["t0"])
        sound = np.isin(part["slot"], known_slots) & (part["thread"] < threads) & (t0_ps >= 0) & (t0_ps <= last_ps)
        bad = (part["piece"] >> 8 > 0) & ~sound
        part["piece"][bad] = 0
        wrong += int(bad.sum())
    calls = read_calls(raw)
    t0_ps, t1_ps = calls.columns("t0_ps", "t1_ps")
    late = np.flatnonzero((t1_ps < t0_ps) | (t1_ps > last_ps))
    calls.leave_out(late)
    wrong += len(late)
    if wrong:
        lost(path.name, "part of it names places, threads or times that do not exist", counted(wrong, "call"))


def _sound_words(
    path: Path, number: int, hdl: HdlBuild, language: HdlLanguage, lost: Lost
) -> NDArray[np.uint32] | None:
    """The words of the design's monitors, with later data cut off; None if they cannot be decoded."""
    assert hdl.read_out
    size, has = 4 * hdl.read_out.words, path.stat().st_size
    if has > size:
        with path.open("r+b") as file:
            file.truncate(size)
        lost(path.name, f"it has {counted(has, 'byte')} and should have {size}", "the data after the counters' words")
    words = read_counters(path.parent, number)
    why = (
        f"it has {has} of {counted(size, 'byte')}" if words is None or has < size else _undecoded(hdl, language, words)
    )
    if not why:
        return words
    lost(path.name, why, "what the counters counted")
    return None


def _undecoded(hdl: HdlBuild, language: HdlLanguage, words: NDArray[np.uint32]) -> str:
    """The reason why the words cannot be decoded as those of the design's monitors; "" if they can."""
    try:
        language.decode(hdl, words)
    except WorkbenchError as error:
        return "; ".join(one.message for one in error.diagnostics)
    return ""


def _too_slow(triples: Path, clock: RunClock) -> str:
    """The hint for counters that do not fit together, if their FPGA's clock was slower than the read-out waits for it;
    "" otherwise."""
    usable = _in_order(np.array(read_records(triples, TRIPLES)))
    if len(usable) < 2:
        return ""
    took_ps = int(usable["t_p3_ps"][-1] - usable["t_p1_ps"][0])
    hz = int(usable["cycle"][-1] - usable["cycle"][0]) * PS_PER_S / max(1, took_ps)
    if hz * SLOWER >= clock.frequency_hz:
        return ""
    ran, stated = prefixed(hz, "Hz"), prefixed(clock.frequency_hz, "Hz")
    return (
        f"The clock '{clock.name}' ran at {ran}, the platform says {stated}: the read-out waits too briefly for it. "
        "Correct hardware.clocks of the platform, and instrument again."
    )


def _sound_triples(path: Path, clock: RunClock | None, cycles: int | None, lost: Lost) -> None:
    """Keep each message that is possible in this order once; the last one must have `cycles`."""
    records = np.array(read_records(path, TRIPLES))
    usable = _in_order(records)
    if len(usable) and cycles is not None and usable["cycle"][-1] != cycles:
        usable = usable[:-1]
    if len(usable) > 1 and clock and not _plausible(usable, clock):
        usable = usable[:0]
    cut = path.stat().st_size % TRIPLES.itemsize
    if cut or len(usable) < len(records):
        damage = "it ends within a message" if cut else "some of its messages are repeated or impossible"
        lost(path.name, damage, "how the FPGA's clock fits the host's" if len(usable) < 2 else "these messages")
        path.write_bytes(usable.tobytes())


def _in_order(records: Records) -> Records:
    sound = (records["t_p1_ps"] >= 0) & (records["t_p3_ps"] >= records["t_p1_ps"]) & (records["t_p3_ps"] <= MOST_AMOUNT)
    sound &= (records["cycle"] >= 0) & (records["cycle"] <= MOST_AMOUNT)
    ordered = np.unique(records[sound])
    ordered = ordered[np.argsort(ordered["t_p1_ps"], kind="stable")]
    later = np.diff(ordered["cycle"], prepend=-1) > 0
    return ordered[later]


def _plausible(records: Records, clock: RunClock) -> bool:
    """Whether the first and the last message imply a possible clock: the platform's, or any slower one."""
    usual_ps = int(records["cycle"][-1] - records["cycle"][0]) * PS_PER_S / clock.frequency_hz
    took_ps = int(records["t_p3_ps"][-1] - records["t_p1_ps"][0])
    return usual_ps / _FASTER <= took_ps
