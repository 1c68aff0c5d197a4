"""Texts on a timeline's waits and work: the cause of a wait, and the slack of work."""

from dataclasses import replace

from workbench.model.run import PS_PER_S
from workbench.model.text import time_text
from workbench.pictures.timeline.hits import OPENS_LINE, Hit
from workbench.pictures.timeline.rows import Kind
from workbench.pictures.timeline.scale import exact_time
from workbench.traces.path import NO_LIMIT_PS, UNKNOWN_PS, Cause, RunPath
from workbench.traces.scene import Scene

GOES_TO_CAUSE = "press G for the cause"


def with_cause(scene: Scene, path: RunPath | None, hit: Hit | None, time_ps: float) -> Hit | None:
    """The hit at a time, with its cause or its slack among its lines."""
    if hit is None or path is None or hit.kind not in (Kind.STATES, Kind.CALLS):
        return hit
    cause_line = cause_words(scene, path, hit.block, time_ps) or slack_line(path, hit.block, time_ps)
    before = [line for line in hit.lines if line != OPENS_LINE]
    return replace(hit, lines=(*before, *cause_line, *hit.lines[len(before) :])) if cause_line else hit


def real_cause(path: RunPath, block: int, time_ps: float) -> Cause | None:
    """The cause of a block's wait at a time, if it is another block or a bus."""
    cause = path.cause_at(block, time_ps)
    return cause if cause and cause.block >= 0 and (cause.bus or cause.block != block) else None


def cause_words(scene: Scene, path: RunPath, block: int, time_ps: float) -> tuple[str, ...]:
    """The cause of a block's wait at a time; "" if it works."""
    cause, part = real_cause(path, block, time_ps), path.part_at(block, time_ps)
    if part is None:
        return ()
    if cause is None:
        event = path.cause_at(block, time_ps)
        if event is None or block in path.hosts or event.block == block:
            return ()
        return ("No cause of this wait is known",)
    parts, host = path.parts[block], block in path.hosts
    at = exact_time(cause.time_ps, max(scene.index.end_ps / 1e6, 1))
    went_on_ps = int((parts.end_ps if host else parts.begin_ps)[part])
    later = time_text((went_on_ps - cause.time_ps) / PS_PER_S) if went_on_ps > cause.time_ps else "at once"
    name, sites = scene.names[cause.block], scene.run.manifest.sites
    if cause.bus:
        subject = f"{sites[cause.site].label} of {name}" if cause.site >= 0 else name
        return f"Waited for the bus, which {subject} had until {at}", GOES_TO_CAUSE
    if cause.site >= 0:
        site = sites[cause.site]
        cause_text = f"Waits for {site.label} of {name}, {site.file}:{site.line}"
        return cause_text, f"Its data came at {at}", GOES_TO_CAUSE
    before = scene.index.trace.at(cause.block, cause.time_ps - 1)
    states = {state.index: state.name for state in scene.blocks[cause.block].states}
    was = f"{name} was in {states[before[0]]} until {at}" if before else f"{name} came so far at {at}"
    after = ""
    if host and parts.site[part] >= 0:
        after = f"; {sites[parts.site[part]].label} returned {later}{' later' if later != 'at once' else ''}"
    return f"Waits for {name}", was + after, GOES_TO_CAUSE


def slack_line(path: RunPath, block: int, time_ps: float) -> tuple[str, ...]:
    """The slack of a block's state at a time, in words."""
    part = path.part_at(block, time_ps)
    if part is None or path.parts[block].begin_ps[part] > time_ps:
        return ()
    slack_ps = int(path.parts[block].slack_ps[part])
    if slack_ps == UNKNOWN_PS:
        return ()
    if slack_ps == NO_LIMIT_PS:
        return ("Nothing in this run waits for it",)
    if not slack_ps:
        return ("No slack: any delay here delays the end of the run",)
    return (f"Slack {time_text(slack_ps / PS_PER_S)}: may end this much later without a longer run",)
