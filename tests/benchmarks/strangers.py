"""Whether strangers' projects get from header and sources to a first finding by commands alone.

    python tests/benchmarks/strangers.py [--json] [--quick] [NAME ...]

A row is a folder of `tests/data/strangers`: the files with which a person begins (an API's header, a host program, a
design, the board's ports and measured times) and `route.yaml`, which names the commands in order. The folder is copied,
and each command runs there as a process of its own. Keys of `route.yaml`:

    begins     optional, in place of files beside it: `folder` in the repository, and its `files` (names or folders)
    project    what the person has: "C with a typedef'd handle"
    route      the way to the finding: "header, template, project, simulated card"
    commands   the arguments of `workbench`, one string a command; the last one is `report RUN --json`
    prints     what the program prints
    slow       true: left out by --quick

`commands` of a row counts them. `edited_lines` counts the lines of the person's own files that differ afterwards.
`first_finding` is the report's first. A row is `ok` where every command ends with 0, the program printed what it
should, nothing was edited and something was found; else `why` says what failed first.
"""

import difflib
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml
from command_line import command

PROJECTS = Path(__file__).parents[1] / "data" / "strangers"


@dataclass(frozen=True)
class Row:
    project: str
    route: str
    commands: int
    edited_lines: int
    first_finding: str
    ok: bool
    why: str = ""


def route_of(name: str) -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load((PROJECTS / name / "route.yaml").read_text())
    return told


def names() -> list[str]:
    return sorted(path.parent.name for path in PROJECTS.glob("*/route.yaml"))


def walk(name: str, folder: Path) -> Row:
    """Do the commands of a row in `folder`, which is made."""
    route = route_of(name)
    begun = begin(name, route, folder)
    why, output = "", ""
    for number, words in enumerate(route["commands"], 1):
        ended = done(words, folder)
        output = ended.stdout
        if ended.returncode:
            why = f"command {number}, workbench {words}: exit {ended.returncode}\n{ended.stderr}{ended.stdout}"
            break
    edited = edited_lines(begun, folder)
    report = json.loads(output) if output and not why else {"findings": []}
    finding = next((f"{one['rule']} at {one['where']}" for one in report["findings"]), "")
    why = why or (f"{edited} lines were edited" if edited else "" if finding else "there is no finding")
    why = why or printed_otherwise(folder, route)
    return Row(route["project"], route["route"], len(route["commands"]), edited, finding, not why, why)


def done(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """`workbench` with these arguments, in a folder, as a process of its own."""
    words = [sys.executable, "-m", "workbench", *shlex.split(command)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def begin(name: str, route: dict[str, Any], folder: Path) -> dict[str, str]:
    """Copy the person's files to `folder`, which is made; their texts by name."""
    told = route.get("begins", {})
    source = PROJECTS.parents[2] / told["folder"] if told else PROJECTS / name
    folder.mkdir()
    for one in told.get("files", [path.name for path in source.iterdir() if path.name != "route.yaml"]):
        copy = shutil.copytree if (source / one).is_dir() else shutil.copyfile
        copy(source / one, folder / one)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def edited_lines(begun: dict[str, str], folder: Path) -> int:
    """Lines of the person's own files that are not as they were."""
    return sum(
        line[:1] in "+-" and line[:3] not in ("+++", "---")
        for file, text in begun.items()
        for line in difflib.unified_diff(text.splitlines(), (folder / file).read_text().splitlines(), n=0)
    )


def printed_otherwise(folder: Path, route: dict[str, Any]) -> str:
    run = folder / shlex.split(route["commands"][-1])[1]
    printed = (run / "stdout.txt").read_text()
    return "" if printed == route["prints"] else f"the program printed {printed!r}, expected {route['prints']!r}"


def main() -> int:
    parser = command(__doc__, "leave out the rows that are slow")
    parser.add_argument("names", nargs="*", metavar="NAME", help="folders of tests/data/strangers (default: all)")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.names or names():
        if arguments.quick and route_of(name).get("slow"):
            continue
        with tempfile.TemporaryDirectory(prefix="strangers") as folder:
            rows.append(row := walk(name, Path(folder) / name))
        if not arguments.json:
            print(f"{'ok ' if row.ok else 'not'} {row.project} ({row.route}): {row.commands} commands", flush=True)
            print(f"    {row.first_finding if row.ok else row.why}", flush=True)
    if arguments.json:
        print(json.dumps({"rows": [asdict(row) for row in rows]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
