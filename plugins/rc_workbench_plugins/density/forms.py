"""How the parts of a density model stand in a form."""

from rc_workbench_plugins.density.algorithms import ALGORITHMS
from workbench.api import Field, Group

MODEL = (
    Group("Model", "", (
        Field(("title",), "Title"),
        Field(("platform",), "Platform", "choice", "its memory layers", of="platforms"),
        Field(("description",), "Description", "prose"),
    )),
    Group("Algorithm", "Eq. 1: rho(alpha) = eta(alpha) / alpha", (
        Field(("algorithm",), "Known as", "choice", "empty: eta is given", ("", *ALGORITHMS)),
        Field(("eta",), "eta", "code", "operations possible with alpha bytes; alpha, s and the inputs"),
        Field(("operation",), "Operation"),
        Field(("element_bytes",), "Element s", "unit", "bytes"),
        Field(("operations",), "Operations Z", "code", "of the whole problem"),
        Field(("problem_bytes",), "Problem M", "code", "bytes; rho is held at Z/M from there"),
        Field(("block_bytes",), "Dependent blocks", "code", "bytes that are computed before the next may be loaded"),
    )),
)  # fmt: skip

STREAM = (
    Group("Stream", "besides the input: output or instructions", (
        Field(("name",), "Name"),
        Field(("bytes_per_operation",), "Bytes", "code", "for each operation; alpha, s and the inputs"),
        Field(("own_path",), "Path of its own", "check", "else it shares each layer's rate with the input"),
    )),
)  # fmt: skip

LAYER = (
    Group("Layer", "in place of the platform's numbers, or one more", (
        Field(("name",), "Name"),
        Field(("layer_bytes",), "Size mu", "unit"),
        Field(("bandwidth_bytes_per_s",), "Bandwidth", "unit"),
        Field(("latency_s",), "Latency", "unit"),
    )),
)  # fmt: skip

COMPUTE = (
    Group("Processing elements", "section 5: what the FPGA's area allows", (
        Field(("units",), "Units", "unit"),
        Field(("ops_per_cycle",), "Each does", "unit", "operations a cycle"),
        Field(("clock_hz",), "Clock", "unit"),
    )),
)  # fmt: skip
