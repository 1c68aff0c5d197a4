"""Verilog and SystemVerilog: read with slang, instrumented as text, so that the user's lines stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import HdlBuild, HdlLanguage, hookimpl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from workbench.api.job import Job
    from workbench.model.application import HardwareSources
    from workbench.model.platform import Platform
    from workbench.model.run import Table
    from workbench.model.scan import Definition, HdlScan, HdlTop


class VerilogLanguage:
    """Verilog and SystemVerilog as far as slang reads them. What reads them is imported when it is first used."""

    name: str = "verilog"
    suffixes: tuple[str, ...] = (".v", ".sv", ".vh", ".svh")
    pragma_prefix: str = "//pragma recap "

    def scan(
        self,
        root: Path,
        hardware: HardwareSources,
        platform: Platform,
        parameters: dict[str, str],
        job: Job | None = None,
    ) -> HdlScan:
        from rc_workbench_plugins.verilog import language

        return language.scan(root, hardware, platform, parameters, job)

    def instrument(
        self,
        root: Path,
        hardware: HardwareSources,
        platform: Platform,
        parameters: dict[str, str],
        out: Path,
        job: Job | None = None,
    ) -> HdlBuild:
        from rc_workbench_plugins.verilog import language

        return language.instrument(root, hardware, platform, parameters, out, job)

    def plain(self, root: Path, hardware: HardwareSources, parameters: dict[str, str]) -> HdlBuild:
        from rc_workbench_plugins.verilog import language

        return language.plain(root, hardware, parameters)

    def tops(self, root: Path, files: Sequence[str]) -> tuple[HdlTop, ...]:
        from rc_workbench_plugins.verilog import tops

        return tops.tops(root, files)

    def definition(
        self, root: Path, part: HardwareSources, values: dict[str, str], file: Path, line: int, column: int, job: Job
    ) -> Definition | None:
        from rc_workbench_plugins.verilog.definitions import definition

        return definition(root, part, values, file, line, column)

    def decode(self, build: HdlBuild, words: NDArray[np.uint32]) -> dict[str, Table]:
        from workbench.api.instrument import readout

        return readout.tables(build.read_outs, len(build.blocks), words)


@hookimpl
def workbench_hdl_languages() -> Sequence[HdlLanguage]:
    return [VerilogLanguage()]
