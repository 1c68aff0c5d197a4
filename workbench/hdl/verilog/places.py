"""Which instance of an elaborated design drives a signal, and which clocks an instance runs on."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.hdl.instances import Instance, uses_in
from workbench.hdl.verilog.expressions import Kind


class Places:
    """Which instance a signal is driven in, and which clocks an instance runs on."""

    def __init__(self, instances: Mapping[str, Instance]) -> None:
        self.top = next(iter(instances), "")
        self._instances = instances
        self._slang_path = {str(instance.body.hierarchicalPath): path for path, instance in instances.items()}
        self._given: dict[Any, str] = {}  # inputs: what drives them stands around the instance
        for path, instance in instances.items():
            around = "" if path == self.top else next(p for p in _outer(path) if p in instances)
            for port in instance.body.portList:
                if port.kind == Kind.Port and str(port.direction).endswith("In") and port.internalSymbol is not None:
                    self._given[port.internalSymbol] = around

    def of(self, symbol: Any) -> str:
        """The instance whose logic drives a signal; empty outside of the design."""
        if symbol in self._given:
            return self._given[symbol]
        paths = _outer(str(symbol.hierarchicalPath))
        return next((self._slang_path[path] for path in paths if path in self._slang_path), self.top)

    def clock(self, *paths: str) -> str:
        """The clock that most of the first instance runs on, and the others too if one does: an input of the top, or a
        net within it."""
        each = (self._instances[path] for path in paths if path in self._instances)
        counts = [
            Counter(use.clock_net or use.root_clock for use in uses_in(one))
            for one in (*each, self._instances[self.top])
        ]
        counts = [count for count in counts[:-1] if count] or counts[-1:]
        shared = counts[0] & counts[-1] or counts[0]
        return shared.most_common(1)[0][0] if shared else ""


def _outer(path: str) -> Iterator[str]:
    while "." in path:
        path = path.rpartition(".")[0]
        yield path
