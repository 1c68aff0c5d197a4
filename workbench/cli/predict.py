"""`workbench predict`: what an application should take, before any of it runs on an FPGA."""

from __future__ import annotations

import argparse

from workbench.cli.output import DONE, as_json, print_diagnostics, print_json, table
from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import Platform
from workbench.predict.library import find_model
from workbench.predict.ratss import Prediction, load_ratss, predict
from workbench.session.plugins import load_plugins


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    top = commands.add_parser("predict", help="predict an application's time from a model, before any code")
    kinds = top.add_subparsers(dest="kind", required=True, metavar="KIND")
    ratss = kinds.add_parser("ratss", help="multi-FPGA systems: nodes, networks, stages (RATSS)")
    ratss.set_defaults(run=run_ratss)
    for command in (ratss,):
        command.add_argument("model", metavar="MODEL", help="a model file, or the name of a bundled model")
        command.add_argument("--json", action="store_true")


def bundled_platforms() -> dict[str, Platform]:
    """The platform templates of the loaded plugins, by name."""
    found: dict[str, Platform] = {}
    for support in load_plugins().platforms.values():
        platform, problems = load_platform(support.template)
        print_diagnostics(problems)
        if platform is not None:
            found[platform.name] = platform
    return found


def run_ratss(arguments: argparse.Namespace) -> int:
    file, problems = load_ratss(find_model(arguments.model, "ratss"), bundled_platforms())
    if file is None:
        raise WorkbenchError(*problems)
    print_diagnostics(problems)
    prediction = predict(file)
    if arguments.json:
        print_json({**prediction_json(prediction), "diagnostics": as_json(problems)})
    else:
        print(prediction_text(prediction))
    return DONE


def prediction_json(prediction: Prediction) -> dict[str, object]:
    return {
        "total_s": prediction.total_s,
        "speedup": prediction.speedup,
        "resources": dict(prediction.resources),
        "stages": [
            {
                "name": name,
                "comp_s": prediction.comp_s[name],
                "comm_s": prediction.comm_s[name],
                "total_s": prediction.stage_s[name],
                "parts": [
                    {"name": part, "time_s": time_s}
                    for (stage, part), time_s in prediction.parts.items()
                    if stage == name
                ],
            }
            for name in prediction.stage_s
        ],
    }


def prediction_text(prediction: Prediction) -> str:
    rows = [("Stage", "Part", "Time")]
    for name in prediction.stage_s:
        rows += [(name, part, f"{time_s:.4g} s") for (stage, part), time_s in prediction.parts.items() if stage == name]
        rows.append((name, "computation", f"{prediction.comp_s[name]:.4g} s"))
        rows.append((name, "communication", f"{prediction.comm_s[name]:.4g} s"))
        rows.append((name, "all iterations", f"{prediction.stage_s[name]:.4g} s"))
    rows.append(("application", "", f"{prediction.total_s:.4g} s"))
    if prediction.speedup is not None:
        rows.append(("speedup", "", f"{prediction.speedup:.4g}"))
    rows += [(name, "", f"{value:g}") for name, value in prediction.resources.items()]
    return table(rows)
