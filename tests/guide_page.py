"""The guide's page on adding a platform: its blocks, and the files that it begins with."""

import re
import textwrap
from pathlib import Path

PAGE = (Path(__file__).parents[1] / "resources" / "help" / "platforms.md").read_text()
BLOCKS = [textwrap.dedent(part).strip("\n") for part in PAGE.split("\n\n") if part.startswith("    ")]


def block(begins: str) -> str:
    """The block of the page that begins so."""
    (found,) = [one for one in BLOCKS if one.startswith(begins)]
    return found


def write_files(folder: Path) -> None:
    """The header, the program and the design, as the page shows them."""
    for name, text in re.findall(r"^`([\w/.]+\.[hcv])`\n\n((?:(?: {4}.*)?\n)+)", PAGE, re.M):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
