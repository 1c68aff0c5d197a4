"""Parts of VHDL designs made at random, as people write them: constants of which parts are assigned elsewhere, records,
arrays of arrays, functions and procedures, aliases, attributes, packages in packages, entities by generate.

Each reads i (64 bits), clk and rst, and gives what it declares, does, and shows.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """`units` stand before the design, `seen` is an unsigned of any length."""

    seen: str
    declared: str = ""
    does: str = ""
    units: str = ""


@dataclass(frozen=True)
class Kind:
    """A type with a declared name: how its constants are written, names of bits' vectors in a value of it (with their
    lengths and whether they go down), and it as unsigned."""

    name: str
    declared: str
    constants: tuple[str, ...]
    vectors: tuple[tuple[str, int, bool], ...]
    seen: str


def parts(draw: random.Random, count: int) -> list[Part]:
    return [draw.choice(PARTS)(draw, number) for number in range(10, 10 + count)]


def _bits(draw: random.Random, width: int) -> str:
    return format(draw.getrandbits(width), f"0{width}b")


def _given(draw: random.Random, width: int) -> str:
    """So many of the input's bits."""
    low = draw.randrange(65 - width)
    return f"i({low + width - 1} downto {low})"


def _asked(draw: random.Random) -> str:
    low = draw.randrange(61)
    return draw.choice(
        (f"i({low}) = '1'", f'i({low + 2} downto {low}) = "{_bits(draw, 3)}"', f"i({low}) /= i({low + 3})")
    )


def _constant(draw: random.Random, width: int, down: bool | None, known: str) -> str:
    """A vector as constants are written; `known` is the name of one of this length. Without `down` no bit is named."""
    low, high = sorted(draw.sample(range(width), 2)) if width > 1 else (0, 0)
    span = f"{high} downto {low}" if down else f"{low} to {high}"
    left = width // 2
    forms = [
        f'"{_bits(draw, width)}"', known,
        f'std_logic_vector\'("{_bits(draw, left)}" & "{_bits(draw, width - left)}")' if left else known,
        f"not {known}", f'{known} xor "{_bits(draw, width)}"', f"turned({known})",
        f"std_logic_vector(to_unsigned({draw.getrandbits(min(width, 31))}, {width}))",
        f"std_logic_vector(shift_left(unsigned({known}), {draw.randrange(width)}))",
    ]  # fmt: skip
    named = [f"({low} => '1', others => '0')", f"({span} => '0', others => '1')", f"({span} => i_one, others => '0')"]
    return draw.choice(forms if down is None else forms + named)


def _kind(draw: random.Random, n: int) -> Kind:
    shape = draw.randrange(4)
    widths = [draw.choice((3, 4, 8, 13, 16, 33)) for _ in range(3)]
    downs = [draw.random() < 0.7 for _ in range(3)]
    spans = [f"({w - 1} downto 0)" if d else f"(0 to {w - 1})" for w, d in zip(widths, downs, strict=True)]
    vectors = [f"std_logic_vector{span}" for span in spans]

    def one(at: int) -> str:
        known = f"k{n}_{at}"
        return _constant(draw, widths[at], downs[at], known)

    fixed = "".join(f'constant k{n}_{at} : {v} := "{_bits(draw, widths[at])}";\n' for at, v in enumerate(vectors))
    if shape == 0:
        declared = f"{fixed}subtype t{n} is {vectors[0]};"
        return Kind(f"t{n}", declared, tuple(one(0) for _ in range(4)), (("", widths[0], downs[0]),), "unsigned({})")
    if shape == 1:
        values = tuple(
            draw.choice((f"({one(0)}, {one(1)}, '{draw.randrange(2)}')", f"(a => {one(0)}, f => '1', b => {one(1)})"))
            for _ in range(4)
        )
        declared = f"{fixed}type t{n} is record a : {vectors[0]}; b : {vectors[1]}; f : std_logic; end record;"
        of = (("a", widths[0], downs[0]), ("b", widths[1], downs[1]))
        return Kind(
            f"t{n}",
            declared,
            values,
            tuple((f".{a}", w, d) for a, w, d in of),
            "unsigned(std_logic_vector'({0}.a & {0}.b & {0}.f))",
        )
    depth = draw.choice((2, 3, 4))
    if shape == 2:
        values = tuple(
            draw.choice(
                (f"({', '.join(one(0) for _ in range(depth))})", f"(1 => {one(0)}, others => {one(0)})",
                 f"(0 => {one(0)}, others => (others => '{draw.randrange(2)}'))")
            )
            for _ in range(4)
        )  # fmt: skip
        declared = f"{fixed}type t{n} is array (0 to {depth - 1}) of {vectors[0]};"
        seen = f"unsigned(std_logic_vector'({' & '.join(f'{{0}}({at})' for at in range(depth))}))"
        return Kind(f"t{n}", declared, values, tuple((f"({at})", widths[0], downs[0]) for at in range(depth)), seen)
    pair = f"type r{n} is record a : {vectors[0]}; b : {vectors[1]}; end record;"
    values = tuple(
        draw.choice(
            (f"({', '.join(f'({one(0)}, {one(1)})' for _ in range(depth))})",
             f"(0 => (a => {one(0)}, b => {one(1)}), others => ({one(0)}, {one(1)}))")
        )
        for _ in range(4)
    )  # fmt: skip
    declared = f"{fixed}{pair}\ntype t{n} is array ({depth - 1} downto 0) of r{n};"
    of = tuple((f"({at}).{f}", widths[m], downs[m]) for at in range(depth) for m, f in enumerate("ab"))
    seen = f"unsigned(std_logic_vector'({' & '.join(f'{{0}}({at}).a & {{0}}({at}).b' for at in range(depth))}))"
    return Kind(f"t{n}", declared, values, of, seen)


def _in_part(draw: random.Random, name: str, kind: Kind, op: str) -> str:
    """An assignment of a part of a value."""
    path, width, down = draw.choice(kind.vectors)
    low, high = sorted((draw.randrange(width), draw.randrange(width)))
    span = f"{high} downto {low}" if down else f"{low} to {high}"
    some = (high - low + 1).bit_length() - 1
    forms = [
        f"{name}{path}({span}) {op} {_given(draw, high - low + 1)};",
        f"{name}{path}({low}) {op} i({draw.randrange(64)});",
        f"for n in {low} to {high} loop {name}{path}(n) {op} i(n + {draw.randrange(65 - width)}); end loop;",
        f"{name}{path}({span}) {op} (others => i({draw.randrange(64)}));",
    ]
    if width >= 4 and some:
        index = f"to_integer(unsigned({_given(draw, 2)}))"
        forms.append(f"{name}{path}({index}) {op} i({draw.randrange(64)});")
    return draw.choice(forms)


def in_parts(draw: random.Random, n: int) -> Part:
    """A constant of which a part is assigned elsewhere: of a signal, a variable, in a function or procedure."""
    kind, where = _kind(draw, n), draw.randrange(5)
    name, op = (f"s{n}", "<=") if where < 2 else ("v", ":=")

    def some() -> str:
        inner = " ".join(_in_part(draw, name, kind, op) for _ in range(draw.choice((1, 2))))
        other = draw.choice(("", f" else {name} {op} {draw.choice(kind.constants)};",
                             f" elsif {_asked(draw)} then {_in_part(draw, name, kind, op)}"))  # fmt: skip
        return f"if {_asked(draw)} then {inner}{other} end if;"

    body = f"{name} {op} {draw.choice(kind.constants)}; " if where else ""
    body += "\n".join(some() for _ in range(draw.choice((1, 2, 3))))
    if draw.random() < 0.3:
        body += (
            f'\ncase {_given(draw, 2)} is when "01" => {name} {op} {draw.choice(kind.constants)}; '
            f'when "10" | "11" => {_in_part(draw, name, kind, op)} when others => null; end case;'
        )
    signal = f"{kind.declared}\nsignal s{n} : {kind.name} := {draw.choice(kind.constants)};"
    seen = kind.seen.format(f"s{n}")
    if where == 0:  # a register, with a reset
        reset = f"if rst = '1' then {name} <= {draw.choice(kind.constants)}; "
        if draw.random() < 0.5:
            every = f"if {_asked(draw)} then {name} <= {draw.choice(kind.constants)}; end if;"  # or bits are latches
            does = f"process (clk, rst) begin\n{reset}elsif rising_edge(clk) then {every}\n{body}\nend if; end process;"
        else:
            does = f"process (clk) begin if rising_edge(clk) then\n{body}\n{reset}end if; end if; end process;"
        return Part(seen, signal, does)
    if where == 1:
        return Part(seen, signal, f"process (all) begin\n{body}\nend process;")
    begins = draw.choice(kind.constants)
    if where == 2:
        clocked = draw.random() < 0.5
        head = "if rising_edge(clk) then" if clocked else ""
        does = (
            f"process ({'clk' if clocked else 'all'}) variable v : {kind.name} := {begins}; begin {head}\n{body}\n"
            f"s{n} <= v; {'end if;' if clocked else ''} end process;"
        )
        return Part(seen, signal, does)
    body = body if draw.random() < 0.5 else body.partition(";")[2]
    if where == 3:
        function = (
            f"function f{n}(i : std_logic_vector(63 downto 0)) return {kind.name} is\n"
            f"variable v : {kind.name} := {begins};\nbegin\n{body}\nreturn v;\nend function;"
        )
        return Part(seen, f"{signal}\n{function}", f"s{n} <= f{n}(i);")
    procedure = (
        f"procedure p{n}(v : inout {kind.name}; i : std_logic_vector(63 downto 0)) is\nbegin\n{body}\nend procedure;"
    )
    does = (
        f"process (all) variable w : {kind.name}; begin\nw := {begins};\np{n}(w, i);\n"
        f"{'p' + str(n) + '(w, not i);' if draw.random() < 0.3 else ''} s{n} <= w; end process;"
    )
    return Part(seen, f"{signal}\n{procedure}", does)


def aliased(draw: random.Random, n: int) -> Part:
    """Parts and turns of a signal by other names, with attributes."""
    width = draw.choice((8, 13, 16))
    cut = draw.randrange(1, width - 1)
    declared = (
        f'signal s{n} : std_logic_vector({width + 2} downto 3) := "{_bits(draw, width)}";\n'
        f"alias low{n} : std_logic_vector({cut} downto 0) is s{n}({cut + 3} downto 3);\n"
        f"alias turn{n} : std_logic_vector(1 to {width}) is s{n};"
    )
    does = (
        f"process (clk) begin if rising_edge(clk) then\n"
        f"{draw.choice((f's{n}', f'turn{n}'))} <= {_constant(draw, width, None, f'turn{n}')};\n"
        f"if {_asked(draw)} then low{n} <= {_given(draw, cut + 1)}; "
        f"elsif {_asked(draw)} then turn{n}(turn{n}'left) <= s{n}(s{n}'low); end if;\n"
        f"for n in low{n}'reverse_range loop if i(n) = '1' and n mod 3 = {draw.randrange(3)} then "
        f"turn{n}(turn{n}'right - n) <= i(n + low{n}'length); end if; end loop;\n"
        f"if rst = '1' then s{n} <= (s{n}'high => '1', others => '0'); end if; end if; end process;"
    )
    return Part(f"unsigned(turn{n}) & unsigned(low{n})", declared, does)


def computed(draw: random.Random, n: int) -> Part:
    """Functions with loops, recursion among constants, an overloaded operator, numbers in ranges."""
    width = draw.choice((5, 8, 12))
    declared = (
        f"function ones{n}(v : std_logic_vector) return natural is variable found : natural range 0 to v'length := 0;\n"
        f"begin for n in v'range loop if v(n) = '1' then found := found + 1; "
        f"end if; end loop; return found; end function;\n"
        f"function log{n}(v : positive) return natural is begin "
        f"if v = 1 then return 0; else return log{n}(v / 2) + 1; end if; end function;\n"
        f"function first{n}(v : std_logic_vector) return natural is begin\n"
        f"for n in v'low to v'high loop if v(n) = '1' then return n; end if; end loop; return {draw.randrange(8)}; "
        "end function;\n"
        f"function next{n}(v : unsigned; up : boolean) return unsigned is variable r : v'subtype := v; begin\n"
        f"if up then r := v + {draw.randrange(1, 6)}; elsif v /= 0 then r := v - 1; end if; return r; end function;\n"
        f'signal count{n} : unsigned({width - 1} downto 0) := "{_bits(draw, width)}";\n'
        f"signal number{n} : integer range -{draw.choice((5, 8, 100))} to {draw.choice((7, 50, 127))} := 0;\n"
        f"constant SIZE{n} : natural := log{n}({draw.choice((8, 9, 31, 64))});"
    )
    low = draw.randrange(50)
    does = (
        (
            f"process (clk) variable v : integer range 0 to 255 := 3; begin if rising_edge(clk) then\n"
            f"count{n} <= next{n}(count{n}, {_asked(draw)});\n"
            f"v := ones{n}({_given(draw, 13)}) + first{n}({_given(draw, 6)}) mod 7;\n"
            f"if number{n} > number{n}'subtype'high - 5 or rst = '1' then number{n} <= number{n}'subtype'low; "
            f"elsif i({low}) = '1' then number{n} <= number{n} + v mod 5; end if; end if; end process;"
        )
        .replace(f"number{n}'subtype'high", "6")
        .replace(f"number{n}'subtype'low", "-4")
    )
    seen = f"count{n} & unsigned(to_signed(number{n}, 8)) & to_unsigned(SIZE{n}, 4)"
    return Part(seen, declared, does)


def chosen(draw: random.Random, n: int) -> Part:
    """Choices: `case?`, selected and conditional assignments, inside and outside of processes."""
    low = draw.randrange(50)
    arms = dict.fromkeys("".join(draw.choice("01") for _ in range(3)) for _ in range(3))
    dashed = [f"1--{draw.choice('01')}", f"01-{draw.choice('01')}", f"00{draw.choice('01')}-"]
    case = "".join(f'when "{one}" => s{n} <= {_given(draw, 8)};\n' for one in dashed)
    listed = ", ".join(f'{_given(draw, 4)} when "{one}"' for one in arms)
    declared = f"""
signal s{n} : std_logic_vector(7 downto 0) := "{_bits(draw, 8)}";
signal t{n}, u{n}, v{n} : std_logic_vector(3 downto 0);"""
    does = f"""
process (clk) begin if rising_edge(clk) then
    case? i({low + 3} downto {low}) is
        {case} when others => s{n} <= s{n}(6 downto 0) & s{n}(7);
    end case?;
end if; end process;
with i({low + 2} downto {low}) select t{n} <= {listed}, s{n}(5 downto 2) when others;
u{n} <= {_given(draw, 4)} when {_asked(draw)} else t{n} when {_asked(draw)} else s{n}(3 downto 0);
process (all) begin
    v{n} <= (others => '0');
    v{n} <= {_given(draw, 4)} when {_asked(draw)} else t{n} when {_asked(draw)} else "{_bits(draw, 4)}";
end process;"""
    return Part(f"unsigned(std_logic_vector'(s{n} & t{n} & u{n} & v{n}))", declared, does)


def generated(draw: random.Random, n: int) -> Part:
    """Entities by generate, with generics of record and array types out of a package (at times in a package)."""
    width, count = draw.choice((4, 8)), draw.choice((2, 3, 5))
    head = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;"
    begins, ends, used = "", "", f"use work.pack{n}.all;"
    if draw.random() < 0.1:
        begins, ends, used = "package inner is", "end package; use inner.all;", f"{used} use work.pack{n}.inner.all;"
    values = ", ".join(
        f'(x"{draw.getrandbits(8):02x}", {draw.randrange(8)}, {draw.choice(("true", "false"))})' for _ in range(count)
    )
    part = f"{width // 2} downto 1"
    units = f"""{head}
package pack{n} is
    {begins}
    type way_t is record mask : std_logic_vector(7 downto 0); by : natural range 0 to 7; up : boolean; end record;
    type ways_t is array (natural range <>) of way_t;
    type words_t is array (natural range <>) of std_logic_vector;
    {ends}
    constant WAYS{n} : ways_t(0 to {count - 1}) := ({values});
    function mixed(a, b : unsigned) return unsigned;
end package;
package body pack{n} is
    function mixed(a, b : unsigned) return unsigned is
    begin
        return rotate_left(a, to_integer(b(1 downto 0))) xor b;
    end function;
end package body;
{head} {used}
entity cell{n} is
    generic (WAY : way_t; WIDTH : positive := {width}; TAKES : words_t(0 to 1)({width - 1} downto 0));
    port (
        clk, rst : in std_logic; d : in std_logic_vector(WIDTH - 1 downto 0);
        q : out std_logic_vector(WIDTH - 1 downto 0)
    );
end entity;
architecture rtl of cell{n} is
    signal kept : unsigned(WIDTH - 1 downto 0) := unsigned(TAKES(1));
begin
    process (clk) begin if rising_edge(clk) then
        if WAY.up then kept <= mixed(kept, unsigned(d)) + WAY.by;
        else kept <= kept - unsigned(d xor WAY.mask(WIDTH - 1 downto 0));
        end if;
        if rst = '1' then kept <= unsigned(TAKES(0)); kept({part}) <= unsigned(d({part})); end if;
    end if; end process;
    q <= std_logic_vector(kept);
end architecture;

"""
    takes = f'("{_bits(draw, width)}", "{_bits(draw, width)}")'
    declared = f"""
use work.pack{n}.all;
type line{n}_t is array (0 to {count}) of std_logic_vector({width - 1} downto 0);
signal line{n} : line{n}_t;"""
    does = f"""
line{n}(0) <= {_given(draw, width)};
made{n} : for n in 0 to {count - 1} generate
    odd : if n mod 2 = 1 generate
        one : entity work.cell{n} generic map (WAY => WAYS{n}(n), TAKES => {takes})
            port map (clk, rst, line{n}(n), line{n}(n + 1));
    else generate
        one : entity work.cell{n} generic map (WAYS{n}(n), {width}, {takes})
            port map (clk => clk, rst => i({draw.randrange(64)}), d => not line{n}(n), q => line{n}(n + 1));
    end generate;
end generate;"""
    return Part(f"unsigned(line{n}({count})) & unsigned(line{n}(1))", declared, does, units)


def two_process(draw: random.Random, n: int) -> Part:
    """A record of all registers, a process that computes it, and one that keeps it."""
    state, low = draw.choice(("idle", "wait_for", "done")), draw.randrange(12)
    declared = f"""
type state{n}_t is (idle, wait_for, done);
type reg{n}_t is record
    count : unsigned(7 downto 0); word : std_logic_vector(15 downto 0); state : state{n}_t; flag : std_logic;
end record;
constant BEGINS{n} : reg{n}_t := (
    count => x"{draw.getrandbits(8):02x}", word => x"{draw.getrandbits(16):04x}", state => {state}, flag => '1'
);
signal r{n}, rin{n} : reg{n}_t := BEGINS{n};"""
    does = f"""
process (all) variable v : reg{n}_t; begin
    v := r{n}; v.flag := '0';
    case r{n}.state is
        when idle => if {_asked(draw)} then v.state := wait_for; v.word := x"{draw.getrandbits(16):04x}"; end if;
        when wait_for =>
            v.count := r{n}.count + 1; v.word({low + 3} downto {low}) := {_given(draw, 4)};
            if r{n}.count(2 downto 0) = {draw.randrange(8)} then v.state := done; v.flag := '1'; end if;
        when done =>
            if {_asked(draw)} then v := BEGINS{n}; v.word({low}) := i({draw.randrange(64)}); v.state := idle; end if;
    end case;
    if rst = '1' then v := BEGINS{n}; v.count({low % 8}) := i(3); end if;
    rin{n} <= v;
end process;
r{n} <= rin{n} when rising_edge(clk);"""
    seen = f"r{n}.count & unsigned(r{n}.word) & r{n}.flag & to_unsigned(state{n}_t'pos(r{n}.state), 2)"
    return Part(seen, declared, does)


PARTS: tuple[Callable[[random.Random, int], Part], ...] = (
    in_parts, in_parts, in_parts, aliased, computed, chosen, generated, two_process,
)  # fmt: skip
#: What they all know.
SHARED = """\
constant i_one : std_logic := '1';
function turned(v : std_logic_vector) return std_logic_vector is
    variable r : std_logic_vector(v'range);
begin
    for n in v'range loop r(v'low + v'high - n) := v(n); end loop;
    return r;
end function;
"""
