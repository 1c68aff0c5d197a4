"""How the names of each language's files end, stated once: for New, marks, go to definition, colours and builds."""

from pathlib import PurePath

C = (".c",)
CPP = (".cpp", ".cc", ".cxx", ".c++", ".C")
CPP_HEADERS = (".hpp", ".hh", ".hxx", ".h++")
#: What C and C++ sources include.
C_HEADERS = (".h", *CPP_HEADERS)
VERILOG = (".v", ".sv")
VERILOG_HEADERS = (".vh", ".svh")
VHDL = (".vhd", ".vhdl")


def is_cpp(source: PurePath) -> bool:
    """Whether a compiler takes a source for C++."""
    return source.suffix in CPP
