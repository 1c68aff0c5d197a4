"""The cache heals itself: what is damaged is made again, and nobody's sources are blamed. Its size has a bound."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from answers import document_of

from workbench.api.kept import keep_data, keep_folder, kept_whole, taken
from workbench.cli.main import main
from workbench.system import store
from workbench.system.cache import bound_cache_at_times, cache_bytes, cache_dir

TINY = Path(__file__).parent / "data" / "tiny"
DAMAGES = {
    "truncated": lambda file: os.truncate(file, file.stat().st_size // 2),
    "emptied": lambda file: os.truncate(file, 0),
    "deleted": lambda file: file.unlink(),
    "changed": lambda file: file.write_bytes(bytes(byte ^ 0x55 for byte in file.read_bytes())),
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RCW_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def test_a_run_is_the_same_whatever_happened_to_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for kind in ("verilated", "library"):  # take 25 s to build, so that those of all tests are used
        of_all_tests = cache_dir() / kind
        of_all_tests.mkdir(parents=True, exist_ok=True)
        (cache / kind).symlink_to(of_all_tests)
    monkeypatch.setenv("RCW_CACHE", str(cache))
    shutil.copytree(TINY, tmp_path / "tiny")

    def run(name: str) -> tuple[int, float, list[object]]:
        words = ["run", str(tmp_path / "tiny"), "--out", str(tmp_path / name), "--deterministic", "--json"]
        code = main(words)
        answer = json.loads(capsys.readouterr().out)
        return code, answer["time_s"], answer["diagnostics"]

    first = run("first")
    assert first[0] == 0
    files = [path for path in sorted(cache.rglob("*")) if path.is_file() and path.suffix != ".lock"]
    kinds = {path.relative_to(cache).parts[0] for path in files}
    assert {"cards", "instrumented", "models", "objects", "reads"} <= kinds
    for number, file in enumerate(files):
        list(DAMAGES.values())[number % 4](file)
    assert run("second") == first
    assert run("third") == first


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_kept_folder_is_used_only_as_it_was_kept(cache: Path, tmp_path: Path, damage: str) -> None:
    made = tmp_path / "made"
    (made / "-O2").mkdir(parents=True)
    (made / "card").write_text("a program")
    (made / "-O2" / "headers.gch").write_text("many headers")
    kept = keep_folder(made, cache / "verilated" / "key")
    assert kept_whole(kept)
    for file in kept.rglob("*"):
        if file.is_file():
            os.utime(file)  # as a copy of the cache has it
    assert kept_whole(kept)
    DAMAGES[damage](kept / "-O2" / "headers.gch")
    assert not kept_whole(kept)
    assert not kept.exists()


#: Keeps and takes parts of one entry, and whole folders, without end.
WRITES = """
import random, tempfile
from pathlib import Path
from workbench.api.kept import keep_data, keep_folder, kept_whole, taken
from workbench.system.cache import cache_dir

while True:
    part, entry, folder = str(random.randrange(4)), cache_dir() / "library" / "one", cache_dir() / "models" / "one"
    assert taken(entry / part) in (None, part.encode() * 9999)
    keep_data(part.encode() * 9999, entry, part)
    if not kept_whole(folder):
        made = Path(tempfile.mkdtemp(dir=cache_dir()))
        (made / "file").write_text("x" * 9999)
        keep_folder(made, folder)
"""


def test_processes_that_are_killed_leave_what_they_kept_whole_or_not_at_all(cache: Path) -> None:
    entry, folder = cache / "library" / "one", cache / "models" / "one"
    writers = [subprocess.Popen([sys.executable, "-c", WRITES], stderr=subprocess.PIPE) for _ in range(3)]
    while not (folder.is_dir() and len(list(entry.glob("*"))) > 4) and None in [one.poll() for one in writers]:
        time.sleep(0.05)
    for one in writers:
        one.kill()
        assert one.communicate()[1] == b""
    for part in "0123":
        assert taken(entry / part) in (None, part.encode() * 9999)
        keep_data(part.encode(), entry, part)
        assert taken(entry / part) == part.encode()
    assert not kept_whole(folder) or (folder / "file").stat().st_size == 9999


def test_what_was_used_least_recently_goes_first(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.set_preference("cache_mb", "500")
    for kind, name, used_s, size_mb in (
        ("cards", "old", 1, 200), ("vhdl", "older.v", 0, 100), ("verilated", "new", 3, 250), ("reads", "newer", 2, 150),
    ):  # fmt: skip
        entry = cache / kind / name
        file = entry if entry.suffix else entry / "file"
        file.parent.mkdir(parents=True)
        file.touch()
        os.truncate(file, size_mb * 10**6)
        os.utime(entry, (used_s, used_s))
    assert cache_bytes() == 700 * 10**6
    bound_cache_at_times()
    assert sorted(str(path.relative_to(cache)) for path in cache.glob("*/*")) == ["reads/newer", "verilated/new"]
    store.set_preference("cache_mb", "300")
    looked_s = (cache / "bounded").stat().st_mtime
    for later_s, left in ((59, ["reads", "verilated"]), (61, ["verilated"])):
        monkeypatch.setattr("workbench.system.cache.time.time", lambda at_s=looked_s + later_s: at_s)
        bound_cache_at_times()
        assert sorted(path.parent.name for path in cache.glob("*/*")) == left


def test_doctor_empties_the_cache_and_nothing_else(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cache / "objects" / "key").mkdir(parents=True)
    (cache / "objects" / "key" / "object").write_bytes(bytes(1000))
    (cache / "thesis.tex").write_text("a user's own")
    assert document_of(capsys, ["doctor", "--clear-cache", "--json"]) == {"cache": str(cache), "freed_bytes": 1000}
    assert [path.name for path in cache.iterdir()] == ["thesis.tex"]
