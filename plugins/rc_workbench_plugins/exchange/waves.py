"""A traced run's states as waveforms: a text signal `state` for each block, in VCD or FST."""

import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO

from rc_workbench_plugins.exchange.needs import library, require_trace
from workbench.api import Measured
from workbench.api.unstable import scopes_of, state_changes, state_texts, write_states_vcd

_CHUNK = 1 << 20


def write_vcd(measured: Measured, file: BinaryIO) -> None:
    """WorkbenchError for a run without trace."""
    require_trace(measured)
    manifest = measured.run.manifest
    write_states_vcd(manifest.blocks, measured.pieces, file, 0, manifest.time_ps)


def write_fst(measured: Measured, file: BinaryIO) -> None:
    """WorkbenchError for a run without trace, or where pylibfst is not installed."""
    require_trace(measured)
    fst = library("pylibfst", "FST")
    lib, blocks = fst.lib, measured.run.manifest.blocks
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "states.fst"
        context = lib.fstWriterCreate(str(path).encode(), 1)
        lib.fstWriterSetTimescale(context, -12)
        lib.fstWriterSetVersion(context, b"RC Workbench")
        handles = []
        for block in blocks:
            for scope in scopes_of(block):
                lib.fstWriterSetScope(context, lib.FST_ST_VCD_MODULE, scope.encode(), fst.ffi.NULL)
            handles.append(lib.fstWriterCreateVar(context, lib.FST_VT_GEN_STRING, lib.FST_VD_IMPLICIT, 0, b"state", 0))
            for _ in scopes_of(block):
                lib.fstWriterSetUpscope(context)
        texts = [[text.encode() for text in state_texts(block)] for block in blocks]
        now = -1
        for change in state_changes(len(blocks), measured.pieces, 0, measured.run.manifest.time_ps):
            if change.time_ps != now:
                now = change.time_ps
                lib.fstWriterEmitTimeChange(context, now)
            value = texts[change.block][change.state]
            lib.fstWriterEmitVariableLengthValueChange(context, handles[change.block], value, len(value))
        lib.fstWriterEmitTimeChange(context, measured.run.manifest.time_ps)
        lib.fstWriterClose(context)
        with path.open("rb") as written:
            shutil.copyfileobj(written, file, _CHUNK)
