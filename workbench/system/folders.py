"""The user's own folders, where each system keeps such things. A variable leads elsewhere, as tests do."""

import os
from pathlib import Path

import platformdirs

NAME = "rc-workbench"


def config_dir() -> Path:
    """Where preferences live: `$RCW_PREFERENCES`, or the system's folder for such."""
    chosen = os.environ.get("RCW_PREFERENCES")
    return Path(chosen) if chosen else platformdirs.user_config_path(NAME, appauthor=False)


def state_dir() -> Path:
    """Where lies what a session leaves: `state` below `$RCW_PREFERENCES`, or the system's folder for such."""
    chosen = os.environ.get("RCW_PREFERENCES")
    return Path(chosen) / "state" if chosen else platformdirs.user_state_path(NAME, appauthor=False)


def data_dir() -> Path:
    """The folder of all programs' data of this user: icons and entries of the desktop's menu."""
    return platformdirs.user_data_path()
