"""A run that is killed at any moment changes nothing of the user's, leaves no process, and its folder opens."""

import json
import os
import subprocess
import sys
from pathlib import Path


def test_runs_killed_at_random_moments() -> None:
    script = Path(__file__).parent / "benchmarks" / "kill_run.py"
    command = [sys.executable, script, "--json", "--kills", "3", "--cache", os.environ["RCW_CACHE"]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    result = json.loads(done.stdout)
    assert (result["changed"], result["left"], result["unopened"]) == (0, 0, 0), result
    assert result["kills"] >= 1
    assert result["same_result"]
    assert done.returncode == 0
