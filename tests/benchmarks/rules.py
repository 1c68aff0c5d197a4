"""The whole taxonomy on real runs: each rule fires on an application with its bottleneck and not on the repaired twin.

    python tests/benchmarks/rules.py [--json] [--quick] [--only TEXT] [--runs DIR]

For each rule of ReCAP's 27 bottlenecks (2011, section 5; some have a rule for each side) `rules_pairs.py` names a small
application that was made to have it (`rules_apps`: one host in C, designs in Verilog, a card) and how its twin differs,
as the rule's advice says. Both run on the simulated card with counted host time and print the same answer.

- `ideal` is the speedup by which the rule fired (threshold 1.05), `first` whether it is the first of the findings;
  `before` are the rules of those before it, and `why` says why.
- `silent`: the rule finds nothing on the twin. `others` are the other rules that found something on the application.
- `predicted` is what replay says of the advice's changes before they were made (none where the advice is in words
  only), `came` what the twin came to. Of interrupt processing the advice is taken to save a half, the twin saves all.

The exit code is 1 where a rule does not fire, where it fires on the twin, where their answers differ, or where a
finding that is not the first has no reason given. Rule by rule on made records: `rules_records.py`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from bounds import Bench
from command_line import command, show
from rules_pairs import BLOCKS, DEPTH, HOST, PAIRS, REGISTERS, App, Pair

from workbench.model.finding import Advice, Finding
from workbench.session.keep.results import OpenRun, predicted

APPS = Path(__file__).with_name("rules_apps")
THRESHOLD = 1.05
#: `--quick` makes these: one design, one twin.
QUICK = ("acknowledge", "stage imbalance")


def made(app: App, folder: Path) -> Path:
    """The application's files in a folder; its project file."""
    shutil.copytree(APPS / "board", folder / "board")
    card = yaml.safe_load((APPS / "board.yaml").read_text(encoding="utf-8"))
    for name, points in app.tables.items():
        card["transfer_tables"][name]["points"] = [{"bytes": size, "time_s": time} for size, time in points.items()]
    (folder / "board.yaml").write_text(yaml.safe_dump(card, sort_keys=False), encoding="utf-8")
    shutil.copy(APPS / f"{app.design}.v", folder)
    takes, gives = BLOCKS[app.design]
    host = (APPS / "host.c").read_text(encoding="utf-8").replace("TAKES", takes).replace("GIVES", gives)
    (folder / "host.c").write_text(host, encoding="utf-8")
    values = ", ".join(str(app.registers.get(name, 0)) for name in REGISTERS[app.design])
    (folder / "design.h").write_text(f"#define REGISTERS {values}\n", encoding="utf-8")
    project: dict[str, Any] = {
        "schema_version": 1, "name": app.design, "platform": "board.yaml", "host": {"sources": ["host.c"]},
        "hardware": {"sources": [f"{app.design}.v"], "top": "unit_top", "read_out": {"first": 0x8000, "last": 0x800F}},
        "settings": {**HOST, **app.host},
    }  # fmt: skip
    if app.design == "fifo":
        project["hardware"]["parameters"] = {"DEPTH": DEPTH}
    path = folder / "app.workbench.yaml"
    path.write_text(yaml.safe_dump(project), encoding="utf-8")
    return path


def ran(bench: Bench, app: App, trace: bool) -> OpenRun:
    name = app.name + ("" if trace else "_untraced")
    return bench.ran(name, lambda folder: made(app, folder), trace)


def of_pair(finding: Finding, pair: Pair) -> bool:
    """Whether a finding is of the pair's rule, side and scope."""
    side = "host" if finding.block.startswith("host.") else "fpga"
    return (finding.rule, side) == (pair.rule, pair.on or pair.side) and finding.scope in pair.scope.split(", ")


def row(pair: Pair, bench: Bench) -> dict[str, Any]:
    base, twin = ran(bench, pair.app, trace=True), ran(bench, pair.twin, trace=False)
    opened, _ = predicted(base)
    findings = opened.analysis.findings
    found = next((one for one in findings if of_pair(one, pair)), None)
    ahead = findings[: findings.index(found)] if found else findings
    before = list(dict.fromkeys(one.rule for one in ahead if one.rule != pair.rule))
    others = dict.fromkeys(one.rule for one in findings if one.rule != pair.rule)
    prediction = next((a.prediction for a in advice_of(found) if a.text.startswith(pair.advice)), None)
    return {
        "bottleneck": pair.rule, "looks_at": f"{pair.side}, {pair.scope}", "application": pair.about,
        "ideal": found.speedup_ideal if found else None, "first": bool(found) and not before, "before": before,
        "why": pair.why, "silent": not any(of_pair(one, pair) for one in twin.analysis.findings),
        "same_answer": base.run.manifest.stdout_sha256 == twin.run.manifest.stdout_sha256,
        "advice": pair.advice, "predicted": prediction.speedup if prediction else None,
        "came": base.run.manifest.time_ps / twin.run.manifest.time_ps, "others": list(others),
    }  # fmt: skip


def advice_of(finding: Finding | None) -> Sequence[Advice]:
    return finding.advice if finding else ()


def held(one: dict[str, Any]) -> bool:
    fires = one["ideal"] is not None and one["ideal"] >= THRESHOLD
    return bool(fires and one["silent"] and one["same_answer"] and (one["first"] or one["why"]))


def measure(pairs: Sequence[Pair], folder: Path) -> list[dict[str, Any]]:
    bench, rows = Bench(folder), []
    for pair in pairs:
        rows.append(row(pair, bench))
        print(f"{len(rows)} of {len(pairs)}: {pair.rule} ({pair.side})", file=sys.stderr)
    return rows


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    print("| bottleneck (looks at) | fires | first | silent on the twin | predicted | came | others |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for one in rows:
        fires = f"{one['ideal']:.2f}" if one["ideal"] else "no"
        first = "yes" if one["first"] else "no: " + ", ".join(one["before"])
        told = f"{one['predicted']:.3f}" if one["predicted"] else "-"
        silent = "yes" if one["silent"] else "NO"
        cells = (f"{one['bottleneck']} ({one['looks_at']})", fires, first, silent, told, f"{one['came']:.3f}",
                 ", ".join(one["others"]))  # fmt: skip
        print("| " + " | ".join(cells) + " |")
    for one in rows:
        if not one["first"]:
            print(f"\n{one['bottleneck']} ({one['looks_at']}): {one['why'] or 'NO REASON GIVEN'}")


def main() -> int:
    parser = command(__doc__, " and ".join(QUICK) + " alone")
    parser.add_argument("--only", default="", metavar="TEXT", help="bottlenecks whose name holds this")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="keep the runs here, and take those that are there")
    options = parser.parse_args()
    wanted = [one for one in PAIRS if options.only in one.rule and (not options.quick or one.rule in QUICK)]
    with tempfile.TemporaryDirectory(prefix="rules-") as folder:
        rows = measure(wanted, options.runs or Path(folder))
    if options.json:
        show({"rows": rows}, as_json=True)
    else:
        print_table(rows)
    return 0 if all(map(held, rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
