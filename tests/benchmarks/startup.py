"""What a command costs before it does anything: processor time, and its ratio to that of `import numpy`.

    python tests/benchmarks/startup.py [--json] [--quick]

`cpu_s` is processor time (user and system, with helpers) from the start of a fresh interpreter to its end, the median
of several rounds. In a round every command has its turn, and a ratio is between two runs of one round: a machine that
is busy then is busy for both. `ratio` is the median of the rounds' ratios. Bytecode is written before the first round,
as it is in an installed program. The window's ratio is to an empty PySide6 window with numpy, both until the first turn
of the event loop has drawn them, off screen, with nothing opened lately.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from command_line import command, show

ROOT = Path(__file__).parents[2]
TEMPLATE = str(ROOT / "platform_templates" / "nallatech_h101.yaml")

_ENTRY = "import sys; from workbench.cli.main import main; sys.exit(main({}))"
_DRAWN = "import os; from PySide6.QtCore import QTimer; QTimer.singleShot(0, lambda: os._exit(0)); app.exec()"
_EMPTY = (
    "import numpy; from PySide6.QtWidgets import QApplication, QMainWindow; app = QApplication([]);"
    f"window = QMainWindow(); window.resize(1600, 1000); window.show(); {_DRAWN}"
)
_WINDOW = f"from workbench.gui.app import make_window; app, window = make_window(); {_DRAWN}"

#: Code of each command, and the command that it is held against.
COMMANDS = {
    "import numpy": ("import numpy", ""),
    "workbench --help": (_ENTRY.format(["--help"]), "import numpy"),
    "workbench run --help": (_ENTRY.format(["run", "--help"]), "import numpy"),
    "workbench report --help": (_ENTRY.format(["report", "--help"]), "import numpy"),
    "workbench predict --help": (_ENTRY.format(["predict", "--help"]), "import numpy"),
    "workbench plugins": (_ENTRY.format(["plugins"]), "import numpy"),
    "workbench template check": (_ENTRY.format(["template", "check", TEMPLATE]), "import numpy"),
    "an empty PySide6 window with numpy": (_EMPTY, ""),
    "workbench open": (_WINDOW, "an empty PySide6 window with numpy"),
}


def cpu_s(code: str, environment: dict[str, str]) -> float:
    """Processor time of a fresh interpreter that runs `code`. CalledProcessError where it fails."""
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, code)
    return usage.ru_utime + usage.ru_stime


def measure(rounds: int) -> list[dict[str, object]]:
    took: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "PYTHONPYCACHEPREFIX": folder + "/bytecode",
            "RCW_PREFERENCES": folder + "/preferences",
            "QT_QPA_PLATFORM": "offscreen",
        }
        for _ in range(rounds + 1):
            took.append({command: cpu_s(code, environment) for command, (code, _) in COMMANDS.items()})
    del took[0]  # the first round wrote the bytecode
    return [
        {
            "command": command,
            "cpu_s": round(median(turn[command] for turn in took), 4),
            "against": base,
            "ratio": round(median(turn[command] / turn[base or command] for turn in took), 3),
        }
        for command, (_, base) in COMMANDS.items()
    ]


def main() -> int:
    asked = command(__doc__, "fewer rounds").parse_args()
    rows = measure(3 if asked.quick else 12)
    show({"rows": rows}, asked.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
