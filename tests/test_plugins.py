"""Plugins: the built-ins use the public hooks only, a third party's is found, and a broken one stops nothing."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from pytestqt.qtbot import QtBot

from workbench.analysis import analyse
from workbench.api import hookspecs
from workbench.api.descriptors import LoadedPlugin
from workbench.api.faults import BUILT_IN as OWN
from workbench.api.faults import GROUP, plugin_fault, plugin_of
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.gui.main_window import MainWindow
from workbench.session import journal
from workbench.session.plugins import KINDS, Plugins, load_plugins
from workbench.session.reader_child import in_child
from workbench.session.results import open_knowledge
from workbench.testing.runs import synthetic_run

ROOT = Path(__file__).parent.parent
BUILT_IN = {point.name for point in entry_points(group=GROUP) if point.value.startswith(OWN)}


def test_every_built_in_loads_and_every_hook_is_used_by_one() -> None:
    loaded = {plugin.name: plugin for plugin in load_plugins().loaded}
    assert set(loaded) >= BUILT_IN
    assert not [plugin.error for plugin in loaded.values() if plugin.error]
    hooks = {name for name in vars(hookspecs) if name.startswith("workbench_")}
    assert {hook for name in BUILT_IN for hook in loaded[name].hooks} == hooks


def test_every_hook_is_documented_and_typed_and_its_answers_are_gathered_by_name() -> None:
    hooks = {name: hook for name, hook in vars(hookspecs).items() if name.startswith("workbench_")}
    assert {name.removeprefix("workbench_") for name in hooks} == set(KINDS)
    gathered = get_type_hints(Plugins)
    for name, hook in hooks.items():
        assert inspect.getdoc(hook)
        (returned,) = get_args(get_type_hints(hook)["return"])
        assert get_args(gathered[name.removeprefix("workbench_")]) == (str, returned)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example plugin, and one that fails as it is imported, installed into a folder of their own."""
    target = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--target", str(target)]
    source = shutil.copytree(ROOT / "plugins" / "example_plugin", tmp_path_factory.mktemp("source") / "plugin")
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, capture_output=True)
    info = target / "rcw_broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rcw-broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rc_workbench.plugins]\nbroken = rcw_broken\n")
    (target / "rcw_broken.py").write_text("raise RuntimeError('made to fail')\n")
    return target


def workbench(installed: Path, *arguments: str) -> dict[str, list[dict[str, object]]]:
    done = subprocess.run(
        [sys.executable, "-m", "workbench", *arguments, "--json"],
        env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    document: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return document


def test_a_third_partys_plugin_is_found_through_its_entry_point(installed: Path) -> None:
    plugins = {str(p["name"]): p for p in workbench(installed, "plugins")["plugins"]}
    assert plugins["example"]["error"] == ""
    assert any(t["name"] == "example_card" for t in workbench(installed, "template", "list")["templates"])
    assert any(r["name"] == "example, small transfers" for r in workbench(installed, "rules", "list")["rules"])


def test_a_broken_plugin_is_named_and_the_others_go_on(installed: Path) -> None:
    plugins = {str(p["name"]): p for p in workbench(installed, "plugins")["plugins"]}
    assert plugins["broken"]["error"] == "RuntimeError: made to fail"
    assert set(plugins) >= {*BUILT_IN, "example"}
    assert not any(plugins[name]["error"] for name in BUILT_IN)


HOOKS = """
from pathlib import Path
from workbench.api import HostLanguage, PlatformSupport, RuleFile, hookimpl
"""


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Installs a plugin of one module, whose text is given, for this process and as long as the test goes on."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(name: str, text: str) -> None:
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[rc_workbench.plugins]\n{name} = {name}\n")
        (tmp_path / f"{name}.py").write_text(HOOKS + text)
        monkeypatch.delitem(sys.modules, name, raising=False)

    return install


def brought(name: str) -> tuple[Plugins, LoadedPlugin]:
    plugins = load_plugins()
    return plugins, next(plugin for plugin in plugins.loaded if plugin.name == name)


def test_a_hook_that_fails_is_told_and_nothing_of_its_plugin_is_used(bring: Callable[[str, str], None]) -> None:
    bring("half", """
@hookimpl
def workbench_platforms():
    return [PlatformSupport("half_card", Path("half_card.yaml"))]
@hookimpl
def workbench_rules():
    raise OSError("no rules today")
""")  # fmt: skip
    plugins, half = brought("half")
    assert half.error == "OSError: no rules today"
    assert "half_card" not in plugins.platforms
    assert "nallatech_h101" in plugins.platforms


def test_what_is_not_of_the_hooks_kind_is_told_with_what_it_lacks(bring: Callable[[str, str], None]) -> None:
    bring("untyped", """
class Ada:
    name, suffixes, pragma_prefix = "Ada", (".adb",), "--pragma recap "
    def outline(self, root, files): return ()
@hookimpl
def workbench_host_languages():
    return [Ada()]
""")  # fmt: skip
    _, untyped = brought("untyped")
    assert untyped.error.startswith("TypeError: workbench_host_languages returned <untyped.Ada object")
    assert untyped.error.endswith("which lacks instrument, scan; it must return a list of HostLanguage")


def test_a_hook_that_there_is_not_is_told(bring: Callable[[str, str], None]) -> None:
    bring("misspelt", "@hookimpl\ndef workbench_platform(): return []\n")
    assert "unknown hook 'workbench_platform'" in brought("misspelt")[1].error


def test_of_two_things_of_one_name_a_third_partys_is_used(bring: Callable[[str, str], None]) -> None:
    bring(
        "aaa", "@hookimpl\ndef workbench_platforms(): return [PlatformSupport('nallatech_h101', Path('mine.yaml'))]\n"
    )
    assert brought("aaa")[0].platforms["nallatech_h101"].template == Path("mine.yaml")


def test_a_fault_in_a_plugins_code_names_the_plugin_wherever_it_comes_out(bring: Callable[[str, str], None]) -> None:
    bring("failing", """
class Cobol:
    name, suffixes, pragma_prefix = "COBOL", (".cob",), "*pragma recap "
    def outline(self, root, files): return "".join(files)
    def scan(self, root, host, platform, defines): raise KeyError("PIC")
    def instrument(self, root, host, platform, defines, out): raise KeyError("PIC")
@hookimpl
def workbench_host_languages():
    return [Cobol()]
""")  # fmt: skip
    language = load_plugins().host_languages["COBOL"]
    with pytest.raises(TypeError) as here:
        language.outline(Path(), [1])  # type: ignore[list-item]
    assert plugin_of(here.value) == "failing"
    told = plugin_fault(here.value, "to outline the sources")
    assert told.message.startswith("the plugin 'failing' failed to outline the sources: TypeError: ")
    assert (told.file, told.line) == (sys.modules["failing"].__file__, 7)
    with pytest.raises(RuntimeError, match="KeyError: 'PIC'") as elsewhere:
        in_child(lambda: language.outline(Path(), []) or language.scan(Path(), None, None, {}))  # type: ignore[arg-type]
    assert plugin_of(elsewhere.value) == "failing"
    assert "the plugin 'failing' failed here" in journal.crash(elsewhere.value).message
    assert plugin_of(ValueError("of our own")) == ""


def test_a_metric_that_fails_leaves_out_the_rules_that_read_it_and_names_its_plugin(
    bring: Callable[[str, str], None], tmp_path: Path
) -> None:
    bring("measuring", """
from workbench.api import Metric
@hookimpl
def workbench_metrics():
    return [
        Metric("measuring.states", "States selected", "count", lambda selected: len(selected.states)),
        Metric("measuring.broken", "Never there", "time", lambda selected: selected.no_such_thing),
    ]
@hookimpl
def workbench_rules():
    return [RuleFile(Path(__file__).parent / "measuring.yaml")]
""")  # fmt: skip
    rule = "{name: %s, category: internal overhead, side: host, when: measuring.%s > 0, show: [measuring.states]}"
    rules = f"schema_version: 1\nrules:\n  - {rule % ('counted', 'states')}\n  - {rule % ('broken', 'broken')}\n"
    (tmp_path / "measuring.yaml").write_text(rules)
    knowledge, problems = open_knowledge(load_plugins())
    assert problems == ()
    analysis = analyse(synthetic_run(cores=2, rounds=1), None, knowledge, threshold=1.0)
    (counted,) = [finding for finding in analysis.findings if finding.rule == "counted"]
    assert counted.metrics["measuring.states"] == len(analysis.block(counted.block).states) - 1
    (problem,) = [found for found in analysis.diagnostics if "broken" in found.message]
    assert problem.message.startswith(
        "the rule 'broken' was left out: the plugin 'measuring' failed to compute the metric 'measuring.broken': "
    )


def test_a_plugins_command_stands_beside_the_workbenchs_own(
    bring: Callable[[str, str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bring("commanding", """
from workbench.api import Command
def add(parser):
    parser.add_argument("run_folder", type=Path)
    parser.add_argument("--json", action="store_true")
def count(arguments, workbench):
    measured = workbench.open_run(arguments.run_folder)
    workbench.print_json({"blocks": len(measured.blocks), "metrics": "total" in workbench.metrics})
    return 1
@hookimpl
def workbench_commands():
    return [Command("count", "how many blocks a run has", add, count), Command("run", "not this one", add, count)]
""")  # fmt: skip
    run = synthetic_run(cores=2, rounds=1)
    RunWriter(tmp_path / "r", run.manifest).finish(run.manifest, run.tables)
    assert main(["count", str(tmp_path / "r"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"blocks": len(run.manifest.blocks), "metrics": True}
    assert main(["count", str(tmp_path / "none")]) == 2
    assert "this is no run folder" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert "how many blocks a run has" in shown
    assert "not this one" not in shown


def test_a_mode_that_fails_is_told_with_its_plugins_name_and_the_window_goes_on(
    bring: Callable[[str, str], None], qtbot: QtBot, tmp_path: Path
) -> None:
    bring("moody", """
from workbench.api import WindowMode
def view():
    from workbench.gui.mode import Mode
    class Moody(Mode):
        def __init__(self, context, kind):
            raise ValueError("not today")
    return Moody
@hookimpl
def workbench_modes():
    return [WindowMode("moody", "Moody", "nowhere", view)]
""")  # fmt: skip
    run = synthetic_run(cores=2, rounds=1)
    RunWriter(tmp_path / "r", run.manifest).finish(run.manifest, run.tables)
    window = MainWindow(load_plugins())
    qtbot.addWidget(window)
    window.open(tmp_path / "r")
    qtbot.waitUntil(lambda: window.context.run is not None and not window.busy, timeout=20_000)
    window.go_to("moody")
    qtbot.waitUntil(lambda: not window.busy, timeout=20_000)
    told = [notice.message for notice in window.context.notices]
    assert "the icon 'nowhere' of the mode 'Moody' is not there" in told
    assert told[-1] == "the plugin 'moody' failed to show the mode 'Moody': ValueError: not today"
    window.go_to("timeline")
    qtbot.waitUntil(lambda: not window.busy, timeout=20_000)
    assert window.shown is window.modes.made["timeline"]


def test_a_plugin_that_cannot_be_loaded_is_told_beside_what_a_command_says(
    bring: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    bring("absent", "import a_module_that_there_is_not")
    assert main(["metrics", "--json"]) == 0
    shown = capsys.readouterr()
    assert {metric["name"] for metric in json.loads(shown.out)["metrics"]} >= {"total", "left.united"}
    assert "the plugin 'absent' could not be loaded: ModuleNotFoundError" in shown.err
