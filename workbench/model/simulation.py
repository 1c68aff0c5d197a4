"""How the simulated card behaves, as a project says it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from workbench.model.platform import Document


class Simulation(Document):
    """How the simulated card behaves; `host_factor` scales the measured CPU time of the host's own code."""

    cycle_limit: PositiveInt = Field(2_000_000_000, description="FPGA cycles until the run is ended")
    idle_cycle_limit: PositiveInt = Field(
        100_000_000, description="FPGA cycles that an interrupt, or a change of what is polled, may take"
    )
    wall_limit_s: PositiveFloat = Field(600.0, description="real time until the run is ended")
    host_factor: PositiveFloat = Field(
        1.0, description="times the measured CPU time of the host's own code; 2 for a host half as fast as this one"
    )
    basic_block_ps: PositiveInt = Field(
        2000, description="virtual time of one basic block of the host in a deterministic run"
    )
    cores: PositiveInt = Field(
        4, le=1024, description="processor cores on which the host's threads run in virtual time"
    )
    slice_ps: PositiveInt = Field(
        4_000_000_000, description="virtual time that a thread keeps its core while others wait for one"
    )
    call_ps: NonNegativeInt = Field(
        0, description="virtual time of a call that synchronises threads (locking a mutex, starting a thread)"
    )
    wake_ps: NonNegativeInt = Field(
        0,
        description="virtual time from an event until its waiting thread is ready; some microseconds on most systems",
    )
    switch_ps: NonNegativeInt = Field(0, description="virtual time of a context switch")
    skip_rest: bool = Field(
        True,
        description="count cycles without simulating them while the design provably does not change: no input "
        "changes, and a whole cycle changed nothing in it; results are the same",
    )
    simulator: Literal["auto", "verilator", "ghdl"] = Field(
        "auto",
        description="the simulator: auto takes Verilator, or GHDL, at some thousand cycles a second, for VHDL that "
        "cannot be synthesised (times, files, real numbers)",
    )
    hardware_counters: bool = Field(
        False,
        description="simulate the counters of the instrumented design too, and read them through its port, as on a "
        "board; else the card itself counts the same, which is faster",
    )
    check_vhdl: bool = Field(
        True,
        description="before the first run of a design in VHDL, compare GHDL's synthesis with the VHDL in GHDL's own "
        "simulator, under random inputs; if the two differ, nothing is run",
    )
    waves: bool = Field(
        False, description="write all signals of the design over virtual time to a VCD file in the run folder"
    )
    waves_from_s: NonNegativeFloat = Field(0.0, description="start of the recorded virtual time", examples=["10 us"])
    waves_to_s: NonNegativeFloat = Field(
        0.0, description="end of the recorded virtual time; 0: the run's end", examples=["20 us"]
    )
    waves_ports: bool = Field(
        False, description="only the top's ports: enough for `workbench testbench`, and a much smaller file"
    )
    waves_bytes: PositiveInt = Field(
        1 << 30, description="largest size of a card's file; recording stops there, and the run goes on"
    )
    files_bytes: PositiveInt = Field(
        1 << 30,
        description="most bytes that host program and designs may write to files; a run that writes more is ended",
    )
    clock_ppm: float = Field(
        0.0,
        ge=-10_000,
        le=10_000,
        description="how much faster the FPGA's clocks run than the platform's, in parts per million",
        examples=[-35.5],
    )
    clock_drift_ppm_per_s: float = Field(
        0.0, ge=-100, le=100, description="drift of the FPGA's clocks, in parts per million for each second of the run"
    )
