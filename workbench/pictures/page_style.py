"""The style of written pages: for all screen sizes, light and dark, and for paper."""

from importlib.resources import files

from markupsafe import Markup

from workbench.pictures.palette import css_colours


def page_style() -> Markup:
    """The contents of a page's `style`."""
    rules = files("workbench.resources").joinpath("report", "report.css").read_text("utf-8")
    return Markup(css_colours() + rules)
