"""What `workbench predict KIND` takes, for every kind of model that plugins bring."""

import argparse

from workbench.cli.options import JSON, file, flag, many, option, takes


def add_predict(top: argparse.ArgumentParser) -> None:
    """Every kind of model that plugins bring."""
    from workbench.cli.output import loaded_plugins

    kinds = top.add_subparsers(dest="kind", required=True, metavar="KIND")
    for kind in loaded_plugins().model_kinds.values():
        command = kinds.add_parser(kind.name, help=kind.title)
        if kind.compare:
            takes(command, COMPARE)
        for question in kind.questions:
            question.add(command)
        if kind.begun:
            kind.begun.add(command)
        if kind.of_run:
            takes(command, OF_RUN)
        if kind.of_host:
            takes(command, OF_HOST)
        if kind.of_run or kind.of_host:
            takes(command, (OUT_MODEL,))
        others = f", or a file *{', *'.join(kind.begun.suffixes)}" if kind.begun else ""
        named = f" ({', '.join(kind.readings)})" if kind.readings else ""
        solved = (
            f"the value of an input that gives the {kind.goal} wanted; whole and within its bounds where it has any"
        )
        targets = dict.fromkeys((kind.solve_option, "--target"))
        readings = dict.fromkeys((kind.reading_option, "--reading"))
        takes(command, (
            option("model", metavar="MODEL", help=f"a model file, or the name of a bundled model{others}",
                   **({"nargs": "?"} if kind.of_run or kind.of_host else {})),
            option(*readings, dest="reading", metavar="NAME", help=f"one of the model's readings{named}"),
            *QUESTIONS,
            option("--solve", metavar="NAME", help=solved),
            option(*targets, dest="target", type=float, metavar="X",
                   help="what to solve for; with --output, that output"),
            file("--svg", metavar="F", help="draw the model: its nodes or stations, and what goes between them"),
            file("--html", metavar="F", help="write the prediction as a page: figures, drawings, tables"),
            JSON,
        ))  # fmt: skip


OF_RUN = (file("--from", metavar="RUN", dest="from_run", help="in place of a model: one calibrated from a run"),)
OF_HOST = (
    file("--project", help="in place of a model: one measured from this project's host, which runs for it"),
    option(
        "--region",
        metavar="REGION",
        help="of the host: a function's name, FILE:LINE for the function around a "
        "line, or FILE:FIRST-LAST (default: what the newest run finds hottest)",
    ),
)
OUT_MODEL = file("--out", help="write that model")
COMPARE = (
    file("--run", metavar="RUN", dest="run_folder", help="compare with a run, part by part"),
    flag("--take-over", "write the run's measurements into the model"),
)
#: What can be asked of every kind of model.
QUESTIONS = (
    many("--set", dest="changes", help="what if an input had another value; the model's file stays as it is"),
    many("--sweep", "NAME=a:b:n | NAME=v1,v2", help="values of an input; given several times, every combination"),
    file("--csv", help="write the sweep's points, or its bands, as a table"),
    option("--uncertain", type=int, metavar="N", help="draw the uncertain inputs N times"),
    many("--spread", "NAME=LOW:HIGH", help="take an input as uncertain, between two values"),
    option("--output", metavar="NAME", help="what to sweep or solve for (default: the time or rate)"),
    option("--against", metavar="NAME", help="Pareto front of the output and this one"),
    flag("--sensitivity", "which input matters most"),
    option("--scheduler", metavar="ADDRESS", help="a Dask scheduler to sweep on"),
    option("--seed", type=int, metavar="N", help="of the draws (default 0)"),
)
