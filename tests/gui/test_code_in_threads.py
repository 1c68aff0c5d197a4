import subprocess
import sys

_READ = """
import sys
from PySide6 import QtCore, QtGui, QtSvg, QtWidgets
from workbench.gui.app import make_application
from workbench.gui.run.background import Background, Code, Slices

def not_made():
    modules = QtCore, QtGui, QtSvg, QtWidgets
    return [name for module in modules for name in dir(module) if name not in vars(module)]

application = make_application()
background = Background(application)
print(len(not_made()))
seen = []

def read():
    before = set(sys.modules)
    import pyqtgraph
    seen.extend([*not_made(), *(name for name in set(sys.modules) - before if name.startswith("PySide6"))])

quit_then = lambda _: application.quit()
Code(background, Slices(background, application)).start("code", read, quit_then, print)
application.exec()
print(seen)
"""


def test_threads_read_code_once_all_of_qts_modules_and_types_are_there() -> None:
    """PySide crashes where two threads make types at once: a process of its own, in which most are not made yet."""
    done = subprocess.run([sys.executable, "-c", _READ], capture_output=True, text=True, check=True)
    before, then = done.stdout.splitlines()
    assert int(before) > 100
    assert then == "[]"
