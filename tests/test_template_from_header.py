"""A template's entries are made of an API's header: prototypes as written, kinds and expressions told by names."""

import json
from pathlib import Path
from typing import Any

import pytest
from answers import document_of

from workbench.cli.main import main
from workbench.formats.platform_file import load_platform
from workbench.formats.yaml_edit import set_value
from workbench.model.diagnostic import Severity, WorkbenchError
from workbench.session.begin.entry_problems import entry_problems
from workbench.session.begin.entry_words import entry_of
from workbench.session.begin.new_entries import header_entries, header_of, with_entries
from workbench.session.edit.platform_document import PlatformDocument
from workbench.session.program.plugins import load_plugins

ROOT = Path(__file__).parents[1]
TEMPLATE = ROOT / "platform_templates" / "nallatech_h101.yaml"
HEADER = TEMPLATE.with_suffix("") / "fpga.h"
PORTS = ROOT / "resources" / "examples" / "own_board" / "ports.yaml"

OPAE = """
#include <opae/types.h>
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif
/* one; two(int); */
fpga_result fpgaOpen(fpga_token token, fpga_handle *handle, int flags);
OPAE_API fpga_result fpgaReadMMIO64(fpga_handle handle, uint32_t mmio_num,
                                    uint64_t offset, uint64_t *value) OPAE_NOTHROW;
fpga_result fpgaPrepareBuffer(fpga_handle handle, uint64_t len, void **buf_addr, uint64_t *wsid, int flags);
static inline uint32_t litepcie_readl(int fd, uint32_t addr) { return fd + addr; }
typedef int (*callback)(int);
void fpgaOnError(void (*done)(int), int, char text[32], ...);
#ifdef __cplusplus
}
#endif
"""

CPP = """
#include "xrt/xrt_device.h"
namespace xrt {
class XCL_DRIVER_DLLESPEC bo {
public:
  bo(const xrt::device& device, size_t sz, memory_group grp);
  bo(const bo& other);
  ~bo();
  void sync(xclBOSyncDirection dir, size_t sz, size_t offset = 0);
  size_t size() const;
  bo& operator=(const bo&) = default;
private:
  void hidden();
};
}
"""


def test_the_bundled_cards_header_gives_the_bundled_templates_entries() -> None:
    entries, found = header_entries(load_plugins(), HEADER)
    assert found.diagnostics == ()
    template, _ = load_platform(TEMPLATE)
    assert template is not None
    by_hand = [one.model_dump(mode="json") for one in template.host.entries]
    told = ("prototype", "kind", "address", "fpga", "files", "reason", "asynchronous")
    blank: dict[str, Any] = {"address": "", "fpga": "", "files": "", "reason": "", "asynchronous": False}
    assert [{name: (blank | one)[name] for name in told} for one in entries] == [
        {name: one[name] for name in told} for one in by_hand
    ]
    sizes = {"words * 4": "words * sizeof *data", "": None}
    assert [one.get("bytes") for one in entries] == [
        sizes.get(one["bytes"], "sizeof value" if "value" in one["prototype"] else "sizeof(uint32_t)")
        for one in by_hand
    ]


@pytest.mark.parametrize(
    ("prototype", "kind", "size", "address"),
    [
        ("int fpga_pci_poke(bar_t handle, uint64_t offset, uint32_t value)", "send", "sizeof value", "offset"),
        ("int fpga_pci_peek(bar_t handle, uint64_t offset, uint32_t *value)", "receive", "sizeof *value", "offset"),
        ("int burst(int fd, uint8_t *buffer, size_t xfer_sz, size_t address)", "other", None, None),
        ("int dma_read(int fd, uint8_t *buffer, size_t xfer_sz, size_t address)", "receive", "xfer_sz", "address"),
        ("ssize_t pwrite(int fd, const void *buf, size_t count, off_t offset)", "send", "count", "offset"),
        ("int fpga_pci_write_burst(bar_t b, uint64_t offset, uint32_t *datap, uint64_t dword_len)", "send",
         "dword_len * sizeof *datap", "offset"),
        ("void xrt::bo::write(const void *src, size_t size, size_t seek)", "send", "size", "seek"),
        ("xrt::device::device(unsigned int didx)", "acquire", None, None),
        ("xrt::hw_context::hw_context(const xrt::device& device, const xrt::uuid& xclbin_id)", "configure", None, None),
        ("sycl::queue::queue(const sycl::property_list& propList)", "acquire", None, None),
        ("sycl::event sycl::queue::memcpy(void* dest, const void* src, size_t numBytes)", "send", "numBytes", None),
        ("void sycl::queue::wait()", "wait", None, None),
        ("void sycl::free(void* ptr, const sycl::queue& syclQueue)", "other", None, None),
        ("xrt::run xrt::kernel::operator()(Args&&... args)", "other", None, None),
        ("template <typename T> void dma::send(uint32_t address, const std::vector<T>& data)", "send",
         "data.size() * sizeof *data.data()", "address"),
        ("cl_mem clCreateBuffer(cl_context context, size_t size, void *host_ptr)", "other", None, None),
        ("int getVersion(void)", "other", None, None),
        ("int setName(board *b, const char *name)", "other", None, None),
    ],
)  # fmt: skip
def test_names_and_types_tell_what_a_call_is_for(
    prototype: str, kind: str, size: str | None, address: str | None
) -> None:
    entry = entry_of(prototype)
    assert (entry["kind"], entry.get("bytes"), entry.get("address")) == (kind, size, address)


@pytest.mark.parametrize("tables", ["{direction: send}, b: {direction: receive}", "{}, b: {direction: send}"])
def test_the_one_table_of_a_direction_is_a_transfers(tables: str) -> None:
    text = f"name: x\ntransfer_tables: {{a: {tables}}}\n"
    put = entry_of("int put(int card, const void *data, size_t bytes)")
    new, added = with_entries(text, [put], Path("/x.yaml"))
    assert new == text + (
        "host:\n  entries:\n    - prototype: int put(int card, const void *data, size_t bytes)\n      kind: send\n"
        "      fpga: card\n      bytes: bytes\n      reason: data\n"
    ) + ("      transfer: a\n" if "receive" in tables else "")  # fmt: skip
    assert with_entries(new, [put], Path("/x.yaml")) == (new, [])
    assert len(added) == 1


def test_a_header_whose_own_includes_lack_is_read_by_its_names(tmp_path: Path) -> None:
    header = tmp_path / "opae.h"
    header.write_text(OPAE)
    entries, found = header_entries(load_plugins(), header)
    assert [entry["prototype"] for entry in entries] == [
        "fpga_result fpgaOpen(fpga_token token, fpga_handle *handle, int flags)",
        "fpga_result fpgaReadMMIO64(fpga_handle handle, uint32_t mmio_num, uint64_t offset, uint64_t *value)",
        "fpga_result fpgaPrepareBuffer(fpga_handle handle, uint64_t len, void **buf_addr, uint64_t *wsid, int flags)",
        "uint32_t litepcie_readl(int fd, uint32_t addr)",
        "void fpgaOnError(void (*done)(int), int argument2, char text[32], ...)",
    ]
    assert [one.line for one in found.functions] == [8, 9, 11, 12, 14]
    assert [(d.line, d.message) for d in found.diagnostics] == [(2, "'opae/types.h' file not found")]


DECORATED = """
extern CL_API_ENTRY cl_int CL_API_CALL
clEnqueueWriteBuffer(cl_command_queue   queue, cl_mem buffer, size_t offset, size_t size,
                     const void * ptr, void (CL_CALLBACK * done)(cl_event, void *)) CL_API_SUFFIX__VERSION_1_0;
okDLLEXPORT long DLL_ENTRY okWriteToPipeIn(okHANDLE hnd, int epAddr, long length, unsigned char *data);
okDLLEXPORT UINT32 DLL_ENTRY okGetWireOut(okHANDLE hnd, int epAddr);
__declspec(dllimport) Bool __stdcall okIsOpen(okHANDLE hnd);
"""


def test_what_stands_beside_types_for_compilers_is_left_out(tmp_path: Path) -> None:
    """As pasted out of the middle of a vendor's header, where nothing of it is defined."""
    entries, found = header_entries(load_plugins(), tmp_path / "pasted.h", DECORATED)
    assert [entry["prototype"] for entry in entries] == [
        "cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, size_t offset, size_t size, "
        "const void * ptr, void (* done)(cl_event, void *))",
        "long okWriteToPipeIn(okHANDLE hnd, int epAddr, long length, unsigned char *data)",
        "UINT32 okGetWireOut(okHANDLE hnd, int epAddr)",
        "Bool okIsOpen(okHANDLE hnd)",
    ]
    assert found.diagnostics == ()
    assert [one.line for one in found.functions] == [3, 5, 6, 7]
    told = [(e["kind"], e.get("bytes"), e.get("address"), e.get("asynchronous")) for e in entries]
    assert told == [
        ("send", "size", "offset", True), ("send", "length", "epAddr", None),
        ("receive", "sizeof(UINT32)", "epAddr", None), ("other", None, None, None),
    ]  # fmt: skip


def test_a_class_gives_its_public_methods(tmp_path: Path) -> None:
    entries, found = header_entries(load_plugins(), tmp_path / "bo.hpp", CPP)
    assert [entry["prototype"] for entry in entries] == [
        "xrt::bo::bo(const xrt::device& device, size_t sz, memory_group grp)",
        "xrt::bo::~bo()",
        "void xrt::bo::sync(xclBOSyncDirection dir, size_t sz, size_t offset = 0)",
        "size_t xrt::bo::size() const",
    ]
    assert [d.message for d in found.diagnostics] == [
        "'xrt/xrt_device.h' file not found", "xrt::bo::sync may send or receive; it is taken as a send",
    ]  # fmt: skip


def test_what_goes_either_way_by_an_argument_has_two_entries(tmp_path: Path) -> None:
    text = CPP.replace("namespace xrt {", "namespace xrt {\nenum class way { to_device, from_device, nowhere };")
    text = text.replace("xclBOSyncDirection dir, size_t sz, size_t offset = 0", "way dir").replace(
        "  ~bo();", "  ~bo();\n  void write(const void* src);\n  void read(void* dst);"
    )
    entries, _ = header_entries(load_plugins(), tmp_path / "bo.hpp", text)
    told = ("kind", "condition", "bytes", "reason")
    assert [(e["prototype"], *(e.get(name) for name in told)) for e in entries][2:6] == [
        ("void xrt::bo::write(const void* src)", "other", None, None, "update"),
        ("void xrt::bo::read(void* dst)", "other", None, None, "update"),
        ("void xrt::bo::sync(way dir)", "send", "dir == xrt::way::to_device", "self.size()", "data"),
        ("void xrt::bo::sync(way dir)", "receive", "dir == xrt::way::from_device", "self.size()", "data"),
    ]
    template, added = with_entries("schema_version: 2\nname: x\n", entries, tmp_path / "x.yaml")
    (tmp_path / "bo.hpp").write_text(text.replace('#include "xrt/xrt_device.h"', ""))
    assert len(added) == 7
    assert (
        entry_problems(set_value(template, ("host", "include_lines"), ["bo.hpp"]), tmp_path / "x.yaml", load_plugins())
        == ()
    )


def test_overloads_have_their_scope_and_pasted_prototypes_are_taken_as_they_are(tmp_path: Path) -> None:
    entries, _ = header_entries(
        load_plugins(), tmp_path / "x.hpp", "struct card;\nint put(int a);\nint put(card &a);\n"
    )
    assert [entry["prototype"] for entry in entries] == ["int ::put(int a)", "int ::put(card &a)"]
    entries, found = header_entries(load_plugins(), tmp_path / "x.h", "int put(card_t *card)")
    assert [entry["prototype"] for entry in entries] == ["int put(card_t *card)"]
    assert found.diagnostics == ()
    text = "// one\nvoid xrt::bo::sync(dir_t dir,\n  size_t sz);  fpga_t *fpgaOpen(int card)"
    entries, found = header_entries(load_plugins(), tmp_path / "x", text)
    assert [(e["prototype"], e["kind"]) for e in entries] == [
        ("void xrt::bo::sync(dir_t dir, size_t sz)", "send"), ("fpga_t *fpgaOpen(int card)", "acquire"),
    ]  # fmt: skip
    assert [(d.severity, d.message) for d in found.diagnostics] == [
        (Severity.NOTE, "xrt::bo::sync may send or receive; it is taken as a send")
    ]


def test_a_text_is_found_in_the_header_it_was_copied_from(tmp_path: Path) -> None:
    (tmp_path / "lib" / "include").mkdir(parents=True)
    (tmp_path / "other.h").write_text("int put(int a);\n")
    (tmp_path / "lib" / "include" / "opae.h").write_text(OPAE)
    pasted = OPAE[OPAE.index("fpga_result fpgaOpen") :].replace("    ", "\t")
    assert header_of(pasted, tmp_path) == tmp_path / "lib" / "include" / "opae.h"
    assert header_of("int put(long a);", tmp_path) is None


def test_without_a_header_types_that_are_passed_whole_are_guessed_and_told(tmp_path: Path) -> None:
    text = "schema_version: 2\nname: x\n"
    for prototype, told in (
        ("int put(card *of, way_t way, int value)", "no named header declares way_t"),
            ("int put(card *of, int value)", ""),
    ):  # fmt: skip
        new, _ = with_entries(text, [entry_of(prototype)], tmp_path / "x.yaml")
        found = entry_problems(new, tmp_path / "x.yaml", load_plugins())
        assert [(d.message, d.severity) for d in found] == ([(told, Severity.WARNING)] if told else [])


def test_a_header_that_is_not_there_or_declares_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match="cannot read this file"):
        header_entries(load_plugins(), tmp_path / "none.h")
    with pytest.raises(WorkbenchError, match="no function is declared"):
        header_entries(load_plugins(), tmp_path / "api.h", "#include <stdio.h>\n")


def test_the_command_begins_a_template_and_adds_to_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "opae.h").write_text(OPAE)
    made, header = tmp_path / "my_card.yaml", str(tmp_path / "api" / "opae.h")
    told = document_of(capsys, ["template", "new", str(made), "--header", header, "--json"])
    platform, problems = load_platform(made)
    assert problems == ()
    assert platform is not None
    assert (platform.name, platform.host.api_dir, platform.host.include_lines) == (
        "my_card", "api", ('#include "opae.h"',),
    )  # fmt: skip
    assert [one.prototype for one in platform.host.entries] == [entry["prototype"] for entry in told["entries"]]

    made.write_text(set_value(made.read_text(), ("host", "entries", 1, "kind"), "wait") + "# mine\n")
    (tmp_path / "api" / "opae.h").write_text(OPAE.replace("fpgaOnError", "fpgaOnEnd"))
    again = tmp_path / "newer.yaml"
    assert main(["template", "new", str(again), "--of", str(made), "--header", header]) == 0
    kept, added = made.read_text().split("# mine\n")[0], again.read_text()
    assert added.startswith(kept)
    assert added.endswith("# mine\n")
    assert [line for line in added.removeprefix(kept).splitlines() if "fpgaOnEnd" in line]
    assert added.count("prototype:") == kept.count("prototype:") + 1
    assert main(["template", "new", str(again), "--header", header]) == 2
    assert again.read_text() == added


def test_a_template_is_tried_on_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the API's header beside the template, and one made of its entries where there is none."""
    source = tmp_path / "main.c"
    source.write_text(
        '#include "fpga.h"\n#include "more.h"\nint main(void)\n{\n    fpga_t *f = fpgaOpen(0);\n'
        "    fpgaWrite(f, 0, 0, COUNT), fpgaWrite(f, 0, 8, 2);\n    return other(f);\n}\n"
    )
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "more.h").write_text("int other(void *);\n")
    own = tmp_path / "own.yaml"
    own.write_text(TEMPLATE.read_text().replace("name: nallatech_h101", "name: own"))
    more = ["--include", str(tmp_path / "include"), "--define", "COUNT=4", "--json"]
    told = []
    for template in ("nallatech_h101", str(own)):
        told.append(document_of(capsys, ["template", "try", template, str(source), *more]))
    assert told[0] == told[1]
    assert [(c["line"], c["column"], c["callee"], c["kind"]) for c in told[0]["calls"]] == [
        (5, 17, "fpgaOpen", "acquire"), (6, 5, "fpgaWrite", "send"), (6, 32, "fpgaWrite", "send"),
    ]  # fmt: skip
    assert len(told[0]["unused"]) == 8
    assert main(["template", "try", str(own), str(source), "--json"]) == 1
    lines = {d["line"] for d in json.loads(capsys.readouterr().out)["diagnostics"]}
    assert lines == {2, 6}
    assert main(["template", "try", str(own), str(tmp_path / "none.c")]) == 2


STRANGER = """
#include <stdint.h>
typedef struct brd brd;
brd *brd_open(int number);
int brd_wr32(brd *b, uint32_t a, uint32_t x);
uint32_t brd_rd32(brd *b, uint32_t a);
int brd_wr_block(brd *b, uint32_t a, const uint32_t *src, uint32_t number);
int brd_rd_block(brd *b, uint32_t a, uint32_t *dst, uint32_t number);
int brd_dma_from_card(brd *b, void *to, size_t bytes);
int brd_load_words(brd *b, uint32_t at, const uint32_t *words, int k);
int brd_done(brd *b);
void brd_set_led(brd *b, int on);
"""


def test_names_that_are_short_and_arguments_without_a_name_are_known_by_their_place(tmp_path: Path) -> None:
    entries, found = header_entries(load_plugins(), tmp_path / "brd.h", STRANGER)
    told = ("kind", "fpga", "bytes", "address")
    assert [tuple(entry.get(name) for name in told) for entry in entries] == [
        ("acquire", "number", None, None),
        ("send", None, "sizeof x", "a"),
        ("receive", None, "sizeof(uint32_t)", "a"),
        ("send", None, "number * sizeof *src", "a"),
        ("receive", None, "number * sizeof *dst", "a"),
        ("receive", None, "bytes", None),
        ("send", None, "k * sizeof *words", "at"),
        ("other", None, None, None),
        ("other", None, None, None),
    ]
    (polled,) = found.diagnostics
    assert polled.message.startswith("brd_done: calls of kind 'other' return 0")
    assert "a host that polls it waits forever" in polled.hint


def test_a_template_by_which_nothing_moves_says_so_when_begun_and_when_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, template = tmp_path / "led.h", tmp_path / "led.yaml"
    header.write_text("int led_open(int card);\nvoid led_on(int card);\n")
    assert main(["template", "new", str(template), "--header", str(header)]) == 0
    assert "led.yaml:9:5: warning: no call of the host API moves data" in capsys.readouterr().err
    assert main(["template", "check", str(template)]) == 0
    said = capsys.readouterr()
    assert "led.yaml:9:5: warning: no call of the host API moves data" in said.err
    assert "simulate: no:\n  no call of the host API moves data" in said.out


def test_choosing_a_kind_fills_in_what_the_prototype_tells(tmp_path: Path) -> None:
    """By one step that can be undone; what a person wrote stays."""
    text = (
        "schema_version: 2\nname: x\ntransfer_tables:\n"
        "  write: {direction: send, points: [{bytes: 4, time_s: 1 us}]}\n"
        "  write_reg: {direction: send, points: [{bytes: 4, time_s: 1 us}]}\n"
        "  read: {direction: receive, points: [{bytes: 4, time_s: 1 us}]}\n"
        "host:\n  entries:\n"
        "    - {prototype: 'int stow(board *b, uint32_t at, const uint32_t *words, uint32_t k)', kind: other}\n"
        "    - {prototype: 'void led(board *b, uint32_t a, uint32_t x)', kind: other, address: a + 4}\n"
    )
    (tmp_path / "x.yaml").write_text(text)
    document = PlatformDocument(load_plugins(), lambda: None)
    document.open(tmp_path / "x.yaml")

    def entry(number: int) -> dict[str, Any]:
        return {name: document.value(("host", "entries", number, name)) for name in ("kind", *told)}

    told = ("bytes", "address", "reason", "transfer")
    assert document.set(("host", "entries", 0, "kind"), "send")
    assert document.set(("host", "entries", 1, "kind"), "send")
    assert entry(0) == {
        "kind": "send", "bytes": "k * sizeof *words", "address": "at", "reason": "data", "transfer": "write",
    }  # fmt: skip
    assert entry(1) == {
        "kind": "send", "bytes": "sizeof x", "address": "a + 4", "reason": "ctrl", "transfer": "write_reg",
    }  # fmt: skip
    assert document.set(("host", "entries", 0, "kind"), "receive")
    assert entry(0)["transfer"] == "read"
    document.history.undo()
    document.history.undo()
    document.history.undo()
    assert document.text == text


CLASS_TEMPLATE = """#pragma once
#include <stddef.h>
#include <stdint.h>
int lx_write(int slot, uint32_t address, const void *data, size_t bytes);
template <class T> struct many { size_t size() const; const T *data() const; };
namespace lx {
template <class Word = int, unsigned Depth = 4> class Board {
public:
    explicit Board(int slot) : slot_(slot) {}
    void write(uint32_t address, const many<Word> &words) { lx_write(slot_, address, words.data(), words.size()); }
    many<Word> read(uint32_t address, size_t words) const;
    template <typename T> T last(uint32_t reg) const { return (T)slot_; }
private:
    int slot_;
};
}
"""


def test_methods_of_a_class_template_are_entries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header, template, source = (tmp_path / name for name in ("lx.hpp", "lx.yaml", "main.cpp"))
    header.write_text(CLASS_TEMPLATE)
    source.write_text('#include "lx.hpp"\nint main() { lx::Board<int> b(0); b.read(1, 2); }\n')
    assert main(["template", "new", str(template), "--of", str(PORTS), "--header", str(header)]) == 0
    capsys.readouterr()
    main(["template", "check", str(template)])
    said = capsys.readouterr()
    lacks = "lx::Board<Word,Depth>::read: templates that the API's header does not define"
    assert (said.err, lacks in said.out) == ("", True)
    calls = document_of(capsys, ["template", "try", str(template), str(source), "--json"])["calls"]
    assert [(call["callee"], call["kind"]) for call in calls] == [
        ("lx::Board<Word,Depth>::Board", "acquire"), ("lx::Board<Word,Depth>::read", "receive"),
    ]  # fmt: skip
    entries = load_platform(template)[0].host.entries  # type: ignore[union-attr]
    assert [entry.prototype for entry in entries if "last" in entry.prototype] == [
        "template <class Word, unsigned Depth, typename T> T lx::Board<Word, Depth>::last(uint32_t reg) const"
    ]


def test_defaults_that_are_literals_are_kept_and_passed_by_the_workbenchs_own_transfers(tmp_path: Path) -> None:
    header = tmp_path / "lx.hpp"
    header.write_text(
        "#include <stdint.h>\nclass Board {\npublic:\n    enum Mode { one };\n    explicit Board(int slot = 0);\n"
        "    void poke(uint32_t reg, uint32_t value, unsigned timeout_ms = 1000, Mode mode = one);\n"
        "    void set_register(uint32_t reg, uint32_t value, unsigned timeout_ms = 1000);\n"
        "    uint32_t get_register(uint32_t reg, bool cached = false) const;\n};\n"
    )
    entries, _ = header_entries(load_plugins(), header)
    text, _ = with_entries("name: lx\n", entries, tmp_path / "lx.yaml", header)
    assert "Board::Board(int slot = 0)" in text
    assert "send_c: 'self.set_register(address, *data, 1000);'" in text
    assert "receive_c: '*data = self.get_register(address, false);'" in text
    older = text.replace(" = 1000", "").replace(" = 0", "").replace(" = false", "")
    assert with_entries(older, entries, tmp_path / "lx.yaml", header) == (older, [])


def test_callbacks_are_named_which_the_simulated_card_never_calls(tmp_path: Path) -> None:
    template = tmp_path / "dv.yaml"
    text = "schema_version: 2\nname: dv\nhost:\n  entries:\n    - {prototype: 'int dv_open(int slot)', kind: acquire}\n"
    for row, (kind, name) in enumerate((("void (*done)(int)", ""), ("std::function<void(int)> then", ""),
                                        ("handler_t", " fn"), ("int (&table)[4]", "")), 6):  # fmt: skip
        text += f"    - prototype: void dv::on_{row}({kind}{name})\n      kind: other\n"
    text += "    - {prototype: 'void dv::poke(uint32_t reg, uint32_t value)', kind: send}\n"
    found = [d for d in entry_problems(text, template, load_plugins()) if "callback" in d.message]
    assert [(d.line, d.message.partition(":")[0]) for d in found] == [(6, "done"), (8, "then"), (10, "fn")]
    assert entry_of("void dv::wait_irq(handler_t fn)")["kind"] == "other"
