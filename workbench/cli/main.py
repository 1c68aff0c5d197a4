"""`workbench`: reads the arguments, runs one command, turns every failure into diagnostics and an exit code."""

import argparse
import atexit
import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from types import FrameType

import workbench
from workbench.cli.arguments import add_commands
from workbench.cli.opened import Opened
from workbench.cli.output import (
    BAD_INPUT,
    CANCELLED,
    FAILED,
    VisibleStream,
    as_json,
    document_alone,
    print_diagnostics,
    print_json,
)
from workbench.model.diagnostic import Cancelled, Diagnostic, Severity, WorkbenchError
from workbench.system import interrupt

NO_PLUGINS = "--no-plugins"


def parser(given: Sequence[str] = ()) -> argparse.ArgumentParser:
    """What reads the arguments given."""
    top = argparse.ArgumentParser(
        prog="workbench", description="Find where an FPGA application spends its time, and what a fix would gain."
    )
    top.add_argument("--version", action="version", version=f"RC Workbench {workbench.__version__}")
    top.add_argument(
        NO_PLUGINS, action="store_true", help="load only the built-in plugins; write it before the command"
    )
    add_commands(top, given)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done; 1 the thing asked for failed; 2 bad input or usage; 130 cancelled."""
    if arguments is None:  # what is imported stays: looking through it for garbage takes a tenth of a short command
        gc.set_threshold(50_000, 10, 10)
    with redirect_stdout(VisibleStream(sys.stdout)), redirect_stderr(VisibleStream(sys.stderr)):
        code = _main(arguments)
        interrupt.asked.clear()  # what another program goes on with is not cancelled
        if arguments is None:  # we are the program itself, not a part of another
            _leave(code)
    return code


def _main(arguments: Sequence[str] | None) -> int:
    interrupt.asked.clear()
    signals = [signal.SIGINT, signal.SIGTERM]  # a shell may have started us with interrupts ignored
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup sets it
        signals.append(signal.SIGHUP)
    for number in signals:
        signal.signal(number, _interrupt)
    if arguments is None:
        interrupt.end_after(signals)
    given = sys.argv[1:] if arguments is None else arguments
    if given and given[0] == NO_PLUGINS:
        from workbench.session.program import plugins

        os.environ[plugins.NO_PLUGINS] = "1"  # for the processes that this one starts, too
        given = given[1:]
    try:
        chosen = parser(list(given)).parse_args(given)
        if arguments is None:
            from workbench.session.program import journal

            journal.install()
            if chosen.logged and (crashed := journal.start(["workbench", *given])):
                print_diagnostics([crashed])
        with document_alone() if getattr(chosen, "json", False) else nullcontext():
            return int(chosen.run(chosen, Opened()))
    except WorkbenchError as error:
        return _bad_input(error.diagnostics, given)
    except Cancelled:
        return _cancelled()
    except BrokenPipeError:
        return CANCELLED
    except BaseException as raised:
        return _fault(raised, arguments, given)


def _fault(raised: BaseException, arguments: Sequence[str] | None, given: Sequence[str]) -> int:
    """A fault of the program or of a plugin: kept in the log, and named."""
    if isinstance(raised, OSError) and raised.errno == errno.ENAMETOOLONG:
        return _bad_input([Diagnostic("this name is too long for a file", file=str(raised.filename))], given)
    if isinstance(raised, ImportError):
        from workbench.run.machine import window_diagnostic

        if missing := window_diagnostic(raised):
            return _bad_input([missing], given)
    from workbench.api.faults import caught  # which plugins there are takes its time to find out

    try:
        fault = caught(raised)
    except KeyboardInterrupt:
        return _cancelled()
    if arguments is not None:
        raise fault from None
    from workbench.session.program.journal import crash

    problem = crash(fault)
    print_diagnostics([problem])
    if "--json" in given:
        print_json({"diagnostics": as_json([problem])})
    return FAILED


def _bad_input(diagnostics: Sequence[Diagnostic], given: Sequence[str]) -> int:
    print_diagnostics(diagnostics)
    if "--json" in given:
        print_json({"diagnostics": as_json(diagnostics)})
    return BAD_INPUT


def _cancelled() -> int:
    print("Cancelled.", file=sys.stderr)
    return CANCELLED


def _interrupt(number: int, frame: FrameType | None) -> None:
    interrupt.asked.set()
    raise KeyboardInterrupt


def _leave(code: int) -> None:
    """End this process even if a plugin left a thread running, which Python would wait for."""
    others = [one for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon]
    if not others:
        return
    from workbench.api.faults import plugin_of_thread

    left = sorted({name for one in others if (name := plugin_of_thread(one))})
    if not left:
        return
    for name in left:
        message = f"the plugin '{name}' left a thread running, which was ended"
        print_diagnostics([Diagnostic(message, "Report this to the plugin's author.", Severity.WARNING)])
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
