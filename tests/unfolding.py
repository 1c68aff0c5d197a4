"""The calls behind table `call_order`, one by one."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.model.run import Table

Call = tuple[int, int]  # (site, state)


def unfold(table: Table) -> Iterator[Call]:
    """Every call in order (site, state), thread by thread."""
    rows = list(zip(*(table[name].tolist() for name in ("site", "state", "repeat", "body")), strict=True))

    def calls(begin: int, end: int) -> Iterator[Call]:
        while begin < end:
            site, state, repeat, body = rows[begin]
            for _ in range(repeat):
                if body:
                    yield from calls(begin + 1, begin + 1 + body)
                else:
                    yield site, state
            begin += 1 + body

    return calls(0, len(rows))
