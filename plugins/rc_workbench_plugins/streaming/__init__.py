"""Streaming applications measured across clocks (Lancaster, TimeTrial, 2011)."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.api import Command, hookimpl


@hookimpl
def workbench_commands() -> Sequence[Command]:
    from rc_workbench_plugins.streaming.command import add_arguments, run

    return [Command("calibrate", "an FPGA's clock against the processor's, from messages' times", add_arguments, run)]
