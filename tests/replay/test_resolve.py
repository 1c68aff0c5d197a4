"""Names in changes are found in a run, or the nearest that it has is said."""

import pytest

from workbench.model.changes import read_change
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import Manifest, RunStatus, Site
from workbench.replay.resolve import resolve
from workbench.testing.runs import synthetic_platform, synthetic_run

RUN = synthetic_run()
SITES = RUN.manifest.sites
BLOCKS = RUN.manifest.blocks


def named(text: str, manifest: Manifest = RUN.manifest):
    return resolve(read_change(text), manifest, synthetic_platform())


def test_calls_are_named_by_place_function_and_label():
    by_label = {site.label: n for n, site in enumerate(SITES)}
    writes = tuple(n for n, site in enumerate(SITES) if site.callee == "fpgaWrite")
    assert len(writes) > 1
    assert named("unite calls=fpgaWrite count=2").sites == writes
    assert named("unite calls=readDone count=2").sites == (by_label["readDone"],)
    place = SITES[by_label["readDone"]]
    for text in (f"{place.file}:{place.line}", f"{place.file}:{place.line}:{place.column}"):
        assert named(f"interrupt calls={text}").sites == (by_label["readDone"],)
    both = named(f"asynchronous calls=readDone,fpgaWrite,{place.file}:{place.line} buffers=2").sites
    assert both == tuple(sorted({*writes, by_label["readDone"]}))


def test_a_file_is_named_by_the_end_of_its_path():
    def site(file: str) -> Site:
        return Site(file, 3, 1, "send", "send", 0)

    manifest = Manifest("m", RunStatus.COMPLETE, "", sites=(site("host/a.c"), site("host/b.c"), site("other/b.c")))
    assert named("interrupt calls=a.c:3", manifest).sites == (0,)
    assert named("interrupt calls=host/b.c:3", manifest).sites == (1,)
    with pytest.raises(WorkbenchError, match=r"several files.*host/b\.c, other/b\.c"):
        named("interrupt calls=b.c:3", manifest)


def test_blocks_states_and_groups():
    cores = tuple(n for n, block in enumerate(BLOCKS) if ".core[" in block.id)
    one = next(n for n in cores if BLOCKS[n].id == "pdf2d_top.core[1].ctrl")
    compute = next(state.index for state in BLOCKS[one].states if state.name == "compute")
    assert named("state block=pdf2d_top.core[1].ctrl state=compute factor=0.5").states == ((one, compute),)
    starred = named("state block=pdf2d_top.core[*].ctrl state=compute factor=0.5")
    assert starred.states == tuple((n, compute) for n in cores)
    assert named("replicas group=pdf2d_top.core[*].ctrl count=4").blocks == cores
    assert named("host block=host.main state=work factor=2").blocks == (0,)
    assert len(named("host block=host.main state='*' factor=2").states) == len(BLOCKS[0].states)
    assert named("clock clock=clk frequency_hz=2e8").clocks == (0,)
    assert named("depth fifo=pdf2d_top.fifo words=4").fifos == (0,)
    assert named("width stream=pdf2d_top.in factor=2").streams == (0,)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("interrupt calls=readDon", "no call 'readDon'.*Did you mean 'readDone'"),
        ("interrupt calls=pdf3d.c:104", r"no file with calls 'pdf3d\.c'.*Did you mean 'pdf2d\.c'"),
        ("interrupt calls=pdf2d.c:120", r"no call begins at pdf2d\.c:120.*The nearest are in lines 105, 111, 116"),
        ("state block=host.main state=work factor=2", r"no FPGA block 'host\.main'"),
        ("host block=host.main state=wrok factor=2", r"no state of host\.main 'wrok'.*Did you mean 'work'"),
        ("clock clock=clock frequency_hz=2e8", r"no clock 'clock'"),
        ("depth fifo=pdf2d_top.fif words=4", r"no FIFO.*Did you mean 'pdf2d_top\.fifo'"),
        ("retype calls=readDone table=wirte", "no transfer table 'wirte'.*Did you mean 'write'"),
    ],
)
def test_a_name_that_the_run_does_not_have(change: str, said: str):
    with pytest.raises(WorkbenchError, match=said):
        named(change)
