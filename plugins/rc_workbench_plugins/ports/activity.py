"""What ports do in each cycle, as Verilog of their pins says it: the same as the simulated card counts of its memory
ports (resources/card/ports/memory_bank.h, `MasterCounts`)."""

from workbench.api import Activity
from workbench.api.table_port import Pin


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
    answered, words = pin("readdatavalid", ""), pin("burstcount", "")
    put, opens = f"{write} & {takes}", {}
    if answered:
        opens["reads"] = (f"{read} & {takes} ? {words or 1} : 0", answered)
    if words:
        opens["burst"] = (f"{put} & ~[burst] ? {words} - 1 : 0", f"{put} & [burst]")
    moving = f"{answered} | {put}" if answered else f"({read} | {write}) & {takes}"
    pending = f"{read} | {write}" + (" | [reads]" if answered else "")
    amid = "[burst]" if words else "1'b0"
    return Activity(moving, *(("1'b0", f"{pending} | {amid}") if asked else (pending, amid)), opens)
