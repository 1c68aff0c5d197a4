"""`workbench metrics`: what rules may name."""

from argparse import ArgumentParser, Namespace

from workbench.api import Workbench


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")


def run(arguments: Namespace, workbench: Workbench) -> int:
    metrics = workbench.metrics.values()
    if arguments.json:
        workbench.print_json({"metrics": [{"name": m.name, "title": m.title, "unit": m.unit} for m in metrics]})
        return 0
    width = max(len(metric.name) for metric in metrics)
    for metric in metrics:
        print(f"{metric.name:<{width}}  {metric.unit:<6}  {metric.title}")
    return 0
