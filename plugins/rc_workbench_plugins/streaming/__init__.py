"""Streaming applications measured across clocks (Lancaster, TimeTrial, 2011)."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.api import Command, Later, hookimpl


@hookimpl
def workbench_commands() -> Sequence[Command]:
    place = "rc_workbench_plugins.streaming.command"
    title = "an FPGA's clock against the processor's, from messages' times"
    return [Command("calibrate", title, Later(f"{place}:add_arguments"), Later(f"{place}:run"))]
