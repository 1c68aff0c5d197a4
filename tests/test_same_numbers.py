"""A report, the window and the command line say the same numbers and counts about a run."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.context import Context
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.modes import MODES
from workbench.gui.modes.analyse.findings import BAR, TIME
from workbench.gui.modes.analyse.mode import AnalyseMode
from workbench.model.text import bytes_text, ratio_text, time_text
from workbench.session.keep.results import open_result
from workbench.session.program.plugins import Plugins, load_plugins
from workbench.testing.runs import synthetic_platform, synthetic_run


def plain(text: str) -> str:
    """As one line with plain spaces: how a text is broken and spaced is not compared."""
    return re.sub(r"\s+", " ", text.replace("\u202f", " ").replace("\u00a0", " ")).strip()


class Page(HTMLParser):
    """The words of a page, those of each article by its id, and the links of its drawings with what they show."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words, self.articles, self.badges = "", dict[str, str](), dict[str, str]()
        self._article = self._link = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag == "article":
            self._article = known.get("id") or ""
        elif tag == "a":
            self._link = (known.get("href") or "").lstrip("#")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("article", "a"):
            setattr(self, "_article" if tag == "article" else "_link", "")

    def handle_data(self, data: str) -> None:
        self.words += data
        if self._article:
            self.articles[self._article] = self.articles.get(self._article, "") + data
        if self._link and data.strip().isdigit():
            self.badges[self._link] = data.strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder as `workbench run` leaves it, with the platform that it was made on."""
    run = synthetic_run(cores=6, rounds=4)
    writer = RunWriter(tmp_path_factory.mktemp("same") / "run", run.manifest)
    writer.finish(run.manifest, run.tables)
    platform = synthetic_platform().model_dump(mode="json", exclude_defaults=True)
    (writer.path / "platform.yaml").write_text(yaml.safe_dump(platform), encoding="utf-8")
    return writer.path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(list(arguments)) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def test_report_window_and_command_line_agree(
    qtbot: QtBot, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    html = tmp_path / "report.html"
    document: dict[str, Any] = json.loads(told(capsys, "report", str(folder), "--json", "--html", str(html)))
    short, whole = plain(told(capsys, "report", str(folder))), told(capsys, "report", str(folder), "--all")
    page = Page(html.read_text(encoding="utf-8"))
    context = Context(Plugins(()))
    context.set_run(open_result(folder, load_plugins()))
    mode = AnalyseMode(context, MODES["analyse"])
    for _ in mode.build():
        pass
    for widget in (mode, mode.details):
        qtbot.addWidget(widget)
        widget.show()

    def window() -> str:
        return plain(" ".join(label.text() for label in mode.details.findChildren(QLabel)))

    findings = document["findings"]
    tops = [f for f in findings if not f["part_of"]]
    parts = len(findings) - len(tops)
    assert parts > 0
    counted = f"{len(tops)} with {parts} parts"
    head = plain(" ".join(label.text() for label in mode.findings.head.findChildren(QLabel)))
    assert all(counted in text for text in (short, plain(whole), plain(page.words), head))

    (clock,) = document["virtual_time"]
    unsure = plain(f"on a board ± {time_text(clock['uncertainty_ps'] * 1e-12)}, by {clock['messages']} messages")
    assert all(unsure in text for text in (short, plain(whole), plain(page.words)))
    run_time = plain(time_text(document["time_s"], 4))
    assert all(run_time in text for text in (short, plain(whole), plain(page.words)))

    order = [f["id"] for f in tops]
    assert [f.id for f in mode.findings.table.rows.tops] == order
    assert [i.removeprefix("finding-") for i in page.articles] == order
    sections = [plain(text) for text in re.split(r"\n\n(?=\d+\. |– )", whole)[1:]]
    ranks = [str(number) if f["ranked"] else "–" for number, f in enumerate(tops, 1)]
    assert "–" in ranks, "those that follow from others stand last, without a rank"
    assert [s.partition(" ")[0].rstrip(".") for s in sections] == ranks
    assert [
        plain(mode.findings.table.rows.index_where(lambda f, wanted=f["id"]: f.id == wanted).data()) for f in tops
    ] == ranks

    for finding, section in zip(tops, sections, strict=True):
        context.navigation.select(SelectedFinding(finding["id"]))
        shown = mode.findings.table.rows.index_where(lambda f, wanted=finding["id"]: f.id == wanted)
        assert shown.isValid()
        table = {column: plain(shown.siblingAtColumn(column).data()) for column in (TIME, BAR + 1)}
        article = plain(page.articles[f"finding-{finding['id']}"])
        gain, ideal, time = (plain(t) for t in (ratio_text(finding["gain"]), ratio_text(finding["speedup_ideal"]),
                                                time_text(finding["time_s"])))  # fmt: skip
        assert table == {TIME: time, BAR + 1: gain}
        texts = {"window": window(), "report": article, "terminal": section}
        for place, text in texts.items():
            assert finding["title"] in text, place
            assert {gain, ideal, time} <= set(re.findall(r"[\d.]+×|[\d.]+ [nµm]?s", text)), (place, finding["id"])
            for advice in finding["advice"]:
                assert plain(advice["text"]) in text, place
                bounded = advice["known"]
                said = f"At most {ratio_text(advice['at_most'])}: {advice['stays']}." if bounded else "does not show"
                assert plain(said) in text, place
        if "bytes" in finding["metrics"]:
            moved = plain(bytes_text(finding["metrics"]["bytes"]))
            assert all(moved in text for text in texts.values())
        assert [a["text"] for a in finding["advice"]] == finding["suggestions"]
        assert finding["gain"] == max(a["at_most"] for a in finding["advice"] if a["known"])

    for side in ("host", "fpga"):
        here = sum(b["id"] == f["block"] for b in document["blocks"] if b["side"] == side for f in tops)
        assert mode.findings.pills[side].text().rpartition(" ")[2] == str(here)
    badges = {key: facts.badge[1] for key, facts in mode.graph.facts.items() if facts.badge}
    assert sorted(badges.values()) == sorted(int(count) for count in page.badges.values())
    assert sum(badges.values()) == sum(f["scope"] != "application" for f in tops)
