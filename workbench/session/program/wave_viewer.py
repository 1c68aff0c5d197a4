"""Shows a moment in Surfer, through its waveform control protocol if available, or in GTKWave.

The protocol: JSON objects, each ended by a zero byte, over TCP (https://gitlab.com/waveform-control-protocol/wcp).
"""

from __future__ import annotations

import json
import shutil
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.keep.wave_moment import WaveMoment
from workbench.session.program.settings import value
from workbench.system.cache import cache_dir
from workbench.system.process import Detached

#: The address of a Surfer after `wcp_server_start`.
SURFER_ADDRESS = ("127.0.0.1", 54321)
VIEWERS = {"surfer": "Surfer", "gtkwave": "GTKWave"}
_ASK_S, _START_S, _LOAD_S = 0.5, 20.0, 120.0
_MOST_BYTES = 16 << 20  # of one message

Check = Callable[[], None]  # raises to end the wait


def program_of(viewer: str) -> str | None:
    """The program of a viewer: the set one, or the one found on the path."""
    return value(f"program.{viewer}") or shutil.which(viewer)


def moment_folder() -> Path:
    """The folder for a viewer's temporary files."""
    return cache_dir() / "waves"


def known_viewer(wanted: str = "") -> str:
    """The wanted viewer, or the first installed one; "" if there is none."""
    return next((name for name in VIEWERS if wanted in ("", name) and program_of(name)), "")


def show(moment: WaveMoment, viewer: str, check: Check = lambda: None) -> str:
    """Show a moment in a viewer; returns a sentence on what was done. WorkbenchError if that fails."""
    if viewer == "surfer" and _in_open_surfer(moment, check):
        return "shown in the Surfer that is open"
    program = program_of(viewer)
    if not program:
        hint = f"Install it, or choose it in Settings, Programs. {moment.waves} is written."
        raise WorkbenchError(Diagnostic(f"{VIEWERS[viewer]} is not installed", hint))
    if viewer == "gtkwave":
        Detached([program, moment.waves, moment.gtkwave])
        return "opened in GTKWave"
    if _in_new_surfer(program, moment, check):
        return "shown in Surfer"
    Detached([program, moment.waves, "--command-file", moment.surfer])
    return "opened in Surfer"


def _in_open_surfer(moment: WaveMoment, check: Check) -> bool:
    """Show it through the server of a running Surfer. False if none answers."""
    try:
        with socket.create_connection(SURFER_ADDRESS, _ASK_S) as connection:
            return _Wcp(connection, check).show(moment)
    except OSError:
        return False


def _in_new_surfer(program: str, moment: WaveMoment, check: Check) -> bool:
    """Show it in a new Surfer that connects here. False if it does not support that, or does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        viewer = Detached([program, "--wcp-initiate", str(server.getsockname()[1])])
        end = time.monotonic() + _START_S
        success = False
        try:
            while not success and time.monotonic() < end and viewer.runs:
                check()
                with suppress(TimeoutError):
                    connection, _ = server.accept()
                    with connection:
                        success = _Wcp(connection, check).show(moment)
                    break
        except OSError:
            success = False
        finally:
            if not success:
                viewer.end()
    return success


class _Wcp:
    """One connection. OSError if the other side violates the protocol."""

    def __init__(self, connection: socket.socket, check: Check) -> None:
        self._connection, self._check, self._read = connection, check, b""
        connection.settimeout(0.1)

    def show(self, moment: WaveMoment) -> bool:
        """Show the moment; False if the viewer does not support a necessary command."""
        self._send({"type": "greeting", "version": "0", "commands": ["waveforms_loaded"]})
        greeting = self._await(lambda message: message.get("type") == "greeting", _START_S)
        listed = greeting.get("commands")
        can = set(listed) if isinstance(listed, list) else set()
        if "load" not in can:
            return False
        self._command("load", source=str(moment.waves))
        self._await(lambda message: message.get("event") == "waveforms_loaded", _LOAD_S)
        names = [signal.name for signal in moment.signals]
        if "add_items" in can:
            self._ask("add_items", items=names, recursive=False)
        else:
            self._ask("add_variables", variables=names)
        if {"set_viewport_range", "set_viewport_range_to"} & can:
            self._ask("set_viewport_range", start=moment.from_ps, end=moment.to_ps)
        else:
            self._ask("set_viewport_to", timestamp=moment.time_ps)
        if "add_markers" in can:
            self._ask("add_markers", markers=[{"time": moment.time_ps, "name": moment.label, "move_focus": True}])
        return True

    def _ask(self, command: str, **arguments: Any) -> None:
        """Send a command and wait for its answer, also for a refusal."""
        self._command(command, **arguments)
        self._await(lambda message: message.get("type") in ("response", "error"), _START_S)

    def _command(self, command: str, **arguments: Any) -> None:
        self._send({"type": "command", "command": command, **arguments})

    def _send(self, message: Mapping[str, Any]) -> None:
        self._connection.sendall(json.dumps(message).encode() + b"\0")

    def _await(self, matches: Callable[[dict[str, Any]], bool], seconds: float) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._check()
            while b"\0" in self._read:
                text, _, self._read = self._read.partition(b"\0")
                message = _object(text)
                if matches(message):
                    return message
                if message.get("type") == "error" and message.get("error") == "load":
                    raise OSError("the waveforms cannot be loaded")
            try:
                received = self._connection.recv(1 << 16)
            except TimeoutError:
                continue
            self._read += received
            if not received or len(self._read) > _MOST_BYTES:
                raise OSError("the viewer closed the connection")
        raise OSError("the viewer does not answer")


def _object(text: bytes) -> dict[str, Any]:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise OSError("the viewer does not speak the protocol") from None
    return message if isinstance(message, dict) else {}
