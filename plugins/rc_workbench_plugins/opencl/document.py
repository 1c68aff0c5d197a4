"""The schema of a kernel's model (`NAME.opencl.yaml`): a kernel, its launch, and designs of it, one after another."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from rc_workbench_plugins.opencl import forms
from rc_workbench_plugins.opencl.edited import IRREGULAR
from rc_workbench_plugins.opencl.launch import Launch
from workbench.api import Completed, Count, Group, ModelDocument, ModelReading, PartDocument, Positive
from workbench.api.models import Domain, FieldPath, FpgaClock, told_twice

#: The name of the replication that a compiler chooses by resources alone, after aoc's option.
RESOURCE_DRIVEN = "-O3"
#: What a design takes of a resource: all of it at most.
Part = Annotated[int | float | str, Domain(least=0, most=1)]


class DesignDocument(PartDocument):
    """What is done to a kernel, and what a compiler's report says of it. A step has what the design before it has, but
    for the report's numbers: those are of one design alone."""

    kernel: str = Field("", description="the kernel in the file; empty: the only one, of a step the one before")
    compute_units: Count | None = Field(None, description="#CU: copies of the kernel's pipeline", examples=[2])
    simd: Count | None = Field(None, description="#SIMD: work items that each pipeline takes at once", examples=[4])
    unroll: dict[str, Count] = Field(
        default_factory=dict,
        description="#UL of loops, by a loop's line or name (L1)",
        examples=[{"12": 8}],
    )
    local_memory: tuple[str, ...] = Field(
        (), description="SM: arrays that a group keeps in local memory", examples=[["a"]]
    )
    coalesced: tuple[str, ...] = Field(
        (), description="MC: arrays laid out so that work items find neighbours", examples=[["points"]]
    )
    private_memory: tuple[str, ...] = Field(
        (), description="PM: arrays of which each work item keeps its own", examples=[["row"]]
    )
    vector_types: dict[str, int] = Field(
        default_factory=dict, description="VT: arrays read and written as vectors, and how wide", examples=[{"text": 4}]
    )
    trips: dict[str, Positive] = Field(
        default_factory=dict,
        description="rounds of loops in place of those that the launch showed, by a loop's line or name (L1)",
        examples=[{"L1": 4096}],
    )
    strides: dict[str, NonNegativeFloat | str] = Field(
        default_factory=dict,
        description="bytes from a work item to the next (of a task: from a round of the innermost loop) of accesses in "
        "place of what the launch showed, by an array or a line; 0: the same for all; or irregular",
        examples=[{"points": 4}],
    )
    left_out: tuple[str, ...] = Field(
        (), description="accesses that a changed kernel would not make, by an array or a line", examples=[["points"]]
    )
    frequency_hz: FpgaClock | None = Field(
        None, description="#Freq: the clock that the built design reaches", examples=["250 MHz"]
    )
    logic_used: Part | None = Field(
        None, description="U_logic: the share of the logic in use, the board's own too", examples=[0.3]
    )
    memory_used: Part | None = Field(None, description="U_mem: of the memory blocks", examples=[0.3])
    dsp_used: Part | None = Field(None, description="U_dsp: of the DSP blocks", examples=[0.1])
    report: str = Field(
        "",
        description="a compiler's report of this design, for values not given here: acl_quartus_report.txt, the log "
        "or the report's area.json or quartus.json of aoc, csynth.xml, .link_summary, kernel_util_routed.rpt, "
        ".xclbin.info",
        examples=["acl_quartus_report.txt"],
    )


class Step(DesignDocument):
    """One more step of tuning."""

    called: ClassVar[str] = "step"
    new: ClassVar[Mapping[str, object]] = {"name": "UL"}
    form: ClassVar[tuple[Group, ...]] = forms.STEP

    name: str = Field(description="its name", examples=["SM_UL"])


class Replication(PartDocument):
    """How often a kernel's pipeline is there, by a compiler that looks at resources alone."""

    called: ClassVar[str] = "replication by resources"
    new: ClassVar[Mapping[str, object]] = {"compute_units": 4}
    form: ClassVar[tuple[Group, ...]] = forms.REPLICATION

    compute_units: PositiveInt = Field(1, description="#CU", examples=[4])
    simd: PositiveInt = Field(1, description="#SIMD", examples=[2])


class MeasuredSpeedup(PartDocument):
    """A design's speedup over the first one as it was measured, by a paper or by you, beside the model's."""

    called: ClassVar[str] = "measured speedup"
    new: ClassVar[Mapping[str, object]] = {"design": RESOURCE_DRIVEN, "speedup": 1}
    form: ClassVar[tuple[Group, ...]] = forms.MEASURED

    design: str = Field(
        description=f"a step, or {RESOURCE_DRIVEN}: the replication by resources", examples=[RESOURCE_DRIVEN]
    )
    speedup: PositiveFloat = Field(description="measured speedup over the first design", examples=[0.7])
    source: str = Field("", description="where it was measured", examples=["Table 4"])
    reason: str = Field("", description="why the predicted speedup differs, if it does")


class OpenClModel(ModelDocument, DesignDocument):
    """An OpenCL kernel on an FPGA board (HPCA 2016)."""

    form: ClassVar[tuple[Group, ...]] = forms.MODEL

    kernel_file: str = Field(description="the file with the kernel (.cl)", examples=["kernel.cl"])
    launch: Launch = Field(description="the launch that is predicted")
    work_items: Positive | None = Field(
        None, description="#WI, if it differs from the launch's; the kernel is run at the launch's size"
    )
    resource_driven: Replication | None = Field(
        None,
        description="the replication that a compiler chooses by resources alone (`aoc -O3`), beside the steps; empty: "
        "the largest that takes 85 % of the logic at most, by the estimates",
    )
    steps: tuple[Step, ...] = Field((), description="designs that build on this one, each on the one before")
    measured: tuple[MeasuredSpeedup, ...] = Field(
        (), description="speedups of the replication by resources and of the last step as they were measured"
    )


def check(reading: ModelReading[OpenClModel]) -> Completed:
    """Tell what is wrong with a model's designs; its kernel is read when it is computed."""
    model = reading.model
    names = [step.name for step in model.steps]
    told_twice(reading, names, [("steps", n, "name") for n in range(len(names))], "steps")
    compared = (RESOURCE_DRIVEN, *names[-1:])
    for number, one in enumerate(model.measured):
        if one.design not in compared:
            hint = f"Name {' or '.join(compared)}" + (" (the last step)." if names else ".")
            reading.tell(("measured", number, "design"), f"'{one.design}' is not compared with the first design", hint)
    parts: list[tuple[FieldPath, DesignDocument]] = [
        ((), model),
        *((("steps", n), s) for n, s in enumerate(model.steps)),
    ]
    for at, part in parts:
        for name, step in part.strides.items():
            if isinstance(step, str) and step != IRREGULAR:
                hint = f"Write bytes, as in {name}: 4, or {name}: {IRREGULAR}."
                reading.tell((*at, "strides", name), f"'{step}' is not a stride", hint)
    if reading.platform is not None and reading.platform.opencl is None:
        message = f"the platform '{model.platform}' is not an OpenCL board: its template has no `opencl`"
        reading.tell(("platform",), message, "Name an OpenCL board, such as de5_net, or add `opencl` to the template.")
    if not model.platform:
        reading.tell((), "the model names no platform", "Write platform: de5_net, or name another OpenCL board.")
    return Completed(model)
