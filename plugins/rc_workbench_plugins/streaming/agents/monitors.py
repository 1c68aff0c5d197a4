"""What an agent in hardware keeps of a frame: averages in a chain of words, histograms and traces in memories."""

from math import ceil

from rc_workbench_plugins.streaming.agents.bins import binned
from rc_workbench_plugins.streaming.agents.conditions import in_cycles
from rc_workbench_plugins.streaming.agents.joints import GroupKey
from rc_workbench_plugins.streaming.agents.layout import MONITORED_RECORDS, TRACE_RECORDS, Histogram, Trace
from rc_workbench_plugins.streaming.agents.measured import Refused, Values, bits_for, range_of
from rc_workbench_plugins.streaming.agents.netlist import Bits, Logic, PartSelect, Signal, both
from rc_workbench_plugins.streaming.agents.truths import Truths
from rc_workbench_plugins.streaming.query.measures import Measure, Metric


class Monitors(Truths):
    """The modules that count, by what they are called with."""

    @property
    def _records(self) -> int:
        return MONITORED_RECORDS if any(clock.monitored for clock in self._clocks) else TRACE_RECORDS

    def _average(self, at: str, key: GroupKey, values: Values, sample: str, gate: Logic, words: dict[str, int]) -> None:
        widths = {name.upper(): words.get(name, 0) for name in ("collected", "count", "sum")}
        held = sum(words.values())
        self.net.add(
            "agent_average", at,
            {"VALUE_BITS": values.bits, **widths, "EXTREMES": words.get("least", 0), "IS_SIGNED": int(values.signed),
             "WORDS": held},
            **self._clocked(key), collects=self._wire(f"{at}_gate", gate), sample=sample, value=values.value,
            frame_end=self._frame_wire(key, "end"), shift=self._frame_wire(key, "shift"),
            chain_in=self.net.wire(f"{at}_in", 32), chain_out=self.net.wire(f"{at}_chain", 32),
            held=self.net.wire(f"{at}_held", 32 * held),
        )  # fmt: skip
        self._chains.setdefault(key, []).append((at, held))

    def _histogram(self, of: Measure, values: Values, gate: Logic, key: GroupKey, at: str) -> Histogram:
        period = self._clocks[self._clock(of)].period_ps
        least, most = range_of(values)
        if of.metric is Metric.OCCUPANCY and len(of.edges) == 1:
            most = self.edges[of.edges[-1]].edge.depth
        bins = binned([in_cycles(of, bound, period) - values.bias_ps / period for bound in of.bins], least, most)
        bounds = len(bins.bounds)
        bits = max(1, bounds.bit_length())
        table = sum((bound & ((1 << values.bits) - 1)) << i * values.bits for i, bound in enumerate(bins.bounds))
        parameters: dict[str, int | Bits] = {
            "VALUE_BITS": values.bits, "IS_SIGNED": int(values.signed), "BIN_BITS": bits, "BOUNDS": bounds,
            "EVEN": int(bins.scale > 0), "SCALE": Bits(bins.scale, 48), "SHIFT": bins.shift,
            "AT": Bits(table, values.bits * bounds),
        }  # fmt: skip
        bin_ = self.net.wire(f"{at}_bin", bits)
        self.net.add("agent_bin", f"{at}_bins", parameters, value=values.value, bin=bin_)
        sample = self._wire(f"{at}_hit", both(values.event or True, gate))
        self._memory("agent_histogram", at, key, {"BIN_BITS": bits, "BINS": bounds + 1}, sample=sample, bin=bin_)
        return Histogram(bins.bin_of, len(of.bins) + 1)

    def _trace(self, of: Measure, values: Values, gate: Logic, key: GroupKey, at: str) -> Trace:
        if values.event is None and of.when:
            raise Refused("a trace of occupancy covers all cycles and takes no 'when'")
        sample = self._wire(f"{at}_hit", both(values.event or True, gate))
        parameters = {
            "VALUE_BITS": values.bits, "VALUE_WORDS": ceil(values.bits / 32), "ROOM_BITS": bits_for(self._records),
            "STATE": int(values.event is None),
        }  # fmt: skip
        self._memory("agent_trace", at, key, parameters, counts=self._wire(f"{at}_counts", gate), sample=sample,
                     value=values.value, since=self._frame_wire(key, "since"))  # fmt: skip
        type_ = self._type(of) if of.metric is Metric.VALUE else "unsigned64"
        return Trace(ceil(values.bits / 32), values.event is None, type_, records=self._records)

    def _memory(self, module: str, at: str, key: GroupKey, parameters: dict[str, int], **ports: Signal) -> None:
        memories = self._memories.setdefault(key, [])
        number, group = len(memories), self._numbers[key]
        memories.append(at)
        self.net.add(
            module, f"{at}_memory", parameters, **self._clocked(key), **ports,
            frame_end=self._frame_wire(key, "end"), selected=PartSelect(f"g{group}_selected", number),
            take=f"g{group}_take", ready=PartSelect(f"g{group}_ready", number),
            last=PartSelect(f"g{group}_last", number),
            word_in=f"g{group}_word_{number - 1}" if number else Bits(0, 32),
            word=self.net.wire(f"g{group}_word_{number}", 32),
        )  # fmt: skip
