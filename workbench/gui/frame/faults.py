"""Writes the workbench's own errors and Qt's messages to the log, and reports them to the user as notices.

A request to end, by a signal, closes the window.
"""

import signal
import socket
import sys
from types import FrameType

from PySide6.QtCore import QMessageLogContext, QObject, QSocketNotifier, QtMsgType, Signal, qInstallMessageHandler
from PySide6.QtWidgets import QWidget

from workbench.gui.frame.context import Context
from workbench.model.diagnostic import Diagnostic
from workbench.session.program import journal


class FaultTeller(QObject):
    """Brings faults of any thread to the window's thread, and shows them among the notices."""

    raised = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.raised.connect(self._show)
        self._context = context
        journal.watchers.append(self._tell)
        self.destroyed.connect(lambda: journal.watchers.remove(self._tell))

    def _tell(self, fault: Diagnostic) -> None:
        self.raised.emit(fault)

    def _show(self, fault: Diagnostic) -> None:
        self._context.notices.tell(fault)


def log_qt() -> None:
    """Qt's own messages go to the log; those of a failure to the terminal as well."""
    qInstallMessageHandler(_heard)


def _heard(kind: QtMsgType, place: QMessageLogContext, text: str) -> None:
    journal.note(f"Qt, {kind.name}: {text}")
    if kind in (QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg):
        print(f"Qt: {text}", file=sys.stderr)


def close_on_signals(window: QWidget) -> None:
    """Ctrl+C in the terminal and a request to end close the window, as its X does; the second one ends at once.

    Python alone would notice a signal only at the window's next event.
    """

    def ask(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        window.close()

    def drain(ours: socket.socket, woken: socket.socket) -> None:  # keeps both open, lets Python call `ask`
        ours.recv(64)

    ours, woken = socket.socketpair()
    for end in (ours, woken):
        end.setblocking(False)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read, window)
    notifier.activated.connect(lambda: drain(ours, woken))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup asks for that
            signal.signal(number, ask)
