"""Plugins: the built-ins use the public hooks only, a third party's is found, and a broken one stops nothing."""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from answers import document_of
from pytestqt.qtbot import QtBot

from workbench.analysis import analyse
from workbench.api import hookspecs
from workbench.api.faults import BUILT_IN as OWN
from workbench.api.faults import GROUP, PluginFault, caught, plugin_fault, plugin_of
from workbench.cli.main import main
from workbench.formats.platform_file import load_platform
from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.main_window import MainWindow
from workbench.model.application import HardwareSources, ReadOut
from workbench.session.keep.results import open_knowledge
from workbench.session.open.reader_child import in_child
from workbench.session.program import journal
from workbench.session.program.loaded_plugin import LoadedPlugin
from workbench.session.program.plugins import KINDS, NO_PLUGINS, Plugins, load_plugins
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
    page = (ROOT / "resources" / "help" / "plugins.md").read_text()
    for name, hook in hooks.items():
        assert f"| `{name}` | {inspect.getdoc(hook)} |" in page
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
    name, files = "Ada", ()
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
    name, files = "COBOL", ()
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
    assert "this is not a run folder" in capsys.readouterr().err
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
    from workbench.gui.modes.mode import Mode
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
    assert window.shown is window.modes.views["timeline"]


def test_a_plugin_that_cannot_be_loaded_is_told_beside_what_a_command_says(
    bring: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    bring("absent", "import a_module_that_there_is_not")
    assert main(["metrics", "--json"]) == 0
    shown = capsys.readouterr()
    assert {metric["name"] for metric in json.loads(shown.out)["metrics"]} >= {"total", "left.united"}
    assert "the plugin 'absent' could not be loaded: ModuleNotFoundError" in shown.err


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("import time; time.sleep(1000)", "it was still loading after 0.5 s"),
    ],
)
def test_how_ever_a_plugin_ends_as_it_loads_the_others_go_on(
    bring: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch, ending: str, why: str
) -> None:
    if "sleep" in ending:  # the others have as long as a busy machine takes
        monkeypatch.setattr("workbench.session.program.plugins.LIMIT_S", 0.5)
    bring("bad_start", f"{ending}\n")
    bring("bad_hook", f"@hookimpl\ndef workbench_rules():\n    {ending}\n")
    plugins, first = brought("bad_start")
    assert first.error == why
    assert next(plugin.error for plugin in plugins.loaded if plugin.name == "bad_hook") == why
    assert "nallatech_h101" in plugins.platforms


def test_what_a_plugin_prints_is_not_in_a_commands_answer(
    bring: Callable[[str, str], None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bring("chatty", """
print("loading chatty")
from workbench.api import Metric
def value(of):
    print("computing")
    return 1.0
@hookimpl
def workbench_metrics():
    print("asked for metrics")
    return [Metric("chatty", "Chatty", "time", value)]
""")  # fmt: skip
    assert main(["plugins", "--json"]) == 0
    shown = capsys.readouterr()
    chatty = next(plugin for plugin in json.loads(shown.out)["plugins"] if plugin["name"] == "chatty")
    assert chatty["error"] == ""
    assert "loading chatty\nasked for metrics\n" in shown.err


def test_plugins_says_what_each_brings_and_whose_place_it_takes(
    bring: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    bring(
        "aaa", "import time; time.sleep(0.6)\n"
        "@hookimpl\ndef workbench_platforms(): return [PlatformSupport('nallatech_h101', Path('mine.yaml'))]\n"
    )  # fmt: skip
    assert main(["plugins"]) == 0
    shown = capsys.readouterr().out
    assert "aaa overrides: platforms nallatech_h101\n" in shown
    (load_s,) = re.findall(r"^aaa takes (\d+\.\d) s to load$", shown, re.MULTILINE)
    assert float(load_s) >= 0.6
    (aaa,) = (plugin for plugin in document_of(capsys, ["plugins", "--json"])["plugins"] if plugin["name"] == "aaa")
    assert aaa["brings"] == {"platforms": ["nallatech_h101"]}
    assert aaa["overrides"] == ["platforms nallatech_h101"]


def test_a_kind_of_port_that_is_broken_is_its_plugins_fault(
    bring: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    bring("torn", """
from workbench.api import PortKind
@hookimpl
def workbench_port_kinds():
    return [PortKind("torn", "A torn port", lambda: 1 / 0)]
""")  # fmt: skip
    assert main(["fields", "template"]) == 0
    shown = capsys.readouterr()
    assert "AXI4-Lite (kind: axi_lite)" in shown.out
    assert "torn" not in shown.out
    assert brought("torn")[1].error == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("how", ["sys.exit(5)", "raise KeyboardInterrupt"])
def test_a_plugins_sys_exit_stays_the_plugins_wherever_it_runs(
    bring: Callable[[str, str], None], capsys: pytest.CaptureFixture[str], tmp_path: Path, how: str
) -> None:
    bring("quitter", f"""
import sys
from workbench.api import Exporter, Importer, Metric
def quit(*given):
    {how}
@hookimpl
def workbench_exporters(): return [Exporter("quit", "Quit", ".quit", quit)]
@hookimpl
def workbench_importers(): return [Importer("quit", "Quit", (".quit",), quit)]
@hookimpl
def workbench_metrics(): return [Metric("quit", "Quit", "time", quit)]
""")  # fmt: skip
    what = "SystemExit: 5" if "exit" in how else "KeyboardInterrupt"
    run = synthetic_run(cores=1, rounds=1)
    RunWriter(tmp_path / "run", run.manifest).finish(run.manifest, run.tables)
    (tmp_path / "file.quit").write_text("")
    out = ["--out", str(tmp_path / "out")]
    for words, doing in (
        (["export", str(tmp_path / "run"), "--format", "quit", *out], "to export as quit"),
        (["import", str(tmp_path / "file.quit"), *out], "to read file.quit"),
    ):
        assert main(words) == 2
        assert f"error: the plugin 'quitter' failed {doing}: {what}" in capsys.readouterr().err
    metric = load_plugins().metrics["quit"]
    with pytest.raises(PluginFault) as fault:
        handled(lambda: metric.compute(None))
    assert (fault.value.plugin, str(fault.value)) == ("quitter", what)


def handled(work: Callable[[], object]) -> None:
    try:
        work()
    except BaseException as error:
        raise caught(error) from None


def test_a_persons_ctrl_c_is_no_plugins_fault(bring: Callable[[str, str], None]) -> None:
    bring("waiting", """
import signal
from workbench.api.commands import Command
def wait(arguments, workbench): signal.raise_signal(signal.SIGINT)
@hookimpl
def workbench_commands(): return [Command("wait", "wait", lambda parser: None, wait)]
""")  # fmt: skip
    assert main(["wait"]) == 130


def test_a_thread_that_a_plugin_left_running_keeps_no_command_from_ending(
    bring: Callable[[str, str], None], tmp_path: Path
) -> None:
    bring("lingering", """
import threading, time
from workbench.api.commands import Command
def stay(): time.sleep(1000)
threading.Thread(target=stay).start()
def linger(arguments, workbench):
    threading.Thread(target=stay).start()
    return 1
@hookimpl
def workbench_commands(): return [Command("linger", "stay", lambda parser: None, linger)]
""")  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "workbench", "linger"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "the plugin 'lingering' left a thread running, which was ended" in done.stderr


def test_a_plugins_port_style_is_found_between_instances_of_a_design(
    bring: Callable[[str, str], None], tmp_path: Path
) -> None:
    bring("baton", """
from workbench.api import PortKind
from workbench.api.port_styles import Handshake, PortStyle, words
from workbench.api.ports import HardwarePort
STYLE = PortStyle("baton", "Baton", (*words("offer=baton_offer"), *words("token=baton_token", bits="any"),
    *words("take=baton_take", initiator=False)), (frozenset({"offer", "take"}),),
    handshakes=(Handshake("offer", "take", data=("token",)),))
@hookimpl
def workbench_port_kinds(): return [PortKind("baton", "Baton", lambda: HardwarePort, STYLE)]
""")  # fmt: skip
    _, plugin = brought("baton")
    assert plugin.error == ""
    (tmp_path / "top.v").write_text("""
module giver(input clk, output reg baton_offer, output reg [7:0] baton_token, input baton_take);
  always @(posedge clk) begin baton_offer <= !baton_take; baton_token <= baton_token + 1; end
endmodule
module taker(input clk, input baton_offer, input [7:0] baton_token, output baton_take, output reg [7:0] sum);
  assign baton_take = baton_offer & sum[0];
  always @(posedge clk) sum <= sum + baton_token;
endmodule
module top(input clk, output [7:0] sum);
  wire offer, take; wire [7:0] token;
  giver g(.clk(clk), .baton_offer(offer), .baton_token(token), .baton_take(take));
  taker t(.clk(clk), .baton_offer(offer), .baton_token(token), .baton_take(take), .sum(sum));
endmodule
""")
    hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0, last=15))
    platform, _ = load_platform(ROOT / "platform_templates" / "nallatech_h101.yaml", load_plugins().port_kinds)
    assert platform
    found = load_plugins().hdl_languages["verilog"].scan(tmp_path, hardware, platform, {})
    assert [(stream.source, stream.target, stream.bits) for stream in found.streams] == [("top.g", "top.t", 8)]


def test_a_new_plugin_is_checked_without_being_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder = tmp_path / "my-plugin"
    assert main(["plugins", "new", str(folder), "--json"]) == 0
    written = [str(folder / name) for name in ("pyproject.toml", "my_plugin/__init__.py", "my_plugin/rules.yaml")]
    assert json.loads(capsys.readouterr().out) == {"written": written}
    answer = document_of(capsys, ["plugins", "check", str(folder), "--json"])
    assert answer["diagnostics"] == []
    (plugin,) = answer["plugins"]
    assert plugin["brings"] == {"metrics": ["my_plugin.mean_bytes"], "rules": [written[2]]}
    assert (plugin["error"], plugin["overrides"]) == ("", [])
    assert main(["plugins", "new", str(folder)]) == 2
    assert f"{folder}: error: this folder exists. Name a new one." in capsys.readouterr().err
    assert main(["plugins", "new", str(tmp_path / "2nd")]) == 2
    assert "'2nd' cannot be the name of a package" in capsys.readouterr().err


def test_check_names_what_is_wrong_with_a_plugin_and_its_documents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["plugins", "new", str(tmp_path / "slips")]) == 0
    rules = tmp_path / "slips" / "slips" / "rules.yaml"
    rules.write_text(rules.read_text().replace("slips.mean_bytes < 64", "slips.mean < 64"))
    assert main(["plugins", "check", str(tmp_path / "slips")]) == 1
    assert f"{rules}:11:25: error: there is no value 'slips.mean'. Did you" in capsys.readouterr().err
    about = tmp_path / "slips" / "pyproject.toml"
    about.write_text(about.read_text().replace('"slips" = "slips"', 'slips = "slipped"'))
    assert main(["plugins", "check", str(tmp_path / "slips")]) == 1
    assert "ModuleNotFoundError: No module named 'slipped'" in capsys.readouterr().out
    for text, said in (("[project]", "this names no plugin"), ("[", "this is not TOML"), ("", "this names no plugin")):
        about.write_text(text)
        assert main(["plugins", "check", str(tmp_path / "slips")]) == 2
        assert f"{about}: error: {said}" in capsys.readouterr().err


def test_info_of_one_plugin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "info", "queueing"]) == 0
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.replace("model kinds", "model").splitlines())
    assert rows["model"] == "queueing"
    assert main(["plugins", "info", "nix"]) == 2
    assert "no plugin is named 'nix'. The loaded ones are c, density" in capsys.readouterr().err


def test_no_plugins_leaves_out_third_parties_alone(
    bring: Callable[[str, str], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bring("loud", "raise RuntimeError('made to fail')")
    monkeypatch.setenv(NO_PLUGINS, "")
    assert main(["--no-plugins", "plugins", "--json"]) == 0
    shown = capsys.readouterr()
    assert {plugin["name"] for plugin in json.loads(shown.out)["plugins"]} == BUILT_IN
    assert shown.err == ""
