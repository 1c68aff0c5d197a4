"""An FPGA board under OpenCL: what a prediction of a kernel needs of it, part of a platform's document.

Times are cycles of the kernel's clock, sizes bytes or bits as named, frequencies hertz.
"""

from typing import Annotated

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from workbench.model.document import Document

Cycles = Annotated[float, Field(ge=0)] | None


class InstructionCycles(Document):
    """How long an instruction of a kernel takes, by its kind (Wang, He, Zhang and Jiang 2016, Table 2); None where the
    board's table does not say."""

    int_add: Cycles = Field(None, description="cycles of an addition, comparison or bitwise operation")
    int_mul: Cycles = Field(None, description="cycles of a multiplication of whole numbers")
    int_div: Cycles = Field(None, description="cycles of their division, or its remainder")
    fp_add: Cycles = Field(None, description="cycles of a floating-point addition")
    fp_mul: Cycles = Field(None, description="cycles of a floating-point multiplication")
    fp_div: Cycles = Field(None, description="cycles of a floating-point division")
    fp_sqrt: Cycles = Field(None, description="cycles of a square root")
    local_memory: Cycles = Field(None, description="cycles of an access of local memory")
    branch: Cycles = Field(None, description="cycles of a branch")
    other: Cycles = Field(None, description="cycles of all operations without a row above, such as an exponential")


class InstructionLogic(Document):
    """Logic blocks that an instruction of a kernel takes, by its kind: an estimate, since compilers share and merge."""

    int_add: NonNegativeFloat = Field(0, description="logic blocks of an addition, comparison or bitwise operation")
    int_mul: NonNegativeFloat = Field(
        0, description="logic blocks of a multiplication of whole numbers, where the DSP blocks run out"
    )
    int_div: NonNegativeFloat = Field(0, description="logic blocks of their division, or its remainder")
    fp_add: NonNegativeFloat = Field(0, description="logic blocks of a floating-point addition")
    fp_mul: NonNegativeFloat = Field(0, description="logic blocks of a floating-point multiplication")
    fp_div: NonNegativeFloat = Field(0, description="logic blocks of a floating-point division")
    fp_sqrt: NonNegativeFloat = Field(0, description="logic blocks of a square root")
    local_memory: NonNegativeFloat = Field(0, description="logic blocks of an access of local memory")
    branch: NonNegativeFloat = Field(0, description="logic blocks of a branch")
    other: NonNegativeFloat = Field(0, description="logic blocks of all operations without a row above")
    access: NonNegativeFloat = Field(0, description="logic blocks of a load or store of global memory")
    barrier: NonNegativeFloat = Field(0, description="logic blocks of a barrier, which keeps a group's work items")


class MemoryCost(Document):
    """Memory blocks that parts of a kernel take, each in one compute unit: an estimate, fitted to published builds."""

    kernel: NonNegativeFloat = Field(0, description="memory blocks of a compute unit's dispatch and its results")
    load: NonNegativeFloat = Field(0, description="memory blocks of a load of global memory: its bursts and answers")
    store: NonNegativeFloat = Field(0, description="memory blocks of a store")
    irregular: NonNegativeFloat = Field(
        0, description="more of an access whose addresses follow no step from a work item to the next"
    )
    cache: NonNegativeFloat = Field(0, description="memory blocks of the cache of constants, once for a kernel")
    constant: NonNegativeFloat = Field(0, description="memory blocks of each access of that cache")
    barrier: NonNegativeFloat = Field(
        0, description="times that a group's values are kept at a barrier, in blocks of their width and number"
    )
    barrier_bits: NonNegativeFloat = Field(
        0, description="bits that a work item keeps at each barrier besides its values, such as its place in the launch"
    )
    waiting: NonNegativeFloat = Field(
        0, description="the part of values' queues in memory blocks, of values that wait for others in the pipeline"
    )
    loop_array: NonNegativeFloat = Field(
        0, description="times that a loop keeps each work item's small arrays, in blocks of their width"
    )
    private_items: NonNegativeFloat = Field(
        0, description="work items in flight, each with its own copy of a large private array"
    )
    crowded_logic: Annotated[float, Field(gt=0, le=1)] = Field(
        1, description="the share of the logic from which on queues are built of memory blocks, no longer of logic"
    )
    crowded: Annotated[float, Field(ge=1)] = Field(1, description="how many times as much all that is from there on")
    least: Annotated[float, Field(gt=0, le=1)] = Field(
        1, description="of 80 % of builds of kernels that were not fitted, the least part of the estimate"
    )
    most: Annotated[float, Field(ge=1)] = Field(1, description="the largest one, in times of the estimate")


class KernelClock(Document):
    """The clocks that built kernels reached on a board, of those that took up to a share of the logic."""

    logic: Annotated[float, Field(gt=0, le=1)] = Field(
        description="the largest share of the logic, the board's own included, that this holds for", examples=[0.3]
    )
    least_clock_hz: PositiveFloat = Field(description="the slowest usual clock", examples=["150 MHz"])
    most_clock_hz: PositiveFloat = Field(description="the fastest usual clock", examples=["260 MHz"])
    source: str = Field("", description="the builds that it comes from")


class KernelBoard(Document):
    """An FPGA board under OpenCL: what a kernel's prediction needs of it (Wang, He, Zhang and Jiang 2016, section 3.1,
    Table 1; `latency_cycles` is Table 2)."""

    banks: PositiveInt = Field(description="#Banks: banks of global memory; each serves one transaction a cycle")
    transaction_bytes: PositiveInt = Field(description="#Mem_trans_width: the widest memory transaction")
    dram_latency_cycles: PositiveFloat = Field(40, description="#DRAM_lat: cycles until global memory answers")
    uncoalesced_cycles: Annotated[float, Field(ge=1)] = Field(
        1,
        description="cycles for which a transaction that joins no burst keeps a bank busy; measured, or cited: the "
        "paper has no such cost",
    )
    logic_available: Annotated[float, Field(gt=0, le=1)] = Field(
        1, description="I_L: the share of the logic that memory and bus controllers leave", examples=[0.83]
    )
    memory_available: Annotated[float, Field(gt=0, le=1)] = Field(1, description="I_M: of the memory blocks")
    dsp_available: Annotated[float, Field(gt=0, le=1)] = Field(1, description="I_D: of the DSP blocks")
    least_clock_hz: PositiveFloat | None = Field(
        None,
        description="the slowest clock that kernels reach, where no report says it",
        examples=["150 MHz"],
    )
    most_clock_hz: PositiveFloat | None = Field(None, description="the fastest one", examples=["300 MHz"])
    clocks: tuple[KernelClock, ...] = Field(
        (), description="narrower ranges of that clock, by how much of the logic a kernel takes"
    )
    logic_blocks: PositiveInt | None = Field(
        None, description="logic blocks of the FPGA, in which `logic_cost` counts", examples=[234720]
    )
    dsps: PositiveInt | None = Field(None, description="DSP blocks of the FPGA", examples=[256])
    int_mul_dsps: NonNegativeFloat = Field(0, description="DSP blocks that a multiplication of 32-bit integers takes")
    fp_mul_dsps: NonNegativeFloat = Field(0, description="DSP blocks that a multiplication of floats takes")
    fp_add_dsps: NonNegativeFloat = Field(
        0, description="DSP blocks that an addition of floats takes which follows no multiplication"
    )
    logic_cost: InstructionLogic = Field(
        InstructionLogic(), description="logic blocks that instructions take, by their kind"
    )
    memory_blocks: PositiveInt | None = Field(None, description="memory blocks of the FPGA", examples=[2560])
    memory_block_width: PositiveInt = Field(40, description="bits of a memory block's word")
    memory_block_depth: PositiveInt = Field(512, description="words of a memory block at that width")
    memory_cost: MemoryCost = Field(MemoryCost(), description="memory blocks that parts of a kernel take")
    latency_cycles: InstructionCycles = Field(InstructionCycles(), description="cycles of instructions, by their kind")
    source: str = Field("", description="source of the numbers")
