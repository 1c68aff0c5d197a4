"""The two bundled families, Inter and JetBrains Mono, so that the window looks the same everywhere."""

from functools import cache
from importlib.resources import as_file, files

from PySide6.QtGui import QFont, QFontDatabase

UI_FAMILY = "Inter"
CODE_FAMILY = "JetBrains Mono"
LINES_FAMILY = "JetBrains Mono Lines"  # the same with lines of 22 pixels at 13, for the editor


@cache
def load_fonts() -> tuple[str, ...]:
    """Make the bundled fonts known to Qt, once; the families found."""
    families: list[str] = []
    for resource in sorted(files("workbench.resources").joinpath("fonts").iterdir(), key=lambda r: r.name):
        if resource.name.endswith(".ttf"):
            with as_file(resource) as path:
                number = QFontDatabase.addApplicationFont(str(path))
            families += QFontDatabase.applicationFontFamilies(number)
    return tuple(dict.fromkeys(families))


def ui_font(size_px: int = 13, weight: int = 400) -> QFont:
    """Inter; its digits all have one width, so that columns of numbers align."""
    font = QFont(UI_FAMILY)
    font.setPixelSize(size_px)
    font.setWeight(QFont.Weight(weight))
    return font


def code_font(size_px: int = 13, weight: int = 400) -> QFont:
    """JetBrains Mono, every character in its own cell."""
    font = QFont(CODE_FAMILY)
    font.setPixelSize(size_px)
    font.setWeight(QFont.Weight(weight))
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    return font
