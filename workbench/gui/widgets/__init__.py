"""The window's own small widgets."""

from workbench.gui.widgets.buttons import Button, IconButton, PillButton, TextButton, draw_swatch, swatch_icon
from workbench.gui.widgets.diagnostic_row import DiagnosticRow
from workbench.gui.widgets.empty_state import EmptyState, IconLabel
from workbench.gui.widgets.labels import ElidedLabel, PartsLabel, WholeLabel, label, rule, set_role, shortened
from workbench.gui.widgets.panel_header import PanelHeader, empty, plain_column, plain_panel, scrolled
from workbench.gui.widgets.severity import SeverityBadge, SeverityIcon, level_of, paint_severity
from workbench.gui.widgets.sign_field import SignField
from workbench.gui.widgets.split import Split
from workbench.gui.widgets.stack import Stack
from workbench.gui.widgets.state_bar import Legend, StateBar, Swatch, paint_state_bar

__all__ = [
    "Button",
    "DiagnosticRow",
    "ElidedLabel",
    "EmptyState",
    "IconButton",
    "IconLabel",
    "Legend",
    "PanelHeader",
    "PartsLabel",
    "PillButton",
    "SeverityBadge",
    "SeverityIcon",
    "SignField",
    "Split",
    "Stack",
    "StateBar",
    "Swatch",
    "TextButton",
    "WholeLabel",
    "draw_swatch",
    "empty",
    "label",
    "level_of",
    "paint_severity",
    "paint_state_bar",
    "plain_column",
    "plain_panel",
    "rule",
    "scrolled",
    "set_role",
    "shortened",
    "swatch_icon",
]
