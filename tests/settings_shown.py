"""The window's settings, once their rows are made."""

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.settings_dialog import SettingsDialog


def shown_settings(window: MainWindow, words: str = "") -> SettingsDialog:
    dialog = window.floating.show_settings(words)
    window.slices.finish()
    return dialog
