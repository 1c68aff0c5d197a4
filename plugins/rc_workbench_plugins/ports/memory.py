"""Memory-style and block-transfer ports (ReCAP 2011, section 3.2)."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from pydantic import Field, PositiveInt

from rc_workbench_plugins.ports.memory_front import MemoryFront, accesses, place_registers
from workbench.api import Activity, HardwarePort, MonitorFront, Problem, Signal
from workbench.api.ports import DRIVERS, USER_WIRE
from workbench.api.table_port import pins
from workbench.api.unstable import PortDirection, ReadOut


class MemoryPort(HardwarePort):
    """An address and an enable for every word."""

    driver = "MemoryPort"
    driver_header = DRIVERS / "memory.h"
    answers = False
    address_roles = ("write_address", "read_address")
    #: Whether the words of a read at consecutive addresses may come in one transfer.
    moves_blocks: ClassVar[bool] = False

    kind: str = Field("memory", description="memory")
    address_bits: PositiveInt = Field(32, description="width of an address")
    address_unit_bytes: PositiveInt = Field(4, description="bytes per step of the address")
    write_enable: str = Field("", description="the write enable's signal; needed in memory style")
    read_enable: str = Field("", description="the read enable's signal; needed in memory style without `enable`")
    enable: str = Field(
        "",
        description="the signal that is high in every access, as a chip select is; a read is then one without the "
        "write enable. Empty: NAME_enable, which a design may have",
        examples=["cs"],
    )
    incoming: PortDirection = Field(description="from the host to the FPGA")
    outgoing: PortDirection = Field(description="from the FPGA to the host")

    @classmethod
    def first_fields(cls) -> Mapping[str, object]:
        write, read = (
            {"data_signal": data, "address_signal": "addr", "condition_hdl": enable}
            for data, enable in (("wr_data", "wr_en"), ("rd_data", "rd_en"))
        )
        return {
            "write_enable": "wr_en", "read_enable": "rd_en",
            "incoming": write, "outgoing": {**read, "delay_cycles": 1},
        }  # fmt: skip

    def signals(self) -> Mapping[str, Signal]:
        return {
            "write_address": Signal(self.incoming.address_signal, "input"),
            "read_address": Signal(self.outgoing.address_signal, "input"),
            "write_enable": Signal(self.write_enable, "input", 1),
            "read_enable": Signal(self.read_enable, "input", 1, optional=bool(self.enable), instead="enable"),
            "enable": Signal(self.enable or f"{self.name}_enable", "input", 1, optional=not self.enable),
            "write_data": Signal(self.incoming.data_signal, "input", self.word_bits),
            "read_data": Signal(self.outgoing.data_signal, "output", self.word_bits),
        }

    @classmethod
    def fields_of(cls, signals: Mapping[str, str]) -> Mapping[str, object]:
        write, read = (signals.get(f"{way}_address") or signals.get("address") for way in ("write", "read"))
        enables = {role: signals[role] for role in ("write_enable", "read_enable", "enable") if role in signals}
        asks = signals.get("read_enable") or f"{signals.get('enable')} & ~{signals.get('write_enable')}"
        if not (write and read and {"write_enable", "write_data", "read_data"} <= signals.keys() and len(enables) > 1):
            return {}
        return {
            **enables,
            "incoming": {
                "data_signal": signals["write_data"], "address_signal": write, "condition_hdl": signals["write_enable"],
            },
            "outgoing": {
                "data_signal": signals["read_data"], "address_signal": read, "condition_hdl": asks, "delay_cycles": 1,
            },
        }  # fmt: skip

    def problems(self) -> Iterator[Problem]:
        yield from self._lacking("write_enable", *(() if self.enable else ("read_enable",)))
        if self.word_bits % 8:
            yield Problem("word_bits", f"{self.word_bits} bits are not whole bytes", "Write 32 or 64.")

    def undrivable(self) -> Iterator[Problem]:
        if self.word_bits not in (8, 16, 32, 64):
            yield Problem("word_bits", f"a port of {self.word_bits} bits cannot be simulated", "Use 8, 16, 32 or 64.")
        word_bytes, unit = self.word_bits // 8, self.address_unit_bytes
        if word_bytes % unit:
            message = f"words of {word_bytes} bytes do not start at whole addresses of {unit} bytes"
            yield Problem("address_unit_bytes", message, f"Write a divisor of {word_bytes}.")

    def constants(self) -> Mapping[str, int]:
        return {
            "address_step": self.word_bits // 8 // self.address_unit_bytes,
            "read_delay": self.outgoing.delay_cycles,
        }

    def activity(self, bits: Mapping[str, int]) -> Activity:
        """Signals of the port's activity. In block transfers the design may hold up words and requests; otherwise every
        word passes."""
        pin = pins({role: signal.name for role, signal in self.signals().items()}, bits)
        writes, reads = self._conditions(bits)
        asks, ready = f"(({writes}) | ({reads}))", pin("ready", "1'b1")
        asked = f"{pin('request')} & ~{pin('acknowledge')}" if pin("acknowledge", "") else "1'b0"
        return Activity(f"{asks} & {ready}", "1'b0", f"{asks} | {asked}")

    def _conditions(self, bits: Mapping[str, int]) -> tuple[str, str]:
        """When a word is written, and when one is asked for."""
        writes = self.incoming.condition_hdl or self.write_enable
        reads = self.outgoing.condition_hdl or self.read_enable
        if not self.enable:
            return writes, reads
        if self.read_enable not in bits:
            reads = f"~({writes})"
        return f"({self.enable}) & ({writes})", f"({self.enable}) & ({reads})"

    def lead_cycles(self, receive: bool) -> int:
        return max(0, self.outgoing.delay_cycles - 1) if receive else 0

    def _lacking(self, *names: str) -> Iterator[Problem]:
        for name in names:
            if not getattr(self, name):
                message = f"a port of {self.kind} style needs '{name}'"
                yield Problem(name, message, f"Add `{name}:` with the signal's name.")

    def monitor(self, read_out: ReadOut, bits: Mapping[str, int], waits: bool = False) -> MonitorFront:
        stride = max(1, self.word_bits // 8 // self.address_unit_bytes)
        blocks = self.moves_blocks and not waits
        writes, reads = self._conditions(bits)
        registers = place_registers(read_out, self.word_bits, stride, self.address_bits, blocks)
        held = self._held(bits)
        front = MemoryFront(
            registers, self.address_bits, self.word_bits, self.outgoing.delay_cycles, self._untracked(), tuple(held)
        )
        outer = {name: signal for name, signal in held.items() if name != "request"}
        asks = {"request": self._request()} if held.keys() & {"request"} or self._untracked() else {}
        return MonitorFront(
            text=front.text,
            connections={
                "write": writes,
                "write_address": self.incoming.address_signal,
                "written": self.incoming.data_signal,
                "read": reads,
                "read_address": self.outgoing.address_signal,
                "user_data": USER_WIRE + self.outgoing.data_signal,
                "data": self.outgoing.data_signal,
                **asks,
                **outer,
                **{f"user_{name}": USER_WIRE + signal for name, signal in held.items()},
            },
            taken=(self.outgoing.data_signal, *held.values()),
            **accesses(registers, self.word_bits),
            block_words=registers.block_words,
        )

    def _held(self, bits: Mapping[str, int]) -> dict[str, str]:
        """The signals of the port's handshake that the design has."""
        return {}

    def _untracked(self) -> bool:
        return False

    def _request(self) -> str:
        return ""


class BlockPort(MemoryPort):
    """A starting address, a word count and a request; the transfer ends when the count reaches 0."""

    driver = "BlockPort"
    driver_header = DRIVERS / "block.h"
    answers = True
    moves_blocks = True

    kind: str = Field("block", description="block")
    word_count_signal: str = Field("", description="the signal with the words that remain", examples=["words_left"])
    request_hdl: str = Field(
        "", description="HDL: condition under which the host requests a transfer", examples=["dma_req && dma_ack"]
    )
    request_signal: str = Field(
        "",
        description="the signal by which the platform requests a transfer; empty: `request_hdl` is that signal",
        examples=["dma_req"],
    )
    acknowledge_signal: str = Field(
        "",
        description="the signal by which the design accepts a request, which lasts until then; empty: one cycle",
        examples=["dma_ack"],
    )
    direction_signal: str = Field(
        "",
        description="the signal that is high while the host sends; empty: the enables alone decide",
        examples=["dma_write"],
    )
    ready_signal: str = Field(
        "", description="the signal by which the design accepts a word; empty: always", examples=["dma_ready"]
    )
    burst_words: Annotated[int, Field(ge=0)] = Field(0, description="the most words of one request; 0: any number")
    address_tracked: bool = Field(True, description="whether the address signal changes with every word")

    @classmethod
    def first_fields(cls) -> Mapping[str, object]:
        return {**super().first_fields(), "word_count_signal": "words_left", "request_hdl": "dma_req"}

    def signals(self) -> Mapping[str, Signal]:
        request = self.request_signal or self.request_hdl
        return {
            **super().signals(),
            "word_count": Signal(self.word_count_signal, "input"),
            "request": Signal(request if request.isidentifier() else "", "input", 1),
            **{
                role: Signal(name, direction, 1, optional=True)
                for role, name, direction in (
                    ("acknowledge", self.acknowledge_signal, "output"),
                    ("ready", self.ready_signal, "output"),
                    ("direction", self.direction_signal, "input"),
                )
            },
        }

    def undrivable(self) -> Iterator[Problem]:
        yield from self._lacking("write_enable", "read_enable")
        if not self.signals()["request"].name:
            message = "the simulated card needs the signal by which the platform requests a transfer"
            yield Problem("request_signal", message, "Add `request_signal:` with its name.")
        yield from super().undrivable()

    def constants(self) -> Mapping[str, int]:
        return {
            **super().constants(),
            "burst_words": self.burst_words,
            "address_tracked": int(self.address_tracked),
        }

    def problems(self) -> Iterator[Problem]:
        yield from self._lacking("word_count_signal", "request_hdl")
        if self.word_bits % 8:
            yield Problem("word_bits", f"{self.word_bits} bits are not whole bytes", "Write 32 or 64.")

    def _held(self, bits: Mapping[str, int]) -> dict[str, str]:
        roles = {name: self.signals()[name].name for name in ("request", "acknowledge", "ready")}
        return {name: signal for name, signal in roles.items() if signal in bits}

    def _untracked(self) -> bool:
        return not self.address_tracked

    def _request(self) -> str:
        return self.signals()["request"].name or self.request_hdl
