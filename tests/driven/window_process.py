"""One real window in a process of its own, which answers questions about itself over a socket, one JSON line each.

A question is a Python expression over `window`, `app`, `focus()`, every function of `probes` and what earlier
statements made; it is worked out in the window's own thread, between two turns of its event loop, and so never sees
a turn half done. Every answer carries what went wrong since the last: exceptions, and what Qt complained of.
"""

import faulthandler
import json
import os
import socket
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from turns import Turns


def serve(connection: socket.socket) -> None:
    """Open the window as the first line asks, answer until the connection closes, then end the process."""
    faulthandler.enable()
    lines = connection.makefile("rw", encoding="utf-8")
    try:
        asked = json.loads(lines.readline())
        os.environ |= asked["environment"]
        run_window(asked, lines)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def run_window(asked: dict[str, Any], lines: Any) -> None:
    from PySide6.QtCore import QObject, Qt, Signal, qInstallMessageHandler

    from workbench.gui.app import make_application
    from workbench.session.program.plugins import load_plugins

    faults: list[str] = []
    sys.excepthook = lambda kind, value, tb: faults.append("".join(traceback.format_exception(kind, value, tb)))
    qInstallMessageHandler(lambda kind, context, text: faults.append(f"Qt: {text}"))
    app = make_application(asked["theme"])
    import probes  # before garbage is looked for: its code is none of the window's

    from workbench.gui.frame.garbage import look_between_turns
    from workbench.gui.frame.main_window import MainWindow

    window = MainWindow(load_plugins())
    look_between_turns(window.context, window.modes.built, lambda: window.busy)
    window.resize(*asked["size"])
    window.open(*[Path(p) for p in asked["open"][:1]] or [None], [Path(run) for run in asked["open"][1:]])
    window.show()

    turns = Turns() if asked["turns"] else None  # from the first turn of the event loop on
    names: dict[str, Any] = {"window": window, "app": app, "turns": turns}
    names |= {name: thing for name, thing in vars(probes).items() if not name.startswith("_")}

    def answer(line: str) -> None:
        if turns:
            turns.pause()
        said: dict[str, Any] = {}
        try:
            question = json.loads(line)
            if "statement" in question:
                exec(question["statement"], names)
            else:
                said["value"] = eval(question["ask"], names)
        except Exception:
            said["error"] = traceback.format_exc()
        said["faults"] = list(faults)
        faults.clear()
        lines.write(json.dumps(said, default=repr) + "\n")
        lines.flush()
        if turns:
            turns.resume()

    class Bridge(QObject):
        asked = Signal(str)

    bridge = Bridge()
    bridge.asked.connect(answer, Qt.ConnectionType.QueuedConnection)

    def listen() -> None:
        for line in lines:
            bridge.asked.emit(line)
        os._exit(0)

    lines.write(json.dumps({"pid": os.getpid()}) + "\n")
    lines.flush()
    threading.Thread(target=listen, daemon=True).start()
    os._exit(app.exec())
