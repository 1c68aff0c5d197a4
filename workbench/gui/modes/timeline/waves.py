"""What is chosen on the timeline, or a moment of it, in a waveform viewer; as files where none is installed."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.api.job import Job
from workbench.api.window import Context
from workbench.gui.modes.timeline.view import TimelineView
from workbench.pictures.timeline.rows import Kind
from workbench.session.keep.wave_moment import wave_moment
from workbench.session.program.wave_viewer import known_viewer, moment_folder, show

_KEY = "waveforms"
#: Around what is chosen so many times its length is shown, and around a moment a part of what is in view.
AROUND, PART = 3, 0.1


def show_waves(
    context: Context, view: TimelineView, parent: QWidget, at_ps: float, done: Callable[[str], None]
) -> None:
    """Show it in the viewer that is installed; `done` gets what was done, in words."""
    scene, hit = view.traced, view.chosen
    if scene is None:
        return
    viewer, folder = known_viewer(), moment_folder()
    if not viewer:
        name = QFileDialog.getExistingDirectory(
            parent, "No waveform viewer is installed: save files for Surfer and GTKWave"
        )
        if not name:
            return
        folder = Path(name)
    of_block = hit is not None and hit.kind in (Kind.STATES, Kind.CALLS)
    blocks = [scene.blocks[hit.block]] if hit is not None and of_block else []
    time_ps = hit.from_ps if hit is not None else round(min(max(at_ps, 0), view.end_ps))
    window_ps = (hit.to_ps - hit.from_ps) * AROUND if hit is not None else view.span.pixel_ps * view.span.width * PART
    label = hit.lines[0] if hit is not None else "moment"

    def work(job: Job) -> str:
        with job.step("Waveforms of this moment"):
            folder.mkdir(parents=True, exist_ok=True)
            moment = wave_moment(scene.run, blocks, time_ps, max(round(window_ps), 1000), folder, label)
            return show(moment, viewer, job.check) if viewer else f"waveforms saved in {folder}"

    context.background.start_job(_KEY, work, done, context.failed)
