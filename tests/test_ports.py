"""Every kind of port in one design under one host: each transfer's cycles against sums by hand, and what it moved.

Host times are whole cycles here (a basic block is one), so that sums are: words due every cycle come in cycles 0, 1,
and so on of their transfer.
"""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from rc_workbench_plugins.ports import workbench_port_kinds
from rc_workbench_plugins.ports.bank import CardMemory
from rc_workbench_plugins.ports.bus import AvalonPort, AxiLitePort, AxiPort
from rc_workbench_plugins.ports.masters import AvalonMasterPort, AxiMasterPort, MemoryMasterPort
from rc_workbench_plugins.ports.memory import BlockPort
from rc_workbench_plugins.ports.wishbone import WishbonePort
from rc_workbench_plugins.simulated_card.card import CardExecutable, build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate
from rc_workbench_plugins.verilog import VerilogLanguage

from workbench.api import HdlBuild, PlatformSupport
from workbench.api.instrument.readout import of_taps
from workbench.api.job import Job
from workbench.api.ports import memory_ports
from workbench.api.records import read_transfers
from workbench.api.stream_records import memory_table
from workbench.api.targets import Outcome, Task
from workbench.hdl.verilate import harness_dir
from workbench.model.application import HardwareSources, HostSources, Project, ReadOut
from workbench.model.diagnostic import WorkbenchError
from workbench.model.hardware import Clock, Hardware, PortDirection
from workbench.model.platform import Platform, TransferPoint, TransferTable
from workbench.model.simulation import Simulation

_KINDS = {kind.name: kind.port for kind in workbench_port_kinds()}
StreamInPort = _KINDS["stream_in"]()
StreamOutPort = _KINDS["stream_out"]()
AvalonStreamInPort = _KINDS["avalon_st_in"]()
AvalonStreamOutPort = _KINDS["avalon_st_out"]()

DESIGN = Path(__file__).parent / "data" / "ports" / "every_port.v"
PERIOD_PS = 10_000
FAST_HZ = 137e6


def table(port: str, cycles: int, size: int, *, receive: bool = False, bus: str = "bus") -> TransferTable:
    points = (TransferPoint(bytes=size, time_s=cycles * 1e-8),)
    return TransferTable(direction="receive" if receive else "send", port=port, resource=bus, points=points)


PLATFORM = Platform(
    schema_version=2,
    name="every_port",
    hardware=Hardware(
        clocks=(
            Clock(name="clk", frequency_hz=100e6, reset="rst_n", reset_hdl="!rst_n"),
            Clock(name="fast", frequency_hz=FAST_HZ),
        ),
        ports=(
            AxiLitePort(name="lite", prefix="lite_"),
            AxiPort(name="burst", prefix="b_", word_bits=64),
            StreamInPort(name="s0", prefix="s0_"),
            StreamInPort(name="s1", prefix="s1_", buffer_words=1),
            StreamInPort(name="s8", prefix="s8_", buffer_words=8),
            StreamInPort(name="in", prefix="in_"),
            StreamOutPort(name="out", prefix="out_", buffer_words=64, packets=True),
            BlockPort(
                name="dma", word_count_signal="dma_left", request_hdl="dma_req && dma_ack", request_signal="dma_req",
                acknowledge_signal="dma_ack", direction_signal="dma_sends", burst_words=16, address_tracked=False,
                write_enable="dma_write", read_enable="dma_read",
                incoming=PortDirection(
                    data_signal="dma_written", address_signal="dma_address", condition_hdl="dma_write"
                ),
                outgoing=PortDirection(
                    data_signal="dma_word", address_signal="dma_address", condition_hdl="dma_read", delay_cycles=1
                ),
            ),
            AvalonPort(name="a1", prefix="a1_"),
            AvalonPort(name="a8", prefix="a8_", outstanding=8),
            AvalonStreamInPort(name="asi", prefix="asi_"),
            AvalonStreamOutPort(name="aso", prefix="aso_", buffer_words=64, packets=True),
            WishbonePort(name="w1", prefix="w1_"),
            WishbonePort(name="w8", prefix="w8_", outstanding=8),
            AxiMasterPort(name="engine", prefix="m_", memory="ddr"),
            AvalonMasterPort(name="avalon", prefix="av_", memory="ddr"),
            AvalonMasterPort(name="waiting", prefix="aw_", memory="ddr"),
            AvalonMasterPort(name="pipelined", prefix="ap_", memory="ddr"),
            MemoryMasterPort(
                name="granted", memory="ddr", outstanding=4,
                names={
                    "enable": "o_req", "grant": "o_gnt", "address": "o_addr", "write_enable": "o_we",
                    "byte_enable": "o_be", "write_data": "o_wdata", "valid": "o_rvalid", "read_data": "o_rdata",
                },
            ),
            MemoryMasterPort(
                name="held", memory="ddr",
                names={
                    "enable": "mem_valid", "valid": "mem_ready", "address": "mem_addr", "byte_enable": "mem_wstrb",
                    "write_data": "mem_wdata", "read_data": "mem_rdata",
                },
            ),
            MemoryMasterPort(
                name="synchronous", memory="ddr", read_latency=2, address_unit_bytes=4,
                active_low=("enable", "write_enable"),
                names={
                    "enable": "ce_n", "write_enable": "we_n", "address": "ram_a", "write_data": "ram_d",
                    "read_data": "ram_q",
                },
            ),
            CardMemory(
                name="ddr", bytes=65536, bandwidth_bytes_per_s=400e6, banks=2, row_bytes=1024,
                fixed_s=10e-9, cas_s=20e-9, rcd_s=30e-9, rp_s=40e-9,
            ),
        ),
        interrupt="irq",
    ),
    transfer_tables={
        "lite_write": table("lite", 65, 256),
        "lite_read": table("lite", 65, 256, receive=True),
        "lite_held": table("lite", 65, 256, receive=True, bus="other").model_copy(update={"holds_core": True}),
        "register": table("lite", 20, 4),
        "register_read": table("lite", 20, 4, receive=True),
        "burst_write": table("burst", 257, 2048),
        "burst_read": table("burst", 257, 2048, receive=True),
        **{name: table(name, 400, 400) for name in ("s0", "s1", "s8")},
        "asi": table("asi", 64, 256, bus="in"),
        "aso": table("aso", 64, 256, receive=True, bus="out"),
        "in": table("in", 64, 256, bus="in"),
        "out": table("out", 64, 256, receive=True, bus="out"),
        "a1_write": table("a1", 65, 256),
        "a1_read": table("a1", 65, 256, receive=True),
        "a8_read": table("a8", 65, 256, receive=True),
        **{f"{name}_write": table(name, 65, 256) for name in ("w1", "w8")},
        **{f"{name}_read": table(name, 65, 256, receive=True) for name in ("w1", "w8")},
        "dma_write": table("dma", 66, 256),
        "dma_read": table("dma", 66, 256, receive=True),
        "dma_slow": table("dma", 256, 256, receive=True),
        "ddr_write": table("ddr", 16, 64),
        "ddr_read": table("ddr", 16, 64, receive=True),
    },
)  # fmt: skip
PORTS = tuple(port.name for port in PLATFORM.hardware.ports if port.kind != "memory_bank")
MASTERS = ("engine", "avalon", "waiting", "pipelined", "granted", "held", "synchronous")
MONITORS = ReadOut(first=0x7F00, last=0x7FFF)
NAMES = list(PLATFORM.transfer_tables)
HEAD = """
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "wbcard.h"
static uint32_t data[512], back[512];
static wbcard_t *card;
static void must(int failed) { if (failed) { puts("failed"); exit(1); } }
static int wrong(int words, int times) {
    int count = 0;
    for (int i = 0; i < words; i++) count += back[i] != data[i] * times;
    for (int i = 0; i < words; i++) back[i] = 0;
    return count;
}
static uint32_t reg(uint32_t address) {
    uint32_t value;
    must(wbcard_receive(card, "register_read", &value, address, 4));
    return value;
}
static void *hold(void *unused) { must(wbcard_receive(card, "lite_held", back, 0, 256)); return unused; }
static void *receive(void *unused) { must(wbcard_receive(card, "out", back, 0, 256)); return unused; }
int main(void) {
    for (int i = 0; i < 512; i++) data[i] = 1000003u * i + 7;
    card = wbcard_open(0);
"""


def project(**simulation: float) -> Project:
    return Project(
        schema_version=1,
        name="every_port",
        platform="every_port",
        host=HostSources(sources=("host.c",)),
        hardware=HardwareSources(sources=("every_port.v",), top="every_port", read_out=ReadOut(first=0, last=3)),
        simulation=Simulation.model_validate({"wall_limit_s": 200, "basic_block_ps": PERIOD_PS, **simulation}),
    )


def task(root: Path, hdl: HdlBuild) -> Task:
    return Task(project(), PLATFORM, root, hdl, root / "build", root / "raw", deterministic=True)


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> CardExecutable:
    """All ports are observed, as blocks of the design."""
    folder = tmp_path_factory.mktemp("ports")
    shutil.copy(DESIGN, folder)
    hardware = project().hardware.model_copy(update={"observed_ports": PORTS, "read_out": MONITORS})
    hdl = VerilogLanguage().instrument(folder, hardware, PLATFORM, {}, folder / "observed")
    return build_card(task(folder, replace(hdl, streams=(), fifos=())), Job())


def run(card: CardExecutable, body: str, folder: Path, **simulation: float) -> Outcome:
    (folder / "api.c").write_text("")
    (folder / "host.c").write_text(HEAD + body + "    wbcard_close(card);\n    return 0;\n}\n")
    support = PlatformSupport("every_port", Path("none.yaml"), harness_dir(), (folder / "api.c",))
    this = replace(task(folder, card.hdl), project=project(**simulation), support=support)
    return simulate(this, card, build_host(this, Job()), Job())


def moved(
    card: CardExecutable, body: str, folder: Path, **simulation: float
) -> tuple[list[str], list[tuple[str, int]]]:
    """What a run without fault printed, and of each transfer its table and the cycles from its grant to its end."""
    outcome = run(card, body, folder, **simulation)
    assert outcome.diagnostics == ()
    observed = activity(card, folder / "raw")
    of_memory = memory_table(folder / "raw")["memory_ports"]
    for number, port in enumerate(memory_ports(PLATFORM.hardware)):
        counted = [int(of_memory[name][number]) for name in ("idle", "moving", "waiting", "held")]
        assert observed[port.id] == counted, f"{port.id}: what is observed is what the card counts"
    rows = [row for row in read_transfers(folder / "raw").at() if row["kind"] != 2]
    words: Counter[str] = Counter()
    for row in rows:
        port = PLATFORM.transfer_tables[NAMES[row["table"]]].port
        words[port] += int(row["bytes"]) // (8 if port == "burst" else 4)
    for port in PLATFORM.hardware.ports:  # of a stream the link may hold some
        if port.addressed and port.name in PORTS and port.name not in MASTERS:
            assert observed[port.name][1] == words[port.name], port.name
    return outcome.stdout.split(), [(NAMES[r["table"]], int(r["end_ps"] - r["grant_ps"]) // PERIOD_PS) for r in rows]


def activity(card: CardExecutable, raw: Path) -> dict[str, list[int]]:
    """Of each observed port, in how many cycles it did nothing, moved a word, waited, was held up."""
    times = of_taps(card.hdl, raw, ["clk", "fast"])["state_time"]
    numbers = {block.id.rpartition(".")[2]: n for n, block in enumerate(card.hdl.blocks) if block.kind == "port"}
    return {name: times["cycles"][times["block"] == number].tolist() for name, number in numbers.items()}


def test_axi_lite_and_axi(card: CardExecutable, tmp_path: Path) -> None:
    body = """
    must(wbcard_send(card, "lite_write", data, 0, 256));
    must(wbcard_receive(card, "lite_read", back, 0, 256));
    printf("%d\\n", wrong(64, 1));
    must(wbcard_send(card, "burst_write", data, 0, 2048));
    must(wbcard_receive(card, "burst_read", back, 0, 2048));
    printf("%d\\n", wrong(512, 1));
    printf("%d\\n", wbcard_send(card, "register", data, 0x8000, 4));
    """
    printed, lasted = moved(card, body, tmp_path)
    assert printed == ["0", "0", "-1"], "an error response fails the call"
    assert lasted == [
        ("lite_write", 64 * 2),  # a cycle for the request and one for the answer
        ("lite_read", 64 * 2),
        ("burst_write", 16 * (1 + 16 + 1)),  # 16 bursts: an address, 16 words, an answer
        ("burst_read", 16 * (1 + 16)),
        ("register", 20),
    ]


def test_a_stalled_stream_is_caught_up_as_the_links_buffer_allows(card: CardExecutable, tmp_path: Path) -> None:
    body = "".join(f'    must(wbcard_send(card, "{name}", data, 0, 400));\n' for name in ("s0", "s1", "s8"))
    _, lasted = moved(card, body, tmp_path)
    # 100 words, one in 4 cycles; a stall of 57 is caught up whole, but for all but 3 of it, or but for 57 + 1 - 8 * 4.
    assert lasted == [("s0", 400), ("s1", 400 + 57 - 3), ("s8", 400 + 57 + 1 - 8 * 4)]


def test_streams_in_and_out_keep_pace(card: CardExecutable, tmp_path: Path) -> None:
    body = """
    must(wbcard_send_async(card, "in", data, 0, 256));
    must(wbcard_receive(card, "out", back, 0, 256));
    must(wbcard_wait(card));
    printf("%d\\n", wrong(64, 2));
    must(wbcard_send(card, "in", data, 0, 256));  /* its words wait in the link's buffer */
    must(wbcard_receive(card, "out", back, 0, 256));
    printf("%d\\n", wrong(64, 2));
    """
    printed, lasted = moved(card, body, tmp_path)
    assert printed == ["0", "0"]
    assert lasted == [("in", 64), ("out", 64), ("in", 64), ("out", 64)]


def test_a_receive_ends_with_the_designs_packet(card: CardExecutable, tmp_path: Path) -> None:
    body = """
    must(wbcard_send(card, "in", data, 0, 64));
    must(wbcard_receive(card, "out", back, 0, 256));
    printf("%d %d\\n", (int)wbcard_got(), wrong(16, 2));
    must(wbcard_send(card, "in", data, 0, 256));
    for (int half = 0; half < 2; half++) {
        must(wbcard_receive(card, "out", back + 32 * half, 0, 128));
        printf("%d\\n", (int)wbcard_got());
    }
    printf("%d\\n", wrong(64, 2));
    """
    printed, lasted = moved(card, body, tmp_path)
    assert printed == ["64", "0", "128", "128", "0"]
    # A packet of 16 of the 64 words asked for takes a quarter of their time; 32 words are below the table's first size.
    assert [took for name, took in lasted if name == "out"] == [16, 64, 64]


def test_avalon_streams_tell_where_packets_begin_and_end(card: CardExecutable, tmp_path: Path) -> None:
    body = """
    for (int part = 0; part < 2; part++) {
        must(wbcard_send(card, "asi", data, 0, 128));
        must(wbcard_receive(card, "aso", back, 0, 256));
        printf("%d %d\\n", (int)wbcard_got(), wrong(32, 1));
    }
    """
    printed, lasted = moved(card, body, tmp_path)
    assert printed == ["128", "0"] * 2
    assert [took for name, took in lasted if name == "aso"] == [32, 32]  # half of what was asked for in 64


def test_a_thread_that_waits_for_words_lets_another_send_them(card: CardExecutable, tmp_path: Path) -> None:
    body = """
    pthread_t reader;
    pthread_create(&reader, NULL, receive, NULL);
    for (volatile int i = 0; i < 1000; i++);
    must(wbcard_send(card, "in", data, 0, 256));
    pthread_join(reader, NULL);
    printf("%d\\n", wrong(64, 2));
    """
    printed, _ = moved(card, body, tmp_path, idle_cycle_limit=10_000)
    assert printed == ["0"]
    sent, received = read_transfers(tmp_path / "raw").at()[["kind", "call_ps", "end_ps"]]
    if received["kind"] == 0:
        sent, received = received, sent
    assert sent["call_ps"] > received["call_ps"] + 64 * PERIOD_PS  # when the receive would be over by its table
    assert sent["end_ps"] == sent["call_ps"] + 64 * PERIOD_PS
    assert received["end_ps"] == sent["end_ps"] + PERIOD_PS  # the design has a word for a cycle


def test_a_transfer_that_holds_its_core_and_is_held_up_lets_another_core_go_on(
    card: CardExecutable, tmp_path: Path
) -> None:
    body = """
    pthread_t reader;
    pthread_create(&reader, NULL, hold, NULL);
    for (volatile int i = 0; i < 90; i++);
    must(wbcard_send(card, "in", data, 0, 256));
    pthread_join(reader, NULL);
    """
    _, lasted = moved(card, body, tmp_path, cores=2)
    assert sorted(lasted) == [("in", 64), ("lite_held", 128)]
    sent, held = sorted(read_transfers(tmp_path / "raw").at()[["kind", "call_ps", "end_ps"]].tolist())
    assert held[1] + 64 * PERIOD_PS < sent[1] < held[2]  # between the end by the table and the real one


def test_avalon(card: CardExecutable, tmp_path: Path) -> None:
    body = """
    must(wbcard_send(card, "a1_write", data, 0, 256));
    must(wbcard_receive(card, "a1_read", back, 0, 256));
    printf("%d\\n", wrong(64, 1));
    must(wbcard_receive(card, "a8_read", back, 0, 256));
    """
    printed, lasted = moved(card, body, tmp_path)
    assert printed == ["0"]
    # A command has three cycles; a read's word comes three cycles after the last of them.
    assert lasted == [("a1_write", 64 * 3), ("a1_read", 64 * 6), ("a8_read", 64 * 3 + 3)]


def test_wishbone(card: CardExecutable, tmp_path: Path) -> None:
    body = """
    for (int i = 0; i < 2; i++) {
        must(wbcard_send(card, i ? "w8_write" : "w1_write", data, 128, 256));
        must(wbcard_receive(card, i ? "w8_read" : "w1_read", back, 128, 256));
        printf("%d\\n", wrong(64, 1));
    }
    printf("%d\\n", wbcard_receive(card, "w1_read", back, 0xffc, 4) != 0);
    """
    printed, lasted = moved(card, body, tmp_path)
    assert printed == ["0", "0", "1"]
    # Three cycles a word; two, and three more until the last one is answered.
    each = (("w1", 64 * 3), ("w8", 64 * 2 + 3))
    assert lasted[:4] == [(f"{name}_{way}", cycles) for name, cycles in each for way in ("write", "read")]


def test_block_transfer(card: CardExecutable, tmp_path: Path) -> None:
    body = """
    must(wbcard_send(card, "dma_write", data, 100, 256));
    must(wbcard_receive(card, "dma_read", back, 100, 256));
    printf("%d\\n", wrong(64, 1));
    must(wbcard_receive(card, "dma_slow", back, 132, 128));
    for (int i = 0; i < 32; i++) data[i] = data[32 + i];
    printf("%d\\n", wrong(32, 1));
    """
    printed, lasted = moved(card, body, tmp_path)
    assert printed == ["0", "0"]
    # Four bursts: a request has three cycles, then come its 16 words. Where the table has a word in 4 cycles, the link
    # makes up for the requests.
    assert lasted == [("dma_write", 4 * (3 + 16)), ("dma_read", 4 * (3 + 16)), ("dma_slow", 256)]


def test_a_master_into_memory_and_a_second_clock(card: CardExecutable, tmp_path: Path) -> None:
    body = """
    must(wbcard_send(card, "ddr_write", data, 0x400, 64));
    uint32_t from = 0x400;
    for (int i = 0; i < 2; i++) {
        must(wbcard_send(card, "register", &from, 0x4000, 4));
        must(wbcard_wait_irq(card));
        printf("%u\\n", reg(0x4004));
    }
    must(wbcard_receive(card, "ddr_read", back, 0x1400, 64));
    printf("%d\\n", wrong(16, 1));
    printf("%u\\n", reg(0x4008));
    """
    printed, _ = moved(card, body, tmp_path)
    first, second, bad, fast = map(int, printed)
    # The address is taken in cycle 0; 1 later (fixed) its row is opened (3) and read (2): words in cycles 6 to 21. The
    # write's address is taken in 22, its words in 23 to 38. There its row's turn comes: 1, then 4 (closing the row
    # that is open in this bank), 3 and 2, then its words for 16 cycles, 48 to 63: answered in the last of them.
    assert bad == 0
    assert first == 64
    assert second == 64 + 4, "the first time no row had to be closed for the read"
    last = read_transfers(tmp_path / "raw").at()[-1]
    sampled_ps = int(last["port_first_ps"]) + PERIOD_PS  # the edge that ends the request's cycle
    assert fast == sampled_ps * int(FAST_HZ) // 10**12


@pytest.mark.parametrize(
    ("number", "words", "cycles"),
    [
        # A burst of 16 reads as above, 0 to 21, and 16 written words after it, which nobody answers.
        pytest.param(1, 16, 22 + 16, id="avalon"),
        # Without readdatavalid: a read until its word in 6; its write asked in 7, taken in 8, in the memory from 9:
        # 4, 3 and 2 later its word, 18. The next read is asked for in 9, its row's turn is in 19 and its word in 28.
        pytest.param(2, 2, 31, id="avalon without readdatavalid"),
        # Eight reads in 0 to 7: words in 6 to 13, so that two are asked for while words come; the ninth when the first
        # is answered, in 7 and 8: words in 14 and 15. Eight writes in 16 to 23, the first in the memory in 26; two
        # more in 27 and 28.
        pytest.param(6, 10, 29, id="avalon pipelined"),
        # Four reads in 0 to 3: words in 6 to 9. Four writes in 10 to 13: the row's turn is in 11, answers in 20 to 23.
        pytest.param(3, 4, 24, id="granted"),
        # A read until 6, a write from 7 on: 1, 4, 3, 2 later, in 17; then a read until 28, a write until 39.
        pytest.param(4, 2, 40, id="held"),
        # Four reads in 0 to 3, the last one's word in 5; four writes.
        pytest.param(5, 4, 6 + 4, id="synchronous"),
    ],
)
def test_other_masters_into_memory(card: CardExecutable, tmp_path: Path, number: int, words: int, cycles: int) -> None:
    body = f"""
    must(wbcard_send(card, "ddr_write", data, 0x400, 64));
    uint32_t from = 0x400;
    must(wbcard_send(card, "register", &from, {0x4000 + 16 * number}, 4));
    must(wbcard_wait_irq(card));
    must(wbcard_receive(card, "ddr_read", back, 0x1400, 64));
    printf("%d\\n", back[{words}] == 0);
    printf("%d\\n", wrong({words}, 1));
    printf("%u\\n", reg({0x4004 + 16 * number}));
    """
    printed, _ = moved(card, body, tmp_path)
    assert printed == ["1", "0", str(cycles)], "so many words were copied, and no more"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            'must(wbcard_receive(card, "out", back, 0, 256));',
            "the design moves nothing: the host waits for a transfer of which 0 of 64 words are through",
        ),
        (
            'uint32_t from = 0xf000; must(wbcard_send(card, "register", &from, 0x4000, 4)); wbcard_wait_irq(card);',
            "port engine asks for 64 bytes at 0x10000, outside the card's memory of 65536 bytes",
        ),
    ],
)
def test_what_cannot_go_on_ends_the_run(card: CardExecutable, tmp_path: Path, body: str, told: str) -> None:
    outcome = run(card, body, tmp_path, idle_cycle_limit=10_000)
    assert outcome.exit == 113
    assert told in outcome.diagnostics[0].message


def test_a_table_names_a_port_that_there_is(tmp_path: Path) -> None:
    platform = PLATFORM.model_copy(update={"transfer_tables": {"x": table("lit", 20, 4)}})
    with pytest.raises(WorkbenchError, match="go through a port 'lit' that does not exist"):
        build_card(replace(task(tmp_path, HdlBuild((), "every_port", ())), platform=platform), Job())
