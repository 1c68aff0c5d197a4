"""Which Verilator stands in for the board: variables of the Makefile; none where the one on the path does."""

from contextlib import suppress

with suppress(ImportError):
    from workbench.system.toolchain import find_verilator

    found = find_verilator()
    print(f"VERILATOR={found.path} VERILATOR_ROOT={found.root}")
