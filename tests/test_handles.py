"""Every shape of handle gets from its header to a library for the simulated card without an edit."""

from pathlib import Path
from typing import Any

import pytest
from rc_workbench_plugins.simulated_card.shim import MADE_API_FLAGS, shim_lacks, shim_source

from workbench.api import PlatformSupport
from workbench.api.c_header import in_cpp
from workbench.cli.main import main
from workbench.formats.platform_file import load_platform
from workbench.hdl.verilate import harness_dir
from workbench.model.platform import Host, HostEntry, Platform
from workbench.session.program.plugins import load_plugins
from workbench.system.process import run_program

TABLES = (
    "schema_version: 2\nname: api\ntransfer_tables: {w: {points: []}, r: {direction: receive, points: []}}\n".replace(
        "points: []", "points: [{bytes: 4, time_s: 1 us}]"
    )
)
#: The card's client library, which says what it is asked.
FAKE = """
#include <stdio.h>
#include "wbcard.h"
struct wbcard { int number; };
static struct wbcard cards[2] = {{0}, {1}};
wbcard_t *wbcard_open(int n) { return n >= 0 && n < 2 ? &cards[n] : NULL; }
void wbcard_close(wbcard_t *card) { printf("close %d\\n", card->number); }
int wbcard_nothing(const char *name) { (void)name; return 0; }
int64_t wbcard_got(void) { return 4; }
int wbcard_send(wbcard_t *card, const char *table, const void *data, int64_t address, int64_t bytes)
{
    if (!card) return -1;
    unsigned word = *(const unsigned *)data;
    return printf("%s %u to %d at %d, %d bytes\\n", table, word, card->number, (int)address, (int)bytes), 0;
}
int wbcard_receive(wbcard_t *card, const char *table, void *data, int64_t address, int64_t bytes)
{
    if (!card) return -1;
    *(unsigned *)data = 40u + (unsigned)card->number;
    return printf("%s from %d at %d, %d bytes\\n", table, card->number, (int)address, (int)bytes), 0;
}
"""
SAID = ["w 7 to 1 at 16, 4 bytes", "w 8 to 0 at 32, 4 bytes", "r from 1 at 48, 4 bytes", "close 1", "close 0"]

POINTERS = "if (!a || !b || dev_open(2)) return 1;"
NUMBERS = "if (a < 0 || b < 0 || dev_open(2) >= 0) return 1;"
#: What the header declares, its opening call, other calls' parameter; how a program opens two cards and passes them.
C_SHAPES = {
    "a pointer's name, by value": (
        "typedef struct dev *mdev_t;", "mdev_t dev_open(int slot)", "mdev_t d",
        f"mdev_t a = dev_open(1), b = dev_open(0); {POINTERS}", "a b",
    ),
    "a pointer's name that the system has too": (
        "typedef struct dev *dev_t;", "dev_t dev_open(int slot)", "dev_t d",
        f"dev_t a = dev_open(1), b = dev_open(0); {POINTERS}", "a b",
    ),
    "a pointer": (
        "struct dev;", "struct dev *dev_open(int slot)", "struct dev *d",
        f"struct dev *a = dev_open(1), *b = dev_open(0); {POINTERS}", "a b",
    ),
    "a pointer to void": (
        "", "void *dev_open(int slot)", "void *dev", f"void *a = dev_open(1), *b = dev_open(0); {POINTERS}", "a b",
    ),
    "a pointer's name, filled in": (
        "typedef struct dev *mdev_t;", "int dev_open(int slot, mdev_t *d)", "mdev_t d",
        "mdev_t a, b, none = 0; if (dev_open(1, &a) || dev_open(0, &b) || !dev_open(2, &none) || none) return 1;",
        "a b",
    ),
    "a struct, by its address": (
        "typedef struct { int fd; void *map; } mdev_t;", "int dev_open(mdev_t *d, int slot)", "mdev_t *d",
        "mdev_t a, b, none; if (dev_open(&a, 1) || dev_open(&b, 0) || !dev_open(&none, 2)) return 1;", "&a &b",
    ),
    "a struct, by value": (
        "typedef struct { int fd; } mdev_t;", "mdev_t dev_open(int slot)", "mdev_t d",
        "mdev_t a = dev_open(1), b = dev_open(0);", "a b",
    ),
    "an integer": (
        "", "int dev_open(int slot)", "int fd", f"int a = dev_open(1), b = dev_open(0); {NUMBERS}", "a b",
    ),
    "an integer's name": (
        "typedef int32_t mdev_t;", "mdev_t dev_open(int slot)", "mdev_t d",
        f"mdev_t a = dev_open(1), b = dev_open(0); {NUMBERS}", "a b",
    ),
    "an integer, filled in": (
        "", "int dev_open(int slot, int *handle)", "int handle",
        "int a, b, none; if (dev_open(1, &a) || dev_open(0, &b) || !dev_open(2, &none)) return 1;", "a b",
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", C_SHAPES)
def test_every_shape_of_handle_in_c_tells_the_card(shape: str, tmp_path: Path) -> None:
    declared, opening, handle, opened, pair = C_SHAPES[shape]
    calls = ["int dev_write_reg({}, uint32_t reg, uint32_t value)", "void dev_close({})",
             "int dev_read({}, uint32_t addr, void *data, uint32_t n)"]  # fmt: skip
    header = ["#include <stdint.h>", declared, *(f"{one};".format(handle) for one in (opening, *calls))]
    a, b = pair.split()
    host = f"""#include <stdio.h>
#include "api.h"
int main(void)
{{
    uint32_t got = 0;
    {opened}
    dev_write_reg({a}, 16, 7);
    dev_write_reg({b}, 32, 8);
    if (dev_read({a}, 48, &got, sizeof got) || got != 41) return 2;
    dev_close({a});
    dev_close({b});
    return 0;
}}
"""
    assert said_by("api.h", "\n".join(header) + "\n", "main.c", host, tmp_path) == SAID


CPP = """#pragma once
#include <cstdint>
#include <memory>
#include <vector>
namespace lx {
class Board {
public:
    Board() = default;
    explicit Board(int slot);
    ~Board();
    Board(const Board &) = delete;
    void write_reg(uint32_t reg, uint32_t value) const noexcept;
    bool read(uint32_t addr, uint32_t &value);
    std::vector<uint32_t> read(uint32_t addr, std::size_t words) const;
    static int count();
private:
    struct Connection;
    std::unique_ptr<Connection> connection_;
};
class Register {
public:
    Register(Board &board, uint32_t at) : board_(board), at_(at) {}
    void set(uint32_t value) { board_.write_reg(at_, value); }
private:
    Board &board_;
    uint32_t at_;
};
}
"""
CPP_HOST = """#include "api.hpp"
int main()
{
    try { lx::Board none(2); return 1; } catch (const std::exception &) {}
    lx::Board b(0);
    {
        lx::Board a(1);
        uint32_t got = 0;
        lx::Register(a, 16).set(7);
        b.write_reg(32, 8);
        if (!a.read(48, got) || got != 41) return 2;
    }
    return lx::Board::count();
}
"""


def test_a_class_holds_its_card(tmp_path: Path) -> None:
    """With an overload, a reference that is filled in, methods that the header defines, a pointer to what is hidden."""
    host = CPP_HOST.replace("got != 41) return 2;", "got != 41 || a.read(52, 1u).at(0) != 41) return 2;")
    said = [*SAID[:3], "r from 1 at 52, 4 bytes", *SAID[3:]]
    assert said_by("api.hpp", CPP, "main.cpp", "#include <stdexcept>\n" + host, tmp_path) == said


MAKERS = """#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>
namespace lx {
class Pointed {
public:
    static std::unique_ptr<Pointed> open(int slot);
    ~Pointed();
    void write_reg(uint32_t reg, uint32_t value);
private:
    explicit Pointed(int slot);
    std::string name_;
    int &shared_;
};
class Interface {
public:
    using Ptr = std::shared_ptr<Interface>;
    virtual ~Interface() = default;
    virtual void write_reg(uint32_t reg, uint32_t value) = 0;
    virtual const std::string &name() const = 0;
};
Interface::Ptr make_interface(int slot);
class Value {
public:
    static Value open(int slot);
    static std::optional<Value> try_open(int slot);
    static Value &instance();
    Value(Value &&other) noexcept;
    Value &operator=(Value &&other) noexcept;
    uint32_t read_reg(uint32_t reg) const;
    template <class T> void put(uint32_t reg, const std::vector<T> &words)
    {
        put_raw(reg, words.data(), words.size() * sizeof(T));
    }
private:
    Value();
    void put_raw(uint32_t reg, const void *data, std::size_t bytes);
};
class Buffer {
public:
    Buffer(Value &board, std::size_t size);
    void write(uint32_t addr, const uint32_t *data, std::size_t words);
private:
    Value &board_;
    const std::size_t size_;
};
}
lx::Interface *make_raw(int slot);
"""
MAKERS_HOST = """#include "api.hpp"
int main()
{
    lx::Pointed::open(1)->write_reg(16, 7);
    lx::make_interface(0)->write_reg(32, 8);
    std::unique_ptr<lx::Interface> raw(make_raw(1));
    raw->write_reg(20, 9);
    uint32_t word = 5;
    auto value = lx::Value::try_open(1);
    if (!value || value->read_reg(48) != 41 || lx::Value::try_open(2) || lx::Pointed::open(2)) return 1;
    lx::Value moved = std::move(*value);
    lx::Buffer(moved, 4).write(52, &word, 1);
    moved.put(56, std::vector<uint32_t>{6});
    return lx::Value::instance().read_reg(60) != 40 || lx::Value::open(0).read_reg(64) != 40;
}
"""


def test_functions_that_make_objects_do_so_on_the_card_that_they_name(tmp_path: Path) -> None:
    """By any pointer, by value, optional or by reference; of abstract classes, and with hidden constructors."""
    assert said_by("api.hpp", MAKERS, "main.cpp", MAKERS_HOST, tmp_path) == [
        "w 7 to 1 at 16, 4 bytes", "close 1", "w 8 to 0 at 32, 4 bytes", "w 9 to 1 at 20, 4 bytes",
        "r from 1 at 48, 4 bytes", "w 5 to 1 at 52, 4 bytes", "w 6 to 1 at 56, 4 bytes",
        "r from 0 at 60, 4 bytes", "r from 0 at 64, 4 bytes",
    ]  # fmt: skip


def test_what_makes_an_object_in_a_wrapper_of_its_own_is_said(tmp_path: Path) -> None:
    header = "namespace lx { class Dev { public: void write(int address, int value); }; Result<Dev> make(); }"
    entry = {"prototype": "Result<Dev> lx::make()", "kind": "acquire"}
    (tmp_path / "api.hpp").write_text(header)
    platform = Platform(schema_version=1, name="x", host=Host(include_lines=("api.hpp",),
                        entries=(HostEntry.model_validate(entry),)))  # fmt: skip
    (lack,) = shim_lacks(platform, PlatformSupport("api", tmp_path / "api.yaml", tmp_path))
    assert lack.message == "it is unknown how lx::make creates its Result<Dev>"


def said_by(name: str, header: str, source: str, host: str, folder: Path) -> list[str]:
    """What the card's library is asked by a program, on an API made of its header by `workbench template new`."""
    template, support = folder / "api.yaml", PlatformSupport("api", folder / "api.yaml", folder)
    texts: dict[str, Any] = {name: header, source: host, "board.yaml": TABLES, "fake.c": FAKE}
    for file, text in texts.items():
        (folder / file).write_text(text)
    assert (
        main(["template", "new", str(template), "--of", str(folder / "board.yaml"), "--header", str(folder / name)])
        == 0
    )
    platform, problems = load_platform(template, load_plugins().port_kinds)
    assert platform is not None, problems
    assert shim_lacks(platform, support) == ()
    api = folder / f"made.{'cpp' if in_cpp(platform.host) else 'c'}"
    api.write_text(shim_source(platform, support))
    flags = ["-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{harness_dir()}"]
    for number, one in enumerate((api, folder / source, folder / "fake.c")):
        own = MADE_API_FLAGS if one is api and api.suffix == ".cpp" else ()
        built = run_program(
            ["gcc" if one.suffix == ".c" else "g++", *flags, *own, "-c", one, "-o", folder / f"{number}.o"]
        )
        assert built.returncode == 0, built.stderr
    linked = run_program(["g++", *(folder / f"{number}.o" for number in range(3)), "-o", folder / "host"])
    assert linked.returncode == 0, linked.stderr
    done = run_program([folder / "host"])
    assert done.returncode == 0
    return done.stdout.splitlines()


def test_a_value_is_named_as_it_is_and_what_cannot_be_told_is_said_with_the_parameters() -> None:
    put = {"kind": "send", "transfer": "w", "address": "reg"}
    two = {"prototype": "int put(int reg, int low, int high)", **put}
    (lack,) = shim_lacks(platform_of(two))
    assert lack.hint == "Name that parameter, an array or a value, in its entry: data: low or data: high."
    assert not shim_lacks(platform_of({**two, "data": "high"}))
    assert "&high" in shim_source(platform_of({**two, "data": "high"}))
    assert not shim_lacks(platform_of({**two, "bytes": "sizeof low"}))


def test_what_opens_by_a_name_is_made_where_it_is_the_only_one() -> None:
    opening = {"prototype": "dev *take(int card)", "kind": "acquire", "fpga": "card", "opens": "board"}
    put = {"prototype": "int put(dev *d, int value)", "kind": "send", "transfer": "w", "bytes": "4", "of": "board"}
    assert not shim_lacks(platform_of(opening, put))
    other = {"prototype": "dev *map(int card)", "kind": "acquire", "opens": "bar"}
    (lack,) = shim_lacks(platform_of(opening, put, other))
    assert "depends on the opened object" in lack.message


def platform_of(*entries: dict[str, str]) -> Platform:
    return Platform(schema_version=1, name="x", host=Host(entries=tuple(map(HostEntry.model_validate, entries))))
