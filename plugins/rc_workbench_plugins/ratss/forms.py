"""How the parts of a RATSS model stand in a form."""

from workbench.api import Field, Group

SYSTEMS = ("NNUS", "UNNS")
KINDS = ("scatter", "gather", "broadcast", "reduce", "all-gather", "all-to-all", "barrier", "io")
READINGS = ("literal", "fitted")

MODEL = (
    Group("Model", "", (
        Field(("title",), "Title"),
        Field(("platform",), "Platform", "choice", "its networks and transfer times", of="platforms"),
        Field(("system",), "System", "choice", "Fig. 1: NNUS has a bus to each FPGA, UNNS one network", SYSTEMS),
        Field(("description",), "Description", "prose"),
    )),
    Group("Application", "Eqs. 16 and 17", (
        Field(("iterations",), "Iterations", "unit", "of all stages together"),
        Field(("pipelined",), "Pipelined", "check", "stages side by side: the slowest counts"),
        Field(("baseline_s",), "Software takes", "unit", "for the speedup"),
    )),
)  # fmt: skip

STAGE = (
    Group("Stage", "Eqs. 11 to 15", (
        Field(("name",), "Name"),
        Field(("iterations",), "Iterations", "unit"),
        Field(("overlapped",), "Overlapped", "check", "communication during computation: the longer counts"),
        Field(("nonblocking",), "Nonblocking", "check", "transactions at once: all delays, the longest of the rest"),
        Field(("after",), "After", "lines", "stages it needs first, one per line"),
    )),
    Group("Beside FPGA and network", "", (
        Field(("configuration_s",), "Configuration", "unit"),
        Field(("preprocessing_s",), "Preprocessing", "unit"),
        Field(("postprocessing_s",), "Postprocessing", "unit"),
        Field(("microprocessor_s",), "Microprocessor", "unit", "its share, while the FPGAs compute"),
    )),
)  # fmt: skip

NODE = (
    Group("FPGA node", "Eqs. 3 and 4: PL/F + N × ops / (F × R)", (
        Field(("name",), "Name"),
        Field(("pipeline_cycles",), "Pipeline PL", "unit", "cycles of latency"),
        Field(("elements",), "Elements N", "code"),
        Field(("ops_per_element",), "Operations each", "code"),
        Field(("clock_hz",), "Clock F", "unit"),
        Field(("ops_per_cycle",), "Throughput R", "unit", "operations a cycle"),
    )),
    Group("Measured", "taken over from instrumented runs", (
        Field(("measured_in",), "States", "lines", "of the FPGA, one per line"),
        Field(("correction",), "Correction", "unit", "measured over predicted"),
    )),
)  # fmt: skip

TRANSACTION = (
    Group("Transaction", "Eqs. 5 to 10, 18 to 20, 26, 27", (
        Field(("name",), "Name"),
        Field(("kind",), "Kind", "choice", choices=KINDS),
        Field(("nodes",), "Nodes P", "code"),
        Field(("bytes",), "Message k", "code", "bytes of each node; all-to-all: to each other; barrier: none"),
        Field(("transfers",), "Transfers", "code", "number of delays"),
        Field(("returns",), "Returns", "check", "brings results back, after the computation"),
    )),
    Group("Over", "of the platform, or numbers of its own", (
        Field(("network",), "Network", "choice", of="networks"),
        Field(("table",), "Transfer table", "choice", of="transfer_tables"),
        Field(("serial",), "Serial", "check", "messages follow one another (SNAP), no rounds"),
        Field(("overlapped",), "Overlapped", "check", "gather: only the last message shows"),
        Field(("reading",), "Reading", "choice", "of Eq. 20", READINGS),
    )),
    Group("Numbers", "replaces the network's", (
        Field(("rate_bytes_per_s",), "Rate R", "unit", "Eq. 7"),
        Field(("efficiency",), "Efficiency", "unit", "of the rate"),
        Field(("latency_s",), "Latency L", "unit"),
        Field(("overhead_s",), "Overhead o", "unit"),
        Field(("gap_s",), "Gap g", "unit"),
        Field(("gap_per_byte_s",), "Gap G", "unit", "per byte"),
        Field(("capacity",), "Capacity", "unit", "messages at full rate at once"),
        Field(("reduction_s",), "Addition gamma", "unit", "of one element, in a reduce"),
        Field(("bytes_per_element",), "Element", "unit", "bytes"),
    )),
    Group("Measured", "taken over from instrumented runs", (
        Field(("measured_in",), "States", "lines", "of the host, one per line"),
        Field(("correction",), "Correction", "unit", "measured over predicted"),
    )),
)  # fmt: skip

NETWORK = (
    Group("Network", "LogGP", (
        Field(("name",), "Name"),
        Field(("latency_s",), "Latency L", "unit"),
        Field(("overhead_s",), "Overhead o", "unit"),
        Field(("gap_s",), "Gap g", "unit"),
        Field(("gap_per_byte_s",), "Gap G", "unit", "per byte"),
        Field(("reduction_per_byte_s",), "Addition gamma", "unit", "per byte"),
        Field(("capacity",), "Capacity", "unit", "messages at full rate at once; empty: all"),
        Field(("source",), "Source"),
    )),
    Group("Unlike nodes", "HLogGP, in place of the one number for all: a number for each node", (
        Field(("overheads_s",), "Overheads o", "numbers", "with commas", aside=True),
        Field(("gaps_s",), "Gaps g", "numbers", "with commas", aside=True),
        Field(("latencies_s",), "Latencies L", "rows", "a line for each node: to each node, with commas", aside=True),
        Field(("gaps_per_byte_s",), "Gaps G", "rows", "per byte, as the latencies", aside=True),
    )),
)  # fmt: skip

POWER = (
    Group("Power", "of each node", (
        Field(("nodes",), "Nodes P", "code"),
        Field(("static_w",), "FPGA at rest", "unit"),
        Field(("kernels",), "Kernels", "code", "of a node's FPGA"),
        Field(("kernel_cycle_j",), "Kernel's cycle", "unit", "dynamic energy at full utilisation"),
        Field(("utilisation",), "Utilisation", "unit", "share of the cycles in which a kernel switches"),
        Field(("host_idle_w",), "Host", "unit", "as long as the application lasts"),
        Field(("host_busy_w",), "Host working", "unit", "more, while it works or communicates"),
        Field(("network_idle_w",), "Network", "unit", "adapter and port of the switch"),
        Field(("network_busy_w",), "Network working", "unit", "more, during collectives"),
        Field(("sources",), "Sources", "lines", "FIELD: source, one per line"),
    )),
)  # fmt: skip

MEASURED = (
    Group("Measurement", "of an implementation, for the error (Table V)", (
        Field(("stage",), "Stage", note="empty: the application"),
        Field(("comp_s",), "Computation", "unit"),
        Field(("comm_s",), "Communication", "unit"),
        Field(("total_s",), "Total", "unit"),
        Field(("speedup",), "Speedup", "unit"),
        Field(("source",), "Source"),
    )),
)  # fmt: skip
