"""What a program is: its sources, how it is built and run, on which platform. Schema of `*.workbench.yaml`.

Pragmas stand in the sources themselves. `settings` are the names that `--set NAME=VALUE` can change: each becomes
a macro of the host's compiler, and replaces the value of the top module's parameter of the same name where
`hardware.parameters` lists it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PositiveFloat, PositiveInt

from workbench.model.platform import Document

SCHEMA_VERSION = 1


class HostSources(Document):
    language: str = "c"
    sources: tuple[str, ...]
    include_dirs: tuple[str, ...] = ()
    defines: dict[str, int | float | str] = Field(default_factory=dict)
    flags: tuple[str, ...] = ("-O2",)
    libraries: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


class ReadOut(Document):
    """Addresses (in the port's address units) that the application leaves unused, both ends included."""

    first: Annotated[int, Field(ge=0)]
    last: Annotated[int, Field(ge=0)]


class HardwareSources(Document):
    language: str = "verilog"
    sources: tuple[str, ...]
    top: str
    include_dirs: tuple[str, ...] = ()
    defines: dict[str, int | float | str] = Field(default_factory=dict)
    parameters: dict[str, int | float | str] = Field(default_factory=dict)
    read_out: ReadOut


class Simulation(Document):
    """How the simulated card behaves; `host_factor` scales the measured CPU time of the host's own code."""

    cycle_limit: PositiveInt = 2_000_000_000
    idle_cycle_limit: PositiveInt = 100_000_000
    wall_limit_s: PositiveFloat = 600.0
    host_factor: PositiveFloat = 1.0
    basic_block_ps: PositiveInt = 2000


class Project(Document):
    """The Application document. Paths are relative to the project file's folder."""

    schema_version: int
    name: str
    title: str = ""
    platform: str
    host: HostSources
    hardware: HardwareSources
    settings: dict[str, int | float | str] = Field(default_factory=dict)
    simulation: Simulation = Simulation()
