"""The panel that predicts the speedup of chosen changes, and the bottleneck after them. It edits nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from workbench.analysis.after_changes import After, after_section, findings_after
from workbench.analysis.change_words import change_title
from workbench.analysis.finding_words import LEAST_GAIN, left_out
from workbench.analysis.predicting import Trial, best_sets, suggestions, try_changes
from workbench.analysis.trial_page import set_title, sets_section, trial_page
from workbench.api.job import Job
from workbench.api.views import Page
from workbench.api.window import Context, set_ground
from workbench.gui.frame.naming import run_title
from workbench.gui.modes.analyse.change_edit import ChangeEdit
from workbench.gui.modes.analyse.confirm_box import ConfirmBox
from workbench.gui.views.page_view import PageBody
from workbench.gui.widgets import Button, ElidedLabel, IconButton, empty, label, plain_column, rule, scrolled
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.model.changes import Change
from workbench.model.diagnostic import Diagnostic
from workbench.model.finding import Advice
from workbench.model.ledger import Entry, expected_of
from workbench.model.prediction import Prediction
from workbench.model.text import capitalised, ratio_text
from workbench.replay.predict import Replayed
from workbench.session.change.change_completion import completions
from workbench.session.change.confirm import AnswerStatus
from workbench.session.keep.ledger import confirm, keep
from workbench.session.program.settings import value

MOST_OFFERS = 8


@dataclass(frozen=True)
class Offer:
    """Changes that can be ticked together, from advice or as they were typed."""

    changes: tuple[Change, ...]
    advice: Advice | None = None

    @property
    def alone(self) -> Prediction | None:
        """What these changes gain by themselves."""
        return self.advice.prediction if self.advice else None


class TryPanel(QWidget):
    """`closed` asks for what was there before; `answered` carries the changes whose gain was predicted, if any."""

    closed = Signal()
    answered = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.offers: list[Offer] = []
        self.ticked: list[Offer] = []
        self.trial: Trial | None = None
        set_ground(self, "panel")
        self.setMinimumWidth(240)
        column = column_layout(margins=(16, 14, 14, 20), spacing=8)
        plain_column(self).addWidget(scrolled("Changes to try", column))
        column.addLayout(self._head())
        self._subtitle = label("", "smallsecond", wrap=True)
        column.addWidget(self._subtitle)
        self._rows = column_layout(spacing=2)
        column.addLayout(self._rows)
        self.edit = ChangeEdit(self._complete)
        self.edit.entered.connect(self._typed)
        self.edit.refused.connect(self._refuse)
        column.addWidget(self.edit)
        self.wrong = label("", "smallmedium", wrap=True)
        self.wrong.hide()
        column.addWidget(self.wrong)
        self._answer, self._more, self._after, self._sets = QVBoxLayout(), QVBoxLayout(), QVBoxLayout(), QVBoxLayout()
        column.addLayout(self._answer)
        self.keep = Button("Keep in the ledger", on=self._keep)
        self.keep.setToolTip("After a run of changed sources, Compare shows prediction and measurement side by side")
        self.confirm = ConfirmBox(context, self.keep)
        context.run_changed.connect(self.confirm.forget)
        column.addWidget(self.confirm)
        self.kept = label("", "small", wrap=True)
        self.kept.hide()
        column.addWidget(self.kept)
        for below in (self._more, self._after, self._sets):  # what comes later moves nothing above it
            column.addLayout(below)
        column.addStretch(1)

    def _head(self) -> QHBoxLayout:
        back = IconButton("arrow-left", "Back to the finding (Esc)", on=self.closed.emit)
        return row_layout(back, (label("Try changes", "finding"), 1), spacing=8)

    # ---- which changes

    def begin(self, changes: Sequence[Change] = ()) -> None:
        """Offer what the run's findings advise, with these changes ticked."""
        analysis, run = self.context.analysis, self.context.run
        if analysis is None or run is None:
            return
        chosen = tuple(changes)
        offers = [Offer(a.changes, a) for a in suggestions(analysis)]
        large = [o for o in offers if o.changes == chosen or (o.alone and (o.alone.speedup or 0.0) >= LEAST_GAIN)]
        self.offers = large[:MOST_OFFERS]
        mine = next((offer for offer in offers if offer.changes == chosen), None)
        if mine and mine not in self.offers:
            self.offers.append(mine)
        self.ticked = [mine] if mine else []
        self.edit.clear()
        self._subtitle.setText(f"Replay of {run_title(run) or 'this run'}. Your sources do not change.")
        self._write_rows()
        self._ask()
        self._ask_sets()

    def _complete(self, text: str) -> tuple[int, tuple[str, ...]]:
        run = self.context.run
        return completions(text, run.manifest, self.context.platform) if run else (0, ())

    def _typed(self, change: Change) -> None:
        offer = Offer((change,))
        self.offers.append(offer)
        self.ticked.append(offer)
        self._write_rows()
        self._ask()

    def _tick(self, offer: Offer, on: bool) -> None:
        self.ticked = [one for one in self.offers if (on if one is offer else one in self.ticked)]
        self._ask()

    def _write_rows(self) -> None:
        empty(self._rows)
        for offer in self.offers:
            self._rows.addWidget(self._row(offer))
            self._rows.addWidget(rule())

    def _row(self, offer: Offer) -> QWidget:
        widget = QWidget()
        box = QCheckBox()
        box.setChecked(offer in self.ticked)
        box.setAccessibleName(set_title(offer.changes))
        box.toggled.connect(partial(self._tick, offer))
        name = ElidedLabel(change_title(offer.changes[0]), "strong")
        more = f" and {len(offer.changes) - 1} more" if len(offer.changes) > 1 else ""
        name.setText(name.text() + more)
        row = row_layout(box, (name, 1), of=widget, margins=(0, 4, 0, 4), spacing=8)
        alone = offer.alone
        if alone and alone.speedup is not None:
            row.addWidget(label("alone", "small"))
            row.addWidget(label(ratio_text(alone.speedup), "strong"))
        elif alone:
            refused = label("not predicted", "small")
            refused.setToolTip(alone.why)
            row.addWidget(refused)
        return widget

    @property
    def changes(self) -> tuple[Change, ...]:
        """The set that is tried, each change once."""
        return tuple(dict.fromkeys(change for offer in self.ticked for change in offer.changes))

    # ---- what they gain

    def _ask(self) -> None:
        self.wrong.hide()
        self._say_kept("")
        nothing_shown, self.trial = self.trial is None, None
        if not self.changes:
            none = f"No suggestion gains {LEAST_GAIN:g}× or more. Type a change: Ctrl+Space lists them."
            self._show(label("Tick a change, or type one." if self.offers else none, "small", wrap=True))
            self.answered.emit(())
            return
        if nothing_shown:
            self._show(label("Replaying the run with this change.", "small", wrap=True))
        opened, replayed, changes = self.context.opened, self.context.replayed, self.changes
        if opened is None:
            return

        def work() -> tuple[Replayed, Trial]:
            ready = replayed or opened.prepared()
            return ready, try_changes(ready, changes)

        def take(answer: tuple[Replayed, Trial]) -> None:
            if self.context.opened is not None and opened.run is self.context.opened.run:
                self.context.replayed = answer[0]
                self._answered(answer[1])

        self.context.background.start("try", work, take, lambda problems: self._refuse(problems[0]))

    def _answered(self, trial: Trial) -> None:
        analysis = self.context.analysis
        if analysis is None or trial.prediction.changes != self.changes:
            return
        self.trial = trial
        advice = [offer.advice for offer in self.ticked if offer.advice]
        page = trial_page(trial, analysis, advice)
        self._show(PageBody(self.context, replace(page, sections=page.sections[:1])))
        self._more.addWidget(rule())
        self._more.addWidget(PageBody(self.context, replace(page, sections=page.sections[1:])))
        if trial.prediction.speedup is not None:
            self._ask_after(trial)
            self.answered.emit(trial.prediction.changes)

    def _ask_after(self, trial: Trial) -> None:
        """Find what limits the run after these changes, as a job."""
        analysis, replayed, budget_s = self.context.analysis, self.context.replayed, float(value("predict_s"))

        if analysis is None or replayed is None:
            return

        def work(job: Job) -> tuple[After, ...]:
            with job.step("Findings after these changes"):
                return findings_after(analysis, replayed, trial, job, budget_s)

        def done(rows: tuple[After, ...]) -> None:
            if rows and self.trial is trial:
                empty(self._after)
                section = after_section(rows, trial.prediction.speedup or 1.0)
                self._after.addWidget(PageBody(self.context, Page("after", "", "", (section,))))

        self.context.background.start_job("after changes", work, done, self.context.failed)

    def _ask_sets(self) -> None:
        """Find the sets of two and three of the offers that gain most."""
        empty(self._sets)
        alone = [offer.alone for offer in self.offers if offer.alone and offer.alone.speedup is not None]
        if (replayed := self.context.replayed) and len(alone) > 1:
            self.context.background.start(
                "sets", lambda: best_sets(replayed, alone), self._show_sets, self.context.failed
            )

    def _show_sets(self, sets: Sequence[Prediction]) -> None:
        empty(self._sets)
        if section := sets_section(sets, left_out(self.context.analysis) if self.context.analysis else 0):
            body = PageBody(self.context, Page("sets", "", "", (section,)))
            body.acted.connect(lambda action: self._take(sets[int(action)].changes))
            self._sets.addWidget(body)

    def _take(self, changes: Sequence[Change]) -> None:
        """Try exactly this set: tick the offers that it holds, and offer by themselves what is left of it."""
        self.ticked = [offer for offer in self.offers if set(offer.changes) <= set(changes)]
        held = {change for offer in self.ticked for change in offer.changes}
        for change in changes:
            if change not in held:
                self.offers.append(Offer((change,)))
                self.ticked.append(self.offers[-1])
        self._write_rows()
        self._ask()

    def _refuse(self, problem: Diagnostic | None) -> None:
        """Say what is wrong with a change beside the line that it is typed in."""
        said = problem.message.rpartition("': ")[2] if problem else ""  # without the change, which is in the line
        self.wrong.setText(f"{capitalised(said)}. {problem.hint}" if problem else "")
        self.wrong.setVisible(problem is not None)

    def _show(self, answer: QWidget) -> None:
        for part in (self._answer, self._more, self._after):
            empty(part)
        self.context.background.cancel("after changes")
        self._answer.addWidget(answer)
        self.keep.setVisible(self.trial is not None and self.trial.prediction.speedup is not None)
        self.confirm.show_set(self.trial.prediction if self.trial else None)

    def _keep(self) -> None:
        run, trial = self.context.run, self.trial
        if run is None or trial is None:
            return
        expected = expected_of(trial.after)
        confirmed = self.confirm.confirmed.get(trial.prediction.changes)

        def work() -> Entry:
            entry = keep(run, trial.prediction, expected)
            confirmation = confirmed[1] if confirmed else None
            if confirmation and confirmation.speedup is not None and confirmation.time_s is not None:
                confirm(
                    run, entry.id, confirmation.speedup, confirmation.time_s, confirmation.answer is AnswerStatus.SAME
                )
            return entry

        self.context.background.start("keep", work, lambda entry: self._say_kept(_KEPT), self.context.failed)

    def _say_kept(self, words: str) -> None:
        self.kept.setText(words)
        self.kept.setVisible(bool(words))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)


_KEPT = "Kept in the ledger. After a run of changed sources, Compare shows prediction and measurement side by side."
