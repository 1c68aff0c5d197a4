"""A prediction as one HTML file: figures, inputs, drawings and tables, with style and pictures inside."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

import workbench
from workbench.api.predictions import Results, Timing
from workbench.model.diagnostic import Diagnostic
from workbench.pictures.bars import Bars, bars_height, draw_bars
from workbench.pictures.charts import chart_plot
from workbench.pictures.density import bound_bars, rho_plot, roofline
from workbench.pictures.diagram import diagrams_svg
from workbench.pictures.page_style import page_style
from workbench.pictures.palette import PAGE
from workbench.pictures.plot_drawing import plot_svg
from workbench.pictures.svg import SvgCanvas
from workbench.pictures.timing import draw_timing, timing_height
from workbench.predict.density_curve import rho_curve
from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import heading
from workbench.predict.shares import share_bars
from workbench.predict.shown import results_of
from workbench.predict.structure import structure_bars
from workbench.predict.tables import error_table, paper_tables
from workbench.predict.words import input_text

#: Of drawings that take the page's width, by the classes of `report.css`: on a screen, on A4, on a phone.
WIDTHS = {"screen desk": 1180.0, "paper": 760.0, "phone": 360.0}
#: The height of a diagram that fills such a page, in widths.
_HIGH = {"screen desk": 0.6, "paper": 1.2, "phone": 6.0}
_PLOT = (560.0, 320.0)


@dataclass(frozen=True)
class Picture:
    title: str
    svg: Markup


@dataclass(frozen=True)
class WidePicture:
    """`svgs` are by the page that each is for."""

    title: str
    svgs: Mapping[str, Markup]


def html_page(values: Evaluation, notes: Sequence[Diagnostic] = ()) -> str:
    """The page of a model at one point; `notes` are how to read it. Raises WorkbenchError where it has no value
    there."""
    folder = files("workbench.resources").joinpath("report")
    text = folder.joinpath("prediction.html.j2").read_text("utf-8")
    environment = Environment(
        loader=DictLoader({"page": text}), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    results, model = results_of(values), values.model
    tables = {name: tables for name, tables in results.tables.items() if tables}
    if error := error_table(values.file, results.errors):
        tables["Measured"] = (error,)
    if printed := paper_tables(values.file):
        tables["As printed"] = printed
    return environment.get_template("page").render(
        title=model.title or model.name,
        kind=heading(values.file.kind),
        source=PurePath(values.file.marked.file or "").name,
        css=page_style(),
        results=results,
        inputs=[
            (given.title or name, name, input_text(values.file, name, float(values.inputs[name])),
             name in values.changes)
            for name, given in model.inputs.items()
        ],
        wide=list(_wide(results)),
        plots=list(_plots(values, results)),
        tables=tables,
        notes=notes,
        version=workbench.__version__,
    )  # fmt: skip


def _wide(results: Results) -> Iterable[WidePicture]:
    """Drawings that take the page's width."""
    if timing := results.timing:
        yield _drawn("When each part happens", lambda page: _timing(timing, WIDTHS[page]))
    if results.diagrams:
        title = ", ".join(results.diagrams)
        yield _drawn(
            title,
            lambda page: Markup(
                diagrams_svg(results.diagrams, title, PAGE, (WIDTHS[page], _HIGH[page] * WIDTHS[page]))
            ),
        )
    if results.shares:
        shares = share_bars(results.shares, results.shares_title)
        yield _drawn(results.shares_title, lambda page: _bars(shares, WIDTHS[page]))
    if results.structure:
        structure = structure_bars(results.structure)
        title = f"Structure of {results.structure.source.name}"
        yield _drawn(title, lambda page: _bars(structure, WIDTHS[page]))


def _drawn(title: str, draw: Callable[[str], Markup]) -> WidePicture:
    """A picture for each page."""
    return WidePicture(title, {page: draw(page) for page in WIDTHS})


def _plots(values: Evaluation, results: Results) -> Iterable[Picture]:
    for name, chart in results.charts.items():
        yield Picture(f"{name}: {chart.title}", Markup(plot_svg(chart_plot(chart), name, *_PLOT, PAGE)))
    if values.file.kind.layers is None:
        return
    of = values.file.kind.layers()
    layers, density = of.layers(values), of.density(values)
    operation = getattr(values.model, "operation", "operation")
    plot = rho_plot(*rho_curve(of, values, layers), layers, density.binding_layer, operation)
    yield Picture("Density by memory size", Markup(plot_svg(plot, "Density by memory size", *_PLOT, PAGE)))
    yield Picture("Roofline", Markup(plot_svg(roofline(density), "Roofline", *_PLOT, PAGE)))
    yield Picture("Rate that each layer allows", _bars(bound_bars(density), _PLOT[0]))


def _timing(timing: Timing, width: float) -> Markup:
    canvas = SvgCanvas(PAGE)
    draw_timing(canvas, timing, (0.0, timing.drawn_s or 1.0), width)
    return Markup(canvas.document(width, timing_height(timing), "When each part happens"))


def _bars(bars: Bars, width: float) -> Markup:
    canvas, height = SvgCanvas(PAGE), bars_height(bars)
    draw_bars(canvas, bars, bars.whole, 0.0, width, height)
    return Markup(canvas.document(width, height, bars.axis.title))
