"""How the parts of a kernel's model stand in a form."""

from workbench.api import Field, Group

DESIGN = (
    Group("Replicated", "", (
        Field(("compute_units",), "Compute units", "unit", "CU: copies of the whole pipeline"),
        Field(("simd",), "SIMD", "unit", "work items at once"),
        Field(("unroll",), "Unroll", "pairs", "UL: a loop's line or name, and its factor: `12: 8`, one per line"),
    )),
    Group("Arrays", "their names as the kernel's arguments, one per line", (
        Field(("local_memory",), "Local memory", "lines", "SM"),
        Field(("coalesced",), "Coalesced", "lines", "MC"),
        Field(("private_memory",), "Private memory", "lines", "PM"),
        Field(("vector_types",), "Vectors", "pairs", "VT: an array, and how wide it is read: `text: 4`"),
    )),
    Group("Loops and accesses", "in place of what the launch showed; empty: as it did", (
        Field(("trips",), "Rounds", "pairs", "a loop's line or name, and its rounds: `L1: 4096`", aside=True),
        Field(("strides",), "Strides", "pairs", "an array or a line, and bytes to the next item: `a: 4`", aside=True),
        Field(("left_out",), "Left out", "lines", "accesses: an array or a line, one per line", aside=True),
    )),
    Group("From the compiler's report", "of this design; empty: the estimate", (
        Field(("frequency_hz",), "Clock", "unit"),
        Field(("logic_used",), "Logic used", "unit", "a share, the board's own included"),
        Field(("memory_used",), "Memory used", "unit"),
        Field(("dsp_used",), "DSP used", "unit"),
        Field(("report",), "Report", "code", "a file, for values that are not given here"),
    )),
)  # fmt: skip

MODEL = (
    Group("Model", "", (
        Field(("title",), "Title"),
        Field(("platform",), "Board", "choice", "a platform with `opencl`", of="platforms"),
        Field(("kernel_file",), "Kernel file", "code"),
        Field(("kernel",), "Kernel", "code", "empty: the only one"),
        Field(("work_items",), "Work items", "unit", "empty: those of the launch"),
        Field(("description",), "Description", "prose"),
    )),
    *DESIGN,
)  # fmt: skip

REPLICATION = (
    Group("Replication by resources", "as `aoc -O3` chooses it, compared with the steps", (
        Field(("compute_units",), "Compute units", "unit"),
        Field(("simd",), "SIMD", "unit"),
    )),
)  # fmt: skip

MEASURED = (
    Group("Measured speedup", "over the first design", (
        Field(("design",), "Design", "code", "-O3, or the last step"),
        Field(("speedup",), "Speedup", "unit"),
        Field(("source",), "Source"),
        Field(("reason",), "Reason", "prose", "why the predicted speedup differs"),
    )),
)  # fmt: skip

STEP = (
    Group("Step", "includes the design before it", (
        Field(("name",), "Name"),
        Field(("kernel",), "Kernel", "code", "empty: the one before"),
    )),
    *DESIGN,
)  # fmt: skip
