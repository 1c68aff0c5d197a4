"""Proves that instrumentation changes nothing: compares a project's instrumented design with the original."""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from workbench.api.descriptors import Proves
from workbench.api.equivalence import How, Limits, Proof, Verdict
from workbench.api.job import Job
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.text import counted, listed, thousands
from workbench.session.make.instrumenting import instrument_by
from workbench.session.open.composing import check, check_steps
from workbench.session.open.workspace import Value, Workspace

STEPS = ("Instrument", "Prove", "Simulate")


def prove_workspace(
    workspace: Workspace, changes: Mapping[str, Value], job: Job, module: str = "", limits: Limits | None = None
) -> Proof:
    """Instrument a copy, and prove for each of its modules (or for `module`) that it behaves like the user's. With
    several designs, modules are named with their FPGA (`left:sender`). If a simulation is needed, the design runs as in
    any run. WorkbenchError if it cannot be instrumented, or its language does not support this; raises Cancelled."""
    if workspace.faults:
        raise WorkbenchError(*workspace.faults)
    settings, limits = workspace.settings(changes), limits or Limits()
    job.plan((*check_steps(workspace.composed), *STEPS))
    check(workspace.composed, job)
    designs = workspace.designs_by_place
    if len(designs) == 1:
        return _prove(workspace.boards[0], settings, job, module, limits)
    fpga, colon, module = module.rpartition(":")
    if module and fpga + colon not in designs:
        hint = f"Name it with its FPGA: {listed([place + module for place in designs])}."
        raise WorkbenchError(Diagnostic(f"'{fpga}{colon}{module}' is not a module of an FPGA", hint))
    proofs: list[Proof] = []
    for place, design in designs.items():
        if place == fpga + colon or not module:
            job.log(f"{place}{design.project.hardware.top}")
            proof = _prove(design, settings, job, module, limits)
            verdicts = (replace(one, module=place + one.module) for one in proof.verdicts)
            proofs.append(Proof(tuple(verdicts), proof.diagnostics))
    return Proof(
        tuple(verdict for one in proofs for verdict in one.verdicts),
        tuple(dict.fromkeys(diagnostic for one in proofs for diagnostic in one.diagnostics)),
    )


def _prove(workspace: Workspace, settings: Mapping[str, Value], job: Job, module: str, limits: Limits) -> Proof:
    language = workspace.hdl_language
    if not isinstance(language, Proves):
        raise WorkbenchError(Diagnostic(f"designs of the language '{language.name}' cannot be proved"))
    root, platform, parameters = workspace.root, workspace.platform, workspace.parameters(settings)
    with tempfile.TemporaryDirectory(prefix="recap-made-") as folder:
        with job.step("Instrument"):
            build = workspace.instrument_hdl(
                settings, lambda part: instrument_by(language, root, part, platform, parameters, Path(folder), job), job
            )
        return language.prove(build, root, limits, job, module)


def proof_diagnostics(proof: Proof) -> Iterator[Diagnostic]:
    """The result of a proof as diagnostics: one for each unproved module, and a summary."""
    yield from proof.diagnostics
    for one in proof.verdicts:
        if one.how is not How.PROVED:
            severity = Severity.NOTE if one.holds else Severity.ERROR
            message = f"{one.module}: {how_words(one)}{', ' if why_words(one) else ''}{why_words(one)}"
            yield Diagnostic(message, "", severity)
    yield Diagnostic(proof_words(proof), "", Severity.NOTE if proof.holds else Severity.ERROR)


def how_words(one: Verdict) -> str:
    """The result for a module in a few words."""
    cycles = counted(one.cycles, "cycle")
    if one.how is How.PROVED:
        return "proved"
    if one.how is How.SIMULATED:
        return f"simulated, {cycles}"
    if one.how is How.UNKNOWN:
        return "not known"
    return f"differs, in cycle {thousands(one.cycle)}" if one.cycle is not None else "differs"


def why_words(one: Verdict) -> str:
    """The difference of a module, and the reason why it was not proved."""
    parts = [f"in {listed(one.signals)}" if one.signals else "", one.why]
    return "; ".join(part for part in parts if part)


def proof_words(proof: Proof) -> str:
    """The summary of a proof in one sentence."""
    of = {how: [one for one in proof.verdicts if one.how is how] for how in How}
    total = len(proof.verdicts)
    if of[How.DIFFERS]:
        return f"Instrumentation changes the design: {listed([one.module for one in of[How.DIFFERS]])}."
    how = f"{counted(total, 'module')}: {len(of[How.PROVED])} proved, {len(of[How.SIMULATED])} only simulated"
    if of[How.UNKNOWN]:
        return f"{how}. No result for {listed([one.module for one in of[How.UNKNOWN]])}."
    if of[How.SIMULATED]:
        return f"No difference found in {how}, which is not a proof."
    return f"Instrumentation changes nothing: {counted(total, 'module')} proved."
