"""How a host program or a run ended that did not succeed, in words."""

import signal

from workbench.model.run import Manifest, RunStatus


def exit_words(code: int) -> str:
    """How a host program ended that failed: its exit code, or -N where signal N ended it."""
    if code >= 0:
        return f"the host program ended with exit code {code}"
    return f"the host program crashed: {signal_words(-code)}"


def signal_words(number: int) -> str:
    try:
        return f"{signal.strsignal(number)}, {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"


def shortfall(manifest: Manifest) -> str:
    """How a run failed to complete, as part of a sentence; empty where it completed."""
    if manifest.status is RunStatus.COMPLETE:
        return ""
    ended = {
        RunStatus.RUNNING: "is incomplete: it is still going, or was ended before it could finish",
        RunStatus.CANCELLED: "was cancelled",
    }.get(manifest.status, "failed")
    reason = "" if manifest.reason == manifest.status.value else manifest.reason
    return f"this run {ended}" + (f": {reason}" if reason else "")
