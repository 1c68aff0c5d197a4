"""Platforms of the papers: the Nallatech card, with its host API on the simulated card, and four to predict with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from workbench.api import PlatformSupport, hookimpl


@hookimpl
def workbench_platforms() -> list[PlatformSupport]:
    templates = Path(str(files("workbench.platform_templates")))
    api = Path(str(files(__name__))) / "api"
    described = ("src6_map", "xd1000", "gidel_procstar3", "de5_net")
    return [
        PlatformSupport("nallatech_h101", templates / "nallatech_h101.yaml", api, (api / "fpga.c",)),
        *(PlatformSupport(name, templates / f"{name}.yaml") for name in described),
    ]
