"""What Xilinx's primitives do, as VHDL: flip-flops, look-up tables, multiplexers, carries and shift registers.

Each is an architecture's declarations and statements, legal in VHDL-93. Behaviour as in Xilinx UG953, "7 Series FPGA
Libraries Guide".
"""

import re
from collections.abc import Callable

_PORT = re.compile(r"(\w+) : (?:in|out|inout) std_u?logic", re.IGNORECASE)
_GENERIC = re.compile(r"(\w+) : (?:bit|std_u?logic)(?:_vector)?\b", re.IGNORECASE)
_BITS = "type recap_bits is array (boolean) of std_ulogic; constant recap_bit : recap_bits := ('0', '1'); "


def is_cell(name: str) -> bool:
    """Whether an entity of that name may be one of these."""
    return any(re.fullmatch(pattern, name, re.IGNORECASE) for pattern, *_ in _KINDS)


def architecture(name: str, clauses: str) -> tuple[str, str] | None:
    """Declarations and statements of a primitive with these generic and port clauses; None where it is none of these,
    or declared without what it needs."""
    ports = {port.upper() for port in _PORT.findall(clauses)}
    generics = {generic.upper() for generic in _GENERIC.findall(clauses.partition("port (")[0])}
    for pattern, needed, body in _KINDS:
        match = re.fullmatch(pattern, name, re.IGNORECASE)
        if match is not None and needed(match) <= ports | generics:
            return body(match, ports, generics)
    return None


def _inverted(port: str, generics: set[str]) -> str:
    """A port's value; inverted where a generic says so."""
    of = f"IS_{port}_INVERTED"
    return f"({port} xor recap_bit({of} = '1'))" if of in generics else port


def _clocked(clock: str, falls: bool, generics: set[str], statement: str, forced: str = "") -> str:
    """A process with a statement at the edge that the generics tell; `forced` is one while `recap_forced` is '1'."""
    edges = ("falling_edge", "rising_edge") if falls else ("rising_edge", "falling_edge")
    first = f"if recap_forced = '1' then {forced} els" if forced else ""
    plain, turned = (
        f"recap_held : process ({clock}{', recap_forced' if forced else ''}) begin "
        f"{first}if {edge}({clock}) then {statement} end if; end process; "
        for edge in edges
    )
    of = f"IS_{clock}_INVERTED"
    if of not in generics:
        return plain
    return (
        f"recap_plain : if {of} = '0' generate {plain} end generate; "
        f"recap_turned : if {of} = '1' generate {turned} end generate; "
    )


def _flip_flop(match: re.Match[str], ports: set[str], generics: set[str]) -> tuple[str, str]:
    port = {"C": "CLR", "P": "PRE", "R": "R", "S": "S"}[match["set"].upper()]
    value = "'1'" if port in ("PRE", "S") else "'0'"
    begins = "recap_bit(INIT = '1')" if "INIT" in generics else value
    with_clock = port in ("R", "S")
    given = f"if CE = '1' then recap_q <= {_inverted('D', generics)}; end if;"
    if with_clock:
        given = f"if recap_forced = '1' then recap_q <= {value}; els{given}"
    held = _clocked("C", bool(match["falls"]), generics, given, "" if with_clock else f"recap_q <= {value};")
    declared = f"{_BITS}signal recap_q : std_ulogic := {begins}; signal recap_forced : std_ulogic; "
    return declared, f"Q <= recap_q; recap_forced <= {_inverted(port, generics)}; {held}"


def _look_up(match: re.Match[str], ports: set[str], generics: set[str]) -> tuple[str, str]:
    inputs = int(match["inputs"])
    return "", f"O <= to_stdulogic(INIT({_number([f'I{n}' for n in range(inputs)])})); "


def _shift(match: re.Match[str], ports: set[str], generics: set[str]) -> tuple[str, str]:
    length = int(match["length"])
    address = "to_integer(unsigned(A))" if length == 32 else _number(["A0", "A1", "A2", "A3"])
    moved = f"if CE = '1' then recap_kept <= recap_kept({length - 2} downto 0) & D; end if;"
    last = f"Q{length - 1} <= recap_kept({length - 1}); " if match["chained"] else ""
    declared = f"signal recap_kept : std_logic_vector({length - 1} downto 0) := to_stdlogicvector(INIT); "
    return declared, f"{_clocked('CLK', False, generics, moved)}Q <= recap_kept({address}); {last}"


def _number(bits: list[str]) -> str:
    """The number that bits are, the lowest first."""
    if len(bits) == 1:
        return f"to_integer(unsigned'('0' & {bits[0]}))"
    return f"to_integer(unsigned'({' & '.join(reversed(bits))}))"


def _carry(match: re.Match[str], ports: set[str], generics: set[str]) -> tuple[str, str]:
    steps = "".join(
        f"recap_c({n + 1}) <= recap_c({n}) when S({n}) = '1' else DI({n}); O({n}) <= S({n}) xor recap_c({n}); "
        for n in range(4)
    )
    return "signal recap_c : std_logic_vector(4 downto 0); ", (
        f"recap_c(0) <= CI or CYINIT; {steps}CO <= recap_c(4 downto 1); "
    )


def _always(text: str) -> Callable[[re.Match[str], set[str], set[str]], tuple[str, str]]:
    return lambda found, ports, generics: ("", text)


def _named(*names: str) -> Callable[[re.Match[str]], set[str]]:
    return lambda found: set(names)


#: Names, the ports and generics that one has to have, and what makes its architecture.
_KINDS: tuple[
    tuple[str, Callable[[re.Match[str]], set[str]], Callable[[re.Match[str], set[str], set[str]], tuple[str, str]]], ...
] = (
    (r"FD(?P<set>[CPRS])E(?P<falls>_1)?",
     lambda found: {"C", "CE", "D", "Q", {"C": "CLR", "P": "PRE"}.get(found["set"].upper(), found["set"].upper())},
     _flip_flop),
    (r"LUT(?P<inputs>[1-6])", lambda found: {"INIT", "O", *(f"I{n}" for n in range(int(found["inputs"])))}, _look_up),
    (r"SRL(?P<chained>C?)(?P<length>16)E", _named("INIT", "A0", "A1", "A2", "A3", "CE", "CLK", "D", "Q"), _shift),
    (r"SRL(?P<chained>C)(?P<length>32)E", _named("INIT", "A", "CE", "CLK", "D", "Q", "Q31"), _shift),
    (r"CARRY4", _named("CO", "O", "CI", "CYINIT", "DI", "S"), _carry),
    (r"MUXF[5-9]", _named("O", "I0", "I1", "S"), _always("O <= I1 when S = '1' else I0; ")),
    (r"MUXCY", _named("O", "CI", "DI", "S"), _always("O <= CI when S = '1' else DI; ")),
    (r"XORCY", _named("O", "CI", "LI"), _always("O <= CI xor LI; ")),
    (r"INV", _named("O", "I"), _always("O <= not I; ")),
    (r"VCC", _named("P"), _always("P <= '1'; ")),
    (r"GND", _named("G"), _always("G <= '0'; ")),
)  # fmt: skip
