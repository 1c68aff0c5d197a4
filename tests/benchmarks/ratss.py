"""Every cell of Tables I to XII of the RATSS paper beside the number that the bundled models come to.

    python tests/benchmarks/ratss.py [--json] [--quick]

`agrees`: our number rounds to the printed one. `erratum`: why it cannot (ERRATA.md of the plugin). Exits 1 where a
cell has neither. `--quick` changes nothing: it takes less than a second.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from workbench.formats.platform_file import load_platform
from workbench.model.platform import Platform
from workbench.predict.paper_tables import CellRow, printed_rows
from workbench.session.plugins import load_plugins


def platforms() -> dict[str, Platform]:
    templates = Path(str(files("workbench.platform_templates")))
    return {p.name: p for p in (load_platform(path)[0] for path in templates.glob("*.yaml")) if p is not None}


def show(rows: tuple[CellRow, ...]) -> None:
    for row in rows:
        verdict = "agrees" if row.agrees else row.erratum or "DIFFERS"
        print(f"{row.table:5} {row.cell:58} {row.paper:>12} {row.ours:>22.12g}  {verdict}")
    print(f"{len(rows)} cells: {sum(r.agrees for r in rows)} agree, {sum(bool(r.erratum) for r in rows)} errata")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    rows = printed_rows(load_plugins().model_kinds["ratss"], platforms())
    if arguments.json:
        print(json.dumps({"rows": [asdict(row) for row in rows]}))
    else:
        show(rows)
    return 0 if all(row.agrees or row.erratum for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
