"""Every rule of the knowledge base fires on its bottleneck, and is silent once it is fixed."""

import json
import subprocess
import sys
from pathlib import Path


def test_every_rule_fires_and_falls_silent() -> None:
    script = Path(__file__).parent / "benchmarks" / "rules.py"
    done = subprocess.run([sys.executable, script, "--json", "--quick"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert len(result["rules"]) >= 14
    assert result["fired"] == result["silent_on_mended"] == result["rules"]
