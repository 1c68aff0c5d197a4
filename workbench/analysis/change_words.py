"""Texts for changes: the title of a change, and the calls that it concerns before and after it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from math import ceil
from pathlib import PurePath

from workbench.api.results import Analysis, CallMetrics
from workbench.api.views import Fact
from workbench.model import changes as catalogue
from workbench.model.changes import Change
from workbench.model.diagnostic import WorkbenchError
from workbench.model.text import bytes_text, count_text, frequency_text, listed, significant, time_text
from workbench.replay.resolve import sites_of


def change_title(change: Change) -> str:
    """A change's short title: `Unite 16 calls of readBins`."""
    match change:
        case catalogue.ScaleState(block, state, factor):
            return f"{_scaled(f'{state} of {block}', factor)}"
        case catalogue.ScaleHost(block, state, factor):
            return _scaled(f"Code of {block}" if state == "*" else f"Code in {state} of {block}", factor)
        case catalogue.ScaleCalls(calls, factor):
            return _scaled(_calls(calls), factor)
        case catalogue.Unite(calls, count):
            return f"Unite {count} calls of {_calls(calls)}"
        case catalogue.Split(calls, count):
            return f"Split {_calls(calls)} in {count}"
        case catalogue.Resize(calls, size):
            return f"{bytes_text(size)} in each of {_calls(calls)}"
        case catalogue.Retype(calls, table):
            return f"{_calls(calls)} by {table}"
        case catalogue.Asynchronous(calls, buffers):
            return f"Asynchronous {_calls(calls)}, {buffers} buffers"
        case catalogue.Interrupt(calls):
            return f"Interrupt instead of polls by {_calls(calls)}"
        case catalogue.PollDelay(calls, delay_s):
            return f"Wait {time_text(delay_s)} before polls by {_calls(calls)}"
        case catalogue.Early(calls):
            return f"Next round's {_calls(calls)} early"
        case catalogue.FewerStarts(calls, count):
            return f"One start for {count} rounds ({_calls(calls)})"
        case catalogue.ControlInFpga(calls):
            return f"Control in the FPGA instead of {_calls(calls)}"
        case catalogue.Replicas(group, count):
            return f"{count} replicas of {group}"
        case catalogue.OtherClock(clock, frequency_hz):
            return f"Clock {clock} at {frequency_text(frequency_hz)}"
        case catalogue.Depth(fifo, words):
            return f"FIFO {fifo} of {words} words"
        case catalogue.Width(stream, factor):
            return f"Stream {stream} {significant(factor)} times as wide"
        case catalogue.OtherPlatform(platform):
            return f"Platform {platform}"
    return str(change)


def _calls(names: Sequence[str]) -> str:
    """Names of calls for a title: places without their folders."""
    return listed([PurePath(name).name for name in names])


def _scaled(subject: str, factor: float) -> str:
    return f"Remove {subject}" if factor == 0 else f"{subject} × {significant(factor)}"


def change_facts(changes: Sequence[Change], analysis: Analysis) -> tuple[Fact, ...]:
    """One fact for each call that the changes concern, as it is and as it becomes. A change without calls is its
    title."""
    after: dict[tuple[int, ...], list[str]] = {}
    without_calls = []
    for change in changes:
        sites = _calls_of(change, analysis)
        parts = [sites] if isinstance(change, catalogue.Unite) else [(number,) for number in sites]
        for part in filter(None, parts):
            key = next((united for united in after if set(part) <= set(united)), part)
            words = _after(change, [analysis.calls[number] for number in key])
            after.setdefault(key, []).extend([words] if words not in after.get(key, ()) else [])
        if not sites:
            without_calls.append(Fact(change_title(change), ""))
    facts = [
        (
            Fact(" + ".join(dict.fromkeys(_call_words(analysis.calls[number]) for number in part)), ", ".join(words)),
            listed(list(dict.fromkeys(_place(analysis.calls[number]) for number in part))),
        )
        for part, words in after.items()
    ]
    places: dict[Fact, dict[str, int]] = {}  # where the calls are, with the number of threads that make them there
    for fact, place in facts:
        threads = places.setdefault(fact, {})
        threads[place] = threads.get(place, 0) + 1
    return (
        *(
            replace(fact, title=fact.title + f" ({place})" * (len(of_fact) > 1) + f" in {n} threads" * (n > 1))
            for fact, of_fact in places.items()
            for place, n in of_fact.items()
        ),
        *without_calls,
    )


def _calls_of(change: Change, analysis: Analysis) -> tuple[int, ...]:
    sites = [call.site for call in analysis.calls]
    numbers: set[int] = set()
    for name in getattr(change, "calls", ()):
        with suppress(WorkbenchError):  # this part of the run lacks the named item
            numbers |= set(sites_of(name, sites, change))
    return tuple(sorted(numbers))


def _place(call: CallMetrics) -> str:
    return f"{PurePath(call.site.file).name}:{call.site.line}"


def _call_words(call: CallMetrics) -> str:
    return f"{call.site.label or call.site.callee} {_sized(call.count, call.bytes_per_call)}"


def _after(change: Change, calls: Sequence[CallMetrics]) -> str:
    """The text of calls after a change; `calls` are several sites if the change unites them."""
    count, total = sum(call.count for call in calls), sum(call.count * call.bytes_per_call for call in calls)
    size = total / count if count else 0.0
    match change:
        case catalogue.Unite(_, united):
            most = "" if count <= united or count % united == 0 else "at most "
            return _sized(ceil(count / united), min(size * united, total), most)
        case catalogue.Split(_, parts):
            return _sized(count * parts, size / parts)
        case catalogue.Resize(_, changed):
            return _sized(count, changed)
        case catalogue.Retype(_, table):
            return f"by {table}"
        case catalogue.ScaleCalls(_, factor):
            return "removed" if factor == 0 else f"{significant(factor)} of its time"
        case catalogue.Asynchronous(_, buffers):
            return f"asynchronous, {buffers} buffers"
        case catalogue.Interrupt():
            return "one wait for an interrupt"
        case catalogue.PollDelay(_, delay_s):
            return f"first poll after {time_text(delay_s)}"
        case catalogue.Early():
            return "a round earlier"
        case catalogue.FewerStarts(_, rounds):
            return _sized(ceil(count / rounds), size)
        case catalogue.ControlInFpga():
            return "one start in all"
    return change_title(change)


def _sized(count: float, size: float, most: str = "") -> str:
    return f"{count_text(count)} × {most}{bytes_text(round(size))}" if size else count_text(count)
