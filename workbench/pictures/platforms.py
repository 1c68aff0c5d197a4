"""Plots platforms side by side: the rate that each one's memory layers allow."""

from collections.abc import Sequence

import numpy as np

from workbench.api.predictions import PlatformDensity
from workbench.pictures.density import INKS, bytes_of, rate_of
from workbench.pictures.plot import Axis, Line, Plot

_INKS = ("accent", *INKS, "high", "text")


def platforms_plot(compared: Sequence[PlatformDensity]) -> Plot:
    """A line for each platform: the allowed rate by the size of its layers."""
    outwards = [sorted(platform.bounds, key=lambda bound: float(bound.layer.layer_bytes)) for platform in compared]
    lines = tuple(
        Line(
            platform.name,
            np.array([float(bound.layer.layer_bytes) for bound in bounds]),
            np.array([float(bound.ops_per_s) for bound in bounds]),
            _INKS[n % len(_INKS)],
            points=True,
        )
        for n, (platform, bounds) in enumerate(zip(compared, outwards, strict=True))
    )

    def say(line: int, point: int) -> str:
        platform, bound = compared[line], outwards[line][point]
        binds = ", binds" if bound.layer.name == platform.binding else ""
        return f"{platform.title}, {bound.layer.label}: {rate_of(float(bound.ops_per_s))}{binds}"

    return Plot(
        Axis("memory size", bytes_of, log=True, unit="B"),
        Axis("operations a second", rate_of, log=True, unit="/s"),
        lines,
        say=say,
    )
