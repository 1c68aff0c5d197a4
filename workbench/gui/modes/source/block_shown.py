"""The block that the cursor is in: its numbers in the details, and over the margin of which run they are."""

from collections.abc import Callable

from workbench.api.window import Context
from workbench.gui.frame.naming import range_title, run_title
from workbench.gui.modes.source.details import SourceDetails
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.line_numbers import blocks_of


def show_block(context: Context, editor: CodeEditor, details: SourceDetails, say: Callable[..., None]) -> bool:
    """Show the block at the cursor of an editor; whether the open run has numbers of its file. `say` takes whose
    numbers the margin shows, and where the block is in the design."""
    analysis, run = context.analysis, context.run
    if analysis is None or run is None:
        reading = context.background.waits("run")
        why = "Reading the last run..." if reading else "Nothing has run yet."
        details.show_nothing("Numbers appear after the run", why, "" if reading else "Run")
        say("")
        return False
    original = editor.moved.original(editor.line) or editor.line
    blocks = blocks_of(analysis, context.is_file(editor.path), original)
    if not blocks:
        details.show_nothing("No block in this file", f"{run_title(run)} observed none here.")
        say("")
        return False
    details.show_blocks(blocks, analysis.time_s)
    many = f"the mean of {len(blocks)} replicas" if len(blocks) > 1 else run_title(run)
    many += f", {range_title(context.shown_range)}" if context.shown_range else ""
    older = f"{run_title(run)} is older than this file; its numbers are dimmed"
    if context.replacing:
        older = f"The margin shows {run_title(run)} until the new run ends"
    place = blocks[0].block.group.replace(".", " \u203a ").replace("[*]", f"[0..{len(blocks) - 1}]")
    say(older if editor.margin.stale else f"Margin shows {many}", place)
    return True
