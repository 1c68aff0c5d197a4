"""Numbers what the records refer to: call sites, the host block's states, and the wrappers that carry both."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rc_workbench_plugins.c.clang_parse import TokenPlace
from rc_workbench_plugins.c.facts import Use
from rc_workbench_plugins.c.survey import ApiUse, Survey
from workbench.api import (
    FIRST_STATES,
    Block,
    Callee,
    CallKind,
    Category,
    HostEntry,
    PlacedPragma,
    Site,
    State,
    host_block,
)
from workbench.api.compile import digest
from workbench.api.unstable import QueueEntry

#: The category and reason of a call that no pragma speaks of, by what the call is for.
DEFAULTS: dict[CallKind, tuple[Category, str]] = {
    CallKind.SEND: (Category.SEND, ""),
    CallKind.RECEIVE: (Category.RECV, ""),
    CallKind.WAIT: (Category.WAIT_RECV, ""),
    CallKind.INTERRUPT: (Category.WAIT_RECV, ""),
    CallKind.CONFIGURE: (Category.OVERHEAD, "initialize"),
    CallKind.ACQUIRE: (Category.OVERHEAD, "initialize"),
    CallKind.RELEASE: (Category.OVERHEAD, "finalize"),
    CallKind.SEND_MESSAGE: (Category.SEND, "data"),
    CallKind.AWAIT_MESSAGE: (Category.WAIT_RECV, "message"),
    CallKind.OTHER: (Category.OVERHEAD, ""),
}

#: The same of a queue's calls: what they take longer than a moment, they wait.
_OF_QUEUES = {"push": Category.WAIT_SEND, "pop": Category.WAIT_RECV}

#: The reasons of a call that only waits (`polls`).
POLL = ("late_sender", "poll")


@dataclass(frozen=True)
class Wrapper:
    """A function that stands in for an API function at one site, in one state.

    `states` has one state for each of the callee's entries; `otherwise` is the state when none of their conditions
    holds, None where the call is then not to be recorded. Slots are numbered from `slot` on: the entries', then the
    other. `pragma` is the one that says so, None for the defaults. It is taken where the `condition` holds, in C, where
    the call stands.
    """

    name: str
    use: Use
    callee: Callee
    site: int
    slot: int
    states: tuple[int, ...]
    otherwise: int | None
    pragma: PlacedPragma | None
    condition: str | None = None

    @property
    def slots(self) -> tuple[tuple[int, int, int], ...]:
        """(site, state, entry) of each slot."""
        rows = [(self.site, state, number) for state, (number, _) in zip(self.states, self.callee.entries, strict=True)]
        return (*rows, *([(self.site, self.otherwise, -1)] if self.otherwise is not None else []))


@dataclass(frozen=True)
class Hook:
    """A use of an API function and the wrappers that replace it: the first whose condition holds."""

    api_use: ApiUse
    wrappers: tuple[Wrapper, ...]

    @property
    def expression(self) -> str:
        """C that chooses the wrapper, conditions evaluated where it stands."""
        *conditional, last = self.wrappers
        if not conditional:
            return last.name
        chain = "".join(f"({w.condition}) ? {w.name} : " for w in conditional)
        return f"(*({chain}{last.name}))"


@dataclass(frozen=True)
class Numbering:
    unit: str
    hooks: tuple[Hook, ...]
    sites: tuple[Site, ...]
    block: Block

    @property
    def wrappers(self) -> tuple[Wrapper, ...]:
        return tuple({w.name: w for hook in self.hooks for w in hook.wrappers}.values())


def number(survey: Survey, uses: Iterable[ApiUse], main: TokenPlace | None) -> Numbering:
    """Sites and states for those uses that can be instrumented. `main` is where the program's
    main function stands. Files of the project are named by their path below its folder. Wrappers of sources that are
    instrumented apart, or read with other macros, have other names, which do not say where the project lies: a copy
    of it gets the same.

    All references to one function's address share a site, the first one's, so that they stay equal; those of sources
    that are instrumented apart share the wrapper of one of them.
    """
    root, hooked = survey.files.root, [use for use in uses if not use.why_missed]
    names = (name_below(root, source) for source in survey.files.sources)
    words = (word.replace(str(root), "") for word in survey.words)
    counter = _Counter(root, digest([*names, *words, *(use.use.callee for use in hooked)])[:8])
    hooks = [counter.hook(use) for use in hooked]
    begins = (counter.name(main.file), main.line) if main else None
    return Numbering(counter.unit, tuple(hooks), tuple(counter.sites), host_block(counter.states, begins))


def name_below(root: Path, file: Path) -> str:
    """How a file is named in records: by its path below the project's folder, where it lies there."""
    return str(file.relative_to(root) if file.is_relative_to(root) else file)


class _Counter:
    def __init__(self, root: Path, unit: str) -> None:
        self.root, self.unit = root, unit
        self.states = list(FIRST_STATES)
        self.sites: list[Site] = []
        self.slots = 0
        self.references: dict[str, Hook] = {}

    def name(self, file: Path) -> str:
        return name_below(self.root, file)

    def hook(self, use: ApiUse) -> Hook:
        if not use.use.is_call and use.use.callee in self.references:
            return Hook(use, self.references[use.use.callee].wrappers)
        label = use.pragmas[0].pragma.name if use.pragmas else use.callee.name
        where = use.use.place
        site = len(self.sites)
        queued = any(isinstance(entry, QueueEntry) for _, entry in use.callee.entries)
        on = use.use.form.on if queued and use.use.form else ""
        self.sites.append(Site(self.name(where.file), where.line, where.column, use.callee.name, label, 0, on))
        wrappers: list[Wrapper] = []
        for pragma in use.pragmas:
            wrappers.append(self.wrapper(use, site, len(wrappers), pragma, condition=pragma.pragma.condition))
            if pragma.pragma.condition is None:
                break
        else:
            if use.waits_when:
                wrappers.append(self.wrapper(use, site, len(wrappers), None, waits=True, condition=use.waits_when))
            wrappers.append(self.wrapper(use, site, len(wrappers), None, waits=use.waits_when == ""))
        hook = Hook(use, tuple(wrappers))
        if not use.use.is_call:
            self.references[use.use.callee] = hook
        return hook

    def wrapper(
        self, use: ApiUse, site: int, index: int, placed: PlacedPragma | None, *, waits: bool = False,
        condition: str | None = None,
    ) -> Wrapper:  # fmt: skip
        entries = use.callee.entries
        if placed:
            pragma = placed.pragma
            state = self.state(use, pragma.name, pragma.category, pragma.reasons, pragma.targets, pragma.messages)
            states, otherwise = (state,) * len(entries), state
        else:
            states, otherwise = tuple(self.default_state(use, entry, waits) for _, entry in entries), None
        of_address = not (use.use.is_call or use.use.form or use.use.access or use.pragmas)
        name = f"rcw_at_{use.callee.name}" if of_address else f"rcw_{self.unit}_{site}_{index}"
        wrapper = Wrapper(name, use.use, use.callee, site, self.slots, states, otherwise, placed, condition)
        self.slots += len(wrapper.slots)
        return wrapper

    def default_state(self, use: ApiUse, entry: HostEntry, waits: bool) -> int:
        if waits and entry.kind is CallKind.RECEIVE:
            return self.state(use, f"{use.callee.name} ({POLL[1]})", Category.WAIT_RECV, POLL)
        category, reason = DEFAULTS[entry.kind]
        category = _OF_QUEUES[entry.direction] if isinstance(entry, QueueEntry) else category
        reasons = tuple(part.strip() for part in (entry.reason or reason).split("|") if part.strip())
        several = len(use.callee.entries) > 1 and entry.subtype
        return self.state(
            use, f"{use.callee.name} ({entry.subtype})" if several else use.callee.name, category, reasons
        )

    def state(
        self,
        use: ApiUse,
        name: str,
        category: Category,
        reasons: tuple[str, ...],
        targets: tuple[str, ...] = (),
        messages: tuple[str, ...] = (),
    ) -> int:
        index = len(self.states)
        where = use.use.place
        self.states.append(State(index, name, category, reasons, targets, messages, self.name(where.file), where.line))
        return index
