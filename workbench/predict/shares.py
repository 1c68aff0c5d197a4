"""Shares as bars: groups of them one below the other, as a paper draws what is left at each step of tuning."""

from collections.abc import Sequence

from workbench.api.predictions import Share
from workbench.model.text import percent_text
from workbench.pictures.bars import Bar, Bars
from workbench.pictures.plot import Axis


def share_bars(shares: Sequence[Share], title: str) -> Bars:
    """A row for each share, the strong one of a group lit; the group is said at its first."""
    seen: set[str] = set()
    rows = []
    for number, share in enumerate(shares):
        note = "" if share.group in seen else share.group
        seen.add(share.group)
        rows.append(
            Bar(str(number), share.name, share.value, (percent_text(share.value),),
                (share.group, share.name, share.value), note, strong=share.strong)
        )  # fmt: skip
    return Bars(Axis(title, percent_text), ("step", "of", "share"), tuple(rows), (0.0, 1.0))
