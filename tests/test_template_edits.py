"""Any edits that Platform mode makes, in any order: each is one step, comments stay, undo gives every text back."""

import re
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.gui.modes.platform.parts import add_part, rename_part, sections_of
from workbench.gui.modes.platform.points import next_point, pasted_points, points_of, points_path
from workbench.model.diagnostic import Diagnostic
from workbench.session.begin.entry_words import entry_of
from workbench.session.begin.new_entries import with_entries
from workbench.session.edit.platform_document import PlatformDocument
from workbench.session.edit.yaml_document import Path_
from workbench.session.program.plugins import load_plugins

TEMPLATES = sorted((Path(__file__).parents[1] / "platform_templates").glob("*.yaml"))
PASTED = ("int put{0}(card *c, const void *data, size_t bytes)", "int get{0}(card *c, void *data, size_t bytes)")
TEXTS = (
    "words * 4",
    "a: b # c",
    "'quoted' \"twice\"",
    "- dash",
    "{x: 1}",
    "äöü",
    "true",
    "0x10",
    "a\\b",
    "#",
    "*p",
    "|",
)
ROWS = ("4\t1 us\n8\t2 us\tmeasured", "4,1e-6\n1024,2e-6", "4;8 us;from: here")


def comments(text: str) -> Counter[str]:
    """The comments on lines of their own."""
    return Counter(match.rstrip() for match in re.findall(r"^\s*(#.*)$", text, re.M))


class Editor:
    """Does what Platform mode does with a document, each edit chosen by `draw`."""

    def __init__(self, template: Path) -> None:
        self.said: list[Diagnostic] = []
        self.document = PlatformDocument(load_plugins(), lambda *told: self.said.extend(told))
        self.document.open(template)
        self.texts = [self.document.text]
        self.gone: Counter[str] = Counter()  # comments within what was removed
        self.count = 0

    def edit(self, draw: st.DataObject) -> None:
        kinds = [self.field, self.add, self.remove, self.rename, self.paste_rows, self.paste_calls, self.size]
        do = draw.draw(st.sampled_from(kinds))
        self.count += 1
        do(draw)

    def parts(self) -> list[Path_]:
        return [part.path for section in sections_of(self.document) for part in section.parts]

    def tables(self) -> list[str]:
        return [str(path[1]) for path in self.parts() if path[:1] == ("transfer_tables",)]

    def field(self, draw: st.DataObject) -> None:
        parts = [p for s in sections_of(self.document) for p in s.parts if p.groups]
        part = draw.draw(st.sampled_from(parts))
        fields = [f for g in part.groups for f in g.fields if f.kind in ("code", "text", "prose", "long", "line")]
        if fields:
            field = draw.draw(st.sampled_from(fields))
            self.document.set((*part.path, *field.path), draw.draw(st.sampled_from((*TEXTS, ""))))

    def add(self, draw: st.DataObject) -> None:
        adds = [s.add for s in sections_of(self.document) if s.add]
        add_part(self.document, draw.draw(st.sampled_from(adds)))

    def remove(self, draw: st.DataObject) -> None:
        parts = [p.path for s in sections_of(self.document) for p in s.parts if p.removable]
        if parts and self.document.marked:
            path = draw.draw(st.sampled_from(parts))
            span = self.document.marked.values[path]
            self.gone += comments(self.document.text[span.start : span.end])
            self.document.remove(path, "Remove")

    def rename(self, draw: st.DataObject) -> None:
        named = ("transfer_tables",), ("host", "constants")
        if names := [path for path in self.parts() if path[:-1] in named]:
            rename_part(self.document, draw.draw(st.sampled_from(names)), f"named_{self.count}")

    def paste_rows(self, draw: st.DataObject) -> None:
        if tables := self.tables():
            rows = pasted_points(draw.draw(st.sampled_from(ROWS)))
            self.document.set(points_path(draw.draw(st.sampled_from(tables))), rows)

    def paste_calls(self, draw: st.DataObject) -> None:
        assert self.document.path
        path, entries = self.document.path, [entry_of(one.format(self.count)) for one in PASTED]
        self.document.apply("Add", lambda text: with_entries(text, entries, path)[0])

    def size(self, draw: st.DataObject) -> None:
        if tables := self.tables():
            table = draw.draw(st.sampled_from(tables))
            self.document.append(points_path(table), next_point(points_of(self.document, table)), "Add a size")


@settings(max_examples=6, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(TEMPLATES), st.data())
def test_edits_are_steps_and_keep_what_is_not_theirs(template: Path, draw: st.DataObject) -> None:
    editor = Editor(template)
    document, written = editor.document, comments(editor.document.text)
    for _ in range(6):
        editor.edit(draw)
        assert editor.said == []
        if document.text != editor.texts[-1]:
            editor.texts.append(document.text)
        assert written - editor.gone <= comments(document.text)
    for text in reversed(editor.texts[:-1]):
        assert document.history.can_undo
        document.history.undo()
        assert document.text == text
    assert not document.history.can_undo
    assert not document.dirty
    for text in editor.texts[1:]:
        document.history.redo()
        assert document.text == text
