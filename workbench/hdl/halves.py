"""Reads the Verilog part of a mixed design: its trees, alone and within the whole."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.hdl.blocks import SourceBlock
from workbench.hdl.derived import pll_nets
from workbench.hdl.instances import Instance, Key, keys_in
from workbench.hdl.joined import Joined
from workbench.hdl.reading import Asked, Part, Reading
from workbench.hdl.roots import ROOTS
from workbench.hdl.verilog.conditions import check_conditions
from workbench.hdl.verilog.language import of_modules
from workbench.hdl.verilog.metrics import check_metrics
from workbench.hdl.verilog.own import own_streams
from workbench.hdl.verilog.states import States, find_states
from workbench.hdl.verilog.streams import FoundStreams, find_streams
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic

AnyJoined = Joined[Any, Any]


def problems(joined: AnyJoined, hardware: HardwareSources, why_not: Mapping[Key, str]) -> Iterator[Diagnostic]:
    """What is wrong with the trees by themselves, and with their pragmas' and metrics' conditions."""
    for design, tree in joined.halves:
        yield from of_modules(design, tree, [clock.name for clock in hardware.clocks])
        mine = keys_in(tree)
        yield from check_conditions(design, [block for block in joined.always if block.key in mine], tree, why_not)
        metrics = [one for one in joined.metrics if one.anchor is not None and one.anchor.key in mine]
        yield from check_metrics(design, metrics, joined.top, why_not)


def streams(joined: AnyJoined, hardware: HardwareSources, library: Collection[Path]) -> FoundStreams:
    """The streams between modules below a top in Verilog."""
    if not joined.halves:
        return FoundStreams()
    design, tree = joined.halves[0]
    return own_streams(design, find_streams(design, tree, hardware, pll_nets(tree)), tree, hardware, library)


def part(joined: AnyJoined, reading: Reading, streams: FoundStreams) -> Part[SourceBlock]:
    """What a scan says of the Verilog: of a module with several instances its branches are those of the first."""
    paths = reading.paths()
    each = [
        find_states(design, tree, streams.streams if design.top is tree.body else ()) for design, tree in joined.halves
    ]
    around = {path: _around(joined.top, path) for path in joined.turns.values()}
    asked = {
        (key, at): _in_whole(joined, one, around, next(iter(paths.get(key, ())), ""))
        for states in reversed(each)
        for (key, at), one in states.asked.items()
    }
    own = [block for block in joined.always if block.path not in joined.boxes]
    return Part(own, [one for states in each for one in states.registers], States((), asked).of)


def _in_whole(joined: AnyJoined, asked: Asked, around: Mapping[str, str], block: str) -> Asked:
    """What a branch asks for, by the instances' paths in the whole: what a module gets from VHDL comes from the
    instance `around` it. `block` is the path of the branch's."""
    outer = next((other for path, other in around.items() if block.startswith(f"{path}.")), "")
    terms = []
    for term in asked.terms:
        turn, dot, below = term.driver.removeprefix(f"{ROOTS}.").partition(".")
        if term.driver == ROOTS:
            terms.append(replace(term, driver=outer))
        elif path := joined.turns.get(f"{ROOTS}.{turn}"):
            terms.append(replace(term, driver=f"{path}{dot}{below}"))
        else:
            terms.append(term)
    return replace(asked, terms=tuple(terms))


def _around(top: Instance | None, path: str) -> str:
    """The instance that a path stands in."""
    every = (one.path for one in top.walk()) if top is not None else ()
    return max((one for one in every if path.startswith(f"{one}.")), key=len, default="")
