"""A short run of the fuzzer: wrong inputs of every format are answered in words; and the fuzzer would tell if not.

Records of boards have no part in so short a run, as each board has to be built: test_damaged_records.py and
test_ranks_machine.py damage them."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent / "benchmarks" / "fuzz.py"


def test_wrong_inputs_of_every_format_are_answered_in_words() -> None:
    words = [sys.executable, FUZZ, "--inputs", "60", "--seed", "7", "--jobs", "1", "--json"]
    done = subprocess.run(words, capture_output=True)
    found = json.loads(done.stdout)
    assert not any(found[kind] for kind in ("tracebacks", "hangs", "over_memory", "files_lost")), found["culprits"]
    assert found["inputs"] == found["ok"] + found["diagnosed"] >= 60
    assert len(found["formats"]) == 24
    assert all(counts["inputs"] for counts in found["formats"].values())
    assert all(counts["diagnosed"] for counts in found["formats"].values() if counts["inputs"] >= 5)
    assert found["ok"] > 8


def test_the_fuzzer_tells_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FUZZ.parent)
    from fuzz import outcomes  # type: ignore[import-not-found]

    (hung,) = outcomes([("self-check", 4, 1)], 49, hang_s=1.0)  # it sleeps for an hour
    assert hung == ("self-check", 4, "hangs", "over 1 s")
    told = [*outcomes([("self-check", 0, 4), ("self-check", 5, 4)], 49)]
    assert [number for _, number, _, _ in told] == [0, 1, 2, 3, 5, 6, 7, 8]
    found = Counter((outcome, note.split(":")[0]) for _, _, outcome, note in told)
    assert {outcome for outcome, _ in found} == {"ok", "diagnosed", "tracebacks", "over_memory"}
    assert {note for outcome, note in found if outcome == "tracebacks"} == {"KeyError", "the process ended"}


@pytest.mark.parametrize("change", [lambda file: file.unlink(), lambda file: file.write_text("b")])
def test_a_file_that_is_lost_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    monkeypatch.syspath_prepend(FUZZ.parent)
    from fuzz_readers import LostError, contents, unchanged  # type: ignore[import-not-found]

    (tmp_path / "mine.c").write_text("a")
    before = contents(tmp_path)
    unchanged(tmp_path, before)
    change(tmp_path / "mine.c")
    with pytest.raises(LostError, match=r"changed or gone: mine\.c"):
        unchanged(tmp_path, before)
