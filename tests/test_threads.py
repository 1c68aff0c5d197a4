"""Host threads on virtual cores: every program's times are those by hand, to the picosecond."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_every_program_takes_the_time_by_hand_on_1_2_and_4_cores() -> None:
    script = Path(__file__).parent / "benchmarks" / "threads.py"
    done = subprocess.run([sys.executable, script, "--json", "--once"], capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert {row["cores"] for row in rows} == {1, 2, 4}
    assert len({row["program"].split(",")[0] for row in rows}) >= 20
    assert [row for row in rows if row["got_ps"] != row["by_hand_ps"] or row["wrong"]] == []
    assert done.returncode == 0
