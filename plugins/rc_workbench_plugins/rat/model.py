"""RAT's throughput test: B. Holland, K. Nagarajan, A. D. George, "RAT: RC Amenability Test for Rapid Performance
Prediction", ACM TRETS 1(4), 2009. One buffer: transfers and computation in turn; two: side by side."""

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from workbench.api import Formula, ModelDocument, ModelValues, Positive, Share, Values
from workbench.api.models import FpgaClock


class RatModel(ModelDocument):
    """One iteration moves its elements to the FPGA, computes, and moves results back."""

    elements_in: Formula = Field(description="elements moved to the FPGA in an iteration")
    elements_out: Formula = Field(description="elements moved back")
    element_bytes: Positive = Field(description="size of an element")
    rate_bytes_per_s: Positive = Field(description="the interconnect's documented rate")
    efficiency_in: Share = Field(description="share of that rate reached when writing to the FPGA")
    efficiency_out: Share = Field(description="share of that rate reached when reading back")
    ops_per_element: Formula = Field(description="operations on each element moved in")
    ops_per_cycle: Positive = Field(description="operations per cycle")
    clock_hz: FpgaClock = Field(description="the design's clock")
    iterations: Positive = Field(1, description="number of repetitions")
    software_s: Positive = Field(description="time of the software baseline")


def outputs(values: ModelValues) -> Mapping[str, Values]:
    """Times of all iterations in seconds, speedups, and the share of the time in which the FPGA computes."""
    of = values.of
    size, rate = of("element_bytes"), of("rate_bytes_per_s")
    comm_s = size / rate * (of("elements_in") / of("efficiency_in") + of("elements_out") / of("efficiency_out"))
    comp_s = of("elements_in") * of("ops_per_element") / (of("clock_hz") * of("ops_per_cycle"))
    single_s, double_s = comm_s + comp_s, np.maximum(comm_s, comp_s)
    times, software_s = of("iterations"), of("software_s")
    return {
        "total_s": times * single_s,
        "total_double_s": times * double_s,
        "comm_s": times * comm_s,
        "comp_s": times * comp_s,
        "speedup": software_s / (times * single_s),
        "speedup_double": software_s / (times * double_s),
        "computing_share": comp_s / single_s,
        "computing_share_double": comp_s / double_s,
    }
