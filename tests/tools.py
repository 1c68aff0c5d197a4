"""Tools that tests need. Where one is missing they are skipped, but not in CI: there they fail."""

import os
import shutil

import pytest

NEEDS_OTF2 = pytest.mark.skipif(
    shutil.which("otf2-print") is None and "CI" not in os.environ, reason="otf2-tools is not installed"
)
NEEDS_GHDL = pytest.mark.skipif(shutil.which("ghdl") is None and "CI" not in os.environ, reason="GHDL is not installed")
