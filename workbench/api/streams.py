"""Explains why nothing in a design moves any more, by the waits along its streams."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.model.diagnostic import Diagnostic
from workbench.model.streams import Fifo, Stream
from workbench.model.text import counted

HOST = "the host"


@dataclass(frozen=True)
class Waiting:
    """`who` waits for `whom`, by a stream: until it is taken, if `offers`, else until it is offered."""

    who: str
    whom: str
    stream: int
    offers: bool


def waiting(streams: Sequence[Stream], valid: Sequence[bool], ready: Sequence[bool]) -> tuple[Waiting, ...]:
    """The waits in a cycle in which no stream transfers: a source that is not taken waits for its target, and a target
    to which nothing is offered for its source."""
    waits = []
    for number, stream in enumerate(streams):
        source, target = stream.source or HOST, stream.target or HOST
        if source == target or (valid[number] and ready[number]):
            continue
        offers = bool(valid[number])
        waits.append(Waiting(source, target, number, True) if offers else Waiting(target, source, number, False))
    return tuple(waits)


def shortest_cycle(waits: Sequence[Waiting], host: bool = True) -> tuple[Waiting, ...]:
    """The shortest cycle of waits, without the host if possible (or unless `host`); empty if there is none."""
    inside = _shortest([w for w in waits if HOST not in (w.who, w.whom)])
    return _shortest(waits) if host and not inside else inside


def _shortest(waits: Sequence[Waiting]) -> tuple[Waiting, ...]:
    """The shortest round of waits; one in which nobody offers, as in an idle design, only where there is no other."""
    import networkx  # only where something is stuck

    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for wait in sorted(waits, key=lambda wait: wait.offers):
        graph.add_edge(wait.who, wait.whom, wait=wait)
    for offers in (True, False):
        through = [(w.whom, w.who) for w in waits if w.offers == offers and networkx.has_path(graph, w.whom, w.who)]
        if nodes := min((networkx.shortest_path(graph, *ends) for ends in through), key=len, default=[]):
            return tuple(graph.edges[pair]["wait"] for pair in zip(nodes, (*nodes[1:], *nodes[:1]), strict=True))
    return ()


def stuck(streams: Sequence[Stream], fifos: Sequence[Fifo], valid: Sequence[bool], ready: Sequence[bool],
          cycle: int, activity: str = "") -> Diagnostic:  # fmt: skip
    """The diagnostic of a design in which nothing moves from `cycle` on. `activity` is what the host does meanwhile, if
    it does not wait for a stream."""
    round_ = shortest_cycle(waiting(streams, valid, ready), host=not activity)
    head = f"nothing in the design moves from cycle {cycle:,} on"
    if not round_:
        hint = "None of its streams wait for each other: check what the host waits for."
        return Diagnostic(head, f"{hint} {activity}".rstrip())
    by_id = {fifo.id: fifo for fifo in fifos}
    first = next((n for n, wait in enumerate(round_) if wait.offers and wait.whom in by_id), 0)
    round_ = (*round_[first:], *round_[:first])
    said = ", ".join(_said(wait, by_id) for wait in round_)
    full = [by_id[wait.whom] for wait in round_ if wait.offers and wait.whom in by_id]
    if not any(wait.offers for wait in round_):
        hint = "One of them must send first."
        return Diagnostic(f"{head}: all wait for input: {said}", f"{hint} {activity}".rstrip())
    names = " or ".join(f"{fifo.id} (now {counted(fifo.depth, 'word')})" if fifo.depth else fifo.id for fifo in full)
    if any(HOST in (wait.who, wait.whom) for wait in round_):
        hint = "The host must send and receive in turns, or in smaller pieces" + (
            f"; or deepen {names}." if full else "."
        )
        return Diagnostic(f"{head}: host and design wait for each other: {said}", hint)
    place = full[0] if full else None
    return Diagnostic(
        f"{head}: it is a deadlock: {said}",
        f"Deepen the FIFO {names}." if full else "Put a FIFO into this cycle, or let one of them go first.",
        file=place.file or None if place else None,
        line=place.line or None if place else None,
    )


def _said(wait: Waiting, fifos: Mapping[str, Fifo]) -> str:
    if wait.offers:
        return f"{wait.who} waits for {wait.whom}" + (", which is full" if wait.whom in fifos else " to take")
    return f"{wait.who} waits for {wait.whom}" + (", which is empty" if wait.whom in fifos else " to give")
