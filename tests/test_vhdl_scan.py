"""Reading VHDL: processes, branches, pragmas, clocks of every style, libraries, and what is wrong with bad sources."""

import json
from codecs import BOM_UTF8
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.vhdl import VhdlLanguage
from rc_workbench_plugins.vhdl import tops as vhdl_tops

from workbench.api.job import Job
from workbench.cli.main import main
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import Severity
from workbench.model.scan import Branch, HdlBlock, HdlScan

HEAD = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n"
ENTITY = f"""{HEAD}entity top is port (clk, rst, en : in std_logic; go : in std_logic_vector(1 downto 0); n : out unsigned(3 downto 0)); end;
architecture rtl of top is
  type state_t is (idle, run, stop);
  signal state : state_t; signal clocks : std_logic_vector(0 to 1); signal q : unsigned(3 downto 0);
begin
"""  # noqa: E501
END = "end;\n"


def scan(folder: Path, parameters: dict[str, str] | None = None, **files: str) -> HdlScan:
    for name, text in files.items():
        (folder / f"{name}.vhd").write_text(text)
    hardware = HardwareSources(
        sources=tuple(f"{name}.vhd" for name in files), top="top", read_out=ReadOut(first=0, last=15)
    )
    return VhdlLanguage().scan(folder, hardware, PLATFORM, parameters or {}, Job())


def only(found: HdlScan) -> HdlBlock:
    assert [d.text() for d in found.diagnostics] == []
    (block,) = found.blocks
    return block


def branch(block: HdlBlock, kind: str, label: str = "") -> Branch:
    return next(b for b in block.branches if b.kind == kind and b.label == label)


FSM = f"""{ENTITY}
  ctrl : process (clk, rst)
    variable v : integer := 0;
  begin
    if rst = '1' then
      --pragma recap halted work()
      state <= idle;
    elsif rising_edge(clk) then
      --pragma recap whole overhead(update)
      v := v + 1;
      case state is
        when idle =>
          -- waits for work
          --pragma recap waits wait_recv(go, $CPU, x1): go = "00"
          if go /= "00" then state <= run; else state <= idle; end if;
        when run | stop =>
          for i in 0 to 3 loop
            if go(0) = '1' then
              --pragma recap steps work()
              v := v + i;
            end if;
          end loop;
        when others => null;
      end case;
    end if;
  end process ctrl;
{END}"""


def test_branches_and_the_pragmas_before_their_first_statements(tmp_path: Path) -> None:
    block = only(scan(tmp_path, top=FSM))
    assert (block.id, block.kind, block.clock, block.edge) == ("top.ctrl", "process", "clk", "rising")
    assert [(b.kind, b.label) for b in block.branches] == [
        ("body", ""), ("if", "rst = '1'"), ("case", "idle"), ("if", 'go /= "00"'), ("else", ""),
        ("case", "run | stop"), ("if", "go(0) = '1'"), ("default", "others"),
    ]  # fmt: skip
    assert [(p.pragma.name, p.pragma.condition) for p in block.pragmas] == [
        ("whole", None), ("halted", None), ("waits", 'go = "00"'), ("steps", None),
    ]  # fmt: skip
    assert block.instances == ("top.ctrl",)


def test_a_pragma_put_where_scan_says_is_found_there(tmp_path: Path) -> None:
    lines = [line for line in FSM.splitlines() if "pragma" not in line]
    before = only(scan(tmp_path, top="\n".join(lines) + "\n"))
    for number, place in enumerate(before.branches):
        text, column = lines[place.pragma_line - 1], place.pragma_column
        pragma = " " * (place.indent - 1) + "--pragma recap here work()"
        parted = [text[: column - 1].rstrip(), pragma, text[column - 1 :]] if column else [pragma, text]
        marked = [*lines[: place.pragma_line - 1], *parted, *lines[place.pragma_line :]]
        after = only(scan(tmp_path, top="\n".join(marked) + "\n"))
        assert [i for i, b in enumerate(after.branches) if b.pragmas] == [number], place


@pytest.mark.parametrize(
    ("text", "clock", "edge"),
    [
        ("process (clk) begin if rising_edge(clk) then q <= q; end if; end process;", "clk", "rising"),
        ("process (clk) begin if falling_edge(clk) then q <= q; end if; end process;", "clk", "falling"),
        ("process (clk) begin if clk'event and clk = '1' then q <= q; end if; end process;", "clk", "rising"),
        ("process (clk) begin if (clk = '0' and clk'event) then q <= q; end if; end process;", "clk", "falling"),
        ("process (clk) begin if not clk'stable and clk = '1' then q <= q; end if; end process;", "clk", "rising"),
        ("process begin wait until rising_edge(clk); q <= q; end process;", "clk", "rising"),
        ("process begin q <= q; wait until clk = '1'; end process;", "clk", "rising"),
        ("process (all) begin if rising_edge(clk) then q <= q; end if; end process;", "clk", "rising"),
        ("process (clk) begin if rising_edge(clk) and en = '1' then q <= q; end if; end process;", "clk", "rising"),
        ("process (clk) begin if rising_edge(CLK) then q <= q; end if; end process;", "CLK", "rising"),
        (
            "process (clk, rst) begin if rising_edge(clk) then q <= q; end if; if rst = '1' then q <= x\"0\"; end if; "
            "end process;",
            "clk",
            "rising",
        ),
    ],
)
def test_clocked_processes_of_every_style(tmp_path: Path, text: str, clock: str, edge: str) -> None:
    block = only(scan(tmp_path, top=f"{ENTITY}p : {text}\n{END}"))
    assert (block.clock, block.edge, block.why_not, block.branches[0].kind) == (clock, edge, "", "body")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "process (clk) begin if rising_edge(clk) then q <= q; end if; if falling_edge(clk) then n <= q; end if; "
            "end process;",
            "it tests clock edges in several places: write a process for each",
        ),
        (
            "process (clk) begin if en = '1' then if rising_edge(clk) then q <= q; end if; end if; end process;",
            "it tests the edge of its clock within another branch: write the edge as the condition of a separate if",
        ),
        (
            "process begin wait until rising_edge(clk); q <= q; wait until rising_edge(clk); n <= q; end process;",
            "it waits in several places, or within its branches: write one wait for its clock, at the beginning "
            "or the end",
        ),
        ("process (clk) begin if clk'event then q <= q; end if; end process;", "it is clocked by both edges of 'clk'"),
        (
            "process (clocks) begin if rising_edge(clocks(1)) then q <= q; end if; end process;",
            "it runs on 'clocks(1)', which is derived within the design; only blocks on the platform's clocks (clk) "
            "can be observed",
        ),
    ],
)
def test_processes_that_cannot_be_observed_say_why(tmp_path: Path, text: str, why: str) -> None:
    assert only(scan(tmp_path, top=f"{ENTITY}p : {text}\n{END}")).why_not == why


def test_processes_without_a_clock_are_no_blocks(tmp_path: Path) -> None:
    text = """
      comb : process (all) begin n <= q; end process;
      bench : process begin wait for 10 ns; report "it runs"; wait; end process;
    """
    assert scan(tmp_path, top=f"{ENTITY}{text}{END}").blocks == ()


def test_ports_with_their_widths_after_elaboration(tmp_path: Path) -> None:
    package = f"""{HEAD}package p is
      subtype word_t is std_logic_vector(31 downto 0);
      type pair_t is record low : word_t; full : std_logic; end record;
      type words_t is array (natural range <>) of word_t;
      type mode_t is (off, slow, fast);
    end package;\n"""
    text = f"""{HEAD}use work.p.all;
    entity top is
      generic (W : positive := 4);
      port (clk : in std_logic; a : in std_logic_vector(2 * W - 1 downto 0); pair : in pair_t;
            lots : in words_t(1 to W); mode : in mode_t;
            count : in natural range 0 to 9; level : out integer range -4 to 3; unread : in bit);
    end;
    architecture rtl of top is signal s : std_logic; begin
      s <= a(0) xor pair.low(0) xor pair.full xor lots(1)(0);
      level <= count - 4 when mode = slow else 0;
      process (clk) begin if rising_edge(clk) then null; end if; end process;
    end;\n"""
    scanned = scan(tmp_path, {"W": "5"}, top=text, p=package)
    assert [d.text() for d in scanned.diagnostics] == []
    assert [(p.name, p.direction, p.bits, p.lsb, p.used) for p in scanned.ports] == [
        ("clk", "input", 1, 0, True),
        ("a", "input", 10, 0, True),
        ("pair.full", "input", 1, 0, True),
        ("pair.low", "input", 32, 1, True),
        ("lots", "input", 160, 0, True),
        ("mode", "input", 2, 0, True),
        ("count", "input", 4, 0, True),
        ("level", "output", 3, 0, True),
        ("unread", "input", 1, 0, False),
    ]
    assert scanned.clocks == (("clk", 1),)


def test_resets_as_they_are_asked_for(tmp_path: Path) -> None:
    low = f"""{HEAD}entity top is port (clk, arst_n : in std_logic); end;
    architecture rtl of top is begin
      process (clk, arst_n) begin
        if arst_n = '0' then null; elsif rising_edge(clk) then null; end if;
      end process;
    end;\n"""
    assert scan(tmp_path, top=low).resets == (("arst_n", True),)
    assert scan(tmp_path, top=FSM).resets == (("rst", False),)


def test_errors_stand_at_the_users_lines_and_the_rest_is_read(tmp_path: Path) -> None:
    wrong = FSM.replace("v := v + 1;", "v := vv + 1;")
    scanned = scan(tmp_path, top=wrong)
    (error,) = [d for d in scanned.diagnostics if d.severity is Severity.ERROR]
    assert (error.file, error.line) == ("top.vhd", wrong[: wrong.index("vv")].count("\n") + 1)
    assert error.message == 'no declaration for "vv"'
    assert [block.instances for block in scanned.blocks] == [("top.ctrl",)]


def test_what_is_wrong_where_the_top_does_not_reach_does_not_keep_it(tmp_path: Path) -> None:
    scanned = scan(tmp_path, top=FSM, other="entity other is port (;\narchitecture")
    assert [(d.severity, d.file, d.message) for d in scanned.diagnostics] == [
        (Severity.WARNING, "other.vhd", "this cannot be read as VHDL"),
    ]
    assert [block.id for block in scanned.blocks] == ["top.ctrl"]


SLICE = f"""{HEAD}entity cell is port (a : in std_logic_vector(7 downto 0)); end;
architecture rtl of cell is begin end;
{HEAD}entity top is port (n : in natural range 0 to 3; x : in std_logic_vector(31 downto 0)); end;
architecture rtl of top is begin
  c : entity work.cell port map (a => x(8 * n + 7 downto 8 * n));  -- here
end;
"""
OVERFLOW = f"""{HEAD}
entity inner is generic (N : natural); port (o : out std_logic_vector(2 ** N - 1 downto 0)); end; -- here
architecture rtl of inner is begin end;
{HEAD}entity top is generic (M : natural := 40); port (clk : in std_logic); end;
architecture rtl of top is begin
  one : entity work.inner generic map (N => M) port map (o => open);
end;
"""
NO_FILE = f"""{HEAD}use std.textio.all;
entity inner is port (o : out integer); end;
architecture rtl of inner is
  impure function first return integer is
    file given : text open read_mode is "nothing.txt"; variable l : line; variable n : integer; -- here
  begin readline(given, l); read(l, n); return n; end;
  signal kept : integer := first;
begin o <= kept; end;
{HEAD}entity top is port (clk : in std_logic; o : out integer); end;
architecture rtl of top is begin zero : entity work.other; one : entity work.inner port map (o); end;
entity other is end; architecture rtl of other is begin end;
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FSM.replace("top", "tops"), "no source defines the top entity 'top'. Did you mean 'tops'?"),
        (f"{ENTITY}  --pragma recap lost work() -- here\n  n <= q;\n{END}",
         "the pragma 'lost' is before no branch of a clocked process, and is not used"),
        (SLICE, "actual must be a static name. Its index varies: assign it to a signal of the architecture"),
        (OVERFLOW, "overflow detected, while GHDL elaborates the design"),
        (NO_FILE, 'cannot open file "nothing.txt", while GHDL elaborates the design'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported_at_its_line(text: str, said: str, tmp_path: Path) -> None:
    (problem,) = scan(tmp_path, top=text).diagnostics
    assert problem.line == next((n for n, line in enumerate(text.splitlines(), 1) if "-- here" in line), None)
    assert said in problem.sentences


def test_conditions_are_read_in_their_place(tmp_path: Path) -> None:
    known = FSM.replace('go = "00"', "v > 3 and state = idle")
    assert [d.text() for d in scan(tmp_path, top=known).diagnostics] == []
    for condition, what in (
        ("v > stat", "there is no 'stat' here"),
        ("v >", "primary expression expected"),
        ("v) then n <= q; end if; if (v > 3", "this is not an expression"),
    ):
        wrong = scan(tmp_path, top=FSM.replace('go = "00"', condition)).diagnostics
        assert wrong[0].severity is Severity.ERROR, condition
        assert wrong[0].line == known[: known.index("--pragma recap waits")].count("\n") + 1
        assert wrong[0].message.startswith(f"the condition of the pragma 'waits' is wrong: {what}")


def test_nothing_of_the_users_runs_as_it_is_read(tmp_path: Path) -> None:
    target = tmp_path / "written"
    text = f"""{HEAD}use std.textio.all;
    entity top is port (clk : in std_logic); end;
    architecture rtl of top is
      impure function f return boolean is
        file out_file : text open write_mode is "{target}"; variable l : line;
      begin write(l, string'("x")); writeline(out_file, l); return true; end;
      constant c : boolean := f;
    begin
      process begin assert false report "it runs" severity failure; wait; end process;
      assert f;
    end;\n"""
    scan(tmp_path, top=text)
    assert not target.exists()


@pytest.mark.parametrize("opened", ['open write_mode is "some/where"', 'is out "some/where"'])
def test_files_that_a_design_writes_stay_closed_as_it_is_read(opened: str, tmp_path: Path) -> None:
    text = f"""{HEAD}use std.textio.all;
    entity top is port (clk : in std_logic); end;
    architecture rtl of top is file log : text {opened}; begin
      process (clk) variable l : line; begin if rising_edge(clk) then writeline(log, l); end if; end process;
    end;\n"""
    (tmp_path / "top.vhd").write_text(text)
    standard = "93" if "out" in opened else "2008"
    read_out = ReadOut(first=0, last=15)
    hardware = HardwareSources(sources=("top.vhd",), top="top", read_out=read_out, vhdl_standard=standard)
    assert only(VhdlLanguage().scan(tmp_path, hardware, PLATFORM, {}, Job())).instances
    assert not (tmp_path / "some").exists()


@pytest.mark.parametrize("mark", [b"", BOM_UTF8])
def test_latin_1_crlf_tabs_and_what_else_editors_leave(tmp_path: Path, mark: bytes) -> None:
    text = FSM.replace("waits for work", "wartet f\xfcr").replace("\n", "\r\n").replace("      ", "\t")
    (tmp_path / "top.vhd").write_bytes(mark + text.encode("latin-1").replace(b"begin", b"\f\vbegin", 1) + b"\x1a")
    hardware = HardwareSources(sources=("top.vhd",), top="top", read_out=ReadOut(first=0, last=15))
    block = only(VhdlLanguage().scan(tmp_path, hardware, PLATFORM, {}, Job()))
    assert [p.pragma.name for p in block.pragmas] == ["whole", "halted", "waits", "steps"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("entity top is end;\n".encode("utf-16"), "this file is UTF-16, which is not read"),
        (b"\x8b\x13\x9c/\x06\0\x04\0v\x8fd" * 40, "this file is not text: it may be encrypted or packed"),
    ],
)
def test_a_source_that_is_no_text_is_one_error(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "top.vhd").write_bytes(data)
    hardware = HardwareSources(sources=("top.vhd",), top="top", read_out=ReadOut(first=0, last=15))
    (problem,) = VhdlLanguage().scan(tmp_path, hardware, PLATFORM, {}).diagnostics
    assert (problem.file, problem.line, problem.severity) == ("top.vhd", 1, Severity.ERROR)
    assert problem.message.startswith(said)
    assert problem.hint


def test_what_may_be_in_an_encrypted_part_is_told(tmp_path: Path) -> None:
    data = f"`protect data_block\n{'QUJDREVGR0hJ' * 9}\n"
    secret = f"-- an IP core\n`protect begin_protected\n{data}`protect end_protected\n"
    scanned = scan(tmp_path, ip=secret, top=FSM.replace("begin\n", "begin\n  inner : entity work.core;\n", 1))
    assert [(one.file, one.line, one.severity.value, one.message) for one in scanned.diagnostics] == [
        ("ip.vhd", 2, "warning", "the rest is encrypted: only its vendor's tools can read it"),
        ("top.vhd", 7, "error", 'unit "core" not found in library "work"'),
    ]
    assert scanned.diagnostics[1].hint.startswith("It may be in the encrypted part of ip.vhd: ")


def test_libraries_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "p.vhd").write_text("package p is constant k : integer := 2; end package;\n")
    (tmp_path / "top.vhd").write_text(f"library mine; use mine.p.all;\n{FSM}".replace("v + 1", "v + k"))
    hardware = HardwareSources(
        sources=("*.vhd",), top="top", libraries={"mine": ("p.vhd",)}, read_out=ReadOut(first=0, last=15)
    )
    assert only(VhdlLanguage().scan(tmp_path, hardware, PLATFORM, {}, Job())).instances == ("top.ctrl",)


def test_the_command_line_scans_a_project_in_vhdl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "top.vhd").write_text(FSM)
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "app.workbench.yaml").write_text(
        "schema_version: 1\nname: app\nplatform: nallatech_h101\nhost: {sources: [main.c]}\n"
        "hardware: {sources: ['*.vhd'], top: top, read_out: {first: 0xfff0, last: 0xffff}}\n"
    )
    main(["scan", str(tmp_path), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert [block["id"] for block in document["blocks"]] == ["top.ctrl"]


def test_sources_that_call_their_library_by_a_name_are_in_it(tmp_path: Path) -> None:
    package = "package p is constant k : integer := 2; end package;\n"
    cell = f"{HEAD}entity cell is port (clk : in std_logic); end;\narchitecture rtl of cell is begin end;\n"
    text = f"library mine; use mine.p.all;\n{FSM}".replace("v + 1", "v + k")
    text = text.replace("begin\n", "begin\n  inner : entity mine.cell port map (clk);\n", 1)
    scanned = scan(tmp_path, cell=cell, top=text, p=package)
    assert [d.text() for d in scanned.diagnostics] == []
    assert scanned.instances == (("top", "top"), ("top.inner", "cell"))


def test_of_two_definitions_the_one_beside_is_read_and_both_are_told(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "k.vhd").write_text(f'package k is constant c : string := "{folder}"; end package;\n')
    (tmp_path / "b" / "top.vhd").write_text(f"use work.k.all;\n{FSM}")
    hardware = HardwareSources(sources=("*/*.vhd",), top="top", read_out=ReadOut(first=0, last=15))
    (problem,) = VhdlLanguage().scan(tmp_path, hardware, PLATFORM, {}, Job()).diagnostics
    assert (problem.severity, problem.file, problem.line) == (Severity.ERROR, "a/k.vhd", 1)
    assert problem.message == "the package 'k' is defined twice: also at b/k.vhd:1"


def test_a_generic_without_a_value_is_told(tmp_path: Path) -> None:
    text = FSM.replace("entity top is", "entity top is generic (W : positive);")
    (problem,) = scan(tmp_path, top=text).diagnostics
    assert problem.message == "the top entity 'top' has generics without a value: W"
    assert only(scan(tmp_path, {"w": "3"}, top=text)).instances == ("top.ctrl",)


def test_without_ghdl_every_file_is_read_and_its_lack_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    scanned = scan(tmp_path, top=FSM)
    (problem,) = scanned.diagnostics
    assert "GHDL" in problem.message
    assert "ghdl" in problem.hint
    assert [(block.id, len(block.branches), block.instances) for block in scanned.blocks] == [("top.ctrl", 8, ())]


@pytest.mark.parametrize(
    ("mark", "line", "what"),
    [
        ("state <= idle", 5, "signal"),
        ("idle;", 4, "enumeration literal"),
        ("go(0)", 2, "port"),
        ("v + i", 11, "variable"),
        ("state_t;", 4, "type"),
    ],
)
def test_a_name_leads_to_its_declaration(tmp_path: Path, mark: str, line: int, what: str) -> None:
    (tmp_path / "top.vhd").write_text(FSM)
    hardware = HardwareSources(sources=("top.vhd",), top="top", read_out=ReadOut(first=0, last=15))
    place = FSM.index(mark)
    at, column = FSM[:place].count("\n") + 1, place - FSM.rindex("\n", 0, place)
    meant = VhdlLanguage().definition(tmp_path, hardware, {}, tmp_path / "top.vhd", at, column, Job())
    assert meant is not None
    assert (meant.file, meant.what) == (str(tmp_path / "top.vhd"), what)
    assert meant.name == mark.partition(" ")[0].partition("(")[0].strip(";")
    assert FSM.splitlines()[meant.line - 1][meant.column - 1 :].startswith(meant.name)


def test_what_may_be_a_top_is_told_with_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "top.vhd").write_text(FSM.replace("v + 1", "v + work.p.k"))
    (tmp_path / "p.vhd").write_text("package p is constant k : integer := 16#FF#; end package;\n")
    (tmp_path / "bench.vhd").write_text(
        f"{HEAD}entity bench is end;\narchitecture rtl of bench is signal n : unsigned(3 downto 0); begin\n"
        "  dut : entity work.top port map ('0', '0', '0', \"00\", n);\nend;\n"
    )
    (top,) = VhdlLanguage().tops(tmp_path, ["bench.vhd", "p.vhd", "top.vhd"])
    assert (top.name, top.sources, top.clocks, top.resets) == (
        "top", ("p.vhd", "top.vhd"), (("clk", 1),), (("rst", False),),
    )  # fmt: skip
    assert {port.name: port.bits for port in top.ports} == {"clk": 1, "rst": 1, "en": 1, "go": 2, "n": 4}
    assert 255 in top.numbers
    one = top_of("two", "top")
    (tmp_path / "two.vhd").write_text(one)
    names = ["bench.vhd", "p.vhd", "top.vhd", "two.vhd"]
    assert [top.name for top in VhdlLanguage().tops(tmp_path, names)] == ["two"]
    assert {top.name for top in VhdlLanguage().tops(tmp_path, names, "top.vhd")} == {
        "two",
        "top",
    }  # though instantiated
    monkeypatch.setattr(vhdl_tops, "_MOST_FILES", 0)  # the chosen one is always elaborated; others as they are declared
    told = {top.name: top for top in VhdlLanguage().tops(tmp_path, names, "top")}
    assert (told["top"].clocks, told["two"].clocks) == ((("clk", 1),), ())
    assert {port.name: port.bits for port in told["two"].ports} == {"clk": 1, "go": 2}
    assert told["two"].sources == ("p.vhd", "top.vhd", "two.vhd")


def test_of_entities_with_one_name_that_is_meant_which_has_the_ports_then_the_nearest(tmp_path: Path) -> None:
    ports = {"lib/ctrl.vhd": "clk, go", "apps/one/ctrl.vhd": "clk, start", "far/ctrl.vhd": "clk, go"}
    for name, own in ports.items():
        (tmp_path / name).parent.mkdir(parents=True)
        text = f"{HEAD}entity ctrl is port ({own} : in std_logic); end;\narchitecture rtl of ctrl is begin end;\n"
        (tmp_path / name).write_text(text)
    (tmp_path / "apps/two").mkdir()
    top = f"""{HEAD}entity top is port (clk : in std_logic); end;
    architecture rtl of top is
      component ctrl is port (clk, go : in std_logic); end component;
    begin one : ctrl port map (clk => clk, go => '1'); end;\n"""
    for folder in ("apps/two", "far/more"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "top.vhd").write_text(top)
        (found,) = VhdlLanguage().tops(tmp_path, [*ports, f"{folder}/top.vhd"])
        assert found.sources == ("lib/ctrl.vhd" if folder == "apps/two" else "far/ctrl.vhd", f"{folder}/top.vhd")
        assert not found.diagnostics


def top_of(name: str, inner: str) -> str:
    return f"""{HEAD}entity {name} is port (clk : in std_logic; go : in std_logic_vector(1 downto 0)); end;
    architecture rtl of {name} is signal n : unsigned(3 downto 0); begin
      dut : entity work.{inner} port map (clk, '0', '0', go, n);
    end;\n"""


def test_what_never_ends_is_told(tmp_path: Path) -> None:
    text = f"{HEAD}entity top is port (clk : in std_logic); end;\narchitecture rtl of top is\nbegin\n"
    (problem,) = scan(tmp_path, top=f"{text}  again : entity work.top port map (clk);\nend;\n").diagnostics
    assert problem.message == (
        "GHDL cannot elaborate 'top': it takes too much time or memory: something may instantiate itself, or "
        "compute, endlessly"
    )
    begun = scan(tmp_path, top=f'{text}  process (clk) begin if rising_edge(clk) then report "x;\nend;\n')
    assert begun.diagnostics[0].message == "this cannot be read as VHDL"
    assert begun.diagnostics[0].file == "top.vhd"


def test_state_registers_with_their_values_and_which_is_never_reached(tmp_path: Path) -> None:
    text = FSM.replace("(idle, run, stop)", "(idle, run, stop, lost)").replace("run | stop", "run | lost")
    text = text.replace("if go(0) = '1' then", "if state = stop and go(0) = '1' then").replace(
        "v + i;", "v; state <= Stop;"
    )
    scanned = scan(tmp_path, top=text)
    (register,) = scanned.registers
    assert (register.name, register.block, register.file) == ("state", "top.ctrl", "top.vhd")
    assert [(v.name, v.condition, v.reached, v.line > 0) for v in register.values] == [
        ("idle", "state = idle", True, True),
        ("run", "state = run", True, True),
        ("stop", "state = stop", True, True),
        ("lost", "state = lost", False, True),
    ]
    block = only(scanned)
    assert branch(block, "case", "idle").register == "state"
    assert branch(block, "case", "run | lost").values == ("run", "lost")
    assert branch(block, "if", "state = stop and go(0) = '1'").values == ("stop",)


def test_states_that_are_constants_of_a_vector_and_what_is_only_compared_with_them(tmp_path: Path) -> None:
    text = f"""{HEAD}library altera_mf; use altera_mf.all;
    entity top is port (clk : in std_logic; i : in std_logic_vector(1 downto 0); q : out std_logic); end;
    architecture rtl of top is
      subtype code is std_logic_vector(1 downto 0);
      type pair_t is array (natural range 0 to 1, code'range) of std_logic;
      type many is array (natural range <>) of code;
      constant IDLE : code := "00"; constant Run : code := "01"; constant LOST : code := "10";
      signal state : std_logic_vector(1 downto 0) := IDLE; signal held : std_logic_vector(1 downto 0);
    begin
      ctrl : process (clk) begin if rising_edge(clk) then
        held <= i;
        case held is when IDLE => q <= '0'; when RUN => q <= '1'; when others => null; end case;
        case state is when IDLE => state <= RUN; when RUN => state <= idle; when LOST => null; when others => null;
        end case;
      end if; end process;
    end;\n"""
    scanned = scan(tmp_path, top=text)
    assert [d.text() for d in scanned.diagnostics] == []  # of the library nothing is used
    (register,) = scanned.registers
    assert [(v.name, v.reached) for v in register.values] == [("IDLE", True), ("Run", True), ("LOST", False)]


def test_a_state_in_a_record_that_another_process_computes(tmp_path: Path) -> None:
    text = f"""{HEAD}entity top is port (clk, go : in std_logic; q : out std_logic); end;
    architecture rtl of top is
      type state_t is (idle, run, never);
      type reg_t is record state : state_t; n : natural; end record;
      signal r, r_next : reg_t;
    begin
      comb : process (all) begin
        r_next <= r;
        case r.state is
          when idle => if go = '1' then r_next.state <= run; end if;
          when run => r_next.state <= idle;
          when never => null;
        end case;
      end process;
      sync : process (clk) begin if rising_edge(clk) then r <= r_next; end if; end process;
    end;\n"""
    (register,) = scan(tmp_path, top=text).registers
    assert (register.name, register.block) == ("r.state", "top.sync")
    assert [(v.name, v.reached) for v in register.values] == [("idle", True), ("run", True), ("never", False)]


def test_vendors_primitives_need_no_library_and_a_clock_goes_through_their_buffers(tmp_path: Path) -> None:
    text = f"""{HEAD}library unisim; use unisim.vcomponents.all;
    entity top is port (clk, clk_n : in std_logic; q : out std_logic); end;
    architecture rtl of top is signal c, c2, fb, d : std_logic; begin
      i : IBUFDS generic map (DIFF_TERM => TRUE, IOSTANDARD => "LVDS") port map (I => clk, IB => clk_n, O => c);
      b : BUFIO2 port map (I => c, IOCLK => c2, DIVCLK => open);
      m : MMCME2_ADV generic map (CLKFBOUT_MULT_F => 10.0, DIVCLK_DIVIDE => 1, CLKOUT4_CASCADE => false)
        port map (CLKIN1 => c2, CLKFBIN => fb, CLKFBOUT => fb, CLKOUT0 => d);
      f : FDRE generic map (INIT => '0') port map (C => d, D => d, CE => '1', R => '0', Q => q);
      own : process (c2) begin if rising_edge(c2) then null; end if; end process;
      other : process (d) begin if rising_edge(d) then null; end if; end process;
    end;\n"""
    scanned = scan(tmp_path, top=text)
    assert [(d.severity, d.message) for d in scanned.diagnostics] == [
        (Severity.WARNING, "MMCME2_ADV is simulated with all its clocks at its input's rate"),
        (Severity.NOTE, "blocks on a clock that MMCME2_ADV derives from 'clk' count cycles of 'clk': top.other"),
    ]
    assert [(block.id, block.why_not) for block in scanned.blocks] == [("top.own", ""), ("top.other", "")]
    assert scanned.clocks == (("clk", 3),)  # FDRE's too
    (one,) = VhdlLanguage().tops(tmp_path, ["top.vhd"])
    assert one.sources == ("top.vhd",)  # what stands for the vendor's is no source of the user's


def test_a_pll_that_the_sources_declare_themselves(tmp_path: Path) -> None:
    text = f"""{HEAD}
    entity top is port (clk : in std_logic; q : out std_logic); end;
    architecture rtl of top is signal c : std_logic;
      component SB_PLL40_CORE is generic (DIVR : bit_vector(3 downto 0) := "0000");
        port (REFERENCECLK, RESETB : in std_logic; PLLOUTCORE : out std_logic);
      end component;
    begin
      m : SB_PLL40_CORE generic map (DIVR => "0001")
        port map (REFERENCECLK => clk, RESETB => '1', PLLOUTCORE => c);
      p : process (c) begin if rising_edge(c) then q <= '1'; end if; end process;
    end;\n"""
    scanned = scan(tmp_path, top=text)
    assert [(d.severity, d.message) for d in scanned.diagnostics] == [
        (Severity.WARNING, "SB_PLL40_CORE is simulated with all its clocks at its input's rate"),
        (Severity.NOTE, "blocks on a clock that SB_PLL40_CORE derives from 'clk' count cycles of 'clk': top.p"),
    ]
    assert [block.why_not for block in scanned.blocks] == [""]
    assert scanned.diagnostics[1].hint.endswith("hardware.clocks: {name: m.plloutcore, frequency_hz: 200 MHz}.")


RECORDS = f"""{HEAD}
package bus_pkg is
  type clocks_t is record sys, io : std_logic; end record;
end;
{HEAD}use work.bus_pkg.all;
entity part is port (c : in clocks_t; many : in std_logic_vector(0 to 3)); end;
architecture rtl of part is begin
  a : process (c) begin if rising_edge(c.sys) then null; end if; end process;
  b : process (c) begin if rising_edge(c.io) then null; end if; end process;
  each : for i in 0 to 3 generate
    e : process (many) begin if rising_edge(many(i)) then null; end if; end process;
  end generate;
end;
{HEAD}use work.bus_pkg.all;
entity top is port (clk, other, en : in std_logic); end;
architecture rtl of top is
  signal clocks, same : clocks_t;
  signal fan : std_logic_vector(0 to 3);
  signal half : std_logic := '0';
begin
  clocks.sys <= clk;
  clocks.io <= clk and en;
  same <= clocks;
  fan(0) <= clk;
  fan(1) <= other;
  fan(2) <= half;
  more : for i in 3 to 3 generate fan(i) <= clk; end generate;
  divide : process (clk) begin if rising_edge(clk) then half <= not half; end if; end process;
  p : entity work.part port map (c.sys => same.sys, c.io => same.io, many => fan);
end;
"""


def test_clocks_in_records_and_arrays_and_what_is_made_of_them(tmp_path: Path) -> None:
    scanned = scan(tmp_path, top=RECORDS)
    assert {block.id: block.why_not for block in scanned.blocks if block.why_not} == {}
    assert scanned.clocks == (("clk", 6), ("other", 1))
    assert [(d.message, d.hint) for d in scanned.diagnostics] == [
        ("blocks on a clock that a gate derives from 'clk' count cycles of 'clk': part.b",
         "While their clock is held, they stay in their state."),
        ("blocks on a clock that a divider derives from 'clk' count cycles of 'clk': part.e",
         "On a real machine they are counted in cycles of the derived clock."),
    ]  # fmt: skip


def test_where_ghdl_crashes_it_is_told_as_that_and_on_what(tmp_path: Path) -> None:
    text = f"""package outer is
      package inner is generic (N : integer); constant D : integer := N; end package;
    end package;
    {HEAD}use work.outer.all;
    entity top is port (clk : in std_logic; o : out integer); end;
    architecture rtl of top is package four is new inner generic map (N => 4);
    begin
      process (clk) begin if rising_edge(clk) then o <= four.D; end if; end process;
    end;\n"""
    whole, place = scan(tmp_path, top=text).diagnostics
    assert whole.message.startswith("GHDL cannot elaborate 'top': it crashed (")
    assert (place.line, place.message) == (
        2,
        "GHDL 2.0 crashes on packages with generics within other units, such as this one",
    )
