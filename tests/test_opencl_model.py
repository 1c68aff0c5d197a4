"""The OpenCL model's equations on kernels small enough to be worked out by hand."""

import subprocess
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.opencl.compile import OPTIONS
from rc_workbench_plugins.opencl.kernel import Leaf, Loop, Sequence, Way
from rc_workbench_plugins.opencl.model import PRINTED, REPAIRED, Estimate, Setting
from rc_workbench_plugins.opencl.optimisations import COALESCED, LOCAL, PRIVATE, VECTOR, Change, applied
from rc_workbench_plugins.opencl.pipelines import estimate
from rc_workbench_plugins.opencl.potentials import Potentials, Resources, potentials
from rc_workbench_plugins.opencl.reports import read_report
from rc_workbench_plugins.opencl.statistics import BlockWork, Work
from rc_workbench_plugins.opencl.streams import Stream

from workbench.api.compile import needed
from workbench.api.unstable import clang_command, find_clang
from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import WorkbenchError
from workbench.model.kernel_board import KernelBoard

LINES = (1, 9)


@pytest.fixture(scope="module")
def board() -> KernelBoard:
    """The DE5-Net, each transaction a cycle of its bank, as in the paper's equations (R15)."""
    platform, problems = load_platform(Path(str(files("workbench.platform_templates"))) / "de5_net.yaml")
    assert platform is not None, problems
    assert platform.opencl is not None
    return platform.opencl.model_copy(update={"uncoalesced_cycles": 1})


def stream(name: str, item: float | None, loops: dict[str, float | None] | None = None, shared: float = 1) -> Stream:
    return Stream(f"of {name}", name, 3, Way.LOAD, 4, 1.0, item, loops or {}, shared)


def add(cycles: float = 7) -> Work:
    """Vector addition: one block, three sequential accesses of 4 bytes."""
    block = BlockWork("body", 1, cycles, (stream("a", 4), stream("b", 4), stream("c", 4)), 3, 0)
    return Work("add", Leaf("body", LINES), {"body": block}, {})


def multiply(width: int = 2048) -> Work:
    """Matrix multiplication as in Algorithm 2: a(row, k) and b(k, column) in a loop, c after it."""
    inner = BlockWork("inner", 5, 12, (stream("a", 0, {"L1": 4}, 256), stream("b", 4, {"L1": 4.0 * width})), 4, 1)
    blocks = {
        "entry": BlockWork("entry", 1, 4),
        "inner": inner,
        "exit": BlockWork("exit", 7, 3, (stream("c", 4),)),
    }
    parts = (Leaf("entry", LINES), Loop("L1", (4, 6), "inner", (Leaf("inner", (5, 5)),)), Leaf("exit", LINES))
    return Work("multiply", Sequence("root", LINES, parts), blocks, {"L1": float(width)})


def number(found: Estimate, symbol: str, node: str) -> float:
    return next(float(n.value) for n in found.numbers if (n.symbol, n.node) == (symbol, node))


def test_sequential_accesses_join_into_transactions(board: KernelBoard) -> None:
    estimated = estimate(add(), board, Setting(1e6))
    assert number(estimated, "#Mem_insts", "body") == 3
    assert number(estimated, "#Mem_burst", "body") == 16  # 64 bytes a transaction, 4 an access
    assert number(estimated, "Mem_trans", "body") == 3e6 / 16
    assert number(estimated, "Mem", "body") == 3e6 / 16 / 2  # two banks
    assert estimated.cycles == 1e6 + 7 - 1  # a work item each cycle, and the pipeline's depth


def test_vector_addition_needs_128_work_items(board: KernelBoard) -> None:
    """Fig. 6: below, the pipeline starves; B_itpp is .99 at one work item, .5 at 64, nothing from the knee on."""
    items = np.array([1.0, 64, 127, 128, 1024])
    estimated = estimate(add(), board, Setting(items))
    starved = np.asarray(potentials(estimated, board).values["b_itpp"])
    assert starved[0] == pytest.approx(0.99, abs=0.005)
    assert starved[1] == pytest.approx(0.5, abs=0.01)
    assert (starved[2:] == 0).all()


@pytest.mark.parametrize(("profile", "insts"), [(PRINTED, 1 + 4 * 15 / 64), (REPAIRED, 1)])
def test_replicas_side_by_side_share_a_transaction(board: KernelBoard, profile: str, insts: float) -> None:
    """R1: sixteen elements of 4 bytes fill one transaction of 64 bytes; as printed they are 1.94."""
    work = multiply()
    only_a = replace(work, blocks={**work.blocks, "inner": replace(work.blocks["inner"], streams=(stream(
        "a", 0, {"L1": 4}),))})  # fmt: skip
    estimated = estimate(only_a, board, Setting(2048**2, unroll={"L1": 16}), profile)
    assert number(estimated, "#Mem_insts", "inner") == pytest.approx(insts)
    assert number(estimated, "f", "inner") == 16


def test_uncoalesced_replicas_are_transactions_of_their_own(board: KernelBoard) -> None:
    """Section 6.3.1: of the two matrices A can be coalesced by unrolling, B cannot."""
    estimated = estimate(multiply(), board, Setting(2048**2, unroll={"L1": 16}))
    assert number(estimated, "ls_num of a", "inner") == 1
    assert number(estimated, "ls_num of b", "inner") == 16
    # each replica of B keeps its burst across work items (R3), so the 16 are one transaction's worth a work item
    assert number(estimated, "#Mem_burst of b", "inner") == 16


def nearest(*more: Stream) -> Work:
    """A point's distance to each of 128 centres, of 8 features: the point is the same in each round of L1."""
    streams = (stream("points", 32, {"L1": 0, "L2": 4}), stream("centres", 0, {"L1": 32, "L2": 4}), *more)
    inner = BlockWork("inner", 5, 12, streams, 4, 1)
    root = Loop("L1", LINES, "inner", (Loop("L2", LINES, "inner", (Leaf("inner", LINES),)),))
    return Work("nearest", root, {"inner": inner}, {"L1": 128.0, "L2": 8.0})


@pytest.mark.parametrize(
    ("work", "whole", "profile", "loads"),
    [
        (nearest(), 8, REPAIRED, 1),
        (nearest(), 2, REPAIRED, 4),  # four loops are left, one after another
        (nearest(), 8, PRINTED, 4 * (1 + 4 * 7 / 64)),
        (nearest(replace(stream("out", 4), way=Way.STORE)), 8, REPAIRED, 4),  # which may be to the same place
    ],
)
def test_copies_of_a_load_are_one_where_compilers_join_them(
    board: KernelBoard, work: Work, whole: int, profile: str, loads: float
) -> None:
    """R14: four rounds of L1 at once, L2 unrolled by `whole`; eight features of a point lie in one transaction."""
    estimated = estimate(work, board, Setting(1e6, unroll={"L1": 4, "L2": whole}), profile)
    assert number(estimated, "ls_num of points", "inner") == pytest.approx(loads)
    factors = np.array([1, 4, 16])
    swept = estimate(nearest(), board, Setting(1e6, unroll={"L1": factors, "L2": 8}))
    (points,) = [n.value for n in swept.numbers if n.symbol == "ls_num of points"]
    assert np.broadcast_to(points, 3).tolist() == [1, 1, 1]


def test_clang_joins_the_copies_of_a_load(tmp_path: Path) -> None:
    """R14, by a compiler of LLVM, as aoc is: of 4 x 8 points that four rounds at once read, 8 loads are left."""
    (tmp_path / "k.cl").write_text("""
__kernel void nearest(__global const float *points, __global const float *centres, __global float *out)
{
    int i = get_global_id(0);
    float least = 3e38f;
#pragma unroll 4
    for (int c = 0; c < 128; c++) {
        float far = 0;
#pragma unroll
        for (int f = 0; f < 8; f++)
            far += points[i * 8 + f] * centres[c * 8 + f];
        least = far < least ? far : least;
    }
    out[i] = least;
}
""")
    options = " ".join(OPTIONS).replace("-O1 -Xclang -disable-llvm-passes", "-O2 -fno-slp-vectorize").split()
    command = [*clang_command(needed(find_clang())), *options, "-S", "-cl-std=CL1.2", "k.cl", "-o", "k.ll"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    text = (tmp_path / "k.ll").read_text()
    assert text.count("= load float") == text.count("\ndefine ") * (8 + 4 * 8)  # newer ones write the kernel twice


@pytest.mark.parametrize(("work", "simd", "times"), [("alone", 1, 4), ("alone", 16, 4), ("row", 1, 1), ("row", 16, 1)])
def test_a_transaction_that_joins_no_burst_costs_more(board: KernelBoard, work: str, simd: int, times: float) -> None:
    """R15: of addresses far apart, and not of those that follow each other, which may fill a transaction each."""
    block = BlockWork("body", 1, 7, (stream("a", 4 if work == "row" else 512),) * 40)
    kernel = Work("read", Leaf("body", LINES), {"body": block}, {})
    slow = board.model_copy(update={"uncoalesced_cycles": 4})
    paper, ours = (number(estimate(kernel, on, Setting(1e6, simd=simd)), "Mem", "body") for on in (board, slow))
    assert ours / paper == times


def test_simd_takes_work_items_and_units_share_them(board: KernelBoard) -> None:
    work = add()
    simd = estimate(work, board, Setting(1 << 20, simd=4.0))
    assert simd.cycles == (1 << 18) + 6
    units = estimate(work, board, Setting(1 << 20, compute_units=4.0))
    assert number(units, "Comp_min", "body") == (1 << 18) + 6
    assert number(units, "Mem_trans", "body") == 3 * (1 << 20) / 16  # of memory there is no more (section 2.1)


def test_a_loops_trips_count_once(board: KernelBoard) -> None:
    """R5: as printed, Eqs. 9 and 11 both count them."""
    once = estimate(multiply(64), board, Setting(4096.0))
    twice = estimate(multiply(64), board, Setting(4096.0), PRINTED)
    assert once.nodes["L1"] == once.blocks["inner"].cycles
    assert twice.nodes["L1"] == pytest.approx(64 * float(once.blocks["inner"].cycles), rel=0.05)


def test_nested_loops_run_for_their_slowest_part(board: KernelBoard) -> None:
    """Eq. 9: every part once, and the slowest for each trip but one."""
    blocks = {name: BlockWork(name, 1, 5) for name in ("head", "tail")}
    parts = (Leaf("head", LINES), Leaf("tail", LINES))
    work = Work("nest", Loop("L1", LINES, "head", parts), blocks, {"L1": 10.0})
    estimated = estimate(work, board, Setting(1e5))
    head, tail = (float(estimated.blocks[name].cycles) for name in ("head", "tail"))
    assert estimated.cycles == head + tail + 9 * max(head, tail)


def test_every_number_tells_where_it_comes_from(board: KernelBoard) -> None:
    """What a number was computed from is a number of the model, of the board, or of the launch; and all are finite."""
    estimated = estimate(multiply(), board, Setting(2048**2, unroll={"L1": 4}))
    assert {n.equation for n in estimated.numbers} >= {
        f"Eq. {k}" for k in (1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 16)
    }
    assert all(np.isfinite(n.value).all() for n in estimated.numbers)
    values = {n.symbol: n for n in estimated.numbers if n.node == "inner"}
    product = values["Mem_trans"].inputs
    assert float(values["Mem_trans"].value) == pytest.approx(
        float(product["#Mem_insts"] * product["#WI"] * product["#Trip"] / product["#Mem_burst"])
    )
    for symbol in ("#Mem_insts", "#Mem_burst"):
        assert product[symbol] == values[symbol].value


# ---- potentials


def of(work: Work, board: KernelBoard, setting: Setting, profile: str = REPAIRED) -> Potentials:
    return potentials(estimate(work, board, setting, profile), board)


def test_potentials_of_a_kernel_that_lacks_nothing(board: KernelBoard) -> None:
    """Section 6.2: of vector addition all other potentials are low; one block has nothing to be balanced with."""
    values = of(add(), board, Setting(1e6)).values
    assert values["b_mem"] == 0
    assert values["b_balance"] == 0
    assert "b_comp" not in values  # nobody said what it takes


def test_a_block_bound_by_memory_lacks_no_work_items(board: KernelBoard) -> None:
    """R9: as printed, Eq. 23 takes the distance from the smaller of the two for a want of work items."""
    slow = board.model_copy(update={"banks": 1})
    work = Work("random", Leaf("body", LINES), {"body": BlockWork("body", 1, 7, (stream("a", None),) * 4)}, {})
    assert of(work, slow, Setting(1e6)).values["b_itpp"] == 0
    assert of(work, slow, Setting(1e6), PRINTED).values["b_itpp"] == pytest.approx(0.75, abs=0.01)


def test_balance_counts_the_loops_around_a_block(board: KernelBoard) -> None:
    """R6. The next slowest is the store of c: by Eq. 17 it gets one part of 4,097 of the two banks."""
    values = of(multiply(), board, Setting(2048**2)).values
    assert values["b_balance"] == pytest.approx(1 - 4097 / 16 / 2 / 2048, abs=1e-5)


def test_computing_potential_is_of_the_scarcest_resource(board: KernelBoard) -> None:
    used = Resources(0.5, 0.6, 0.9)
    values = potentials(estimate(add(), board, Setting(1e6)), board, used).values
    assert values["b_comp"] == pytest.approx(0.1)  # (1 - 0.9) / 1
    none = potentials(estimate(add(), board, Setting(1e6)), board, Resources(0.17, 0.11, 0.0)).values
    assert none["b_comp"] == pytest.approx(1.0)


# ---- optimisations


def test_local_memory_shares_what_a_group_finds_alike(board: KernelBoard) -> None:
    work = applied(multiply(), [Change(LOCAL, "a")], board)
    assert [s.object for s in work.blocks["inner"].streams] == ["b"]
    assert work.blocks["inner"].cycles == 12 + 7  # local memory's latency, Table 2
    (fetch,) = [name for name in work.trips if name != "L1"]
    assert work.trips[fetch] == 2048 / 256  # all 256 work items of a group find the same element


def test_private_memory_is_loaded_once_a_work_item(board: KernelBoard) -> None:
    inner = BlockWork("inner", 5, 12, (stream("p", 32, {"L1": 0, "L2": 4}),), 4, 1)
    root = Loop("L1", LINES, "inner", (Loop("L2", LINES, "inner", (Leaf("inner", LINES),)),))
    work = Work("means", root, {"inner": inner}, {"L1": 128.0, "L2": 8.0})
    kept = applied(work, [Change(PRIVATE, "p")], board)
    (fetch,) = [name for name in kept.trips if name not in ("L1", "L2")]
    assert kept.trips[fetch] == 8  # and not 128 x 8


def test_coalescing_makes_accesses_sequential(board: KernelBoard) -> None:
    random = Work("random", Leaf("body", LINES), {"body": BlockWork("body", 1, 7, (stream("a", 512),))}, {})
    before, after = (
        estimate(work, board, Setting(1e6)) for work in (random, applied(random, [Change(COALESCED, "a")], board))
    )
    assert number(before, "Mem_trans", "body") / number(after, "Mem_trans", "body") == 16


def test_a_vector_type_takes_neighbours_at_once(board: KernelBoard) -> None:
    work = multiply()
    wide = applied(work, [Change(VECTOR, "a", 4)], board).blocks["inner"].streams[0]
    assert (wide.bytes, wide.share) == (16, 0.25)
    with pytest.raises(WorkbenchError, match="no access of 'b' reads neighbouring"):
        applied(work, [Change(VECTOR, "b", 4)], board)


def test_what_has_no_such_array_is_told(board: KernelBoard) -> None:
    with pytest.raises(WorkbenchError, match="no global memory access reads or writes 'A'"):
        applied(multiply(), [Change(LOCAL, "A")], board)


# ---- reports

QUARTUS = """ALUTs: 27754
Registers: 43325
Logic utilization: 31,125 / 234,720 ( 13 % )
I/O pins: 279 / 864 ( 32 % )
DSP blocks: 16 / 256 ( 6 % )
Memory bits: 2,454,592 / 52,428,800 ( 5 % )
RAM blocks: 256 / 2,560 ( 10 % )
Actual clock freq: 302.5
Kernel fmax: 304.13
"""
AOC = """+--------------------------------------------------------------------+
; Estimated Resource Usage Summary                                   ;
+----------------------------------------+---------------------------+
; Resource                               + Usage                     ;
+----------------------------------------+---------------------------+
; Logic utilization                      ;   65%                     ;
; Dedicated logic registers              ;   27%                     ;
; Memory blocks                          ;   50%                     ;
; DSP blocks                             ;   31%                     ;
+----------------------------------------+---------------------------;
"""
CSYNTH = """<?xml version="1.0" encoding="UTF-8"?>
<profile>
<UserAssignments><TargetClockPeriod>4.00</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfTimingAnalysis><unit>ns</unit>
<EstimatedClockPeriod>5.000</EstimatedClockPeriod></SummaryOfTimingAnalysis></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>30</BRAM_18K><DSP>25</DSP><FF>1000</FF><LUT>2000</LUT><URAM>0</URAM></Resources>
<AvailableResources><BRAM_18K>300</BRAM_18K><DSP>100</DSP><FF>20000</FF><LUT>10000</LUT><URAM>0</URAM>
</AvailableResources></AreaEstimates></profile>
"""
AREA = """{"columns":["", "ALUTs", "FFs", "RAMs", "DSPs", "MLABs", "Details"], "type":"module",
 "total_percent":[63.5, 32.6, 32.7, 61.3, 22.1], "total":[602682, 1221631, 7186, 1271, 280],
 "children":[{"name":"scale", "total_percent":[1, 2, 3, 4, 5]}]}
"""
FITTED = """{"quartusFitClockSummary":{"nodes":[{"name":"Quartus Fitter: Clock Frequency (MHz)",
 "kernel clock":"400.00", "kernel clock fmax":"402.41"}]}, "quartusFitResourceUsageSummary":{"nodes":[]}}
"""
OLDER_FITTED = """{"quartusFitClockSummary":{"columns":["", "Kernel fmax"]
 ,"children":[{"name":"Frequency (MHz)","data":["Kernel fmax": 88.64]}]}}
"""
ROUTED = """| Design       : pfm_top_wrapper
| Design State : Routed

+-------------------+-------------------+------------------+-----------------+---------------+-------------+-----------+
| Name              | LUT               | LUTAsMem         | REG             | BRAM          | URAM        | DSP       |
+-------------------+-------------------+------------------+-----------------+---------------+-------------+-----------+
| Platform          |  100 [ 10.00%]    |  50 [  5.00%]    |  100 [  5.00%]  |  20 [ 20.00%] |  0 [ 0.00%] | 10 [1.00%]|
| User Budget       |  900 [100.00%]    | 950 [100.00%]    | 1900 [100.00%]  |  80 [100.00%] | 50 [100.0%] | 990 [100%]|
|    Used Resources |  200 [ 22.22%]    |  10 [  1.05%]    |  900 [ 47.37%]  |  10 [ 12.50%] |  5 [10.00%] | 90 [9.09%]|
|    Unused Resources |  700 [ 77.78%]  | 940 [ 98.95%]    | 1000 [ 52.63%]  |  70 [ 87.50%] | 45 [90.00%] | 900 [91%] |
| scale             |  200 [ 22.22%]    |  10 [  1.05%]    |  900 [ 47.37%]  |  10 [ 12.50%] |  5 [10.00%] | 90 [9.09%]|
+-------------------+-------------------+------------------+-----------------+---------------+-------------+-----------+
"""
ACHIEVED = """Clocks
------
   Name:      DATA_CLK
   Index:     0
   Type:      DATA
   Frequency: 300 MHz

System Clocks
------
   Name:           ulp_ucs_aclk_hbm
   Achieved Freq:  450 MHz

   Name:           ulp_ucs_aclk_kernel_00
   Type:           SCALABLE
   Requested Freq: 200 MHz
   Achieved Freq:  102.9 MHz
"""
XCLBIN = """Scalable Clocks
---------------
   Name:      hbm_aclk
   Type:      SYSTEM
   Frequency: 450 MHz

   Name:      DATA_CLK
   Index:     0
   Type:      DATA
   Frequency: 287 MHz

System Clocks
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (QUARTUS, (302.5e6, 31125 / 234720, 0.1, 16 / 256, False)),
        (AOC, (None, 0.65, 0.5, 0.31, False)),
        (CSYNTH, (2e8, 0.2, 0.1, 0.25, True)),  # the slower of what is wanted and what is reached
        (XCLBIN, (287e6, None, None, None, False)),
        (ACHIEVED, (102.9e6, None, None, None, False)),  # not what the platform's table says
        (AREA, (None, 0.635, 0.613, 0.221, False)),
        (f"var areaJSON='{AREA}';\nvar loopsJSON='{{\\\"columns\\\"}}'", (None, 0.635, 0.613, 0.221, False)),
        (FITTED, (400e6, None, None, None, False)),
        (OLDER_FITTED, (88.64e6, None, None, None, False)),  # which is no JSON
        (ROUTED, (None, 0.5, 0.3, 0.1, False)),  # with the platform, of the whole: registers, block memory
    ],
)
def test_compilers_reports_are_read(tmp_path: Path, text: str, expected: tuple[object, ...]) -> None:
    path = tmp_path / "report"
    path.write_text(text)
    found = read_report(path)
    assert (found.frequency_hz, found.logic, found.memory, found.dsp, found.alone) == pytest.approx(expected)


@pytest.mark.parametrize("form", ["text", "protobuf"])
def test_a_link_summary_leads_to_the_linkers_reports(tmp_path: Path, form: str) -> None:
    """Whose paths are those of the machine that linked: moved with the summary, they are found below its folder."""
    there, summary = "/scratch/build/_x/reports/link/imp/kernel_util_routed.rpt", tmp_path / "k.xclbin.link_summary"
    entry = (
        f'<ENTRY>\n{{"thisFile": "/scratch/k.xclbin.link_summary"}}\n</ENTRY>\n<ENTRY>\n{{"path": "{there}"}}\n</ENTRY>'
    )
    packed = b"\n\xb0\x02v++_link_k t/scratch/k.xclbin.link_summary\x12j\x82\x01" + there.encode() + b"\x18\xf8\xda\x01"
    summary.write_bytes(entry.encode() if form == "text" else packed)
    with pytest.raises(WorkbenchError, match=r"neither k\.xclbin\.info nor kernel_util_routed\.rpt"):
        read_report(summary)
    (tmp_path / "reports" / "imp").mkdir(parents=True)
    (tmp_path / "reports" / "imp" / "kernel_util_routed.rpt").write_text(ROUTED)
    (tmp_path / "k.xclbin.info").write_text(ACHIEVED)
    found = read_report(summary)
    assert (found.frequency_hz, found.logic, found.memory, found.dsp) == pytest.approx((102.9e6, 0.5, 0.3, 0.1))


@pytest.mark.parametrize("text", ["", "a recipe", "<AreaEstimates>", "<!DOCTYPE x><AreaEstimates></AreaEstimates>"])
def test_what_is_no_report_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report"
    path.write_text(text)
    with pytest.raises(WorkbenchError, match="report"):
        read_report(path)
