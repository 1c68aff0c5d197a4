"""A prediction as a page: every kind of model, its numbers as the terminal has them, nothing from elsewhere."""

import re
from pathlib import Path

import pytest
from predicting import KINDS

from workbench.cli.main import main

#: Of each kind a model, and what its page must have besides the parts and inputs that every page has.
MODELS = {
    "ratss": ("pdf2d", ("When each part happens", "Stages, Platform", "Table V", "146×", "PCI-X read")),
    "density": ("matrix_multiply", ("Density by memory size", "Roofline", "Rate that each layer allows")),
    "queueing": ("blastn", ("Network", "PCI-X", "Stations", "Table 7.2")),
    "opencl": ("vector_add", ("Structure of", "Cycles")),
    "rat": ("pdf1d", ("Speedup",)),
}


def page(folder: Path, *words: str) -> str:
    path = folder / "page.html"
    assert main(["predict", *words, "--html", str(path), "--json"]) == 0
    return path.read_text("utf-8")


def test_every_built_in_kind_is_here() -> None:
    assert set(MODELS) == set(KINDS) - {"study"}


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_each_kind_has_a_page_of_its_own_pictures_and_tables(kind: str, tmp_path: Path) -> None:
    name, words = MODELS[kind]
    text = page(tmp_path, kind, name)
    assert not [one for one in words if one not in text]
    assert text.count("<svg") == text.count("</svg>")
    assert not re.search(r"""(?:src|href)=["'](?!#)""", text), "nothing is loaded from elsewhere"
    assert "<script" not in text
    widths = re.findall(r'class="drawing phone"><svg[^>]* width="([0-9.]+)"', text)
    assert all(float(width) < 560 for width in widths), "legible on a phone"
    assert len(widths) == text.count('class="drawing paper"') == text.count('class="drawing screen desk"')
    assert "Undefined" not in text


def test_what_if_stands_in_its_inputs_and_figures(tmp_path: Path) -> None:
    before, after = page(tmp_path, "ratss", "pdf2d"), page(tmp_path, "ratss", "pdf2d", "--set", "nodes=8")
    assert "what if" not in before
    assert "<b>8</b>, what if" in after
    assert "the design point" in after
    assert "532×" in after, "Table IV"


def test_doubts_lead_the_page(tmp_path: Path) -> None:
    text = page(tmp_path, "ratss", "pdf2d", "--set", "clock=2 GHz")
    assert 'class="diagnostic warning"' in text
    assert text.index("diagnostic warning") < text.index("When each part happens")


def test_a_page_is_of_one_point(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", "ratss", "pdf2d", "--html", str(tmp_path / "page.html"), "--sweep", "nodes=2,4"]
    assert main(words) == 2
    assert "--html does not go with --sweep" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()
