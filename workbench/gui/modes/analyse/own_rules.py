"""The user's own rules in Analyse: created, copied, imported, edited, and evaluated on the run once saved."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QMenu

from workbench.analysis.knowledge import CheckedRule, load_knowledge
from workbench.analysis.rule_table import RuleTable
from workbench.analysis.taxonomy import BottleneckKind
from workbench.api.window import Context
from workbench.gui.frame.focus import focus_is_in
from workbench.gui.modes.analyse.details import AnalyseDetails
from workbench.gui.modes.analyse.findings_panel import FindingsPanel
from workbench.gui.modes.analyse.rule_editor import RuleEditor
from workbench.gui.run.background import Failed
from workbench.session.edit.documents import Document
from workbench.session.edit.rule_text import rule_data
from workbench.session.edit.rules_document import LIST, NEW_RULE
from workbench.session.keep.results import OpenRun, open_knowledge, with_rules
from workbench.session.open.rule_files import rule_files

FILES = "Rule files (*.rules.yaml *.yaml);;All files (*)"
NO_PROJECT = "Open a project: its folder holds your own rules"


class OwnRules(QObject):
    """What the Rules table of `findings` offers; the form of a rule is in `details`."""

    def __init__(self, context: Context, findings: FindingsPanel, details: AnalyseDetails) -> None:
        super().__init__(findings)
        self.context, self.findings, self.details = context, findings, details
        self.editor: RuleEditor | None = None  # made when a rule is edited first
        self._project: Path | None = None
        self._files: frozenset[str] = frozenset()  # the project's rule files
        self._workspace_changed()
        findings.rules.fill = self.fill
        findings.own_names = lambda: frozenset(rule.name for rule in self.own())
        findings.rules.edit_wanted.connect(self.edit_kind)
        findings.rules.new_wanted.connect(self.new)
        findings.edit_rule.clicked.connect(lambda: self.edit_kind(findings.rules.current))
        findings.rule_menu.aboutToShow.connect(self._fill_button)
        findings.rules_left.connect(self.close)
        context.documents.saved.connect(self._saved)
        context.workspace_changed.connect(self._workspace_changed)

    # ---- what is offered

    def own(self, name: str = "") -> list[CheckedRule]:
        """The rules (of a name) that are in the project's files."""
        return [one for one in self.context.knowledge.rules if one.file in self._files and name in ("", one.name)]

    def _named(self, name: str) -> list[CheckedRule]:
        return [rule for rule in self.context.knowledge.rules if rule.name == name]

    def fill(self, menu: QMenu, row: tuple[int, BottleneckKind] | None) -> None:
        """What can be done with a row of the rules, and with all of them."""
        there = self.context.workspace is not None
        menu.setToolTipsVisible(True)
        new = menu.addAction("New rule\tIns", self.new)
        take = menu.addAction("Import rules from a file...", self.ask_file)
        for action in (new, take):
            action.setEnabled(there)
            action.setToolTip("" if there else NO_PROJECT)
        if row is None:
            return
        own = self.own(row[1].name)
        for rule in own:
            menu.addAction(f"Edit {_title(rule, own)}", partial(self.edit, rule))
        others = [rule for rule in self._named(row[1].name) if rule not in own]
        for rule in others:
            menu.addAction(f"Copy {_title(rule, others)}", partial(self.copy, rule)).setEnabled(there)

    def _fill_button(self) -> None:
        self.findings.rule_menu.clear()
        self.fill(self.findings.rule_menu, self.findings.rules.current)

    def edit_kind(self, row: tuple[int, BottleneckKind] | None) -> None:
        """Edit the rule of one's own in a row, or a copy of the workbench's; a menu, where there are several."""
        if row is None or self.context.workspace is None:
            return
        own = self.own(row[1].name)
        rules, act = (own, self.edit) if own else (self._named(row[1].name), self.copy)
        if len(rules) == 1:
            act(rules[0])
            return
        self._ask([(f"{'Edit' if own else 'Copy'} {_title(rule, rules)}", partial(act, rule)) for rule in rules])

    def _ask(self, offered: Sequence[tuple[str, partial[None]]]) -> None:
        self.menu = QMenu(self.findings)
        for text, do in offered:
            self.menu.addAction(text, do)
        view = self.findings.rules
        self.menu.popup(view.viewport().mapToGlobal(view.visualRect(view.currentIndex()).bottomLeft()))

    # ---- actions

    def new(self) -> None:
        """Begin a rule whose name no other has."""
        names = {rule.name for rule in self.context.knowledge.rules}
        editor = self._ready()
        names |= {str(editor.document.value(("rules", n, "name"))) for n in range(editor.document.count)}
        name = next(name for n in range(1, len(names) + 2) if (name := f"new rule {n}" if n > 1 else "new rule")
                    not in names)  # fmt: skip
        if editor.add([{**NEW_RULE, "name": name}], "New rule"):
            self._show()
            editor.form.show_field((*LIST, editor.number or 0, "name"), Qt.FocusReason.TabFocusReason)  # selects all

    def copy(self, rule: CheckedRule) -> None:
        """Put a copy of a rule in the project's file, and edit that."""
        if self._ready().add([rule_data(rule)], f"Copy {rule.name}"):
            self._show()

    def edit(self, rule: CheckedRule) -> None:
        if self._ready().edit(rule):
            self._show()

    def ask_file(self) -> None:
        """Import rules from a file that somebody shared."""
        folder = self.context.root() or Path.cwd()
        name, _ = QFileDialog.getOpenFileName(self.findings, "Import rules from a file", str(folder), FILES)
        if name:
            self.take(Path(name))

    def take(self, file: Path) -> None:
        """Copy rules of a file: its one rule, or those that are chosen in a menu."""
        base, problems = load_knowledge([file], self.context.knowledge.metrics.values())
        self.context.notices.keep("take rules", *(one for one in problems if not base.rules))
        rules = list(base.rules)
        if len(rules) == 1:
            self._take(rules)
        elif rules:
            each = [(_title(rule, rules), partial(self._take, [rule])) for rule in rules]
            self._ask([(f"All {len(rules)} rules", partial(self._take, rules)), *each])

    def _take(self, rules: Sequence[CheckedRule]) -> None:
        names = rules[0].name if len(rules) == 1 else f"{len(rules)} rules"
        if self._ready().add(list(map(rule_data, rules)), f"Take {names}"):
            self._show()

    def restore(self, path: Path, text: str) -> bool:
        """Show a rule file with a text that was not saved."""
        editor = self._ready()
        if not editor.open_file(path):
            return False
        editor.document.replace("restore unsaved changes", text)
        self._show()
        return True

    def close(self) -> None:
        """Show the rules again, and in the details what was there before."""
        inside = self.editor is not None and focus_is_in(self.editor)
        edited = self.editor.name if self.editor else ""
        self.details.end_rule()
        self.findings.show_subjects(None)
        self.findings.choose_rule(edited)
        if inside:
            self.findings.rules.setFocus()

    # ---- the editor

    def _ready(self) -> RuleEditor:
        if self.editor is None:
            self.editor = RuleEditor(self.context)
            self.editor.closed.connect(self.close)
            self.editor.evaluated.connect(self._evaluated)
            self.details.add_rule_editor(self.editor)
            plugins = self.context.plugins
            ignored: Failed = lambda problems: None  # noqa: E731  # told as the run was opened
            self.context.background.start(
                "shipped rules", lambda: open_knowledge(plugins)[0].rules, self.editor.know_shipped, ignored
            )
        return self.editor

    def _show(self) -> None:
        self.details.show_rule()
        self.findings.show_subjects("")

    def _evaluated(self, said: RuleTable | str) -> None:
        if self.details.shows_rule:
            self.findings.show_subjects(said)

    def _saved(self, document: Document) -> None:
        """The rules are held against the run anew."""
        opened, workspace = self.context.opened, self.context.workspace
        if self.editor is None or document is not self.editor.document or opened is None:
            return
        plugins, replayed = self.context.plugins, self.context.replayed
        project = workspace.path if workspace else None

        def done(again: OpenRun) -> None:
            if self.context.opened is not None and self.context.opened.run is again.run:
                self.context.take_rules(again)

        work = partial(with_rules, opened, plugins, project, replayed)
        self.context.background.start("rules", work, done, self.context.failed)

    def _workspace_changed(self) -> None:
        workspace = self.context.workspace
        before, self._project = self._project, workspace.path if workspace else None
        files, self._files = self._files, frozenset(map(str, rule_files(workspace.path)) if workspace else ())
        if self.editor is not None and self._project != before:
            self.editor.leave()
            self.close()
        elif files != self._files:
            self.findings.write()  # which rules are one's own


def _title(rule: CheckedRule, among: Sequence[CheckedRule]) -> str:
    """A rule's name, with its side and scope where others of the name are among these."""
    alike = [one for one in among if one.name == rule.name]
    side = "FPGA" if rule.side == "fpga" else rule.side
    return f"{rule.name} ({side}: {rule.scope.replace('_', ' ')})" if len(alike) > 1 else rule.name
