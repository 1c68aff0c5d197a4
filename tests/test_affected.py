"""`make check` runs the tests nearest to what changed."""

from pathlib import Path

from affected import ROOT, module_name, nearest

TESTS = ROOT / "tests"


def test_a_changed_test_comes_first_and_then_those_that_import_the_changed_module() -> None:
    tests = [Path(__file__), TESTS / "test_toolchain.py", TESTS / "test_packaging.py", TESTS / "test_layout.py"]
    assert nearest(["workbench/run/machine.py", "README.md"], tests) == [TESTS / "test_toolchain.py"]
    changed = ["workbench/run/machine.py", "tests/affected.py", "tests/test_packaging.py"]
    assert nearest(changed, tests) == [TESTS / "test_packaging.py", Path(__file__), TESTS / "test_toolchain.py"]


def test_files_have_the_names_by_which_tests_import_them() -> None:
    assert module_name("plugins/rc_workbench_plugins/c/__init__.py") == "rc_workbench_plugins.c"
    assert module_name("tests/small_runs.py") == "small_runs"
    assert module_name("resources/card/card.h") is None
