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
        solved = f"find the value of this input that gives the {kind.goal} wanted, within the input's bounds"
        targets = dict.fromkeys((kind.solve_option, "--target"))
        readings = dict.fromkeys((kind.reading_option, "--reading"))
        takes(command, (
            option("model", metavar="MODEL", help=f"a model file, or the name of a bundled model{others}",
                   **({"nargs": "?"} if kind.of_run or kind.of_host else {})),
            option(*readings, dest="reading", metavar="NAME", help=f"one of the model's readings{named}"),
            *QUESTIONS,
            option("--solve", metavar="NAME", help=solved),
            option(*targets, dest="target", type=float, metavar="X",
                   help="the value to solve for; with --output, that output's"),
            file("--svg", metavar="F", help="draw the model: its nodes or stations, and the traffic between them"),
            file("--html", metavar="F", help="write the prediction as a page: figures, drawings, tables"),
            JSON,
        ))  # fmt: skip


OF_RUN = (file("--from", metavar="RUN", dest="from_run", help="calibrate a model from this run, in place of MODEL"),)
OF_HOST = (
    file("--project", help="measure a model by running this project's host, in place of MODEL"),
    option(
        "--region",
        metavar="REGION",
        help="the part of the host to measure: a function's name, FILE:LINE for the function around a "
        "line, or FILE:FIRST-LAST (default: the newest run's hottest)",
    ),
)
OUT_MODEL = file("--out", help="write the calibrated or measured model")
COMPARE = (
    file("--run", metavar="RUN", dest="run_folder", help="compare with a run, part by part"),
    flag("--take-over", "write the run's measurements into the model"),
)
#: What can be asked of every kind of model.
QUESTIONS = (
    many("--set", dest="changes", help="predict with another value of an input; the model's file does not change"),
    many(
        "--sweep",
        "NAME=a:b:n | NAME=v1,v2",
        help="predict with each of these values of an input; several sweeps give every combination",
    ),
    file("--csv", help="write the sweep's points, or its bands, as a table"),
    option("--uncertain", type=int, metavar="N", help="draw the uncertain inputs N times"),
    many("--spread", "NAME=LOW:HIGH", help="treat an input as uncertain, between two values"),
    option("--output", metavar="NAME", help="the output to sweep or solve for (default: the time or rate)"),
    option("--against", metavar="NAME", help="show the Pareto front of the output and this one"),
    flag("--sensitivity", "rank inputs by their effect"),
    option("--scheduler", metavar="ADDRESS", help="run the sweep on this Dask scheduler"),
    option("--seed", type=int, metavar="N", help="seed of the random draws (default 0)"),
)
