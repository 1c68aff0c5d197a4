"""A launch of a kernel as people describe one: global and local size, and what each argument holds.

The classes are part of a model's document (`launch:` in NAME.opencl.yaml). `values_of` makes the arguments' data.
"""

import io
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

from rc_workbench_plugins.opencl.kernel import Argument, Kernel, Kind, Space
from workbench.api import Diagnostic, Group, PartDocument, WorkbenchError, counted, near
from workbench.api import Field as FormField
from workbench.api.unstable import read_file

#: What buffers of one launch may take together: more is not needed to see how a kernel behaves.
LIMIT_BYTES = 4 << 30
_DTYPES: Mapping[str, str] = {
    "bool": "u1", "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8",
    "ulong": "u8", "half": "f2", "float": "f4", "double": "f8", "size_t": "u8", "ptrdiff_t": "i8", "intptr_t": "i8",
    "uintptr_t": "u8", "unsigned char": "u1", "unsigned short": "u2", "unsigned int": "u4", "unsigned long": "u8",
}  # fmt: skip
_TYPE = re.compile(r"(?:(?:const|volatile)\s+)*([a-z_ ]*?[a-z_])(\d*)\s*\**")


class Values(PartDocument):
    """What an argument of a launch holds. Of a number: its `value`, of a vector or a structure by value a list of them.
    Of a buffer: `elements` that are all `value`, or drawn evenly from `low` to `high` by a seed; or a `file`. Of local
    memory: so many `elements`."""

    called: ClassVar[str] = "argument"
    new: ClassVar[Mapping[str, object]] = {"value": 0}
    form: ClassVar[tuple[Group, ...]] = (
        Group("Argument", "", (
            FormField(("value",), "Value", "number", "of a buffer: of every element; of a vector: 1, 2, 3, 4"),
            FormField(("elements",), "Elements", "number", "of a buffer or of local memory"),
            FormField(("low",), "Random, from", "number"),
            FormField(("high",), "to", "number"),
            FormField(("seed",), "Seed", "number"),
            FormField(("file",), "File", "code", "a buffer's bytes, or an array of NumPy (.npy)"),
        )),
    )  # fmt: skip

    value: int | float | tuple[int | float, ...] | None = Field(
        None,
        description="a number's value; of a buffer, that of every element; a list: a vector's lanes, or the numbers of "
        "a structure by value in the order of its fields",
        examples=[4, [0.5, 1, 2, 0]],
    )
    elements: PositiveInt | None = Field(
        None, description="how many elements a buffer, or local memory, has", examples=[1024]
    )
    low: int | float | None = Field(None, description="random elements: the least value", examples=[0])
    high: int | float | None = Field(None, description="random elements: the greatest value", examples=[1])
    seed: int = Field(0, description="seed of random elements; the same seed gives the same elements")
    file: str = Field(
        "", description="a file with the buffer's raw bytes, or an array of NumPy (.npy)", examples=["a.npy"]
    )


class Launch(PartDocument):
    """How a kernel is launched."""

    called: ClassVar[str] = "launch"
    form: ClassVar[tuple[Group, ...]] = (
        Group("Launch", "", (
            FormField(("global_size",), "Global size", "lines", "work items, a dimension a line"),
            FormField(("local_size",), "Local size", "lines", "work items of a group; empty: 64 where that fits"),
            FormField(("groups",), "Groups run", "number", "empty: as many as finish quickly"),
            FormField(("defines",), "Macros", "pairs", "`NAME: value`, one per line"),
            FormField(("standard",), "OpenCL C", "code", "CL1.2, CL2.0 or CL3.0"),
            FormField(("include",), "Headers in", "lines", "folders, one per line, besides the kernel's own"),
        )),
    )  # fmt: skip

    global_size: Annotated[tuple[PositiveInt, ...], Field(min_length=1, max_length=3)] = Field(
        description="work items along each dimension", examples=[[1024, 1024]]
    )
    local_size: Annotated[tuple[PositiveInt, ...], Field(max_length=3)] = Field(
        (),
        description="work items of a group along each dimension; empty: what the kernel asks for, else the most up to "
        "64 that divides the first dimension",
        examples=[[16, 16]],
    )
    arguments: dict[str, Values | int | float | tuple[int | float, ...]] = Field(
        default_factory=dict,
        description="the kernel's arguments by name: a number (a list: of a vector or structure), or what a buffer "
        "holds",
        examples=[{"a": {"elements": 1024, "low": 0, "high": 1}}],
    )
    defines: dict[str, str | int | float] = Field(
        default_factory=dict, description="macros that the kernel is compiled with", examples=[{"TILE": 16}]
    )
    include: tuple[str, ...] = Field(
        (), description="folders with headers that the kernel includes, besides its own", examples=[["include"]]
    )
    standard: str = Field("CL1.2", description="the version of OpenCL C: CL1.2, CL2.0, CL3.0")
    groups: PositiveInt | None = Field(
        None,
        description="number of work groups to run for trip counts; all others are assumed equal",
        examples=[4],
    )

    @property
    def macros(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.defines.items()}


def local_size(kernel: Kernel, launch: Launch) -> tuple[int, ...]:
    """The group's size: the launch's, else what the kernel asks for, else the most up to 64 of the first dimension."""
    given = launch.local_size or kernel.attributes.get("reqd_work_group_size", ())[: len(launch.global_size)]
    size = given or (math.gcd(launch.global_size[0], 64),)
    size = (*size, *(1 for _ in launch.global_size[len(size) :]))
    if len(size) != len(launch.global_size) or any(g % n for g, n in zip(launch.global_size, size, strict=True)):
        message = f"groups of {_by(size)} do not divide {_by(launch.global_size)} work items"
        raise WorkbenchError(Diagnostic(message, "Each dimension's local size divides its global size."))
    return size


def _by(size: tuple[int, ...]) -> str:
    return " x ".join(map(str, size))


def values_of(kernel: Kernel, launch: Launch, folder: Path) -> dict[str, NDArray[np.generic]]:
    """Each argument's data by its name: a buffer's elements, a number as an array of one (a vector: of its lanes), and
    for local memory as many zeros as it has elements. Files are named from `folder` on.

    WorkbenchError for arguments that are missing, unknown, or hold what their type cannot.
    """
    names = {argument.name: argument for argument in kernel.arguments}
    if wrong := [*_unknown(kernel, launch, names), *_missing(launch, names)]:
        raise WorkbenchError(*wrong)
    by_argument: dict[str, NDArray[np.generic]] = {}
    total = 0
    for name, argument in names.items():
        given = launch.arguments[name]
        held = given if isinstance(given, Values) else Values(value=given)
        total += (held.elements or 0) * max(argument.element_bytes, 1)
        if total > LIMIT_BYTES:
            message = f"the launch's buffers take more than {LIMIT_BYTES >> 30} GiB"
            raise WorkbenchError(Diagnostic(message, "Make them smaller: less data shows the same trips and strides."))
        by_argument[name] = _values(argument, held, folder)
    return by_argument


def _unknown(kernel: Kernel, launch: Launch, names: Mapping[str, Argument]) -> Iterator[Diagnostic]:
    for name in launch.arguments:
        if name not in names:
            hint = near(name, names, "Its arguments")
            yield Diagnostic(f"the kernel '{kernel.name}' has no argument '{name}'", hint)


def _missing(launch: Launch, names: Mapping[str, Argument]) -> Iterator[Diagnostic]:
    for name, argument in names.items():
        if name not in launch.arguments:
            like = f"one, such as {name}: {{elements: {launch.global_size[0]}}}"
            hint = f"Give launch.arguments {like if argument.type.kind is Kind.POINTER else 'its value'}."
            yield Diagnostic(f"the argument '{name}' ({argument.type_name}) has no value", hint)


def dtype_of(argument: Argument) -> tuple[np.dtype[np.generic], int]:
    """The NumPy type of an argument's elements, and how many lanes each has. WorkbenchError for a type of its own."""
    match = _TYPE.fullmatch(argument.type_name.strip())
    name = match[1] if match else ""
    if match is None or name not in _DTYPES:
        hint = "Give a buffer's bytes as a file."
        raise WorkbenchError(Diagnostic(f"the type of '{argument.name}' is not known: {argument.type_name}", hint))
    return np.dtype(_DTYPES[name]), int(match[2] or 1)


def _values(argument: Argument, held: Values, folder: Path) -> NDArray[np.generic]:
    pointer = argument.type.kind is Kind.POINTER and not argument.by_value
    if pointer and held.file:
        return _from_file(folder / held.file)
    if argument.by_value and held.file:
        data = _from_file(folder / held.file).view("u1")
        if len(data) != argument.element_bytes:
            takes = counted(argument.element_bytes, "byte")
            message = f"'{argument.name}' ({argument.type_name}) takes {takes}, not {len(data)}"
            raise WorkbenchError(
                Diagnostic(message, "Give a file with exactly the structure's bytes.", file=str(folder / held.file))
            )
        return data
    if pointer and held.elements is None:
        hint = f"Write {argument.name}: {{elements: 1024}}, with `value`, or `low` and `high`; or a `file`."
        raise WorkbenchError(Diagnostic(f"the buffer '{argument.name}' has no number of elements", hint))
    if not pointer and (held.value is None or held.elements is not None or held.file):
        hint = f"Write {argument.name}: 4, or a list of a vector's lanes or a structure's numbers."
        message = f"'{argument.name}' is a number ({argument.type_name}) and needs a value"
        raise WorkbenchError(Diagnostic(message, hint))
    if argument.by_value:
        return _structure(argument, held.value)
    try:
        dtype, lanes = dtype_of(argument)
    except WorkbenchError:
        if not pointer or held.elements is None or held.value or held.low is not None:
            raise
        return np.zeros(held.elements * max(argument.element_bytes, 1), "u1")
    count = lanes * (held.elements or 1)
    if argument.type.space is Space.LOCAL:
        return np.zeros(count, dtype)
    if held.low is None and held.high is None:
        return _held(np.tile(_each(argument, held.value, lanes), held.elements or 1), dtype, argument)
    low, high = held.low or 0, 1 if held.high is None else held.high
    if high < low:
        raise WorkbenchError(Diagnostic(f"'{argument.name}': low ({low}) is above high ({high})", "Swap them."))
    random = np.random.default_rng(held.seed)
    if dtype.kind == "f":
        return _held(random.uniform(low, high, count), dtype, argument)
    return _held(random.integers(int(low), int(high), count, endpoint=True), dtype, argument)


def _each(argument: Argument, value: float | tuple[float, ...] | None, count: int) -> NDArray[np.generic]:
    """So many numbers of a given one, or as many as are given."""
    given = np.atleast_1d(np.asarray(0 if value is None else value))
    if len(given) not in (1, count):
        message = f"'{argument.name}' ({argument.type_name}) takes {count} numbers, not {len(given)}"
        raise WorkbenchError(Diagnostic(message, "Give one for all, or one for each."))
    return np.resize(given, count)


def _structure(argument: Argument, value: float | tuple[float, ...] | None) -> NDArray[np.generic]:
    """The bytes of a structure by value: its numbers in the order of its fields."""
    data = np.zeros(argument.element_bytes, "u1")
    for (at, kind), number in zip(argument.fields, _each(argument, value, len(argument.fields)), strict=True):
        element = np.dtype(f"{'f' if kind.kind is Kind.FLOAT else 'i'}{kind.bytes}")
        wide = element if element.kind == "f" or number < 1 << (8 * kind.bytes - 1) else np.dtype(f"u{kind.bytes}")
        data[at : at + kind.bytes] = _held(np.array([number]), wide, argument).view("u1")
    return data


def _held(values: NDArray[np.generic], dtype: np.dtype[np.generic], argument: Argument) -> NDArray[np.generic]:
    """The values as the argument's type has them. WorkbenchError where that cannot hold them."""
    with np.errstate(all="ignore"):
        cast = values.astype(dtype)
    if dtype.kind != "f" and not np.array_equal(cast, values):
        message = f"'{argument.name}' ({argument.type_name}) cannot hold {np.asarray(values).flat[0]:g}"
        raise WorkbenchError(Diagnostic(message, "Give whole numbers within its range."))
    return cast


def _from_file(path: Path) -> NDArray[np.generic]:
    data = read_file(path)
    if path.suffix == ".npy":
        try:
            return np.ascontiguousarray(np.load(io.BytesIO(data), allow_pickle=False)).ravel()
        except (ValueError, OSError, EOFError) as error:
            raise WorkbenchError(Diagnostic(f"this is not a NumPy array: {error}", file=str(path))) from None
    return np.frombuffer(data, "u1")
