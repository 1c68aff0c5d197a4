"""Designs whose FIFOs have to be as deep as it takes, each in the application `fork_join`'s place: Verilog by name."""

from pathlib import Path

from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins

APPLICATION = Path(__file__).parents[1] / "data" / "applications" / "fork_join"

_PORTS = """(input wire clk, input wire rst,
    input wire in_valid, output wire in_ready, input wire [31:0] in_data,
    output wire out_valid, input wire out_ready, output wire [31:0] out_data);"""

#: `serial` works so long on each word, by its low bits; `piped` gives each word LATENCY cycles later, and holds all
#: where one is not taken; `every` gives one word for TIMES taken, `each` TIMES for one; `bursts` rests REST cycles
#: after every LENGTH words.
_PARTS = f"""
module serial #(parameter LEAST = 1, parameter MASK = 0) {_PORTS}
    reg [31:0] held = 0;
    reg [15:0] left = 0;
    reg full = 0;
    assign in_ready = ~full;
    assign out_valid = full & left == 0;
    assign out_data = held + 1;
    always @(posedge clk)
        if (rst) full <= 0;
        else if (~full) begin
            if (in_valid) begin
                full <= 1;
                held <= in_data;
                left <= LEAST - 1 + ((in_data * 40503 >> 7) & MASK);
            end
        end else if (left != 0) left <= left - 1;
        else if (out_ready) full <= 0;
endmodule

module piped #(parameter LATENCY = 3) {_PORTS}
    reg [LATENCY-1:0] full = 0;
    reg [31:0] held [0:LATENCY-1];
    wire go = ~full[LATENCY-1] | out_ready;
    assign in_ready = go;
    assign out_valid = full[LATENCY-1];
    assign out_data = held[LATENCY-1] + 1;
    integer i;
    always @(posedge clk)
        if (rst) full <= 0;
        else if (go) begin
            full <= {{full[LATENCY-2:0], in_valid}};
            held[0] <= in_data;
            for (i = 1; i < LATENCY; i = i + 1) held[i] <= held[i-1];
        end
endmodule

module every #(parameter TIMES = 4) {_PORTS}
    reg [31:0] sum = 0;
    reg [7:0] count = 0;
    reg full = 0;
    assign in_ready = ~full;
    assign out_valid = full;
    assign out_data = sum;
    always @(posedge clk)
        if (rst) begin count <= 0; full <= 0; sum <= 0; end
        else if (~full) begin
            if (in_valid) begin
                sum <= (count == 0 ? 0 : sum) + in_data;
                count <= count == TIMES - 1 ? 0 : count + 1;
                full <= count == TIMES - 1;
            end
        end else if (out_ready) full <= 0;
endmodule

module each #(parameter TIMES = 4, parameter GAP = 0) {_PORTS}
    reg [31:0] held = 0;
    reg [7:0] left = 0, wait_ = 0;
    assign in_ready = left == 0;
    assign out_valid = left != 0 & wait_ == 0;
    assign out_data = held + left;
    always @(posedge clk)
        if (rst) left <= 0;
        else if (left == 0) begin
            if (in_valid) begin held <= in_data; left <= TIMES; wait_ <= GAP; end
        end else if (wait_ != 0) wait_ <= wait_ - 1;
        else if (out_ready) begin left <= left - 1; wait_ <= GAP; end
endmodule

module bursts #(parameter LENGTH = 8, parameter REST = 24) {_PORTS}
    reg [15:0] count = 0, rest_ = 0;
    wire on = rest_ == 0;
    assign in_ready = out_ready & on;
    assign out_valid = in_valid & on;
    assign out_data = in_data;
    always @(posedge clk)
        if (rst) begin count <= 0; rest_ <= 0; end
        else if (rest_ != 0) rest_ <= rest_ - 1;
        else if (in_valid & out_ready) begin
            count <= count == LENGTH - 1 ? 0 : count + 1;
            rest_ <= count == LENGTH - 1 ? REST : 0;
        end
endmodule
"""

_TOP = """
module fork_join (input wire clk, input wire rst, FAST
    input wire s_axis_tvalid, output wire s_axis_tready, input wire [31:0] s_axis_tdata, input wire s_axis_tlast,
    output wire m_axis_tvalid, input wire m_axis_tready, output wire [31:0] m_axis_tdata);
"""


class _Design:
    """Verilog of instances that streams join; what is added now is on `clock`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.clock = "clk"
        self.count = 0

    def stream(self) -> str:
        self.count += 1
        self.lines.append(f"    wire w{self.count}_valid, w{self.count}_ready; wire [31:0] w{self.count}_data;")
        return f"w{self.count}"

    def add(self, kind: str, name: str, source: str, **parameters: int) -> str:
        """An instance that takes `source`; what it gives."""
        given = self.stream()
        ends = ("s_axis", "m_axis") if kind == "slow" else ("in", "out")
        values = ", ".join(f".{one}({value})" for one, value in parameters.items())
        self.lines.append(f"    {kind} {f'#({values}) ' if values else ''}{name} (.clk({self.clock}), .rst(rst), "
                          f"{_joined(ends[0], source)}, {_joined(ends[1], given)});")  # fmt: skip
        return given

    def cross(self, name: str, source: str, to: str) -> str:
        """A FIFO to another clock, on which what follows is."""
        given, self.clock, before = self.stream(), to, self.clock
        self.lines.append(f"    async_fifo {name} (.rst_n(~rst), .in_clk({before}), .out_clk({to}), "
                          f"{_joined('in', source)}, {_joined('out', given)});")  # fmt: skip
        return given

    def fork(self, name: str, source: str) -> tuple[str, str]:
        a, b = self.stream(), self.stream()
        self.lines.append(f"    fork2 {name} ({_joined('in', source)}, {_joined('a', a)}, {_joined('b', b)});")
        return a, b

    def join(self, name: str, a: str, b: str) -> str:
        out = self.stream()
        self.lines.append(f"    join2 {name} ({_joined('a', a)}, {_joined('b', b)}, {_joined('out', out)});")
        return out

    def text(self, last: str) -> str:
        names = (("valid", "s_axis_tvalid"), ("data", "s_axis_tdata"))
        begin = "\n".join(["    wire s_valid, s_ready; wire [31:0] s_data;",
                           *(f"    assign s_{one} = {signal};" for one, signal in names),
                           "    assign s_axis_tready = s_ready;"])  # fmt: skip
        end = f"    assign m_axis_tvalid = {last}_valid;\n    assign m_axis_tdata = {last}_data;\n"
        end += f"    assign {last}_ready = m_axis_tready;\n"
        top = _TOP.replace("FAST", "input wire fast," if any(".clk(fast)" in line for line in self.lines) else "")
        return top + "\n".join([begin, *self.lines]) + f"\n{end}endmodule\n"


def _joined(end: str, stream: str) -> str:
    axis = "t" if end.endswith("_axis") else ""
    return ", ".join(f".{end}_{axis}{one}({stream}_{one})" for one in ("valid", "ready", "data"))


def _chain() -> str:
    """Three FIFOs between parts of other paces, one of which rests now and then."""
    d = _Design()
    s = d.add("fifo", "f0", d.add("bursts", "gate", "s", LENGTH=12, REST=30), DEPTH=8)
    s = d.add("fifo", "f1", d.add("serial", "first", s, LEAST=1, MASK=3), DEPTH=8)
    s = d.add("fifo", "f2", d.add("bursts", "middle", s, LENGTH=5, REST=9), DEPTH=8)
    return d.text(d.add("serial", "last", s, LEAST=2, MASK=1))


def _rates() -> str:
    """Four words become one, which takes long, and one becomes four."""
    d = _Design()
    s = d.add("fifo", "wide", "s", DEPTH=8)
    s = d.add("fifo", "narrow", d.add("every", "sum", s, TIMES=4), DEPTH=8)
    s = d.add("serial", "work", s, LEAST=5, MASK=7)
    return d.text(d.add("fifo", "back", d.add("each", "spread", s, TIMES=4), DEPTH=8))


def _unequal() -> str:
    """A source and a sink that take turns in being the slow one."""
    d = _Design()
    s = d.add("serial", "giver", "s", LEAST=1, MASK=15)
    return d.text(d.add("serial", "taker", d.add("fifo", "between", s, DEPTH=4), LEAST=2, MASK=7))


def _bursts() -> str:
    """Bursts of other lengths on both sides of a FIFO."""
    d = _Design()
    s = d.add("bursts", "giver", "s", LENGTH=16, REST=48)
    s = d.add("fifo", "between", s, DEPTH=4)
    return d.text(d.add("bursts", "taker", s, LENGTH=4, REST=12))


def _three_branches() -> str:
    """Two forks and two joins; a pipeline, a slow part and nothing on the branches."""
    d = _Design()
    a, rest = d.fork("split", "s")
    b, c = d.fork("again", rest)
    a = d.add("fifo", "direct", a, DEPTH=32)
    b = d.add("piped", "pipe", d.add("fifo", "early", b, DEPTH=16), LATENCY=7)
    c = d.add("slow", "gather", d.add("fifo", "ahead", c, DEPTH=16), GATHER=6, DELAY=3)
    return d.text(d.join("merge", a, d.join("inner", d.add("fifo", "behind", b, DEPTH=16), c)))


def _piped() -> str:
    """A fork around a pipeline."""
    d = _Design()
    a, b = d.fork("split", "s")
    a, b = d.add("fifo", "beside", a, DEPTH=16), d.add("piped", "pipe", b, LATENCY=9)
    return d.text(d.join("merge", a, b))


def _mixed_rates() -> str:
    """A fork of which one branch thins out and spreads again; the join waits for it."""
    d = _Design()
    a, b = d.fork("split", "s")
    a = d.add("fifo", "direct", a, DEPTH=32)
    b = d.add("every", "thin", d.add("fifo", "ahead", b, DEPTH=16), TIMES=8)
    b = d.add("each", "spread", d.add("fifo", "few", b, DEPTH=4), TIMES=8, GAP=1)
    return d.text(d.join("merge", a, b))


def _long_chain() -> str:
    """Five FIFOs and parts whose times depend on the data."""
    d = _Design()
    s = "s"
    for number, mask in enumerate((7, 3, 15, 1, 7)):
        s = d.add("serial", f"part{number}", d.add("fifo", f"q{number}", s, DEPTH=6), LEAST=2, MASK=mask)
    return d.text(s)


def _two_clocks() -> str:
    """There and back to a faster clock, with FIFOs on both."""
    d = _Design()
    s = d.add("fifo", "slow_side", d.add("bursts", "gate", "s", LENGTH=10, REST=30), DEPTH=16)
    s = d.cross("there", d.add("serial", "first", s, LEAST=1, MASK=3), "fast")
    s = d.add("fifo", "fast_side", d.add("bursts", "middle", s, LENGTH=4, REST=17), DEPTH=16)
    s = d.cross("back", d.add("serial", "second", s, LEAST=2, MASK=7), "clk")
    return d.text(d.add("serial", "last", d.add("fifo", "behind", s, DEPTH=16), LEAST=1, MASK=7))


#: Verilog of each, and the settings of the application.
DESIGNS: dict[str, tuple[str, dict[str, int]]] = {
    "fork_join": ("", {}),
    "fork_join_slow": ("", {"DELAY": 20, "SHORT": 32}),
    "chain": (_chain(), {}),
    "rates": (_rates(), {}),
    "unequal": (_unequal(), {}),
    "bursts": (_bursts(), {}),
    "three_branches": (_three_branches(), {"WORDS": 120}),
    "piped": (_piped(), {}),
    "mixed_rates": (_mixed_rates(), {}),
    "long_chain": (_long_chain(), {}),
    "two_clocks": (_two_clocks(), {}),
}


def written(folder: Path, name: str) -> Workspace:
    """The application with a design, opened."""
    verilog, settings = DESIGNS[name]
    for source in APPLICATION.iterdir():
        (folder / source.name).write_text(source.read_text("utf-8"), "utf-8")
    project = folder / "fork_join.workbench.yaml"
    text = project.read_text("utf-8")
    if verilog:
        if "input wire fast" in verilog:
            parts = (APPLICATION.parent / "round_trip" / "round_trip.v").read_text("utf-8")
            verilog = parts.partition("module feeder ")[0] + verilog
            card = folder / "card.yaml"
            clock = "    - {name: clk, frequency_hz: 100 MHz, reset: rst}\n"
            fast = "    - {name: fast, frequency_hz: 137 MHz}\n"
            card.write_text(card.read_text("utf-8").replace(clock, clock + fast), "utf-8")
        parts = (APPLICATION / "fork_join.v").read_text("utf-8").partition("module fork_join ")[0]
        (folder / "fork_join.v").write_text(parts + _PARTS + verilog, "utf-8")
        text = text.replace("  parameters: {SHORT: 16, GATHER: 8, DELAY: 0}\n", "")
        for setting in ("SHORT: 16", "GATHER: 8", "DELAY: 0"):
            text = text.replace(f"  {setting}\n", "")
    for setting, value in settings.items():
        before = next(line for line in text.splitlines() if line.startswith(f"  {setting}: "))
        text = text.replace(before, f"  {setting}: {value}")
    project.write_text(text, "utf-8")
    return open_workspace(folder, load_plugins())
