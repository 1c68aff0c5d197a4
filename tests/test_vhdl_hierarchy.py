"""What GHDL elaborates of VHDL: instances, generates and blocks, the processes in each, and the clocks they run on."""

from pathlib import Path

from rc_workbench_plugins.vhdl.joined import read_joined

from workbench.api.job import Job
from workbench.hdl.instances import Instance
from workbench.model.application import HardwareSources, ReadOut

HEAD = "library ieee; use ieee.std_logic_1164.all;\n"
CELL = f"""{HEAD}
entity cell is generic (K : natural := 0); port (ck : in std_logic; q : out std_logic); end;
architecture slow of cell is begin q <= '0'; end;
architecture fast of cell is
begin
  step : process (ck) begin
    if rising_edge(ck) then q <= '1'; report "it runs"; end if;
  end process;
end;
"""
TOP = f"""{HEAD}
entity top is
  generic (N : positive := 2; DEEP : boolean := false);
  port (clk, rst_n : in std_logic; q : out std_logic_vector(0 to 7));
end;
architecture rtl of top is
  component cell is port (ck : in std_logic; q : out std_logic); end component;
  signal core_clk : std_logic;
begin
  core_clk <= clk;
  lanes : for i in 1 to N generate
    one : cell port map (ck => core_clk, q => q(i));
    process (core_clk) begin
      if core_clk'event and core_clk = '0' then null; end if;
    end process;
  end generate;
  kind : if DEEP generate
    deep : entity work.cell(slow) port map (clk, open);
  else generate
    flat : entity work.cell(fast) generic map (K => 3) port map (clk, q(0));
  end generate;
  part : block is begin
    watch : process (clk, rst_n) begin
      if rst_n = '0' then null; elsif rising_edge(clk) then null; end if;
    end process;
  end block;
end;
"""


def tree(folder: Path, parameters: dict[str, str] | None = None, **texts: str) -> Instance:
    for name, text in texts.items():
        (folder / f"{name}.vhd").write_text(text)
    sources = tuple(f"{name}.vhd" for name in texts)
    hardware = HardwareSources(sources=sources, top="top", read_out=ReadOut(first=0, last=0))
    joined = read_joined(folder, hardware, (), parameters or {}, Job())
    assert [d.text() for d in (*joined.wrong, *joined.unobserved)] == []
    assert joined.top is not None
    return joined.top


def test_every_instance_and_process_by_its_path_with_the_tops_clock(tmp_path: Path) -> None:
    top = tree(tmp_path, top=TOP, cell=CELL)
    assert {(one.path, one.module, one.body.name) for one in top.walk()} == {
        ("top", "top", "rtl"),
        ("top.lanes[1].one", "cell", "fast"),
        ("top.lanes[2].one", "cell", "fast"),
        ("top.kind.flat", "cell", "fast"),
    }
    assert {(use.path, use.root_clock, use.source.edge) for one in top.walk() for use in one.blocks} == {
        ("top.lanes[1].line_14", "clk", "falling"),
        ("top.lanes[2].line_14", "clk", "falling"),
        ("top.lanes[1].one.step", "clk", "rising"),
        ("top.lanes[2].one.step", "clk", "rising"),
        ("top.kind.flat.step", "clk", "rising"),
        ("top.part.watch", "clk", "rising"),
    }
    (watch,) = (use for use in top.blocks if use.path == "top.part.watch")
    assert watch.reset == ("rst_n", True)
    (lane, _) = (use for use in top.blocks if use.source.label == "line_14")
    assert [(loop.name, loop.index) for loop in lane.loops] == [("i", 1)]


def test_generics_choose_what_is_elaborated(tmp_path: Path) -> None:
    top = tree(tmp_path, {"n": "3", "deep": "true"}, cell=CELL, top=TOP)
    assert [one.path for one in top.walk()][1:] == [
        "top.lanes[1].one", "top.lanes[2].one", "top.lanes[3].one", "top.kind.deep",
    ]  # fmt: skip
