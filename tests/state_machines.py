"""Generated state machines whose dwell times are known, in both languages, and what they do in each cycle."""

import random
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from rtl_simulator import Cycle

from workbench.model.read_out import ReadOutPlan
from workbench.model.run_tables import Table


@dataclass(frozen=True)
class Machine:
    """By state: for how many cycles, where to for either value of its bit, and which pragma (0: none)."""

    name: str
    dwell: tuple[int, ...]
    next: tuple[tuple[int, int], ...]
    marks: tuple[int, ...]
    values: tuple[int, ...]  # of the register
    asynchronous: bool
    bit: int

    def states(self, cycles: list[Cycle]) -> NDArray[np.int64]:
        """The number of the state in each cycle: 0 in those in reset."""
        found, state, timer = np.zeros(len(cycles), np.int64), 0, 0
        for number, cycle in enumerate(cycles):
            if cycle.rst:
                state, timer = 0, 0
                continue
            found[number] = self.marks[state]
            if timer == self.dwell[state] - 1:
                state, timer = self.next[state][cycle.stimulus >> self.bit & 1], 0
            else:
                timer += 1
        return found

    def text(self, name: str, condition: str) -> str:
        """The machine in Verilog, with a condition at each pragma."""
        names = [f"S{n}" for n in range(len(self.dwell))]
        width = max(self.values).bit_length() or 1
        constants = ", ".join(f"{n} = {value}" for n, value in zip(names, self.values, strict=True))
        arms = ""
        for n, label in enumerate(names):
            last = n == len(names) - 1
            mark = f"                //pragma recap s{self.marks[n]} work(){condition}\n" if self.marks[n] else ""
            low, high = (names[to] for to in self.next[n])
            arms += (
                f"            {'default' if last and n % 2 else label}: begin /* {label} */\n{mark}"
                f"                if (timer == {self.dwell[n] - 1}) begin\n"
                f"                    state <= bit_in ? {high} : {low};\n                    timer <= 0;\n"
                "                end else timer <= timer + 1;\n            end\n"
            )
        edge = " or posedge rst" if self.asynchronous else ""
        return f"""module {name}(input wire clk, input wire rst, input wire bit_in);
    localparam [{width - 1}:0] {constants};
    reg [{width - 1}:0] state = S0;
    reg [7:0] timer = 0;
    always @(posedge clk{edge})
        if (rst) begin
            state <= S0;
            timer <= 0;
        end else case (state)
{arms}        endcase
endmodule
"""

    def vhdl(self, name: str) -> str:
        """The machine in VHDL: its register is of an enumerated type."""
        names = [f"S{n}" for n in range(len(self.dwell))]
        arms = ""
        for n, label in enumerate(names):
            last = n == len(names) - 1
            mark = f"                --pragma recap s{self.marks[n]} work()\n" if self.marks[n] else ""
            low, high = (names[to] for to in self.next[n])
            arms += (
                f"            when {'others' if last and n % 2 else label} =>\n{mark}"
                f"                if timer = {self.dwell[n] - 1} then\n"
                f"                    if bit_in = '1' then state <= {high}; else state <= {low}; end if;\n"
                "                    timer <= 0;\n                else timer <= timer + 1; end if;\n"
            )
        edge, inner = ("elsif", "") if self.asynchronous else ("", "if rising_edge(clk) then ")
        begins = "if rst = '1' then state <= S0; timer <= 0; "
        head = f"{begins}elsif rising_edge(clk) then" if edge else f"{inner}{begins}else"
        return f"""library ieee; use ieee.std_logic_1164.all;
entity {name} is
    port (clk, rst, bit_in : in std_logic);
end entity;
architecture rtl of {name} is
    type state_t is ({", ".join(names)});
    signal state : state_t := S0;
    signal timer : natural range 0 to 255 := 0;
begin
    process (clk{", rst" if self.asynchronous else ""})
    begin
        {head}
            case state is
{arms}            end case;
        end if;{"" if self.asynchronous else " end if;"}
    end process;
end architecture;
"""


def machine(source: random.Random, name: str) -> Machine:
    count = source.randrange(2, 9)
    marks = [source.random() < 0.8 for _ in range(count)]
    numbers = np.cumsum(marks) * marks
    coded = source.choice((range(count), [1 << n for n in range(count)], source.sample(range(32), count)))
    return Machine(
        name,
        tuple(source.choice((1, 1, 2, 3, 17)) for _ in range(count)),
        tuple((source.randrange(count), source.randrange(count)) for _ in range(count)),
        tuple(map(int, numbers)),
        tuple(coded),
        source.random() < 0.5,
        source.randrange(32),
    )


def read_out(plan: ReadOutPlan) -> list[Cycle]:
    select, data = (access.address for access in plan.each)
    words = ((Cycle(addr=select, wr_en=1, wr_data=i), Cycle(), Cycle(addr=data, rd_en=1), Cycle())
             for i in range(plan.words))  # fmt: skip
    return [Cycle(addr=plan.freeze.address, wr_en=1, wr_data=1), *(cycle for word in words for cycle in word)]


PART = st.one_of(
    st.tuples(st.just(0), st.integers(1, 150), st.integers(0, 2**32 - 1)),
    st.tuples(st.just(1), st.integers(1, 3), st.just(0)),  # a reset, or two back to back
)


def cycles_of(parts: list[tuple[int, int, int]]) -> list[Cycle]:
    cycles = [Cycle(rst=1)] * 2
    for reset, count, seed in parts:
        source = random.Random(seed)
        cycles += [Cycle(rst=reset, stimulus=0 if reset else source.getrandbits(32)) for _ in range(count)]
    return cycles


def check_counts(tables: dict[str, Table], block: int, states: NDArray[np.int64], out: NDArray[np.bool_]) -> None:
    """A block's cycles, visits and transitions are those of its states in the cycles `out` of reset."""
    rows = tables["state_time"]["block"] == block
    known = int(rows.sum())
    assert tables["state_time"]["cycles"][rows].tolist() == np.bincount(states[out], minlength=known).tolist()
    follows = np.roll(out, 1) & (np.arange(len(out)) > 0)
    entered = out & ~(follows & (np.roll(states, 1) == states))
    assert tables["state_time"]["visits"][rows].tolist() == np.bincount(states[entered], minlength=known).tolist()
    moves = np.zeros((known, known), int)
    moved = out & follows & (np.roll(states, 1) != states)
    np.add.at(moves, (np.roll(states, 1)[moved], states[moved]), 1)
    mine = tables["transitions"]["block"] == block
    columns = [tables["transitions"][name][mine].tolist() for name in ("from_state", "to_state", "count")]
    told = set(zip(*columns, strict=True))
    assert told == {(a, b, moves[a, b]) for a, b in np.argwhere(moves).tolist()}
