"""What the benchmarks of the papers' tables share: every printed cell of a kind of model beside the bundled models'."""

import json
from collections.abc import Callable
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from command_line import command

from workbench.formats.platform_file import load_platform
from workbench.model.platform import Platform
from workbench.predict.paper_tables import printed_rows
from workbench.session.program.plugins import load_plugins


def platforms() -> dict[str, Platform]:
    templates = Path(str(files("workbench.platform_templates")))
    return {p.name: p for p in (load_platform(path)[0] for path in templates.glob("*.yaml")) if p is not None}


def compare(kind: str, about: str | None, measured: Callable[[bool], list[dict[str, Any]]] = lambda quick: []) -> int:
    """Print every cell; 1 where one neither agrees nor has an erratum. `measured` gives rows besides, fewer if quick
    is true."""
    arguments = command(about).parse_args()
    rows, points = printed_rows(load_plugins().model_kinds[kind], platforms()), measured(arguments.quick)
    if arguments.json:
        print(json.dumps({"rows": [asdict(row) for row in rows], **({"measured": points} if points else {})}))
    else:
        for row in rows:
            verdict = "agrees" if row.agrees else row.erratum or "DIFFERS"
            print(f"{row.table:5} {row.cell:58} {row.paper:>12} {row.ours:>22.12g}  {verdict}")
        print(f"{len(rows)} cells: {sum(r.agrees for r in rows)} agree, {sum(bool(r.erratum) for r in rows)} errata")
        for point in points:
            print(" ".join(f"{k} {v:g}" if isinstance(v, float) else f"{v}" for k, v in point.items()))
    return 0 if all(row.agrees or row.erratum for row in rows) else 1
