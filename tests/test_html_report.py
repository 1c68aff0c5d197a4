"""The report stands alone, says what it must, and its drawings and links are whole."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from rc_workbench_plugins.recap_rules import workbench_rules
from rc_workbench_plugins.recap_rules.metrics import METRICS
from small_runs import Spent, small_run, without_tables

from workbench.analysis import Analysis, KnowledgeBase, analyse, load_knowledge
from workbench.analysis.compare import compare
from workbench.analysis.html_report import html_report
from workbench.analysis.rate_curves import direction_plot
from workbench.model.blocks import BlockGraph
from workbench.model.diagnostic import Diagnostic
from workbench.model.pragma import Category
from workbench.model.run import Run, RunStatus
from workbench.model.text import bound_text
from workbench.pictures.graph import STYLE, graph_svg
from workbench.pictures.layout import layout_graph
from workbench.pictures.palette import DARK, LIGHT
from workbench.pictures.plot_drawing import plot_svg
from workbench.testing.runs import synthetic_platform, synthetic_run


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    return load_knowledge([file.path for file in workbench_rules()], METRICS)[0]


@pytest.fixture(scope="module")
def run() -> Run:
    return synthetic_run(cores=20, rounds=3)


@pytest.fixture(scope="module")
def analysis(run: Run, knowledge: KnowledgeBase) -> Analysis:
    return analyse(run, synthetic_platform(), knowledge)


@pytest.fixture(scope="module")
def page(run: Run, analysis: Analysis) -> str:
    return html_report(run, analysis, synthetic_platform())


class Reader(HTMLParser):
    """Ids, links, open tags and text of a page."""

    VOID = ("meta", "br", "link", "img", "input", "hr")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.tags.append(tag)
        if named.get("id") and tag != "pattern":
            self.ids.append(str(named["id"]))
        self.links += [str(named[key]) for key in ("href", "src") if named.get(key)]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", Reader(page).words.replace("\u202f", " "))


def test_the_page_is_whole_and_stands_alone(page: str) -> None:
    reader = Reader(page)
    assert reader.open == []
    assert "script" not in reader.tags
    assert all(link.startswith("#") for link in reader.links)
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org)", page)


def test_every_link_leads_somewhere(page: str, analysis: Analysis) -> None:
    reader = Reader(page)
    assert {link[1:] for link in reader.links} <= set(reader.ids)
    shown = [i for i in reader.ids if i.startswith("finding-")]
    assert sorted(shown) == sorted(f"finding-{finding.id}" for finding in analysis.findings)


def test_the_warnings_on_the_graph_link_to_the_findings(analysis: Analysis) -> None:
    drawing = ET.fromstring(graph_svg(analysis, None, "report.html"))
    links = {a.get("href") for a in drawing.iter("{http://www.w3.org/2000/svg}a")}
    first = next(f for f in analysis.findings if f.block == "host.main")
    assert f"report.html#finding-{first.id}" in links
    layout = layout_graph(analysis.graph, STYLE)
    top = [f for f in analysis.findings if not f.part_of and f.scope != "application"]
    assert len(links) == sum(any(f.block in (node.block_ids or (node.key,)) for f in top) for node in layout.nodes)


def test_the_numbers_and_the_advice_are_there(page: str, analysis: Analysis) -> None:
    words = text_of(page)
    for finding in analysis.findings:
        assert finding.title in words
        assert bound_text(finding.speedup_cap) in words
        for place in finding.places:
            assert f"{place.file}:{place.line}" in words
    for finding in (f for f in analysis.findings if not f.part_of):
        assert finding.condition in words
        assert f"{finding.speedup_ideal:.2f}×" in words
        for advice in finding.suggestions:
            assert re.sub(r"\s+", " ", advice.replace("\u202f", " ")) in words


def test_what_is_simulated_is_said_plainly(page: str, run: Run, analysis: Analysis) -> None:
    assert "This run used no real Synthetic PCI-X card" in text_of(page)
    real = replace(run, manifest=replace(run.manifest, simulated=False))
    assert "card was measured" not in text_of(html_report(real, analysis, synthetic_platform()))


def test_two_runs_are_compared_in_it(run: Run, analysis: Analysis, knowledge: KnowledgeBase) -> None:
    faster = synthetic_run(cores=20, rounds=3, form="optimised")
    other = analyse(faster, synthetic_platform(), knowledge)
    page = html_report(run, analysis, synthetic_platform(), compare(analysis, other, (run, faster)))
    assert Reader(page).open == []
    assert f"{analysis.time_s / other.time_s:.2f}× faster" in text_of(page)


def test_texts_of_users_cannot_become_markup(knowledge: KnowledgeBase) -> None:
    evil = '<script>alert("1")</script>&"\''
    made = small_run(
        1.0,
        [Spent(evil, Category.SEND, 0.5, ("ctrl", evil), "top.p", evil)],
        {"top.p": [Spent(evil, Category.WORK, 0.2)]},
    )
    manifest = replace(made.manifest, name=evil, platform=evil, diagnostics=(Diagnostic(evil, evil, file=evil),))
    run = replace(made, manifest=manifest)
    reader = Reader(html_report(run, analyse(run, None, knowledge), None))
    assert "script" not in reader.tags
    assert reader.open == []
    assert evil in reader.words


@pytest.mark.parametrize("status", [RunStatus.RUNNING, RunStatus.FAILED, RunStatus.CANCELLED])
def test_an_incomplete_run_says_so_at_the_top(run: Run, knowledge: KnowledgeBase, status: RunStatus) -> None:
    manifest = replace(run.manifest, status=status, reason="the host crashed")
    broken = without_tables(replace(run, manifest=manifest), *run.tables)
    words = text_of(html_report(broken, analyse(broken, None, knowledge), None))
    assert "the host crashed" in words[: words.index("Blocks An edge is as wide")]


def test_a_run_without_anything_has_a_report(knowledge: KnowledgeBase) -> None:
    empty = small_run(0.0)
    assert "No times were recorded" in html_report(empty, analyse(empty, None, knowledge), None)


def test_drawings_are_made_again_for_a_phone(run: Run, analysis: Analysis) -> None:
    """The graph from top to bottom; on a screen between the two it keeps its size and scrolls."""
    page = html_report(run, analysis, None)
    kinds = "wide desk screen|wide paper|phone"
    found = re.findall(rf'<div class="drawing ({kinds})"><svg.*?viewBox="0 0 (\d+).*?aria-label="([^":]*)', page)
    assert [(kind, name) for kind, _, name in found] == [
        ("wide desk screen", "Block graph"), ("wide paper", "Block graph"), ("phone", "Block graph"),
        ("phone", "Flame graph"), ("phone", "Treemap"),
    ]  # fmt: skip
    wide, on_paper, narrow, *others = (int(width) for _, width, _ in found)
    assert on_paper <= wide
    assert (narrow < 0.6 * on_paper, others) == (True, [360, 360]), "no wider than the screen"
    assert min(map(float, re.findall(r'font-size="([\d.]+)', page))) >= 11
    assert re.search(r"@media[^{]*max-width: 860px.*?\.wide svg { max-width: none !important", page, re.S)


def test_a_graph_fills_the_width_of_a_page(analysis: Analysis) -> None:
    pages = (ET.fromstring(graph_svg(analysis, room_px=room)) for room in (0, 2000))
    own, wide = (float(page.attrib["viewBox"].split()[2]) for page in pages)
    assert own + 100 < wide <= 2000


def test_tables_are_cards_on_a_phone_each_cell_beside_its_columns_name(page: str) -> None:
    """Chromium draws the page at 390 pixels with nothing cut as long as these hold."""
    tables = re.findall(r'<table class="([^"]*)"[^>]*>(.*?)</table>', page, re.S)
    cards = [inside for kinds, inside in tables if "cards" in kinds.split()]
    assert len(cards) >= 2
    for inside in cards:
        heads = [re.sub(r"<[^>]*>", "", head).strip() for head in re.findall(r"<th[^>]*>(.*?)</th>", inside, re.S)]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", inside.partition("</thead>")[2], re.S):
            cells = re.findall(r"<td([^>]*)>", row)
            if "colspan" not in row:
                labels = [(re.findall(r'data-label="([^"]*)"', cell) or [""])[0] for cell in cells]
                assert labels[1:] == heads[1:], row
    for kinds, inside in tables:  # more columns than a phone has room for are cards, or have a layout of their own
        assert inside.count("<th") <= 3 or {"cards", "findings"} & set(kinds.split()), inside[:300]
    plots = re.findall(r'<div class="drawing (desk|phone)"><svg[^>]*aria-label="([^"]*)"', page)
    on_desk, on_phone = ({name for kind, name in plots if kind == screen} for screen in ("desk", "phone"))
    assert set() < on_desk <= on_phone


def test_a_page_is_dark_where_the_screen_is_and_light_on_paper(page: str) -> None:
    light, dark = re.findall(r":root {([^}]*)}", page)
    assert f"--text: {LIGHT.text};" in light
    assert f"--state-wait_recv: {LIGHT.states[Category.WAIT_RECV]};" in light
    assert f"--state-wait_recv: {DARK.states[Category.WAIT_RECV]};" in dark
    assert re.search(r"@media screen and \(prefers-color-scheme: dark\) { :root {", page)
    drawn = re.findall(r'(?:fill|stroke)="(#\w+|var\(--[\w-]+\))"', page.split("</header>")[1])
    assert {colour for colour in drawn if colour.startswith("#")} == set()  # a picture's colours are the page's
    assert {f"var({name})" for name in re.findall(r"(--[\w-]+):", light)} >= set(drawn)


@pytest.mark.parametrize("direction", ["send", "receive"])
def test_drawings_are_svg_that_other_programs_draw(analysis: Analysis, direction: str, qapp: object) -> None:
    plot = direction_plot(synthetic_platform(), analysis.calls, direction)
    assert plot is not None
    curve = plot_svg(plot, direction)
    for drawing in (
        curve,
        graph_svg(analysis),
        graph_svg(replace(analysis, graph=BlockGraph((), ()))),
    ):
        ET.fromstring(drawing)
        renderer = QSvgRenderer(QByteArray(drawing.encode()))
        assert renderer.isValid()
        image = QImage(renderer.defaultSize(), QImage.Format.Format_RGB32)
        image.fill(0xFFFFFFFF)
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        if drawing is curve:
            assert any(
                image.pixel(x, y) != 0xFFFFFFFF for x in range(0, image.width(), 7) for y in range(image.height())
            )


def test_the_applications_calls_are_on_the_curve(analysis: Analysis) -> None:
    plot = direction_plot(synthetic_platform(), analysis.calls, "send")
    assert plot is not None
    words = plot_svg(plot, "send")
    assert all(label in words for label in ("writeSamples", "startCore", "95 % of best"))
    assert "readBins" not in words
    assert direction_plot(synthetic_platform(), analysis.calls, "none") is None
