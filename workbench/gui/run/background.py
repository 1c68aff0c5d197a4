"""Runs slow work in threads, and splits work of the window's own thread into short slices."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal, SignalInstance
from shiboken6 import isValid

from workbench.api.faults import caught
from workbench.api.job import Job, JobEvent
from workbench.model.diagnostic import Cancelled, Diagnostic, WorkbenchError
from workbench.session.program.journal import crash

T = TypeVar("T")
Failed = Callable[[tuple[Diagnostic, ...]], None]
_QT = ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtOpenGL", "QtOpenGLWidgets", "QtTest")
_TYPES_AT_ONCE = 50  # 10 ms


@cache
def _import_pydantic() -> None:
    """Import all of pydantic's modules, some of which come with the first model. They import each other: if two threads
    did it at the same time, one could get half of a module. So the window's thread does it before it starts another."""
    from pydantic import create_model

    create_model("First", names=(tuple[str, ...], ()))


def _run(number: int, work: Callable[[], object], report: Callable[..., None]) -> None:
    try:
        result = work()
    except Cancelled:
        report(number, None, ())
    except WorkbenchError as error:
        report(number, None, error.diagnostics)
    except BaseException as raised:
        fault = caught(raised)
        report(number, None, (crash(fault),))
    else:
        report(number, result, None)


class Background(QObject):
    """A few threads. Of several tasks with one key only the last one started is answered; a job that another of its key
    follows is cancelled."""

    _finished = Signal(int, object, object)
    _reported = Signal(int, object)
    idle_changed = Signal()
    progressed = Signal()
    succeeded = Signal(str)  # the key of work that brought its result

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.delivered = ""  # the key of the work that brought its result, or its problems, last
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(2)
        self._count = 0
        self._waiting: dict[int, tuple[str, Callable[[Any], None], Failed]] = {}
        self._last: dict[str, int] = {}
        self._over = False
        self._jobs: dict[int, tuple[Job, str]] = {}  # those that run, with what each does now
        self._results: list[tuple[int, object, tuple[Diagnostic, ...] | None]] = []
        self._deliveries = QTimer(self, interval=0)  # a turn for each result: several would be shown in one
        self._deliveries.timeout.connect(self._deliver_next)
        self._finished.connect(self._take)
        self._reported.connect(self._tell)

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    @property
    def delivers(self) -> bool:
        """Whether a result is shown in this turn of the event loop."""
        return self._deliveries.isActive()

    def start(
        self, key: str, work: Callable[[], T], done: Callable[[T], None], failed: Failed, reads_documents: bool = True
    ) -> None:
        """Run `work` in a thread, then `done(result)` or `failed(diagnostics)` here; nothing more once shut down."""
        if self._over:
            return
        if reads_documents:
            _import_pydantic()
        changed = self.progressed if self._waiting else self.idle_changed
        self._count += 1
        self._waiting[self._count] = (key, done, failed)
        self._last[key] = self._count
        # a function, not a QRunnable: the pool forgets it even where it ends before `start` returns
        self._pool.start(partial(_run, self._count, work, partial(self._report, self._finished)))
        changed.emit()

    def start_job(self, key: str, work: Callable[[Job], T], done: Callable[[T], None], failed: Failed) -> None:
        """Like `start`, for work that takes a job: it says how far it is, and can be cancelled."""
        if self._over:
            return
        self.cancel(key)
        number = self._count + 1
        job = Job(partial(self._report, self._reported, number))
        self._jobs[number] = job, ""
        self.start(key, lambda: work(job), done, failed)

    @staticmethod
    def _report(signal: SignalInstance, *said: object) -> None:
        with suppress(RuntimeError):  # the window went while a thread was at work: nobody wants it any more
            signal.emit(*said)

    def cancel(self, key: str) -> None:
        """Cancel the job of a key; neither `done` nor `failed` hears of it."""
        for number, (job, _) in self._jobs.items():
            if self._waiting.get(number, ("",))[0] == key:
                job.cancel()

    def runs(self, key: str) -> bool:
        """Whether a job of a key is under way, and not cancelled."""
        return any(self._waiting[n][0] == key and not job.cancelled for n, (job, _) in self._jobs.items())

    def waits(self, key: str) -> bool:
        """Whether work of a key is under way, or its answer still to come."""
        return any(waiting[0] == key for waiting in self._waiting.values())

    @property
    def said(self) -> str:
        """What the jobs do now, and how far they are; "" where none says it."""
        return ", ".join(dict.fromkeys(said for job, said in self._jobs.values() if said and not job.cancelled))

    def said_of(self, key: str) -> str:
        """What the job of a key does now, and how far it is."""
        return next((said for n, (_, said) in self._jobs.items() if self._waiting.get(n, ("",))[0] == key), "")

    def _tell(self, number: int, event: JobEvent) -> None:
        if number not in self._jobs or event.kind not in ("step", "progress"):
            return
        job, before = self._jobs[number]
        name = event.text if event.kind == "step" else before.partition(":")[0]
        said = name if event.fraction is None else f"{name}: {event.fraction:.0%}"
        if said != before:
            self._jobs[number] = job, said
            self.progressed.emit()

    def wait(self, timeout_ms: int = 30_000) -> bool:
        """Wait for the threads; their answers still have to be delivered by the event loop."""
        return self._pool.waitForDone(timeout_ms)

    def shut_down(self, timeout_ms: int) -> None:
        """Wait for the threads; what they bring is not wanted any more, and nothing new begins."""
        self._over = True
        for job, _ in self._jobs.values():
            job.cancel()
        self.wait(timeout_ms)

    def _take(self, *result: Any) -> None:
        self._results.append(result)
        self._deliveries.start()

    def _deliver_next(self) -> None:
        if self._results:
            self._deliver(*self._results.pop(0))
        else:
            self._deliveries.stop()

    def _deliver(self, number: int, result: object, diagnostics: tuple[Diagnostic, ...] | None) -> None:
        key, done, failed = self._waiting.pop(number)
        job, _ = self._jobs.pop(number, (None, ""))
        cancelled = job is not None and job.cancelled
        asker = getattr(done, "__self__", None)
        gone = isinstance(asker, QObject) and not isValid(asker)  # its view was closed meanwhile
        if self._last.get(key) == number and not gone and not self._over and not cancelled:
            self.delivered = key
            if diagnostics is None:
                self.succeeded.emit(key)
                done(result)
            else:
                failed(diagnostics)
        self.idle_changed.emit()


class Slices(QObject):
    """Runs generators, each up to its next `yield` in a turn of its own, and every other turn is left to what that
    asked to be laid out and painted, and those in which `background` delivers to that; while one generator is under
    way, another waits. Each belongs to an object and ends with it."""

    def __init__(self, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._background = background
        self._waiting: list[tuple[QObject, Iterator[None]]] = []
        self._rests = False
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._turn)

    def start(self, owner: QObject, work: Iterator[None], *, first: bool = False) -> None:
        """Run a generator after those that wait, or `first` after the one that is under way."""
        self._waiting.insert(1 if first else len(self._waiting), (owner, work))
        self._timer.start()

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def finish(self) -> None:
        """Do at once what is left, before the window goes: nothing half built is left behind."""
        while self._waiting:
            self._run()

    def _turn(self) -> None:
        self._rests = not self._rests or self._background.delivers
        if not self._rests:
            self._run()

    def _run(self) -> None:
        if self._waiting:
            owner, work = self._waiting[0]
            if not isValid(owner) or next(work, self) is self:  # it has ended
                self._waiting.pop(0)
        if not self._waiting:
            self._timer.stop()


class Code:
    """Reads the code of views in threads, once Qt's modules are imported and the Python types of all their classes are
    made: PySide makes each as it is first named, and crashes where two threads do so at once."""

    def __init__(self, background: Background, slices: Slices) -> None:
        self._background, self._slices = background, slices
        self._types = _made_types()

    def start(self, key: str, read: Callable[[], None], done: Callable[[None], None], failed: Failed) -> None:
        """Start a job, as `Background.start`."""

        def turns() -> Iterator[None]:
            yield from self._types
            self._background.start(key, read, done, failed)

        self._slices.start(self._background, turns())


def _made_types() -> Iterator[None]:
    for name in _QT:
        with suppress(ImportError):  # pyqtgraph, which reads the last three, does without those that a system lacks
            module = import_module(f"PySide6.{name}")
            for number, type_name in enumerate(dir(module)):
                getattr(module, type_name)
                if number % _TYPES_AT_ONCE == 0:
                    yield
