"""The findings of two compared runs: only in A, in both, only in B."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter

from workbench.analysis.compare import Comparison
from workbench.analysis.finding_words import scope_words, short_gain_text, where_words
from workbench.api.window import colour
from workbench.gui.look import icons
from workbench.gui.look.painting import label
from workbench.gui.widgets import paint_severity
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.finding import Finding

_GAIN_TIP = "Predicted speedup; ≤: upper bound, if there is no prediction"
_SIGN_PX = 64  # of a finding's sign, before its title
_MIDDLE = Qt.TextElideMode.ElideMiddle  # titles and places begin alike and end unlike
#: In a narrower table where a finding is, is in its tooltip alone.
WHERE, WHERE_FROM_PX = 1, 640


@dataclass(frozen=True)
class Pair:
    """A finding in both runs, or in one of them."""

    a: Finding | None
    b: Finding | None

    @property
    def finding(self) -> Finding:
        known = self.b or self.a
        assert known is not None
        return known

    @property
    def gain(self) -> float:
        return max(finding.gain for finding in (self.a, self.b) if finding)


@dataclass(frozen=True)
class PairKind:
    """What is over the pairs of one kind."""

    title: str
    note: str


KINDS = (
    ("gone", "Gone", "now below the threshold"),
    ("kept", "Kept", "in both runs"),
    ("new", "New", "seen only in B"),
)


def rows_of(comparison: Comparison, kind: str) -> tuple[Pair, ...]:
    """Findings of one kind; parts of another finding are left out, the largest gain first."""
    pairs = {
        "gone": lambda: [Pair(f, None) for f in comparison.only_in_a],
        "kept": lambda: [Pair(a, b) for a, b in comparison.in_both],
        "new": lambda: [Pair(None, f) for f in comparison.only_in_b],
    }[kind]()
    tops = [pair for pair in pairs if not any(f and f.part_of for f in (pair.a, pair.b))]
    return tuple(sorted(tops, key=lambda pair: -pair.gain))


class FindingChanges(RowView):
    """Sections that fold. `pair_opened` carries the pair that was clicked, or gone to and Enter pressed."""

    pair_opened = Signal(object)

    def __init__(self) -> None:
        super().__init__("Findings in both runs", (
            Column("Finding", _title, share=0.62, paint=self._paint_title,
                   beside_px=_SIGN_PX + 8, ink=lambda row: ("text", 13, 500), elide=_MIDDLE,
                   key=lambda row: "" if isinstance(row, PairKind) else row.finding.title,
                   tip_of=lambda row: "" if isinstance(row, PairKind) else scope_words(row.finding)),
            Column("Where", lambda row: "" if isinstance(row, PairKind) else where_words(row.finding), share=0.38,
                   elide=_MIDDLE, ink=lambda row: ("second", 13, 400)),
            Column("A", lambda row: _gain(row, "a"), width_px=84, right=True, key=lambda row: _size(row, "a"),
                   ink=lambda row: (_ink(row, "a"), 13, 400), tip=_GAIN_TIP),
            Column("B", lambda row: _gain(row, "b"), width_px=100, right=True, key=lambda row: _size(row, "b"),
                   paint=_paint_b, tip=_GAIN_TIP),
        ), row_px=32)  # fmt: skip
        self.setIndentation(0)
        self.clicked.connect(lambda index: self._open_row(self.rows.row(index)))
        self.opened.connect(self._open_row)

    def lay_out_columns(self) -> None:
        self.setColumnHidden(WHERE, self.viewport().width() < WHERE_FROM_PX)
        super().lay_out_columns()

    def show_comparison(self, comparison: Comparison, only: str) -> None:
        """All kinds, or one."""
        sections = [(title, note, rows_of(comparison, kind)) for kind, title, note in KINDS if only in ("all", kind)]
        self.show_rows([(PairKind(title, f"{len(pairs)}, {note}"), pairs) for title, note, pairs in sections])
        for row in range(len(sections)):
            self.setFirstColumnSpanned(row, self.rootIndex(), True)

    def _paint_title(self, painter: QPainter, box: QRectF, row: Pair | PairKind) -> None:
        if isinstance(row, PairKind):
            painter.fillRect(box, colour("sunken"))
            open_ = self.isExpanded(self.rows.index_where(lambda other: other is row))
            icons.draw_icon(painter, "chevron-down" if open_ else "chevron-right", 14, box.center().y() - 8)
            used = label(painter, box.adjusted(38, 0, 0, 0), row.title, "text", 12, 600)
            label(painter, box.adjusted(46 + used, 0, -16, 0), row.note, "second", 12)
        else:
            paint_severity(painter, 38, box.center().y() - 8, 16, row.finding.sign)
            self.write(painter, box.adjusted(_SIGN_PX, 0, -8, 0), 0, row)

    def _open_row(self, row: Pair | PairKind | None) -> None:
        if isinstance(row, Pair):
            self.pair_opened.emit(row)
        elif row is not None:
            index = self.rows.index_where(lambda other: other is row)
            self.setExpanded(index, not self.isExpanded(index))


def _title(row: Pair | PairKind) -> str:
    return f"{row.title}: {row.note}" if isinstance(row, PairKind) else row.finding.title


def _size(row: Pair | PairKind, run: str) -> float:
    if isinstance(row, PairKind):
        return 0.0
    finding = row.a if run == "a" else row.b
    return finding.gain if finding else 0.0


def _gain(row: Pair | PairKind, run: str) -> str:
    if isinstance(row, PairKind):
        return ""
    finding = row.a if run == "a" else row.b
    if finding is None or not finding.gain:
        return "none"
    return short_gain_text(finding)


def _ink(row: Pair | PairKind, run: str) -> str:
    """What is predicted is strong, what is only bounded is not."""
    finding = None if isinstance(row, PairKind) else row.a if run == "a" else row.b
    return "text" if finding and finding.speedup_predicted is not None else "muted"


def _paint_b(painter: QPainter, box: QRectF, row: Pair | PairKind) -> None:
    if isinstance(row, PairKind):
        return
    known = _ink(row, "b")
    ink = (known, 13, 600 if known == "text" else 400)
    label(painter, box.adjusted(24, 0, -16, 0), _gain(row, "b"), *ink, align=Qt.AlignmentFlag.AlignRight)
    if row.a and row.b and abs(row.a.gain - row.b.gain) > 0.005:
        name = "chevron-up" if row.b.gain > row.a.gain else "chevron-down"
        icons.draw_icon(painter, name, box.left() + 6, box.center().y() - 7, 14)
