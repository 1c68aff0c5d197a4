"""A design in VHDL that is compared with another: its files as GHDL is given them, and its top."""

from collections.abc import Iterator

from rc_workbench_plugins.vhdl.begun import begun
from rc_workbench_plugins.vhdl.elaborate import PART, Text
from rc_workbench_plugins.vhdl.skeleton import cuts
from rc_workbench_plugins.vhdl.syntax import VhdlFile, plain, read_file
from rc_workbench_plugins.vhdl.types import shared_types
from rc_workbench_plugins.vhdl.units import Unit, units_of
from workbench.api.equivalence import HdlSide


def files_of(side: HdlSide) -> Iterator[VhdlFile]:
    for number, (path, library) in enumerate(zip(side.sources, side.libraries, strict=True)):
        yield read_file(path, library, number)


def units_in(side: HdlSide) -> list[Unit]:
    return [unit for file in files_of(side) for unit in units_of(file)]


def top_of(side: HdlSide) -> Unit:
    return next(unit for unit in units_in(side) if unit.kind == "entity" and plain(unit.name) == plain(side.top))


def texts_of(side: HdlSide, zeros: bool = False) -> Iterator[Text]:
    """The texts; with `zeros`, of a design in which all that has no value as it begins has these."""
    types = shared_types(units_in(side)) if zeros else {}
    files = (begun(file, types) if zeros else file for file in files_of(side))
    return (Text(file.number, file.library, parted(file)) for file in files)


def parted(file: VhdlFile) -> bytes:
    """A file with marks where GHDL has to have it in parts."""
    data, begun = b"", 0
    for cut in cuts(units_of(file)):
        data, begun = data + file.data[begun:cut] + PART, cut
    return data + file.data[begun:]
