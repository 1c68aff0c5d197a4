"""Keeps the window open if a plugin calls `sys.exit`, and reports the call as a fault of the plugin."""

import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


class Quit(BaseException):
    """What `sys.exit` and `raise SystemExit` raise while the window is open. Python ends the process for a SystemExit
    that leaves a slot or a view's method; this one is reported as any other fault."""

    def __init__(self, code: object = None) -> None:
        super().__init__(*(() if code is None else (code,)))
        self.code = code


Quit.__name__ = Quit.__qualname__ = "SystemExit"  # as whoever raised it knows it


@contextmanager
def kept_open() -> Iterator[None]:
    """Nothing that Python code raises ends the process meanwhile. Comes before plugins are loaded, which may import
    `exit` by its name."""
    system_exit, leave = SystemExit, sys.exit

    def quit(code: object = None) -> NoReturn:
        raise Quit(code)

    vars(builtins)["SystemExit"] = Quit
    vars(sys)["exit"] = quit
    try:
        yield
    finally:
        vars(builtins)["SystemExit"] = system_exit
        vars(sys)["exit"] = leave
