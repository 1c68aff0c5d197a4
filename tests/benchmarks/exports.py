"""Every picture of the window as the files it exports, each opened by another program.

    python tests/benchmarks/exports.py --demo DIR [--out DIR] [--json] [--quick]

DIR is a folder that `workbench demo` left. Each view is saved as SVG, PNG and CSV. A browser (chromium or firefox-esr)
and librsvg draw the SVG, and the browser the PNG; `far` are the shares of pixels that are far (more than 90 of 255 in
some channel) from what the window paints, and None where a program is not installed. Both are shown the bundled fonts;
the edges of letters are each program's own, so that a few pixels of an SVG are far. `rows` counts those of the CSV,
every one as wide as its head. `--quick` takes the light theme alone.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from command_line import command
from PySide6.QtGui import QImage

sys.path.insert(0, str(Path(__file__).parents[1]))

from pixels import pixels_of

from workbench.gui.pictures import THEMES, off_screen, views
from workbench.gui.views.house_view import HouseView
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import trust

PROJECT, RUNS = "project/pdf2d/original.workbench.yaml", ("original", "optimised")
SIZE = (1600, 1000)
FAR = 90
HEAD_PX = 200  # more than what a browser's own head takes of its window


def export(demo: Path, out: Path, themes: tuple[str, ...]) -> Iterator[tuple[str, QImage, list[tuple[Any, ...]]]]:
    """Save all that the window's views export; their names, what they paint and their data."""
    seen = set()
    with off_screen(SIZE) as (window, settle):
        trust(open_workspace(demo / PROJECT, window.context.plugins))
        window.open(demo / PROJECT, [demo / run for run in RUNS])
        settle()
        for theme in themes:
            window.set_theme(theme)
            for view in views(window, settle):
                settle()
                for picture in window.findChildren(HouseView):
                    if not picture.isVisible() or (picture, picture.size().toTuple(), theme) in seen:
                        continue
                    seen.add((picture, picture.size().toTuple(), theme))
                    name = f"{view}-{picture.file_name}-{theme}"
                    picture.save_picture(out / f"{name}.svg")
                    picture.save_picture(out / f"{name}.png")
                    rows = picture.rows()
                    if rows is not None:
                        picture.save_data(out / f"{name}.csv")
                    yield name, picture.image(1.0), list(picture.rows() or ())


def browse(browser: str, file: Path, size: tuple[int, int], png: Path) -> None:
    """Have a browser draw a file."""
    with tempfile.TemporaryDirectory() as profile:
        wide, high = size[0], size[1] + HEAD_PX
        if "firefox" in browser:
            options = ["--profile", profile, "--screenshot", str(png), f"--window-size={wide},{high}"]
        else:
            options = [
                "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                f"--window-size={wide},{high}", f"--screenshot={png}",
            ]  # fmt: skip
        command = [browser, "--headless", *options, file.resolve().as_uri()]
        subprocess.run(command, check=True, timeout=120, capture_output=True)


def far(ours: QImage, file: Path) -> float:
    """The share of pixels in which a file differs from ours."""
    other = QImage(str(file)).convertToFormat(QImage.Format.Format_RGB32)
    assert not other.isNull(), file
    wide, high = min(ours.width(), other.width()), min(ours.height(), other.height())
    assert max(ours.width() - wide, ours.height() - high) <= 1, (file, ours.size(), other.size())
    both = (pixels_of(image.copy(0, 0, wide, high)).view("u1").astype(int) for image in (ours, other))
    a, b = (pixels.reshape(high, wide, 4)[..., :3] for pixels in both)
    return round(float((abs(a - b) > FAR).any(axis=2).mean()), 4)


def drawn_by(out: Path, name: str, painted: QImage, browser: str | None, rsvg: str | None) -> dict[str, float | None]:
    """How far what the other programs draw is from what the window paints."""
    svg, png, shot = out / f"{name}.svg", out / f"{name}.png", out / f"{name}-other.png"
    found: dict[str, float | None] = {"svg_browser": None, "png_browser": None, "svg_librsvg": None}
    if rsvg:
        subprocess.run([rsvg, svg, "-o", shot], check=True, timeout=60)
        found["svg_librsvg"] = far(painted, shot)
    if browser:
        browse(browser, svg, painted.size().toTuple(), shot)
        found["svg_browser"] = far(painted, shot)
        large = QImage(str(png)).convertToFormat(QImage.Format.Format_RGB32)
        page = out / f"{name}.html"
        page.write_text(f'<body style="margin:0"><img src="{png.name}" style="display:block">', encoding="utf-8")
        browse(browser, page, large.size().toTuple(), shot)
        found["png_browser"] = far(large, shot)
        page.unlink()
    shot.unlink(missing_ok=True)
    return found


def read_csv(file: Path, rows: list[tuple[Any, ...]]) -> int:
    """Read a table as another program would, and hold it against the data."""
    with file.open(newline="", encoding="utf-8") as stream:
        read = list(csv.reader(stream))
    assert {len(row) for row in read} == {len(read[0])}, file
    assert len(read) == len(rows), file
    for row, cells in zip(rows[1:], read[1:], strict=True):
        for value, cell in zip(row, cells, strict=True):
            same = cell == value if isinstance(value, str) else float(cell) == value or value != value
            assert same, (file, value, cell)
    return len(read) - 1


def show_fonts(folder: Path) -> None:
    """Let other programs find the bundled fonts, as on a machine where they are installed."""
    fonts = files("workbench.resources").joinpath("fonts")
    (folder / "fonts.conf").write_text(
        f"<fontconfig><include>/etc/fonts/fonts.conf</include><dir>{fonts}</dir><cachedir>{folder}</cachedir>"
        "</fontconfig>",
        encoding="utf-8",
    )
    os.environ["FONTCONFIG_FILE"] = str(folder / "fonts.conf")


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--demo", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    rsvg = shutil.which("rsvg-convert")
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "firefox-esr", "firefox"))), None)
    with tempfile.TemporaryDirectory() as folder:
        show_fonts(Path(folder))
        out = asked.out or Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        found = []
        for name, painted, rows in list(export(asked.demo.resolve(), out, THEMES[:1] if asked.quick else THEMES)):
            table = read_csv(out / f"{name}.csv", rows) if rows else 0
            shares = drawn_by(out, name, painted, browser, rsvg)
            found.append({"name": name, "rows": table, "far": shares})
            if not asked.json:
                said = ", ".join(f"{by} {share}" for by, share in shares.items())
                print(f"{name:48} {table:8} rows  far: {said}", flush=True)
    if asked.json:
        print(json.dumps({"browser": browser, "pictures": found}, indent=1))


if __name__ == "__main__":
    main()
