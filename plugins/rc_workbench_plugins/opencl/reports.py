"""What a compiler's report says of a built kernel: its clock, and what it takes of the FPGA.

Read are of the Intel (Altera) OpenCL compiler `acl_quartus_report.txt`, the resource table of its log, and the data of
its `report.html` (`area.json`, `quartus.json`, or the .js files with them); `csynth.xml` of Vitis HLS; of Vitis' linker
`.link_summary`, the `kernel_util_routed.rpt` that it names, and what `xclbinutil --info` says (`.xclbin.info`). They
are known by what they hold, not by their names.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

from workbench.api import Diagnostic, WorkbenchError
from workbench.api.source.files import is_file
from workbench.api.unstable import read_file

KINDS = (
    "acl_quartus_report.txt, the log or the report's data (area.json, quartus.json) of aoc, csynth.xml of Vitis HLS, "
    "and .link_summary, kernel_util_routed.rpt and .xclbin.info of Vitis' linker"
)
#: what a link summary names, as text or between the bytes of its older form
_ROUTED = re.compile(r'/[^\s"\x00-\x1f\x7f-\uffff]*kernel_util_routed\.rpt')


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
    for read in (_quartus, _aoc_table, _aoc_data, _csynth, _kernel_util, _xclbin, lambda _: _linked(text, path)):
        try:
            report = read(text)
        except ValueError as error:
            raise WorkbenchError(Diagnostic(f"this report cannot be read: {error}", file=str(path))) from None
        if report:
            return report
    raise WorkbenchError(
        Diagnostic("this is not a report of a kernel's build", f"Known reports are {KINDS}.", file=str(path))
    )


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _share(text: str, what: str) -> float | None:
    """Used over available, from a line such as "RAM blocks: 255 / 2,560 ( 10 % )"; None if there is no such line."""
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
    memory = _share(text, "(?:RAM|M[12]0K) blocks")
    return Report("Quartus report", frequency, logic, memory, _share(text, "DSP blocks"))


def _aoc_table(text: str) -> Report | None:
    if "Estimated Resource Usage Summary" not in text:
        return None

    def share(what: str) -> float | None:
        match = re.search(rf"^;\s*{what}\s*[;+]\s*([\d.]+)\s*%", text, re.MULTILINE)
        return float(match[1]) / 100 if match else None

    return Report("estimate of aoc", None, share("Logic utilization"), share("Memory blocks"), share("DSP blocks"))


def _aoc_data(text: str) -> Report | None:
    """The estimated shares of `area.json`, the board's included, or the clock of `quartus.json`. The .js files hold the
    same, some as a text within theirs: what is sought is looked for alone."""
    if "quartusFitClockSummary" in text:
        clock = re.search(r'"(?:kernel clock|clock|Kernel fmax)"\s*:\s*"?([\d.]+)', text)
        return Report("Quartus report", float(clock[1]) * 1e6) if clock else None
    percent = re.search(r'"total_percent"\s*:\s*\[([\d.,\s]+)\]', text)
    columns = re.search(r'"columns"\s*:\s*\["",([^\]]*)\]', text)
    if percent is None or columns is None:
        return None
    logic, *others = (float(number) / 100 for number in percent[1].split(","))  # the logic as a whole, then by columns
    shares = dict(zip(re.findall(r'"(\w+)"', columns[1]), others, strict=False))
    return Report("estimate of aoc", None, logic, shares.get("RAMs"), shares.get("DSPs"))


def _csynth(text: str) -> Report | None:
    if "<PerformanceEstimates" not in text and "<AreaEstimates" not in text:
        return None
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("it defines entities, which no report of Vitis HLS does")
    try:
        root = fromstring(text)
    except ParseError as error:
        raise ValueError(f"it is not XML ({error})") from None
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


def _kernel_util(text: str) -> Report | None:
    """What the kernels take of the FPGA with what the platform takes for itself, after routing."""
    rows = {
        cells[0]: [int(number) for cell in cells[1:] for number in re.findall(r"^\s*(\d+)", cell)]
        for line in text.splitlines()
        if line.startswith("|") and len(cells := [cell.strip() for cell in line.strip("|").split("|")]) > 2
    }
    head = re.search(r"^\|\s*Name\s*\|(.*)\|\s*$", text, re.MULTILINE)
    if head is None or not {"Platform", "User Budget", "Used Resources"} <= rows.keys():
        return None
    names = [name.strip() for name in head[1].split("|")]
    shell, budget, used = (rows[name] for name in ("Platform", "User Budget", "Used Resources"))
    shares = {name: (s + u) / max(s + b, 1) for name, s, b, u in zip(names, shell, budget, used, strict=True)}
    logic, memory = (max(shares[name] for name in both) for both in (("LUT", "REG"), ("BRAM", "URAM")))
    return Report("Vitis utilization report", None, logic, memory, shares["DSP"])


def _xclbin(text: str) -> Report | None:
    """The kernels' clock: what a system clock achieved if that is given, otherwise the setting of DATA_CLK."""
    clocks = [
        dict(re.findall(r"^\s*(\w[\w ]*):\s*(.*?)\s*$", part, re.MULTILINE))
        for part in re.split(r"(?=^\s*Name:)", text, flags=re.MULTILINE)
    ]
    achieved = [c["Achieved Freq"] for c in clocks if c.get("Name", "").endswith("kernel_00") and "Achieved Freq" in c]
    set_to = [c["Frequency"] for c in clocks if c.get("Name") == "DATA_CLK" and "Frequency" in c]
    mhz = re.match(r"[\d.]+", next(iter([*achieved, *set_to]), ""))
    return Report("description of a linked binary", float(mhz[0]) * 1e6) if mhz else None


def _linked(text: str, path: Path) -> Report | None:
    """A link summary holds where the linker's reports are: the clock stands in NAME.xclbin.info beside it, the use in
    kernel_util_routed.rpt, where the summary says or, where all was moved, below its own folder."""
    if ".link_summary" not in text[:4096]:
        return None
    clock, use = None, None
    if is_file(info := path.with_suffix(".info")):
        clock = _xclbin(read_file(info).decode("utf-8", "replace"))
    if named := _ROUTED.search(text):
        places = (Path(named[0]), *sorted(path.parent.rglob(Path(named[0]).name)))
        if (report := next(filter(is_file, places), None)) is not None:
            use = _kernel_util(read_file(report).decode("utf-8", "replace"))
    if clock is None and use is None:
        raise ValueError(f"neither {info.name} nor kernel_util_routed.rpt, which it names, can be found")
    use = use or Report("")
    return Report("XRT link summary", clock.frequency_hz if clock else None, use.logic, use.memory, use.dsp)
