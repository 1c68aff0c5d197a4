"""Tools that tests need. Where one is missing they are skipped, but not in CI: there they fail."""

import os
import shutil

import pytest

NEEDS_GHDL = pytest.mark.skipif(shutil.which("ghdl") is None and "CI" not in os.environ, reason="GHDL is not installed")
