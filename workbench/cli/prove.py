"""`workbench prove`: whether what instrumentation makes of a design behaves as the design."""

import argparse
from dataclasses import replace

from workbench.api.equivalence import How, Limits, Verdict
from workbench.api.job import Job
from workbench.cli.asking import ask_trust
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, print_diagnostics, print_json
from workbench.cli.progress import progress
from workbench.model.text import table
from workbench.session.make.proving import how_words, proof_words, prove_workspace, why_words
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import parse_settings


def run_prove(arguments: argparse.Namespace, workbench: Opened) -> int:
    workspace = open_workspace(arguments.project, workbench.plugins)
    ask_trust(workspace)
    limits = replace(Limits(), prove_s=arguments.timeout, cycles=arguments.cycles)
    with progress() as watch:
        proof = prove_workspace(workspace, parse_settings(arguments.changes), Job(watch), arguments.module, limits)
    problems = (*workspace.diagnostics, *proof.diagnostics)
    if arguments.json:
        modules = [_json(one) for one in proof.verdicts]
        counts = {how.value: sum(one.how is how for one in proof.verdicts) for how in How}
        counted = {"holds": proof.holds, "proved": proof.proved, "counts": counts}
        print_json({**counted, "modules": modules, "diagnostics": as_json(problems)})
    else:
        print_diagnostics(problems)
        print(table([(one.module, how_words(one), why_words(one)) for one in proof.verdicts]))
        print(f"\n{proof_words(proof)}")
    return DONE if (proof.proved if arguments.strict else proof.holds) else FAILED


def _json(one: Verdict) -> dict[str, object]:
    cycles = one.cycles if one.how is not How.PROVED else None
    return {
        "module": one.module,
        "how": one.how.value,
        "cycles": cycles,
        "cycle": one.cycle,
        "signals": list(one.signals),
        "why": one.why,
    }
