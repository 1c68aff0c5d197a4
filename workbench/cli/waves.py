"""`workbench waves`: a moment of a run in Surfer or GTKWave, or as files for them."""

import argparse
from pathlib import Path

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, print_diagnostics, print_json
from workbench.cli.runs import moment_ps
from workbench.formats.run_folder import open_run
from workbench.model.blocks import Block
from workbench.model.diagnostic import Diagnostic, WorkbenchError, unknown_name
from workbench.model.run import PS_PER_S, Run
from workbench.model.text import time_text
from workbench.session.keep.wave_moment import wave_moment
from workbench.session.program.wave_viewer import VIEWERS, known_viewer, moment_folder, show


def run_waves(arguments: argparse.Namespace, workbench: Opened) -> int:
    run, problems = open_run(arguments.run_folder)
    print_diagnostics(problems)
    time_ps, window_ps = moment_ps("--at", arguments.at), moment_ps("--window", arguments.window)
    if not 0 <= time_ps <= run.manifest.time_ps:
        ends = time_text(run.manifest.time_ps / PS_PER_S, 6)
        raise WorkbenchError(Diagnostic(f"--at {arguments.at} lies outside of the run", f"It lasts {ends}."))
    folder: Path = arguments.out or moment_folder()
    folder.mkdir(parents=True, exist_ok=True)
    moment = wave_moment(run, _blocks(run, arguments.block), time_ps, max(window_ps, 1), folder, arguments.label)
    viewer = arguments.viewer or ("" if arguments.out else known_viewer())
    if not viewer and not arguments.out:
        hint = "Install Surfer or GTKWave, or write files for them with --out DIR."
        raise WorkbenchError(Diagnostic("no waveform viewer is installed", hint))
    done = show(moment, viewer) if viewer else ""
    if arguments.json:
        print_json(
            {
                "waves": str(moment.waves),
                "of_design": moment.of_design,
                "gtkwave": str(moment.gtkwave),
                "surfer": str(moment.surfer),
                "signals": [signal.name for signal in moment.signals],
                "time_s": moment.time_ps / PS_PER_S,
                "from_s": moment.from_ps / PS_PER_S,
                "to_s": moment.to_ps / PS_PER_S,
                "viewer": viewer,
            }
        )
        return DONE
    for path in (moment.waves, moment.gtkwave, moment.surfer):
        print(path)
    if done:
        print(done)
    elif viewer not in VIEWERS:
        print(f"gtkwave {moment.waves} {moment.gtkwave}\nsurfer {moment.waves} --command-file {moment.surfer}")
    return DONE


def _blocks(run: Run, names: list[str]) -> list[Block]:
    known = {block.id: block for block in run.manifest.blocks}
    for name in names:
        if name not in known:
            raise WorkbenchError(unknown_name("block", name, known))
    return [known[name] for name in names]
