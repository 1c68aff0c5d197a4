"""The rows of `whatif.py`: applications, programs really changed, and the changes of the catalogue that make these."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import bounds
import numpy as np
from whatif_projects import BLOCK_PS, Project, applications, foreign, speeds

from workbench.model.blocks import Side
from workbench.model.changes import Change, Depth, ScaleState, read_change
from workbench.model.pragma import WAITS, Category
from workbench.model.run import Run
from workbench.session.keep.results import OpenRun

SPIN_S = 2e-9  # what one of the changed program's steps of waiting takes: two basic blocks
#: Programs that do more than the advice says (`dma` needs no starts and polls, `along` sets the pace once), or less
#: (`itself` sets the pace once, not never), or by a number of their own that is not known (`due` counts to put off its
#: polls). Their rows of the catalogue stay.
OTHERWISE = ("dma", "due", "along", "itself")
OPEN = 0.5  # the factor of advice that does not say how much faster


@dataclass(frozen=True)
class Case:
    """An application, the program really changed, and the kind of advice that says how."""

    application: str
    base: bounds.Program | Project
    twin: bounds.Program | Project
    advice: str
    change: bounds.Change | None = None  # the finding whose advice it is
    lines: tuple[str, ...] = ()  # changes of the catalogue, where they follow from no rule


def threads() -> list[tuple[str, bounds.Program]]:
    """A thread that prepares batches beside one that has the FPGA work on them, on so many cores."""
    found = []
    for cores, effort, cycles in ((1, 300, 200), (2, 300, 200), (2, 1500, 200), (1, 100, 400)):
        program = _threaded("threaded", cores, EFFORT=effort, CYCLES=cycles)
        found.append((f"two threads on {cores}, {effort} steps, {cycles} cycles", program))
    return found


def _threaded(host: str, cores: int, **settings: int) -> bounds.Program:
    costs = {"call_ps": "17 ns", "wake_ps": "130 ns", "switch_ps": "71 ns"}
    return bounds.Program(host, settings=settings, simulation={"cores": cores, "slice_ps": "50 us", **costs})


def calls_of_threads() -> Iterable[Case]:
    """Calls of one of these threads in more or fewer parts, and with calls in each round that could go."""
    unite, split, remove = "unite calls=put count=4", "split calls=put count=4", "calls calls=again factor=0"
    for cores, effort in product((1, 2, 4), (50, 300, 1500)):
        whole = _threaded("threadedparts", cores, EFFORT=effort, CYCLES=50, PARTS=1, PACES=0)
        name = f"calls of two threads on {cores}, {effort} steps"
        for twin, settings, lines in (
            ({}, {"PARTS": 4}, (unite,)),
            ({"PARTS": 4}, {}, (split,)),
            ({}, {"PACES": 4}, (remove,)),
            ({}, {"PARTS": 4, "PACES": 4}, (remove, unite)),
        ):
            yield Case(name, whole.but(**settings), whole.but(**twin), "edit", lines=lines)


def rounds_of_threads() -> Iterable[Case]:
    """Rounds of two threads with a core each: the next batch earlier, fewer starts, and a setting that is made once."""
    for cores, effort, cycles in ((1, 100, 400), (2, 100, 400), (2, 600, 100)):
        settings = {"CORES": 2, "EFFORT": effort, "CYCLES": cycles, "PARTS": 1, "EARLY": 0, "ONCE": 0, "ROUNDS": 8}
        costs = {"call_ps": "17 ns", "wake_ps": "130 ns", "switch_ps": "71 ns"}
        whole = bounds.Program("duo", "cores", settings, simulation={"cores": cores, "slice_ps": "50 us", **costs})
        name = f"rounds of two threads on {cores}, {effort} steps, {cycles} cycles"
        for before, after, lines in (
            ({}, {"EARLY": 1}, ("early calls=put",)),
            ({"PARTS": 4}, {"PARTS": 1}, ("fewer_starts calls=begin count=4",)),
            ({}, {"ONCE": 1}, ("control_in_fpga calls=pace",)),
        ):
            yield Case(name, whole.but(**before), whole.but(**after), "edit", lines=lines)


def cases(core: Path | None = None) -> list[Case]:
    """All rows. `core` is a folder with a core of somebody else's."""
    found = [Case(c.application, c.base, c.twin, c.advice, c) for c in bounds.changes()]
    seen = {(repr(c.base), repr(c.twin)) for c in found}
    found += uneven()
    bases = {repr(c.base): (c.application, c.base) for c in found}
    found += [*calls_of_threads(), *rounds_of_threads(), *hosts_of_their_own(), *waits_inside()]
    for name, base in [*bases.values(), *threads()]:
        for twin, advice in other_speeds(base):
            if (repr(base), repr(twin)) not in seen:
                seen.add((repr(base), repr(twin)))
                found.append(Case(name, base, twin, advice))
    for one in [*applications(), *(foreign(core) if core else ())]:
        found += [Case(one.name, one.base, twin, what, lines=lines) for twin, what, lines in one.twins()]
    return found


def uneven() -> list[Case]:
    """Work whose length depends on the data, from batch to batch and from word to word."""
    polls = bounds.Program("block", "unit", {"UNEVEN": 1, "CYCLES": 40, "ROUNDS": 8})
    busy = bounds.Program("block", "unit", {"UNEVEN": 1, "CYCLES": 80, "EFFORT": 600, "ROUNDS": 8})
    called = bounds.Program("irq", "unit", {"UNEVEN": 1, "CYCLES": 60, "CLEAR": 4000, "ROUNDS": 8})
    both = bounds.Program("double", "unit", {"UNEVEN": 1, "CYCLES": 80, "EFFORT": 600, "ROUNDS": 8})
    stages = bounds.Program("stages", "pair", {"UNEVEN": 1, "MAKE": 100, "ADD": 100})
    making = bounds.Program("stages", "pair", {"UNEVEN": 1, "MAKE": 200, "ADD": 50})
    name, irq = "uneven work", "Wait for an interrupt"
    return [
        Case(name, polls, polls.but("irq"), irq),
        Case(f"{name}, in turn", busy, busy.but("double"), "Use two buffers"),
        Case(f"{name}, clearing", called, called.but(CLEAR=0), "Shorten or avoid it"),
        Case(f"{name}, two buffers", both, both.but("doubleirq"), irq),
        Case(f"{name}, two stages", stages, stages.but(MAKE=10), "Make the FPGA faster"),
        Case(f"{name}, the first stage slow", making, making.but(ADD=10), "Make the FPGA faster"),
    ]


def hosts_of_their_own() -> Iterable[Case]:
    """Hosts that pause between polls, whose batches differ and come again, and that give the next batch to whichever
    core is done: what the last one does depends on when it is answered."""
    multiply, host = "state 'block={}' state=multiply factor={!r}", "host block=host.main state=work factor={!r}"
    clock = ("clock clock=clk frequency_hz=160e6",)
    pauses = bounds.Program("sleepy", settings={"CYCLES": 300, "EFFORT": 200, "ROUNDS": 6, "PAUSE": 5})
    yield Case("pauses between polls", pauses, pauses.but("irq"), "edit", lines=("interrupt calls=poll",))
    sizes = bounds.Program("sizes", settings={"CYCLES": 60, "EFFORT": 100, "ROUNDS": 9, "PIECE": 8, "READ": 1})
    name = "batches of other sizes"
    yield Case(name, sizes, sizes.but(PIECE=16), "edit", lines=("unite calls=put count=2",))
    yield Case(name, sizes, sizes.but(READ=16), "edit", lines=("unite calls=get count=16",))
    both = ("unite calls=get count=4", "split calls=put count=2")
    yield Case(name, sizes, sizes.but(READ=4, PIECE=4), "edit", lines=both)
    block, blocks = "unit_top.worker", "unit_top.units[*].unit.worker"
    settings = {"CORES": 2, "CYCLES": 300, "EFFORT": 100, "ROUNDS": 10}
    busy = bounds.Program("dispatch", "cores", settings)
    late = bounds.Program("dispatch", "cores", {**settings, "CYCLES": 1200, "EFFORT": 20})
    for application, base, of in (
        ("pauses between polls", pauses, block), (name, sizes, block), ("whichever is done, busy", busy, blocks),
        ("whichever is done, late", late, blocks),
    ):  # fmt: skip
        cycles = base.settings["CYCLES"]
        for factor in (0.25, 0.5, 2):
            lines = (multiply.format(of, factor),)
            yield Case(application, base, base.but(CYCLES=round(cycles * factor)), "edit", lines=lines)
        for factor in (0.5, 4, 20):
            slower = replace(base, simulation={"basic_block_ps": round(factor * BLOCK_PS)})
            yield Case(application, base, slower, "edit", lines=(host.format(factor),))
        yield Case(application, base, base.but(clock_mhz=160), "edit", lines=clock)


def waits_inside() -> Iterable[Case]:
    """Waits of the FPGA's blocks for one another: with and without marks of whom they are for, or without marks at
    all; at a barrier, and for one who serves several."""
    make, add = "state block=unit_top.maker state=make factor=", "state block=unit_top.adder state=add factor="
    for uneven, named, without in (
        (0, False, ()), (1, False, ()), (0, True, ("hand",)), (1, True, ("hand",)), (0, True, ("await",)),
        (1, True, ("await",)), (1, False, ("hand", "await", "rest")), (1, True, ("make", "rest")),
    ):  # fmt: skip
        for first, second in ((100, 300), (300, 100)):
            whole = bounds.Program("stages", "pair", {"UNEVEN": uneven, "MAKE": first, "ADD": second})
            base = replace(whole, without=without, named=named)
            name = " and ".join([*(f"no mark '{one}'" for one in without), *([] if named else ["nobody named"])])
            name = f"two stages of {first} and {second}, {'uneven, ' if uneven else ''}{name}"
            if "make" not in without:
                yield Case(name, base, whole.but(MAKE=first // 10), "edit", lines=(f"{make}0.1",))
            yield Case(name, base, whole.but(ADD=second // 10), "edit", lines=(f"{add}0.1",))
    busy = bounds.Program("block", settings={"CYCLES": 400, "EFFORT": 600})
    for effort in (300, 150):
        line = f"host block=host.main state=work factor={effort / 600!r}"
        yield Case("no mark 'idle'", replace(busy, without=("idle",)), busy.but(EFFORT=effort), "edit", lines=(line,))
    yield from _at_barriers()
    yield from _served_in_turn()


def _at_barriers() -> Iterable[Case]:
    work = "state 'block={}' state=multiply factor={!r}"
    all_of, core = "unit_top.units[*].unit.worker", "unit_top.units[0].unit.worker"
    for named, uneven, slow in ((True, 1, 1), (True, 0, 3), (False, 1, 3)):
        settings = {"CORES": 4, "CYCLES": 400, "UNEVEN": uneven, "SLOW": slow}
        whole = bounds.Program("block", "barrier", settings)
        name = f"a barrier of four{', uneven' * uneven}, the first {slow} times as slow{', nobody named' * (not named)}"
        for cycles in (200, 1200):
            lines = (work.format(all_of, cycles / 400),)
            yield Case(name, replace(whole, named=named), whole.but(CYCLES=cycles), "edit", lines=lines)
        for twin in {1, 3} - {slow}:
            lines = (work.format(core, twin / slow),)
            yield Case(name, replace(whole, named=named), whole.but(SLOW=twin), "edit", lines=lines)


def _served_in_turn() -> Iterable[Case]:
    work = "state 'block=unit_top.units[*].unit.worker' state=multiply factor={!r}"
    serve = "state block=unit_top.arbiter state=serve factor={!r}"
    for cores, uneven, cycles, grant in ((2, 0, 800, 200), (2, 1, 200, 400), (4, 0, 800, 200), (4, 1, 400, 200)):
        settings = {"CORES": cores, "CYCLES": cycles, "GRANT": grant, "UNEVEN": uneven}
        whole = bounds.Program("block", "share", settings)
        base = replace(whole, named=cores > 2)
        name = f"{cores} that share a memory{', uneven' * uneven}{', nobody named' * (not base.named)}"
        for factor in (0.5, 2):
            yield Case(name, base, whole.but(CYCLES=round(cycles * factor)), "edit", lines=(work.format(factor),))
            yield Case(name, base, whole.but(GRANT=round(grant * factor)), "edit", lines=(serve.format(factor),))


def other_speeds(base: bounds.Program) -> Iterable[tuple[bounds.Program, str]]:
    """The same program with a part of it at another speed."""
    for name in ("CYCLES", "MAKE", "ADD", "EFFORT"):
        value = base.settings.get(name, 0)
        for factor in (0.5, 0.25, 2):
            known = base.design in ("unit", "pair", "refresh", "cores", "lanes")
            if known and value >= 40 and value * factor < 1500:  # the registers of the designs have 16 bits
                yield base.but(**{name: round(value * factor)}), name
    if base.settings.get("CYCLES", 0) >= 100 and base.marked:
        yield base.but(clock_mhz=160), "clock"


def catalogue(case: Case, run: Run) -> list[Change]:
    """The changes of the catalogue that make the changed program of the base, as far as the base's run tells."""
    return [read_change(text) for text in _texts(case, run)]


def advised(case: Case, base: OpenRun) -> list[Change] | None:
    """The changes of the advice, by as much as the changed program has it; None where that does something else too."""
    if not case.change or isinstance(case.base, Project) or isinstance(case.twin, Project):
        return None
    found = bounds.advised(base, case.change)
    if (
        case.twin.host in OTHERWISE
        or found is None
        or not found[1].changes
        or case.base.clock_mhz != case.twin.clock_mhz
    ):
        return None
    old, new = ({**bounds.SETTINGS, **program.settings} for program in (case.base, case.twin))
    differ = [name for name in old.keys() | new.keys() if old.get(name) != new.get(name) and name != "SPINS"]
    changes = list(found[1].changes)
    scaled = [change for change in changes if isinstance(change, ScaleState) and change.factor == OPEN]
    if not scaled:
        wanted = {"DEPTH"} if any(isinstance(change, Depth) for change in changes) else {"CLEAR", "PACE_AT"}
        changes = [replace(c, words=new.get("DEPTH", c.words)) if isinstance(c, Depth) else c for c in changes]
        return changes if set(differ) <= wanted else None
    if len(differ) != 1 or case.base.host != case.twin.host:
        return None
    before, after = (settings.get(differ[0], 1) for settings in (old, new))
    factor = before / after if differ == ["LANES"] else after / max(before, 1)
    return [replace(c, factor=factor) if c in scaled else c for c in changes]


def _texts(case: Case, run: Run) -> list[str]:
    base, twin, advice = case.base, case.twin, case.advice
    if isinstance(base, Project) or isinstance(twin, Project):
        assert isinstance(base, Project)
        assert isinstance(twin, Project)
        return [*case.lines, *speeds(base, twin, run)]
    if case.lines:
        return list(case.lines)
    if base.clock_mhz != twin.clock_mhz and base.host == twin.host:
        return [f"clock clock=clk frequency_hz={twin.clock_mhz}e6"]
    polls, data, control, reads = _sites(run)
    texts = []
    if advice.startswith("Wait for an interrupt") or (advice.startswith("Poll when") and "irq" in twin.host):
        texts.append(f"interrupt calls={polls}")
    elif advice.startswith("Poll when"):
        texts.append(f"poll_delay calls={polls} delay_s={twin.settings['SPINS'] * SPIN_S!r}")
    elif advice.startswith(("Use two buffers", "Send the next data while this")):
        texts.append(f"early calls={data}")
    elif advice.startswith(("Send the next data while host", "Overlap communication")):
        texts += [f"early calls={data}", f"asynchronous calls={data} buffers={_in_a_row(run, data)}"]
    elif twin.host == "dma":
        return []  # no change of the catalogue takes all calls but two out of a program
    elif advice.startswith("Unite transfers"):
        for calls, table in ((data, "write"), (reads, "read")):
            if calls and (count := _in_a_row(run, calls)) > 1:
                texts += [f"unite calls={calls} count={count}", f"retype calls={calls} table={table}"]
    elif advice.startswith("Make transfers larger"):
        texts.append(f"unite calls={data} count={_in_all(run, data)}")
    elif advice.startswith("Let the FPGA clear"):
        texts.append(f"control_in_fpga calls={control}")
    elif advice.startswith("Gather the control bits") and twin.host == "gathers":
        texts += [f"unite calls={data},{control} count=4", f"retype calls={data},{control} table=write"]
    elif advice.startswith("Gather the control bits"):
        last = control.split(",")[-1]
        others = ",".join(control.split(",")[:-1])
        texts += [f"unite calls={data},{last} count=2", f"control_in_fpga calls={others}"]
    elif advice.startswith("Let each control message"):
        texts.append(f"fewer_starts calls={control.split(',')[-1]} count={_in_all(run, control.split(',')[-1]) // 4}")
    elif advice.startswith("Poll one register"):
        texts.append(f"calls calls={polls.split(',')[-1]} factor=0")
    elif advice.startswith("Continue without"):
        texts.append(f"calls calls={_labels(run, ('wait',), WAITS)} factor=0")
    elif advice.startswith("Split transfers"):
        texts.append(f"split calls={data} count=32")
    elif advice.startswith("Deepen it"):
        texts.append(
            f"depth fifo={run.manifest.fifos[0].id if run.manifest.fifos else 'words'} words={twin.settings['DEPTH']}"
        )
    elif "gathered" in twin.host and advice.startswith("Make the FPGA faster"):
        texts += [f"calls calls={polls.split(',')[-1]} factor=0",
                  f"replicas group={_group(run)} count={twin.settings['CORES']}"]  # fmt: skip
    if base.clock_mhz != twin.clock_mhz:
        texts.append(f"clock clock=clk frequency_hz={twin.clock_mhz}e6")
    return texts + _speeds(case, run)


def _speeds(case: Case, run: Run) -> list[str]:
    """By how much states and code are faster, where the settings of the two programs differ."""
    base, twin = ({**bounds.SETTINGS, **program.settings} for program in (case.base, case.twin))
    texts = []
    for name, states in (("CYCLES", ("multiply",)), ("MAKE", ("make",)), ("ADD", ("add",)), ("CLEAR", ("clear",)),
                         ("GRANT", ("look",))):  # fmt: skip
        if base.get(name) and base[name] != twin.get(name) and case.base.host == case.twin.host:
            for block in run.manifest.blocks:
                for state in block.states:
                    if block.side is Side.FPGA and state.name in states:
                        texts.append(f"state block={block.id} state={state.name} factor={twin[name] / base[name]!r}")
    if twin.get("LANES", 1) != base.get("LANES", 1):
        texts.append(f"state block=unit_top.worker state=load factor={1 / twin['LANES']!r}")
    if base["EFFORT"] and base["EFFORT"] != twin["EFFORT"]:
        block = "host.producer" if case.base.host == "threaded" else "host.main"
        texts.append(f"host block={block} state=work factor={twin['EFFORT'] / base['EFFORT']!r}")
    if base.get("CYCLES") != twin.get("CYCLES") and not texts and not case.base.marked:
        texts.append("state block=unit_top.worker state=multiply factor=0.5")
    return texts


def _group(run: Run) -> str:
    return next(b.group for b in run.manifest.blocks if b.side is Side.FPGA and "[*]" in b.group)


def _sites(run: Run) -> tuple[str, str, str, str]:
    """The calls that poll, send data, send control words, and read, each in the order of the source."""
    polls = _labels(run, ("receive",), WAITS)
    table = run.tables["calls"]
    if not polls:  # no marks: reads of one address in a row
        site, address = np.asarray(table["site"]), np.asarray(table["address"])
        again = np.flatnonzero((site[1:] == site[:-1]) & (address[1:] == address[:-1]))
        kinds = [run.manifest.entries[e].kind for e in np.asarray(table["entry"])[again]]
        names = {run.manifest.sites[site[n]].label for n, kind in zip(again, kinds, strict=True) if kind == "receive"}
        polls = ",".join(sorted(names))
    sends = _labels(run, ("send",), (Category.SEND,)).split(",")
    reasons = {s.name: s.reasons for b in run.manifest.blocks if b.side is Side.HOST for s in b.states}
    data = ",".join(name for name in sends if "data" in reasons.get(name, ()))
    control = ",".join(name for name in sends if name and "data" not in reasons.get(name, ()))
    reads = ",".join(n for n in _labels(run, ("receive",), (Category.RECV,)).split(",") if n not in polls.split(","))
    several = [name for name in control.split(",") if _in_all(run, name) > 1]
    return polls, data, ",".join(several) or control, reads


def _labels(run: Run, kinds: Sequence[str], categories: Iterable[Category]) -> str:
    """The labels of calls of these kinds in states of these categories, in the order of their first call."""
    table, found = run.tables["calls"], {}
    for site, entry, block, state in zip(*(np.asarray(table[n]).tolist() for n in ("site", "entry", "block", "state")),
                                         strict=True):  # fmt: skip
        category = run.manifest.blocks[block].states[state].category
        if run.manifest.entries[entry].kind in kinds and category in tuple(categories):
            found[run.manifest.sites[site].label] = None
    return ",".join(found)


def _rows(run: Run, labels: str) -> np.ndarray:
    sites = [n for n, site in enumerate(run.manifest.sites) if site.label in labels.split(",")]
    return np.isin(np.asarray(run.tables["calls"]["site"]), sites)


def _in_a_row(run: Run, labels: str) -> int:
    """The most calls of these that follow one another."""
    mine = np.flatnonzero(np.diff(np.concatenate(([0], _rows(run, labels).astype(int), [0]))))
    return int(np.diff(mine)[::2].max()) if len(mine) else 0


def _in_all(run: Run, labels: str) -> int:
    return int(_rows(run, labels).sum())
