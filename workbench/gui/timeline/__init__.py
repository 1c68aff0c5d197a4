"""The timeline of a traced run."""

from workbench.gui.timeline.mode import TimelineMode

__all__ = ["TimelineMode"]
