"""Where what was built is kept, to be taken again: a folder that can be deleted at any time."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from workbench.system import store
from workbench.system.folders import NAME


def cache_dir() -> Path:
    """`$RCW_CACHE`, or the folder chosen in the settings, or the system's for such."""
    chosen = os.environ.get("RCW_CACHE") or store.preference("folder.cache", "")
    return Path(chosen) if chosen else platformdirs.user_cache_path(NAME, appauthor=False)
