"""The catalogue of changes is read from one line and written as the same."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.model.changes import CHANGES, Change, as_json, change_of, read_change
from workbench.model.diagnostic import WorkbenchError

NAMES = st.text(st.characters(codec="utf-8", exclude_characters=",\x00", exclude_categories=["Cs"]), min_size=1)


@st.composite
def changes(draw: st.DrawFn) -> Change:
    kind = draw(st.sampled_from(sorted(CHANGES)))
    values: dict[str, object] = {"kind": kind}
    for each in fields(CHANGES[kind]):
        match each.type:
            case "int":
                values[each.name] = draw(st.integers(1, 10**6))
            case "float":
                values[each.name] = draw(st.floats(1e-9, 1e12))
            case "str":
                values[each.name] = draw(NAMES)
            case _:
                values[each.name] = draw(st.lists(NAMES, min_size=1, max_size=4))
    return change_of(values)


@given(changes())
def test_what_is_written_is_read_back(change: Change) -> None:
    assert read_change(str(change)) == change
    assert change_of(as_json(change)) == change


def test_a_change_is_one_line() -> None:
    assert str(read_change("unite calls=host/main.c:31,wr32 count=16")) == "unite calls=host/main.c:31,wr32 count=16"
    assert str(read_change("state block='card[0].top.mult' state=S_WAIT factor=0.5")).startswith("state 'block=card[0]")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "no change is named", "Known: "),
        ("unit calls=a count=2", "there is no change 'unit'", "Did you mean 'unite'?"),
        ("unite calls=a", "needs count", "Write `unite calls=CALLS count=COUNT`."),
        ("unite calls=a count=0", "'0' is not a valid count", "It is a whole number of at least 1."),
        ("unite calls=a count=2.5", "'2.5' is not a valid count", "whole number"),
        ("unite calls=, count=2", "calls names nothing", "Write `unite"),
        ("unite calls=a calls=b count=2", "given twice", "Write `unite"),
        ("clock clock=clk frequency_hz=0", "'0' is not a valid frequency_hz", "above 0"),
        ("clock clock=clk frequency_hz=nan", "'nan' is not a valid frequency_hz", "above 0"),
        ("unite kind=split calls=a count=2", "has no 'kind'", "Write `unite"),
        ("state block=a state=b factor=1 times=2", "has no 'times'", "Write `state"),
        ("state block='a", "No closing quotation", "Close all"),
    ],
)
def test_what_is_no_change_is_reported(text: str, message: str, hint: str) -> None:
    with pytest.raises(WorkbenchError) as error:
        read_change(text)
    diagnostic = error.value.diagnostics[0]
    assert message in diagnostic.message
    assert hint in diagnostic.hint


@pytest.mark.parametrize("kind", [["unite"], None, {}, 5])
def test_a_damaged_record_names_no_change(kind: object) -> None:
    with pytest.raises(WorkbenchError, match="there is no change"):
        change_of({"kind": kind, "calls": ["a"], "count": 2})
