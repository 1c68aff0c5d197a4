"""C++ APIs of many shapes, from a header's text to a library that a compiler takes and that lacks no function."""

import shutil
import subprocess
from pathlib import Path

import pytest
from rc_workbench_plugins.simulated_card.shim import MADE_API_FLAGS, shim_source

from workbench.cli.main import main
from workbench.formats.platform_file import load_platform
from workbench.hdl.verilate import harness_dir
from workbench.session.begin.new_template import begin_template
from workbench.session.open.own_api import own_support
from workbench.session.program.plugins import load_plugins

PORTS = Path(__file__).parents[1] / "resources" / "examples" / "own_board" / "ports.yaml"
#: What each shape's class has besides.
MOVES = "void write(uint32_t addr, uint32_t value); uint32_t read(uint32_t addr) const;"
SHAPES = {
    "a polymorphic class with a private constructor": """class Board { public:
        static std::unique_ptr<Board> open(int slot); virtual ~Board(); MOVES
        private: Board(); Board(int a, int b); virtual bool lock(int how) noexcept; };""",
    "a member without a default constructor, and one of a library's": """
        struct Link { Link(int fd, std::string name); int fd; };
        class Board { public: explicit Board(int slot); ~Board(); MOVES
        private: const Link link_; std::mutex mutex_; std::unique_lock<std::mutex> held_; };""",
    "an abstract class whose constructor takes arguments": """class Dev { public: explicit Dev(std::string name);
        virtual ~Dev(); virtual void write(uint32_t addr, uint32_t value) = 0;
        virtual uint32_t read(uint32_t addr) const = 0;
        static std::shared_ptr<Dev> open(int slot); protected: std::string name_; };
        class Board : public Dev { public: explicit Board(int slot); ~Board() override;
        void write(uint32_t addr, uint32_t value) override; uint32_t read(uint32_t addr) const override; };""",
    "an object by value that is not moved": """class Board { public: static Board open(int slot); ~Board();
        Board(const Board &) = delete; MOVES private: explicit Board(int slot); };""",
    "a class of the namespace's that is not defined": """namespace detail { class Session; }
        class Board { public: Board(Board &&) noexcept; ~Board(); static Board open(); MOVES
        private: std::unique_ptr<detail::Session> session_; };""",
    "a protected destructor, and an exception of its own": """class Error : public std::runtime_error { public:
        explicit Error(const std::string &what); ~Error() noexcept override; int code() const; };
        class Board { public: static Board *open(int slot); void release(); virtual MOVES
        protected: Board(int); virtual ~Board(); };""",
    "a proxy of a register, and a callback": """class Board { public: using Callback = std::function<void(int)>;
        class Reg { public: Reg &operator=(uint32_t v); private:
        friend class Board; Reg(Board &b, uint32_t a); Board &b_; };
        explicit Board(int slot) noexcept(false); ~Board(); Reg reg(uint32_t addr);
        void on_interrupt(Callback call); MOVES
        private: Callback call_; int fd, other; uint32_t regs[16]; unsigned flag : 3; struct { int a; } s; };""",
    "handles by pointers of the same name": """class Board { public: using ptr = std::shared_ptr<Board>;
        static ptr open(int slot); ~Board(); MOVES };
        class Buffer { public: using ptr = std::shared_ptr<Buffer>; static ptr allocate(Board::ptr owner, size_t len);
        ~Buffer(); size_t size() const { return len_; } uint64_t io_address() const; volatile uint8_t *data() const;
        void sync(bool to_device); private: size_t len_ = 0; uint8_t *at_ = nullptr; };""",
    "methods of an object that stays": """class Board { public: static Board &instance(); Board(const Board &) = delete;
        Board &write(uint32_t addr, uint32_t value) &; uint32_t read(uint32_t addr) const &;
        private: Board(); ~Board(); };""",
}


def test_each_shape_is_generated_whole(tmp_path: Path) -> None:
    text = ["#pragma once", *(f"#include <{name}>" for name in (
        "cstdint", "cstddef", "functional", "memory", "mutex", "stdexcept", "string"))]  # fmt: skip
    for number, shape in enumerate(SHAPES.values()):
        text.append(f"namespace shape_{number} {{ {shape.replace('MOVES', MOVES)} }}")
    (tmp_path / "api.hpp").write_text("\n".join([*text, ""]))
    shutil.copyfile(PORTS, tmp_path / "ports.yaml")
    template = tmp_path / "board.yaml"
    plugins = load_plugins()
    begun = begin_template(template, plugins, str(tmp_path / "ports.yaml"), tmp_path / "api.hpp")
    template.write_text(begun.text)
    platform, _ = load_platform(template, plugins.port_kinds)
    assert platform is not None
    source = tmp_path / "made.cpp"
    source.write_text(shim_source(platform, own_support(platform, template, plugins.platforms)))
    command = ["g++", "-std=gnu++20", "-w", *MADE_API_FLAGS, f"-I{tmp_path}", "-idirafter", str(harness_dir()), "-c",
               str(source), "-o", str(tmp_path / "made.o")]  # fmt: skip
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:2000]
    lacks = subprocess.run(["nm", "-uC", str(tmp_path / "made.o")], capture_output=True, text=True, check=True).stdout
    assert [line for line in lacks.splitlines() if "shape_" in line and "std::" not in line.split(" ", 1)[0]] == []


def test_what_a_compiler_refuses_is_said_by_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An entry that is not as the header declares it; before, only a build would say so."""
    header, ports, template = (tmp_path / name for name in ("api.h", "ports.yaml", "board.yaml"))
    header.write_text("#include <stdint.h>\nint bopen(int n);\nvoid wr(int a, uint32_t v);\nuint32_t rd(int a);\n")
    shutil.copyfile(PORTS, ports)
    assert main(["template", "new", str(template), "--of", str(ports), "--header", str(header)]) == 0
    template.write_text(template.read_text().replace("uint32_t rd(int a)", "uint32_t rd(long a)"))
    capsys.readouterr()
    assert main(["template", "check", str(template)]) == 1
    said = capsys.readouterr()
    assert "the code generated of uint32_t rd(long a) for the simulated card does not compile: conflicting" in said.err
    assert "Name sources that implement it on the simulated card: host.api_sources." in said.err
    assert "simulate: no" in said.out
