"""What a model comes to, as a page that is self-contained: the same figures, charts and tables as in the window."""

from collections.abc import Iterator
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

import workbench
from workbench.api.predictions import Results
from workbench.pictures.charts import chart_plot
from workbench.pictures.page_style import page_style
from workbench.pictures.palette import PAGE
from workbench.pictures.plot_drawing import plot_svg

_WIDTH_PX, _HEIGHT_PX = 900, 360


def results_page(title: str, note: str, results: Results) -> str:
    """The page of a model's results."""
    folder = files("workbench.resources").joinpath("report")
    texts = {"results.html.j2": folder.joinpath("results.html.j2").read_text("utf-8")}
    environment = Environment(
        loader=DictLoader(texts), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("results.html.j2").render(
        title=title, note=note, figures=results.figures, said=results.said, pages=list(_pages(results)),
        css=page_style(),
        version=workbench.__version__,
    )  # fmt: skip


def _pages(results: Results) -> Iterator[dict[str, object]]:
    """Each page with its chart, and those of its tables that none before it had."""
    shown: list[object] = []
    for name, tables in results.tables.items():
        new = [table for table in tables if table not in shown]
        shown += new
        chart = results.charts.get(name)
        svg = plot_svg(chart_plot(chart), f"{chart.y} by {chart.x}", _WIDTH_PX, _HEIGHT_PX, PAGE) if chart else ""
        yield {"name": name, "note": chart.title if chart else "", "svg": Markup(svg), "tables": new}
