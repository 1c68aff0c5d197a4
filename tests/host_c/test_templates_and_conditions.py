"""What a person writes in a template or a pragma: prototypes of every shape, and expressions that do not compile."""

import pytest

from workbench.model.platform import CallKind, HostEntry
from workbench.model.prototypes import callees, parse_prototype

SOURCE = (
    '#include "fake.h"\nint main(void)\n{\n    fake_t *f = fakeOpen(0);\n'
    "    #pragma recap put send(data, top.a, m): %s\n    fakeWrite(f, 0, 0, 1);\n    return 0;\n}\n"
)


@pytest.mark.parametrize(
    ("text", "name", "returns", "parameters", "variadic"),
    [
        ("int f(void)", "f", "int", (), False),
        ("void  f ( ) ;", "f", "void", (), False),
        ("fpga_t *fpgaOpen(int card)", "fpgaOpen", "fpga_t *", (("int card", "card"),), False),
        ("extern const struct a *f(unsigned char x[4], const char *const names[])", "f", "const struct a *",
         (("unsigned char x[4]", "x"), ("const char *const names[]", "names")), False),
        ("int open(const char *path, int flags, ...)", "open", "int",
         (("const char *path", "path"), ("int flags", "flags")), True),
        ("int f(int (*done)(void *, int), unsigned)", "f", "int",
         (("int (*done)(void *, int)", "done"), ("unsigned rcw_p1", "rcw_p1")), False),
        ("uint32_t f(fpga_t *, uint32_t)", "f", "uint32_t",
         (("fpga_t * rcw_p0", "rcw_p0"), ("uint32_t rcw_p1", "rcw_p1")), False),
        ("unsigned long long f(struct s s, long long unsigned n)", "f", "unsigned long long",
         (("struct s s", "s"), ("long long unsigned n", "n")), False),
    ],
)  # fmt: skip
def test_prototypes(text, name, returns, parameters, variadic) -> None:
    prototype = parse_prototype(text)
    assert prototype is not None
    assert (prototype.name, prototype.returns, prototype.parameters, prototype.variadic) == (
        name, returns, parameters, variadic,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name", "returns", "parameters"),
    [
        ("void xrt::bo::sync(xclBOSyncDirection dir, size_t sz, size_t offset = 0);", "xrt::bo::sync", "void",
         ("xclBOSyncDirection dir", "size_t sz", "size_t offset")),
        ("explicit xrt::bo::bo(const xrt::device& device, size_t)", "xrt::bo::bo", "",
         ("const xrt::device& device", "size_t rcw_p1")),
        ("virtual xrt::bo::~bo() noexcept", "xrt::bo::~bo", "", ()),
        ("template <typename T, class... Args> xrt::run xrt::kernel::operator()(T&& first, Args&&... args) const",
         "xrt::kernel::operator()", "xrt::run", ("T&& first", "Args&&... args")),
        ("uint32_t &card::regs<4>::operator[](std::map<int, int> at)", "card::regs<4>::operator[]", "uint32_t &",
         ("std::map<int, int> at",)),
        ("card::word::operator bool() const", "card::word::operator bool", "", ()),
        ("void ::reset(int)", "reset", "void", ("int rcw_p0",)),
    ],
)  # fmt: skip
def test_prototypes_of_cpp(text, name, returns, parameters) -> None:
    prototype = parse_prototype(text)
    assert prototype is not None
    assert prototype.cpp
    told = tuple(declaration for declaration, _ in prototype.parameters)
    assert (prototype.qualified, prototype.returns, told) == (name, returns, parameters)
    assert prototype.is_constructor == (name == "xrt::bo::bo")
    assert prototype.is_destructor == (name == "xrt::bo::~bo")
    assert prototype.defaults == ((("offset", "0"),) if "= 0" in text else ())


def test_overloads_of_cpp_are_callees_of_their_own() -> None:
    texts = ("void bo::sync(int d)", "void bo::sync(int way)", "void bo::sync(int d, size_t n)", "void sync(int d)")
    known, problems = callees([HostEntry(prototype=text, kind=CallKind.SEND) for text in texts])
    assert not problems
    assert [(callee.name, [n for n, _ in callee.entries]) for callee in known.values()] == [
        ("bo::sync", [0, 1]),
        ("bo::sync", [2]),
        ("sync", [3]),
    ]


@pytest.mark.parametrize("text", ["fpgaOpen", "fpgaOpen(int)", "int x", "bo(const device &d)", ""])
def test_what_is_no_prototype(text) -> None:
    known, (problem,) = callees([HostEntry(prototype=text, kind=CallKind.OTHER)])
    assert not known
    assert "is not a C or C++ prototype" in problem.message


def test_entries_that_disagree() -> None:
    entries = [HostEntry(prototype=f"int f({p})", kind=CallKind.OTHER) for p in ("int a", "int a, int b")]
    known, (problem,) = callees(entries)
    assert len(known["f"].entries) == 1
    assert "differ in their parameters" in problem.message


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("bytes", "wrds * 4", "the bytes expression of entry fakeWrite"),
        ("condition", "words >", "the condition of entry fakeWrite"),
        ("fpga", "f->nmber", "the fpga expression of entry fakeWrite"),
        ("address", "missing(addr)", "the address expression of entry fakeWrite"),
    ],
)
def test_an_expression_that_does_not_compile(project, field, text, said) -> None:
    project.file("main.c", SOURCE % "1")
    host = project.platform.host
    entries = tuple(e.model_copy(update={field: text}) if "fakeWrite" in e.prototype else e for e in host.entries)
    project.platform = project.platform.model_copy(update={"host": host.model_copy(update={"entries": entries})})
    problems = project.instrument().diagnostics
    assert problems
    assert all(d.severity == "error" for d in problems)
    assert any(said in d.message for d in problems)


def test_a_condition_that_does_not_compile(project) -> None:
    source = project.file("main.c", SOURCE % "wrods > 0")
    (problem,) = project.instrument().diagnostics
    assert (problem.file, problem.line, problem.column, problem.severity) == (str(source), 5, 5, "error")
    assert "condition of the pragma 'put'" in problem.message
    assert "wrods" in problem.message


def test_conditions_see_the_scope_of_the_call_and_run_before_it(project) -> None:
    project.file(
        "main.c",
        '#include "fake.h"\nstatic int asked;\nstatic int ask(int a, int b) { asked++; return a < b; }\n'
        "int main(void)\n{\n    fake_t *f = fakeOpen(0);\n    for (int words = 0; words < 3; ) {\n"
        "        #pragma recap small send(data, top.a, m): ask(words, 1) /* a, b */\n"
        "        #pragma recap odd send(data, top.a, m): words % 2 ? 1 : 0\n"
        "        #pragma recap rest send(data|ctrl, top.a|$MEM, m|n)\n"
        "        fakeWrite(f, 0, 0, words++);\n    }\n    return asked;\n}\n",
    )
    build = project.instrument()
    assert not build.diagnostics
    ran = project.run(build)
    assert ran.states == ["fakeOpen", "small", "odd", "rest"]
    assert ran.calls["bytes"].tolist() == [-1, 0, 4, 8]
    assert ran.exit == 3
    rest = next(s for s in build.blocks[0].states if s.name == "rest")
    assert (rest.category, rest.reasons, rest.targets, rest.messages) == (
        "send", ("data", "ctrl"), ("top.a", "$MEM"), ("m", "n"),
    )  # fmt: skip
    assert [s.name for s in build.blocks[0].states] == ["unclassified", "work", "fakeOpen", "small", "odd", "rest"]


def test_a_template_that_lacks_its_include_lines(project) -> None:
    project.file("main.c", SOURCE % "1")
    host = project.platform.host.model_copy(update={"include_lines": ()})
    project.platform = project.platform.model_copy(update={"host": host})
    problems = project.instrument().diagnostics
    assert any("include lines" in d.hint for d in problems)


def test_the_plugin_is_found() -> None:
    from workbench.session.program.plugins import load_plugins

    plugins = load_plugins()
    assert "c" in plugins.host_languages
    assert next(p for p in plugins.loaded if p.name == "c").hooks == ["workbench_host_languages"]
