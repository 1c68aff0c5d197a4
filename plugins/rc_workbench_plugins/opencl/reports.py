"""What a compiler's report says of a built kernel: its clock, and what it takes of the FPGA.

Read are the Intel (Altera) OpenCL compiler's `acl_quartus_report.txt` and the resource table of its log, Vitis HLS'
`csynth.xml`, and what XRT's `xclbinutil --info` says of a linked binary (`.xclbin.info`). They are known by what they
hold, not by their names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.files import read_file

KINDS = (
    "acl_quartus_report.txt or the log of aoc, csynth.xml of Vitis HLS, or what `xclbinutil --info` says of a binary"
)


@dataclass(frozen=True)
class Report:
    """`logic`, `memory` and `dsp` are shares of the FPGA; of a kernel `alone` they leave out what the board takes for
    itself. None is what the report does not say."""

    title: str
    frequency_hz: float | None = None
    logic: float | None = None
    memory: float | None = None
    dsp: float | None = None
    alone: bool = False


def read_report(path: Path) -> Report:
    """A report by what it holds. WorkbenchError where it cannot be read, or is none of those known."""
    text = read_file(path).decode("utf-8", "replace")
    for read in (_quartus, _aoc_table, _csynth, _xclbin):
        try:
            found = read(text)
        except ValueError as error:
            raise WorkbenchError(Diagnostic(f"this report cannot be read: {error}", file=str(path))) from None
        if found:
            return found
    raise WorkbenchError(Diagnostic("this is no report of a kernel's build", f"Known are {KINDS}.", file=str(path)))


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _share(text: str, what: str) -> float | None:
    """Of "RAM blocks: 255 / 2,560 ( 10 % )", the used over the available; None where there is no such line."""
    match = re.search(rf"^{what}:\s*([\d,.]+)\s*/\s*([\d,.]+)", text, re.MULTILINE)
    if match is None:
        return None
    available = _number(match[2])
    return _number(match[1]) / available if available else 0.0


def _quartus(text: str) -> Report | None:
    clock = re.search(r"^Actual clock freq:\s*([\d.]+)", text, re.MULTILINE)
    clock = clock or re.search(r"^Kernel fmax:\s*([\d.]+)", text, re.MULTILINE)
    logic = _share(text, "Logic utilization")
    if clock is None and logic is None:
        return None
    frequency = float(clock[1]) * 1e6 if clock else None
    return Report("Quartus report", frequency, logic, _share(text, "RAM blocks"), _share(text, "DSP blocks"))


def _aoc_table(text: str) -> Report | None:
    if "Estimated Resource Usage Summary" not in text:
        return None

    def share(what: str) -> float | None:
        match = re.search(rf"^;\s*{what}\s*[;+]\s*([\d.]+)\s*%", text, re.MULTILINE)
        return float(match[1]) / 100 if match else None

    return Report("estimate of aoc", None, share("Logic utilization"), share("Memory blocks"), share("DSP blocks"))


def _csynth(text: str) -> Report | None:
    if "<PerformanceEstimates" not in text and "<AreaEstimates" not in text:
        return None
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("it defines entities, which no report of Vitis HLS does")
    try:
        root = fromstring(text)
    except ParseError as error:
        raise ValueError(f"it is no XML ({error})") from None
    period = root.findtext("PerformanceEstimates/SummaryOfTimingAnalysis/EstimatedClockPeriod")
    target = root.findtext("UserAssignments/TargetClockPeriod")
    periods = [float(p) for p in (period, target) if p and float(p) > 0]
    used, available = root.find("AreaEstimates/Resources"), root.find("AreaEstimates/AvailableResources")
    return Report(
        "Vitis HLS report",
        1e9 / max(periods) if periods else None,
        _of_both(used, available, ("LUT", "FF")),
        _of_both(used, available, ("BRAM_18K", "URAM")),
        _of_both(used, available, ("DSP", "DSP48E")),
        alone=True,
    )


def _of_both(used: Element | None, available: Element | None, names: tuple[str, ...]) -> float | None:
    """The largest share among resources of these names; None where the report has neither."""
    shares = []
    for name in names:
        have = float((available.findtext(name) if available is not None else None) or 0)
        if used is not None and have > 0:
            shares.append(float(used.findtext(name) or 0) / have)
    return max(shares, default=None)


def _xclbin(text: str) -> Report | None:
    """The clock that kernels get is DATA_CLK; its frequency is what the linker reached."""
    clocks = re.findall(r"Name:\s*(\S+)\s*\n(?:\s*(?:Index|Type):.*\n)*\s*Frequency:\s*([\d.]+)\s*MHz", text)
    frequency = next((float(mhz) for name, mhz in clocks if name == "DATA_CLK"), None)
    return None if frequency is None else Report("XRT link summary", frequency * 1e6)
