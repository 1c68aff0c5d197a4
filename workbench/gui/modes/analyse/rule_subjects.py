"""A rule held against the open run: its subjects, and below what a finding says."""

from PySide6.QtWidgets import QGraphicsOpacityEffect, QVBoxLayout, QWidget

from workbench.analysis.rule_table import Outcome, RuleRow, RuleTable, subject_table
from workbench.api.views import Table
from workbench.api.window import Context, set_ground
from workbench.gui.widgets import SeverityIcon, empty, label, plain_column, rule, scrolled
from workbench.gui.widgets.boxes import row_layout
from workbench.gui.widgets.table_view import TableView
from workbench.model.finding import Finding
from workbench.model.text import counted

LEAST_PREVIEW_PX, PREVIEW_PX = 64, 132
STALE = 0.5  # how much is seen of a table that is not of the rule as it is typed
NO_RUN = "Open a run to see which of its blocks and calls this rule fires for."
NO_RULE = "No rule is shown: create one, or undo."
WRONG = "Fix the rule's problems to see what it fires for."


class RuleSubjects(QWidget):
    """Shows a `RuleTable`; a row that is chosen shows its own finding below, where it has one."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.table: RuleTable | None = None
        self._stale = False
        self.view = TableView(Table("Subjects", ()), row_px=28)
        self.view.line_wanted.connect(context.navigation.open_line)
        self.view.chosen.connect(lambda row: self._preview(row))
        self.setFocusProxy(self.view)
        self._below = QVBoxLayout()
        self._below.setContentsMargins(16, 8, 16, 10)
        self._below.setSpacing(4)
        area = scrolled("Subjects of the rule", self._below, "sunken")
        area.setMinimumHeight(LEAST_PREVIEW_PX)
        area.setMaximumHeight(PREVIEW_PX)
        plain_column(self, (self.view, 3), rule(), (area, 2))

    @property
    def said(self) -> tuple[str, str]:
        """Which rule it is, and how many of its subjects it fires for."""
        if self.table is None:
            return "Rule", ""
        return self.table.rule.name, "before the last change" if self._stale else subject_words(self.table)

    def show_said(self, said: RuleTable | str) -> None:
        if isinstance(said, str):
            if said:
                self.show_nothing(said)
        else:
            self.show_table(said)

    def show_table(self, table: RuleTable) -> None:
        current = self.view.current
        self.table = table
        self._dim(False)
        self.view.show_table(subject_table(table))
        chosen = next((row for row in table.rows if isinstance(current, RuleRow)
                       and (row.scope, row.subject) == (current.scope, current.subject)), None)  # fmt: skip
        self.view.choose(lambda row: row is chosen)
        self._preview(chosen)

    def show_nothing(self, said: str) -> None:
        """Why there is no table; where the rule is wrong the last one stays, dimmed."""
        if said == WRONG:
            self._dim(True)
        else:
            self.table = None
            self.view.show_rows(())
        empty(self._below)
        self._below.addWidget(label(said, "second", wrap=True))
        self._below.addStretch(1)

    def _dim(self, stale: bool) -> None:
        if stale != self._stale:
            self._stale = stale
            effect = QGraphicsOpacityEffect(self.view) if stale else None
            if effect is not None:
                effect.setOpacity(STALE)
            self.view.setGraphicsEffect(effect)  # type: ignore[arg-type]  # None takes it off

    def _preview(self, row: RuleRow | None) -> None:
        """What a finding says of a row, of the first that fires, or of the first subject if one did."""
        empty(self._below)
        table = self.table
        finding = (row.finding if row else None) or (table.preview if table else None)
        if finding is None:
            said = "This rule applies to nothing in this run." if table and not table.rows else "No finding to preview."
            self._below.addWidget(label(said, "second", wrap=True))
        else:
            self._show_finding(finding, row if row and row.finding else None)
        self._below.addStretch(1)

    def _show_finding(self, finding: Finding, row: RuleRow | None) -> None:
        fired = self.table is not None and self.table.fired
        how = "Preview" if fired else "Does not fire. What the finding would be"
        self._below.addWidget(label(f"{how}: {finding.where}", "small", wrap=True))
        title = row_layout(SeverityIcon(finding.severity), (label(finding.title, "strong", wrap=True), 1), spacing=8)
        self._below.addLayout(title)
        for advice in finding.advice:
            self._below.addWidget(label(f"• {advice.text}", "", wrap=True))


def subject_words(table: RuleTable) -> str:
    """How many of a rule's subjects it fires for."""
    looked = sum(row.outcome is not Outcome.NOTHING for row in table.rows)
    return f"fires for {table.fired} of {counted(looked, 'subject')}"
