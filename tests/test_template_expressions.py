"""Expressions of a template are held against their prototypes before any source calls them."""

import json
from pathlib import Path

import pytest
from answers import document_of

from workbench.model.diagnostic import Severity
from workbench.session.begin.entry_problems import entry_problems, typed_problem
from workbench.session.edit.yaml_document import Path_
from workbench.session.program.plugins import load_plugins

TEMPLATES = Path(__file__).parents[1] / "platform_templates"

CARD = """\
schema_version: 2
name: my_card
host:
  include_lines: {includes}
  constants: {{SYNC: 1}}
  entries:
    - prototype: {prototype}
      kind: send
      {field}: '{expression}'
"""
PUT = "int put(card_t *card, uint32_t handle, const uint32_t *data, size_t words, int flags)"


def problems(tmp_path: Path, field: str, expression: str, prototype: str = PUT, includes: str = "[]") -> list[str]:
    text = CARD.format(field=field, expression=expression, prototype=prototype, includes=includes)
    found = entry_problems(text, tmp_path / "card.yaml", load_plugins())
    assert all((d.file, d.line) == (str(tmp_path / "card.yaml"), 9) for d in found)
    return [f"{d.severity.value}: {d.message}. {d.hint}" for d in found]


@pytest.mark.parametrize(
    ("field", "expression"),
    [
        ("bytes", "words * sizeof *data"), ("condition", "flags & SYNC && words > 0"), ("fpga", "card->number"),
        ("address", "handle + 4"), ("data", "data + 1"), ("files", "card->file"), ("fpga", "card"),
        ("condition", 'like(card->path, "/dev/xdma*")'), ("bytes", "(uint64_t)words << 2"),
    ],
)  # fmt: skip
def test_what_compiles_is_not_told_and_unknown_types_are_not_judged(
    tmp_path: Path, field: str, expression: str
) -> None:
    assert problems(tmp_path, field, expression) == []


@pytest.mark.parametrize(
    ("field", "expression", "told"),
    [
        ("bytes", "word * 4", "'word' is not known here. Did you mean 'words'?"),
        ("bytes", "data * 4", "invalid operands to binary expression"),
        ("bytes", "words *", "expected expression"),
        ("condition", "flags == ASYNC", "'ASYNC' is not known here"),
        ("fpga", "flags.number", "is not a structure or union"),
        ("address", "*words", "indirection requires pointer operand"),
    ],
)
def test_what_does_not_compile_is_told_at_its_line(tmp_path: Path, field: str, expression: str, told: str) -> None:
    (problem,) = problems(tmp_path, field, expression)
    assert problem.startswith("error: ")
    assert told in problem


def test_a_header_at_hand_judges_what_it_brings_and_one_that_is_not_may_bring_anything(tmp_path: Path) -> None:
    (lacking,) = problems(tmp_path, "condition", "flags == ASYNC", includes="[card.h]")
    assert lacking.startswith("warning: 'ASYNC' is not known here")
    assert "header goes under Constants" in lacking
    (tmp_path / "card.h").write_text("#define ASYNC 2\ntypedef struct card { int number; } card_t;\n")
    assert problems(tmp_path, "condition", "flags == ASYNC", includes="[card.h]") == []
    assert problems(tmp_path, "fpga", "card->number", includes="[card.h]") == []
    (wrong,) = problems(tmp_path, "fpga", "card->nubmer", includes="[card.h]")
    assert wrong.startswith("error: no member named 'nubmer' in 'card'")


def test_methods_speak_of_self_and_templates_of_anything(tmp_path: Path) -> None:
    method = "void xrt::bo::sync(xclBOSyncDirection dir, size_t sz, size_t offset = 0)"
    assert problems(tmp_path, "bytes", "sz + self.size()", method) == []
    assert problems(tmp_path, "condition", "dir == 0", method) == []
    (wrong,) = problems(tmp_path, "bytes", "size", method)
    assert "'size' is not known here" in wrong
    packed = "'run xrt::kernel::operator()(Args&&... args)'"
    assert problems(tmp_path, "fpga", "self.card()", packed) == []


CLASS = """
#include <stddef.h>
namespace api {
struct text { char of[8]; };
class buffer {
public:
    size_t size() const;
    static void sync(size_t bytes);
    text name() const;
private:
    int card;
};
template <class T> struct many { size_t count() const; };
void sync(buffer &of, size_t bytes);
}
"""
OF_SELF = (
    ("void api::buffer::sync(int way, missing::kind more)", "self.size() + way", ""),
    ("void api::buffer::sync(int way, missing::kind more)", "more.offset", ""),
    ("void api::buffer::sync(int way, missing::kind more)", "self.sise()", "no member named 'sise' in 'api::buffer'"),
    ("api::buffer::~buffer()", "self->size()", "member reference type 'api::buffer' is not a pointer"),
    ("void api::buffer::sync(int way)", "self.card", "'card' is a private member"),
    ("void api::buffer::sync(int way)", "self.name()", "cannot convert 'text' to 'int64_t'"),
    ("static void api::buffer::sync(size_t bytes)", "self.size()", "'self' is not known here"),
    ("api::buffer::buffer(size_t bytes)", "self.size()", "'self' is not known here"),
    ("void api::sync(api::buffer &of, size_t bytes)", "of.size()", ""),
    ("void api::sync(api::buffer &of, size_t bytes)", "self.size()", "'self' is not known here"),
    ("void api::many<T>::put(int way)", "self.anything()", ""),
    ("void other::buffer::sync(int way)", "self.anything()", ""),
)


@pytest.mark.parametrize(
    ("prototype", "expression", "told"),
    [
        ("card_t *take(int number)", "result->fd is card", ""),
        ("'explicit my::card::card(int number)'", "self.handle().get() is card", ""),
        ("int take(int number)", "fd is card", "'fd' is not known here"),
        ("int take(int result)", "result.fd is card", "is not a structure or union"),
    ],
)
def test_what_a_call_opens_may_be_its_result(tmp_path: Path, prototype: str, expression: str, told: str) -> None:
    found = problems(tmp_path, "opens", expression, prototype)
    assert (len(found) == 1 and told in found[0]) if told else found == []


def test_self_is_of_the_class_that_the_header_declares(tmp_path: Path) -> None:
    (tmp_path / "api.hpp").write_text(CLASS)
    text = "schema_version: 2\nname: my_card\nhost:\n  include_lines: [api.hpp]\n  entries:\n"
    for number, (prototype, bytes_, _) in enumerate(OF_SELF):
        entry = {"prototype": prototype, "kind": "send", "condition": f"{number} > 0", "bytes": bytes_}
        text += f"    - {json.dumps(entry)}\n"
    told = {d.line: d.message for d in entry_problems(text, tmp_path / "card.yaml", load_plugins())}
    for line, (_, _, message) in enumerate(OF_SELF, 6):
        assert bool(message) == (line in told)
        assert message in told.get(line, "")


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_bundled_templates_have_no_wrong_expression(template: Path) -> None:
    found = entry_problems(template.read_text(), template, load_plugins())
    assert [d.text() for d in found if d.severity is Severity.ERROR] == []


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("host", "entries", 0, "bytes"), "word * 4", "'word' is not known here"),
        (("host", "entries", 0, "bytes"), "words * 4", ""),
        (("host", "entries", 0, "condition"), "flags & SYNK", "'SYNK' is not known here"),
        (("host", "entries", 0, "prototype"), "int put(", "this is not a C or C++ prototype"),
        (("host", "entries", 0, "bytes"), "(words", "nothing closes the '('"),
        (("host", "constants"), {"SYNC": [1]}, ""),  # what is wrong stands within
    ],
)
def test_what_is_typed_is_judged_before_it_is_written(path: Path_, value: object, told: str) -> None:
    text = CARD.format(field="bytes", expression="flags", prototype=PUT, includes="[]")
    found = typed_problem(text, path, value, Path("/card.yaml"), load_plugins())
    assert (found is not None) == bool(told)
    assert found is None or told in found.message


def test_the_command_tells_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = tmp_path / "card.yaml"
    card.write_text(CARD.format(field="bytes", expression="word * 4", prototype=PUT, includes="[]"))
    (problem,) = document_of(capsys, ["template", "check", str(card), "--json"], 1)["diagnostics"]
    assert (problem["line"], problem["column"], problem["message"]) == (9, 14, "'word' is not known here")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("send_c: result = fpgaWrite(fpga, data, address, words);", ""),
        ("send_c: result = fpgaWrite(fpga, dat, address, words);", "'dat' is not known here"),
        ("send_c: result = fpgaWrit(fpga, data, address, words);", "'fpgaWrit' is not known here"),
        ("send_c: result = fpgaWrite(fpga, data, address);", "too few arguments to function call"),
        ("send_c: result = fpgaWrite(fpga, data, address, words)", "expected ';' after expression"),
        ("access_c: data[index] + 1", "expression is not assignable"),
        ("send_error_c: result !=", "expected expression"),
    ],
)
def test_the_c_by_which_counters_are_read_compiles(tmp_path: Path, written: str, told: str) -> None:
    """Held against the header that the workbench brings for the template's API."""
    field = written.partition(":")[0]
    text = (TEMPLATES / "nallatech_h101.yaml").read_text()
    (line,) = [one.strip() for one in text.splitlines() if one.strip().startswith(f"{field}:")]
    changed = text.replace(line, written)
    found = entry_problems(changed, TEMPLATES / "nallatech_h101.yaml", load_plugins())
    assert [d.severity for d in found] == [Severity.ERROR] * bool(told)
    assert all(told in d.message and d.line == changed[: changed.index(written)].count("\n") + 1 for d in found)


@pytest.mark.parametrize("template", ["aws_fpga", "opae"])
def test_the_c_of_the_shipped_templates_compiles(template: str) -> None:
    path = TEMPLATES / f"{template}.yaml"
    assert [d.text() for d in entry_problems(path.read_text(), path, load_plugins())] == []
