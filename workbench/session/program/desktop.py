"""The desktop's menu: an entry and an icon for this installation in the user's folders."""

import shlex
import shutil
import sys
from importlib.resources import files
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.program.files import write_atomically
from workbench.system.folders import data_dir

#: The file names of the entry and the icon, and the window's application id.
DESKTOP_ID = "rc-workbench"


def entry_path() -> Path:
    return data_dir() / "applications" / f"{DESKTOP_ID}.desktop"


def icon_path() -> Path:
    return data_dir() / "icons" / "hicolor" / "scalable" / "apps" / f"{DESKTOP_ID}.svg"


def install() -> tuple[Path, Path]:
    """Write an entry that starts the running program, and the icon."""
    resources = files("workbench.resources").joinpath("desktop")
    program = _program()
    lines = []
    for line in resources.joinpath(f"{DESKTOP_ID}.desktop").read_text("utf-8").splitlines():
        key = line.partition("=")[0]
        lines.append({"Exec": f"Exec={_quoted(program)} open %f", "TryExec": f"TryExec={program}"}.get(key, line))
    write_atomically(icon_path(), resources.joinpath(f"{DESKTOP_ID}.svg").read_bytes())
    write_atomically(entry_path(), "\n".join(lines) + "\n")
    return entry_path(), icon_path()


def remove() -> tuple[Path, ...]:
    """Remove the entry and the icon. Returns the removed files."""
    existing = tuple(path for path in (entry_path(), icon_path()) if path.exists())
    for path in existing:
        path.unlink()
    return existing


def _program() -> Path:
    """The command that starts this installation."""
    beside = Path(sys.executable).with_name("workbench")
    program = beside if beside.is_file() else shutil.which("workbench")
    if not program:
        raise WorkbenchError(Diagnostic("there is no command `workbench` to start", "Install the package with pip."))
    return Path(program).absolute()


def _quoted(program: Path) -> str:
    """A word quoted by the desktop entry specification: in double quotes if it has reserved characters; % is
    doubled."""
    text = str(program).replace("%", "%%")
    if shlex.quote(text) == text:
        return text
    for sign in ("\\", '"', "`", "$"):
        text = text.replace(sign, f"\\{sign}")
    return f'"{text}"'.replace("\\", "\\\\")
