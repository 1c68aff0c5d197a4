"""The box that confirms changes on the simulated card: start, progress, cancel, and the result of each set."""

from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from workbench.analysis.trial_page import set_title
from workbench.api.window import Context
from workbench.gui.open.trust_prompt import ask_trust
from workbench.gui.widgets import Button, ElidedLabel, empty, label, plain_column, rule
from workbench.gui.widgets.boxes import FlowRow, column_layout, row_layout
from workbench.model.changes import Change
from workbench.model.diagnostic import Diagnostic
from workbench.model.prediction import Prediction
from workbench.model.text import capitalised, counted, ratio_text
from workbench.session.change.confirm import Confirmation, confirm
from workbench.session.change.confirm_words import confirmed_words

Changes = tuple[Change, ...]
KEY = "confirm"


class ConfirmBox(QWidget):
    """`show_set` says which set is tried now; `beside` is what else can be done with it."""

    def __init__(self, context: Context, beside: Button) -> None:
        super().__init__()
        self.context = context
        self.prediction: Prediction | None = None
        self.under_way: Prediction | None = None
        self.confirmed: dict[Changes, tuple[Prediction, Confirmation]] = {}
        column = plain_column(self)
        column.setSpacing(8)
        self.button = Button("Confirm on the card", kind="primary", on=self.start)
        self.button.setToolTip("Run your program with these changes applied to its times; your sources do not change")
        self._beside = beside
        column.addWidget(FlowRow(self.button, beside, spacing=8))
        self.why = label("", "smallsecond", wrap=True)
        column.addWidget(self.why)
        column.addWidget(self._progress())
        self._rows = QVBoxLayout()
        column.addLayout(self._rows)
        context.background.progressed.connect(self._progressed)
        context.running_changed.connect(self._write)
        context.workspace_changed.connect(self._write)

    def _progress(self) -> QWidget:
        self.progress = QWidget()
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 100)
        self.cancel_button = Button("Cancel", kind="link", on=self.cancel)
        row = row_layout((self.bar, 1), self.cancel_button, spacing=8)
        self.said = ElidedLabel("", "small")
        plain_column(self.progress, row, self.said)
        self.progress.hide()
        return self.progress

    def forget(self) -> None:
        """Another run is open: what was confirmed is of the one before."""
        self.cancel()
        self.confirmed.clear()
        self._write()

    def show_set(self, prediction: Prediction | None) -> None:
        """The set that is tried now, with its prediction; None while there is none."""
        self.prediction = prediction
        self._write()

    def start(self) -> None:
        """Run the set that is shown, once the project is trusted."""
        run, workspace, prediction = self.context.run, self.context.workspace, self.prediction
        if run is None or workspace is None or prediction is None or self.under_way:
            return
        if not ask_trust(workspace, self.window()):
            return
        self.context.set_trusted(True)
        self.under_way = prediction
        plugins, changes = self.context.plugins, prediction.changes
        self.context.background.start_job(
            KEY, lambda job: confirm(workspace, run, changes, job, plugins), self._done, self._failed
        )
        self.bar.setValue(0)
        self._write()

    def cancel(self) -> None:
        """End the run that confirms; the sets that ran before stay."""
        self.context.background.cancel(KEY)
        self.under_way = None
        self._write()

    def _done(self, confirmation: Confirmation) -> None:
        if self.under_way is not None:
            self.confirmed[confirmation.changes] = self.under_way, confirmation
        self.under_way = None
        self._write()

    def _failed(self, problems: tuple[Diagnostic, ...]) -> None:
        self.under_way = None
        self._write()
        self.why.setText(problems[0].sentences)
        self.why.show()

    def _progressed(self) -> None:
        if self.under_way is None:
            return
        said = self.context.background.said_of(KEY)
        self.said.setText(said)
        percent = said.rpartition(": ")[2].removesuffix("%")
        if percent.isdigit():
            self.bar.setValue(int(percent))

    def _write(self) -> None:
        """What can be done now, and what was confirmed."""
        reason = self._not_possible()
        known = self.prediction is not None and self.prediction.changes in self.confirmed
        can = self.prediction is not None and not reason and not self.under_way and not known
        self.why.setText(reason)
        self.why.setVisible(bool(reason) and self.prediction is not None)
        self._show_button(can)
        empty(self._rows)
        for number, (prediction, confirmation) in enumerate(self.confirmed.values()):
            if number:
                self._rows.addWidget(rule())
            self._rows.addWidget(_row(prediction, confirmation))
        self.setVisible(self.prediction is not None or bool(self.confirmed))

    def _show_button(self, can: bool) -> None:
        """The button, or the progress with its cancel. The keyboard stays here: else the panel would scroll away to
        what has it next."""
        focused = self.focusWidget()
        held = focused is not None and focused.hasFocus() and focused in (self.button, self.cancel_button)
        if can:
            self.button.show()
        self.progress.setVisible(self.progress.isVisibleTo(self) or self.under_way is not None)
        if held:
            (self.cancel_button if self.under_way else self.button if can else self._beside).setFocus()
        self.button.setVisible(can)
        self.progress.setVisible(self.under_way is not None)

    def _not_possible(self) -> str:
        """Why nothing can be confirmed here, whatever the changes; "" where it can."""
        run = self.context.run
        if self.context.workspace is None:
            return "Not possible: the project of this run is not open."
        if run is not None and not run.manifest.simulated:
            return "Not possible: this run was made on a real machine."
        return "A run is in progress." if self.context.running else ""


def _row(prediction: Prediction, confirmation: Confirmation) -> QWidget:
    """A set, what was predicted of it, and what it came to."""
    widget = QWidget()
    said, role, note = confirmed_words(prediction, confirmation)
    predicted = "not predicted" if prediction.speedup is None else f"predicted {ratio_text(prediction.speedup)}"
    row = row_layout((ElidedLabel(set_title(prediction.changes), "strong"), 1), label(said, role), spacing=10)
    below = label(capitalised(note), "small", wrap=True)
    changes = label(f"{counted(len(prediction.changes), 'change')}, {predicted}", "small")
    column_layout(row, changes, below, of=widget, margins=(0, 4, 0, 4), spacing=0)
    widget.setToolTip("\n".join(problem.sentences for problem in confirmation.notes))
    return widget
