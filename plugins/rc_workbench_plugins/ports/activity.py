"""What ports do in each cycle, as Verilog of their pins says it: the same as the simulated card counts of its memory
ports (resources/card/ports/memory_bank.h, `MasterCounts`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench.api import Activity

#: A signal by its role, or what stands for one that the design has not.
Pin = Callable[..., str]


def pins(names: Mapping[str, str], bits: Mapping[str, int]) -> Pin:
    """`names` are of the roles, `bits` the widths of those signals that the design has."""
    return lambda role, missing="1'b0": names[role] if names.get(role) in bits else missing


def axi(pin: Pin, *, asked: bool) -> Activity:
    """An AXI port; the design is the one that is `asked`, or asks."""
    given = f"{pin('rvalid')} & {pin('rready')}"
    written = f"{pin('wvalid')} & {pin('wready')}"
    ended = f"{pin('bvalid')} & {pin('bready')}"
    opens = {
        "reads": (f"{pin('arvalid')} & {pin('arready')}", f"{given} & {pin('rlast', '1')}"),
        "writes": (f"{pin('awvalid')} & {pin('awready')}", ended),
        "sent": (f"{written} & {pin('wlast', '1')}", ended),
    }
    moving = f"{given} | {written}"
    late = f"[reads] & ~{pin('rvalid')} | [sent] & ~{pin('bvalid')}"
    asks = f"{pin('arvalid')} | {pin('awvalid')}"
    if not asked:
        return Activity(moving, f"{late} | {asks} | {ended}", "[reads] | [writes]", opens)
    here = f"{pin('rvalid')} & ~{pin('rready')} | {pin('bvalid')} & ~{pin('bready')}"
    return Activity(moving, here, f"[reads] | [writes] | {asks} | {pin('wvalid')}", opens)


def avalon(pin: Pin, *, asked: bool) -> Activity:
    """An Avalon-MM port; the design is the one that is `asked`, or asks."""
    read, write, takes = pin("read"), pin("write"), f"~{pin('waitrequest')}"
    told, words = pin("readdatavalid", ""), pin("burstcount", "")
    put, opens = f"{write} & {takes}", {}
    if told:
        opens["reads"] = (f"{read} & {takes} ? {words or 1} : 0", told)
    if words:
        opens["burst"] = (f"{put} & ~[burst] ? {words} - 1 : 0", f"{put} & [burst]")
    moving = f"{told} | {put}" if told else f"({read} | {write}) & {takes}"
    pending = f"{read} | {write}" + (" | [reads]" if told else "")
    amid = "[burst]" if words else "1'b0"
    return Activity(moving, *(("1'b0", f"{pending} | {amid}") if asked else (pending, amid)), opens)


def stream(pin: Pin, *, inward: bool) -> Activity:
    """A stream: the design may keep a word that comes waiting, or wait for one of its own to be taken."""
    valid, ready = pin("tvalid"), pin("tready", "1'b1")
    stalls = f"{valid} & ~{ready}"
    return Activity(f"{valid} & {ready}", *(("1'b0", stalls) if inward else (stalls, "1'b0")))
