"""What New and `template new` conclude from a header's words, a design's addresses and a build's files."""

from pathlib import Path

import pytest
from rc_workbench_plugins.c.outline import outline

from workbench.model.scan import ApiFunction, HostFile
from workbench.session.begin.entry_lists import entries_of
from workbench.session.begin.entry_words import entry_of
from workbench.session.begin.new_addresses import counts_bytes
from workbench.session.begin.new_standard import standard_flag


@pytest.mark.parametrize(
    ("prototype", "told"),
    [
        ("int fpga_open(const char *path)", {"kind": "acquire", "fpga": "order_of(path)"}),
        ("void Dev::open(const std::string &serial)", {"kind": "acquire", "fpga": "order_of(serial.c_str())"}),
        ("int fpga_open(int card, const char *name)", {"kind": "acquire", "fpga": "card"}),
        ("void Dev::program(std::string_view bitfile)", {"files": "std::string(bitfile).c_str()"}),
        ("void Dev::register_interrupt(int vector, callback on_event)", {"kind": "other"}),
        ("void Dev::wait_interrupt(int vector, int timeout_ms)", {"kind": "interrupt"}),
        ("int irq_wait(dev *d, void (*callback)(int))", {"kind": "other"}),
    ],
)
def test_a_calls_words_say_what_it_is_for(prototype: str, told: dict[str, str]) -> None:
    assert told.items() <= entry_of(prototype).items()


def entries(*prototypes: str, inline: tuple[str, ...] = ()) -> list[dict[str, object]]:
    functions = [ApiFunction(one, 1, (), any(name in one for name in inline)) for one in prototypes]
    return entries_of(functions)[0]


def test_a_pointer_to_volatile_words_is_a_mapping_and_its_accesses_are_transfers() -> None:
    mapped, unmapped, write, read = entries(
        "volatile uint32_t *zk_map(int fd, size_t length)", "int zk_unmap(volatile uint32_t *window, size_t length)"
    )
    assert (mapped["kind"], mapped["opens"], mapped["mapped_bytes"]) == ("other", "registers", "length")
    assert (unmapped["kind"], unmapped["of"]) == ("release", "window is registers")
    assert [(one["access"], one["kind"], one["of"]) for one in (write, read)] == [
        ("write", "send", "registers"), ("read", "receive", "registers"),
    ]  # fmt: skip
    assert not any("access" in one for one in entries("void *buffer_map(int fd)", "const int *table(void)"))


def test_what_makes_a_buffer_says_where_it_begins_and_holds_no_card() -> None:
    opened, closed, made, gone, sent = entries(
        "static Device dev::Device::open(int slot)", "dev::Device::~Device()",
        "Region dev::Device::map(uint64_t offset, size_t bytes)", "dev::Region::~Region()",
        "void dev::Region::upload(std::span<const uint32_t> words)",
        "uint64_t dev::Region::offset() const", "void dev::Device::poke(uint32_t reg, uint32_t value)",
        inline=("offset()",),
    )[:5]  # fmt: skip
    assert [one["kind"] for one in (opened, closed, made, gone, sent)] == [
        "acquire", "release", "other", "other", "send",
    ]  # fmt: skip
    assert (made["address"], sent["address"]) == ("offset", "self.offset()")
    shared = entries(
        "static ptr hx::handle::open(token::ptr tok)", "hx::handle::~handle()",
        "void hx::handle::write_csr(uint64_t offset, uint32_t value)",
        "static ptr hx::buffer::allocate(handle::ptr owner, size_t len)", "hx::buffer::~buffer()",
        "void hx::buffer::transfer(int direction)", "uint64_t hx::buffer::io_address() const", inline=("io_address",),
    )  # fmt: skip
    assert [one["kind"] for one in shared[:5]] == ["acquire", "release", "send", "other", "other"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("reg [31:0] m; assign q = mem[addr[11:2]];", "addr[11:2] in core.v:1"),
        ("q <= ram(to_integer(unsigned(address(9 downto 2)))); -- addr[3:0]", "address(9 downto 2) in core.v:1"),
        ("assign q = mem[addr[9:0]];", ""),
        ("assign q = mem[addr[9:2]]; assign p = addr[1:0];", ""),
        ("case (req.addr[7:0]) 8'h00: a; 8'h04, 8'h08: b; endcase", "addresses are multiples of 4: 0x0, 0x4, 0x8"),
        ("case (addr) 8'h00: a; 8'h01: b; 8'h04: c; endcase", ""),
        ('case addr is when x"00" => a; when x"04" | x"08" => b; end case;',
         "addresses are multiples of 4: 0x0, 0x4, 0x8"),
    ],
)  # fmt: skip
def test_whether_addresses_count_bytes_is_seen_in_the_design(tmp_path: Path, text: str, shown: str) -> None:
    (tmp_path / "core.v").write_text(text)
    assert counts_bytes(tmp_path, ["core.v"], 4) == shown


def test_the_standard_is_what_a_build_asks_for_or_an_include_needs(tmp_path: Path) -> None:
    host = HostFile("main.cpp", True, (), frozenset(), ("span", "vector"), ())
    flag, found = standard_flag(tmp_path, ["main.cpp"], [host])
    assert (flag, found and found.reason) == ("-std=c++20", "needed by <span>, which main.cpp includes")
    (tmp_path / "CMakeLists.txt").write_text("set(CMAKE_CXX_STANDARD 23)\n")
    assert standard_flag(tmp_path, ["CMakeLists.txt", "main.cpp"], [host])[0] == "-std=c++23"
    plain = HostFile("main.cpp", True, (), frozenset(), ("vector",), ())
    (tmp_path / "Makefile").write_text("CXXFLAGS = -std=gnu++14\n")
    assert standard_flag(tmp_path, ["Makefile", "main.cpp"], [plain]) == ("", None)
    assert standard_flag(tmp_path, ["CMakeLists.txt"], [HostFile("a.c", True, (), frozenset(), (), ())]) == ("", None)


def test_a_main_function_may_be_a_try_block(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text("int main(int argc, char **argv) try {\n} catch (...) {\n}\n")
    (tmp_path / "other.cpp").write_text("int other() try { return main_of(1); } catch (...) { return 0; }\n")
    assert [file.entry for file in outline(tmp_path, ["main.cpp", "other.cpp"])] == [True, False]
