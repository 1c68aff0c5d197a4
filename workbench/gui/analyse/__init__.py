"""The block graph and the findings."""

from workbench.gui.analyse.mode import AnalyseMode

__all__ = ["AnalyseMode"]
