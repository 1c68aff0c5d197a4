"""The workbench's own commands: what each takes, and the function of this package that does it.

Nothing here imports what a command needs, so that help and bad usage are answered at once.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.api.commands import Command
from workbench.api.later import Later

Option = tuple[tuple[str, ...], Mapping[str, Any]]  # what argparse is given of it


def _option(*names: str, **given: Any) -> Option:
    return names, given


def _file(*names: str, metavar: str = "FILE", **given: Any) -> Option:
    return names, {"type": Path, "metavar": metavar, **given}


def _flag(name: str, text: str) -> Option:
    return (name,), {"action": "store_true", "help": text}


def _many(name: str, metavar: str = "NAME=VALUE", **given: Any) -> Option:
    return (name,), {"action": "append", "default": [], "metavar": metavar, **given}


def _named(name: str, text: str, metavar: str = "NAME") -> Option:
    return (name,), {"default": "", "metavar": metavar, "help": text}


JSON = _option("--json", action="store_true")
OUT = _file("--out", metavar="DIR", required=True)
OUT_RUN = _file("--out", metavar="RUN", required=True, help="run folder to make")
RUN = _file("run_folder", metavar="RUN")
PROJECT = (_file("project", metavar="PROJECT"), _many("--set", dest="changes"), JSON)
COUNTS = (
    _flag("--assertions", "watch the assertions in the design's text too"),
    _flag("--branches", "count how often each branch of the design's text is taken: see `coverage`"),
)
WATCH = _many(
    "--blocks",
    metavar="BLOCK",
    help="a block that a counter watches on a real machine where the project has "
    "fewer of them (default: its hardware.watch); * is any part of its name; of several FPGAs it "
    "begins with one's (left:core.state), or is a block of each",
)
SETTING = _option("name", metavar="NAME", help="such as theme, program.g++ or key.run")
MOMENTS = (
    _option("--from", dest="first", metavar="TIME", help="only what follows this moment of a traced run"),
    _option("--to", dest="last", metavar="TIME", help='only what comes before this moment, as in "1.5 ms"'),
)
THRESHOLD = (
    _option("--threshold", type=float, default=1.05, help="least speedup (if only this time went) that is reported"),
    JSON,
)


def _does(place: str) -> Later:
    return Later(f"workbench.cli.{place}")


def _takes(parser: argparse.ArgumentParser, options: Sequence[Option]) -> None:
    for names, given in options:
        parser.add_argument(*names, **given)


def _command(name: str, title: str, place: str, *options: Option, logged: bool = True) -> Command:
    """A command that the function at `place` does. A log is kept of one that is not over at once."""
    return Command(name, title, lambda parser: _takes(parser, options), _does(place), logged)


def _actions(name: str, title: str, *actions: tuple[str, str, str, Sequence[Option]], usual: str = "") -> Command:
    """A command with actions: each its name, what it is for, what does it, and what it takes besides --json. Without an
    action the function at `usual` does it."""

    def add(parser: argparse.ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="action", required=not usual)
        if usual:
            parser.set_defaults(run=_does(usual))
            _takes(parser, [JSON])
        for action, text, place, options in actions:
            one = commands.add_parser(action, help=text)
            one.set_defaults(run=_does(place))
            _takes(one, (*options, JSON))

    return Command(name, title, add)


def _compiler(name: str, title: str, place: str) -> Command:
    """A command that takes a compiler's words as they are."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.prefix_chars = "\0"
        parser.add_argument("words", nargs="*", metavar="...", help="what the compiler is given")

    return Command(name, title, add, _does(place))


def add_commands(top: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """The workbench's own command that the first argument names; without one every command, those of plugins too."""
    own = {command.name: command for command in OWN}
    offered: Mapping[str, Command] = own
    if given and given[0] in own:
        offered = {given[0]: own[given[0]]}
    elif not given or given[0] != "--version":
        from workbench.cli.output import loaded_plugins

        offered = {**own, **{name: c for name, c in loaded_plugins().commands.items() if name not in own}}
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in offered.values():
        parser = commands.add_parser(command.name, help=command.title)
        if not given or given[0] == command.name:
            parser.set_defaults(run=command.run, logged=command.logged)
            command.add(parser)


def _add_predict(top: argparse.ArgumentParser) -> None:
    """Every kind of model that plugins bring."""
    from workbench.cli.output import loaded_plugins

    kinds = top.add_subparsers(dest="kind", required=True, metavar="KIND")
    for kind in loaded_plugins().model_kinds.values():
        command = kinds.add_parser(kind.name, help=kind.title)
        if kind.compare:
            _takes(command, COMPARE)
        for question in kind.questions:
            question.add(command)
        if kind.begun:
            kind.begun.add(command)
        if kind.of_run:
            _takes(command, OF_RUN)
        if kind.of_host:
            _takes(command, OF_HOST)
        if kind.of_run or kind.of_host:
            _takes(command, (OUT_MODEL,))
        others = f", or a file *{', *'.join(kind.begun.suffixes)}" if kind.begun else ""
        named = f" ({', '.join(kind.readings)})" if kind.readings else ""
        solved = (
            f"the value of an input that gives the {kind.goal} wanted; whole and within its bounds where it has any"
        )
        targets = dict.fromkeys((kind.solve_option, "--target"))
        readings = dict.fromkeys((kind.reading_option, "--reading"))
        _takes(command, (
            _option("model", metavar="MODEL", help=f"a model file, or the name of a bundled model{others}",
                    **({"nargs": "?"} if kind.of_run or kind.of_host else {})),
            _option(*readings, dest="reading", metavar="NAME", help=f"one of the model's readings{named}"),
            *QUESTIONS,
            _option("--solve", metavar="NAME", help=solved),
            _option(*targets, dest="target", type=float, metavar="X",
                    help="what to solve for; with --output, that output"),
            _file("--svg", metavar="F", help="draw the model: its nodes or stations, and what goes between them"),
            _file("--html", metavar="F", help="write the prediction as a page: figures, drawings, tables"),
            JSON,
        ))  # fmt: skip


OF_RUN = (_file("--from", metavar="RUN", dest="from_run", help="in place of a model: one calibrated from a run"),)
OF_HOST = (
    _file("--project", help="in place of a model: one measured from this project's host, which runs for it"),
    _option(
        "--region",
        metavar="REGION",
        help="of the host: a function's name, FILE:LINE for the function around a "
        "line, or FILE:FIRST-LAST (default: what the newest run finds hottest)",
    ),
)
OUT_MODEL = _file("--out", help="write that model")
COMPARE = (
    _file("--run", metavar="RUN", dest="run_folder", help="compare with a run, part by part"),
    _flag("--take-over", "write the run's measurements into the model"),
)
#: What can be asked of every kind of model.
QUESTIONS = (
    _many("--set", dest="changes", help="what if an input had another value; the model's file stays as it is"),
    _many("--sweep", "NAME=a:b:n | NAME=v1,v2", help="values of an input; given several times, every combination"),
    _file("--csv", help="write the sweep's points, or its bands, as a table"),
    _option("--uncertain", type=int, metavar="N", help="draw the uncertain inputs N times"),
    _many("--spread", "NAME=LOW:HIGH", help="take an input as uncertain, between two values"),
    _option("--output", metavar="NAME", help="what to sweep or solve for (default: the time or rate)"),
    _option("--against", metavar="NAME", help="Pareto front of the output and this one"),
    _flag("--sensitivity", "which input matters most"),
    _option("--scheduler", metavar="ADDRESS", help="a Dask scheduler to sweep on"),
    _option("--seed", type=int, metavar="N", help="of the draws (default 0)"),
)

#: The workbench's own, as a plugin brings its.
OWN: Sequence[Command] = (
    _command("open", "the window, on a project, a run, another program's trace, a model or a platform template",
             "window:run_open", _file("path", metavar="PATH", nargs="?", help="(default: the welcome page)"),
             logged=False),
    _command("demo", "the bundled application, from instrumenting to the report", "demo:run_demo",
             _flag("--headless", "make the report and pictures, open no window"),
             _file("--out", metavar="DIR", default=Path("demo"))),
    _command("pictures", "pictures of the window, every view, light and dark", "demo:run_pictures", OUT,
             _file("--demo", metavar="DIR", default=Path("demo"), help="a folder that `demo` left"),
             _flag("--sizes", "at four sizes, from 1024 x 700 to 2560 x 1440")),
    _command("new", "a project file from a folder of sources", "new:run_new",
             _file("folder", metavar="DIR", help="the folder of the host's and the hardware's sources"),
             _named("--example", "copy an example below DIR instead: pdf2d, laplace, blastn, queues or own_board"),
             _named("--name", "the project's name (default: the folder's)"),
             _named("--top", "the top module, or its file", "MODULE"),
             _named("--host", "the C or C++ source with main", "FILE"),
             _named("--platform", "a platform template, or the path of one"),
             _many("--constant", help="the value of an input that nothing drives"),
             _many("--set", help="the value of a macro that the host uses and nothing declares, or of a parameter"),
             _many("--define", help="the value of a macro that the hardware uses and nothing defines"),
             _flag("--dry-run", "say what was found, and write nothing"), JSON),
    _command("scan", "find API calls, clocked blocks, branches and pragmas", "projects:run_scan", *PROJECT),
    _command("propose", "pragmas for the sources, from state registers, handshakes and API calls", "marks:run_propose",
             _many("--accept", "ID", help="write this one, or all of a group or `all`, into its source"),
             _flag("--undo", "put the sources back as they were before --accept was last given"), *PROJECT),
    _command("definition", "where the name at a place of a source is defined", "projects:run_definition", *PROJECT,
             _option("place", metavar="FILE:LINE:COLUMN", help="a place of a source; columns count bytes, from 1"),
             logged=False),
    _command("find", "where a text is in the files of a project", "find:run_find", _file("project", metavar="PROJECT"),
             _option("text", metavar="TEXT"), _flag("--case", "upper and lower case differ"),
             _flag("--word", "whole words only"), _flag("--regex", "TEXT is a regular expression"), JSON, logged=False),
    _command("instrument", "write instrumented copies, and what a real machine builds and runs them with",
             "projects:run_instrument", OUT, *COUNTS, WATCH, *PROJECT),
    _command("run", "instrument, build and run, on the simulated card or the project's own target",
             "projects:run_run",
             _file("--out", metavar="RUN", help="run folder to make (default: runs/run-N beside the project)"),
             _flag("--plain", "leave host and hardware uninstrumented"),
             _flag("--trace", "keep every change of state, for the timeline"),
             _flag("--deterministic", "host time from counted work: two runs are identical"),
             _flag("--best", "say what to change first, and how it compares with the run before"),
             _flag("--waves", "write the design's signals to a VCD file of the run folder"),
             _flag("--ports", "write the top's ports alone to that file: see `testbench`"),
             _option("--from", dest="first", metavar="TIME", help="signals from this moment on, as in '1.5 ms'"),
             _option("--to", dest="last", metavar="TIME", help="signals until this moment"),
             _option("--ranks", type=int, metavar="N", help="processes of the host (MPI)"), *COUNTS,
             _named("--target", "where it runs (default: the project's target)"), WATCH, *PROJECT),
    _compiler("cc", "compile C as the compiler would, with the platform's calls recorded: make CC='workbench cc'",
              "compiler:run_cc"),
    _compiler("c++", "the same for C++", "compiler:run_cxx"),
    _command("collect", "a run folder from the records of a run on a real machine", "projects:run_collect",
             _file("tree", metavar="DIR", help="what `instrument` left, and the program was built from; or the "
                                               "project of one that `workbench cc` built"),
             _file("records", metavar="RECORDS", help="the folder that RCW_RAW named as it ran"), OUT_RUN, JSON),
    _command("report", "what a run spent its time on, and which bottleneck to fix", "runs:run_report", RUN,
             _file("--html", metavar="F", help="write a report in one file"),
             _file("--svg", metavar="F", help="write the block graph"),
             _option("--states", metavar="BLOCK", help="with --svg: the states of this block, or of replicas, instead"),
             _flag("--flame", "with --svg: time by component, block, state and call as a flame graph, instead"),
             _flag("--treemap", "with --svg: the same as a treemap"),
             _flag("--no-waits", "with --flame or --treemap: without what waits or is unclassified"),
             _flag("--all", "unfold all advice, parts and numbers of each finding"),
             _option("--predict", type=float, metavar="SECONDS",
                     help="processor time for predictions of what advice gains; 0 for none (default: the setting)"),
             _file("--png", metavar="F", help="write a picture of the window on this run"), *MOMENTS, *THRESHOLD),
    _command("coverage", "which branches of its design a run took, and which not", "coverage:run_coverage", RUN,
             _flag("--all", "those that were taken too"), JSON),
    _command("testbench", "a testbench that replays what passed the design's ports in a run",
             "testbench:run_testbench_command", RUN, OUT,
             _file("--project", metavar="PROJECT", help="whose design is held against the run (default: the run's)"),
             _option("--run", dest="runs", action="store_true",
                     help="run it too, with Verilator or GHDL, and say the first difference"), JSON),
    _command("ledger", "the predictions that were kept, and what came true", "ledger:run_ledger",
             _file("project", metavar="PROJECT", help="a project, its folder, or one of its runs"),
             _named("--drop", "withdraw an open prediction", "ID"), JSON),
    _command("streams", "what a run counted of a design's streams, and how deep FIFOs and edges have to be",
             "streams:run_streams",
             _file("target", metavar="RUN|PROJECT",
                   help="a traced run, whose depths are predicted, or a project whose FIFOs are tried"),
             _option("--loss", type=float, default=1.0, help="percent of the throughput that depths may cost"),
             _flag("--confirm", "of a run: simulate the chosen depths, at most twice"),
             _many("--set", dest="changes"), JSON),
    _command("prove", "whether instrumentation changes nothing: module by module, by proof or by simulation",
             "prove:run_prove", *PROJECT, _named("--module", "one module only (default: all of the design)"),
             _option("--timeout", type=float, default=60.0, metavar="S", help="seconds for a module's proof (60)"),
             _option("--cycles", type=int, default=100_000, metavar="N",
                     help="random cycles of what is not proved (100000); 0: nothing is simulated"),
             _flag("--strict", "exit code 1 where anything was only simulated")),
    _command("timeline", "what lies between two moments of a traced run, as figures, picture and data",
             "timeline:run_timeline", RUN, *MOMENTS,
             _named("--find", "list where states and calls occur that all of these words name", "WORDS"),
             _flag("--statistics", "visits, time and lengths of every state of every block"),
             _many("--mark", "NAME=TIME", help="set a marker of the run"), _many("--unmark", "NAME", help="delete one"),
             _many("--pin", "ROW", help="keep a row above the others, in the whole project"),
             _many("--unpin", "ROW", help="no longer keep it there"),
             _file("--svg", metavar="F", help="write the timeline"),
             _flag("--shares", "with --svg: the share of each state over time, replicas together"),
             _flag("--causes", "with --svg: the critical path, and arrows from what was waited for to what waited"),
             _file("--csv", metavar="F", help="write every state and call"), JSON),
    _command("waves", "show a moment of a run in Surfer or GTKWave: the design's signals (`run --waves`), or states",
             "waves:run_waves", RUN, _option("--at", required=True, metavar="TIME", help='the moment, as in "1.5 ms"'),
             _option("--window", default="1 us", metavar="TIME", help="how much around it (default: 1 us each way)"),
             _many("--block", "ID", help="a block whose signals are shown"),
             _named("--label", "what the marker is called", "TEXT"),
             _option("--viewer", choices=("surfer", "gtkwave"), help="default: the first that is installed"),
             _file("--out", metavar="DIR", help="write files for both there; with --viewer show them too"), JSON),
    _command("whatif", "what changes would gain of a run, predicted from it", "whatif:run_whatif", RUN,
             _many("--change", "SPEC", dest="changes", required=True,
                   help="a change, as in 'unite calls=host/main.c:31 count=16'; several are made together"),
             _flag("--confirm", "run the application again as if they were made: its time, and its answer"),
             _flag("--keep", "keep the prediction in the project's ledger"),
             _flag("--findings", "also which findings stay, and what the next change then gains"), JSON),
    _command("path", "what a run's time was spent on: its critical path", "whatif:run_path", RUN, JSON),
    _command("compare", "two to twenty runs side by side", "compare:run_compare",
             _file("run_a", metavar="RUN_A"), _file("run_b", metavar="RUN_B"),
             _file("more", metavar="RUN", nargs="*", help="more runs, each compared with RUN_A"),
             _many("--fail-if", "EXPRESSION", help="exit with 1 where this holds, as in 'time > 1.02' (times are B's "
                                                   "over A's); may be given several times; of two runs"),
             _option("--settle", metavar="ID", help="settle this prediction of RUN_A with RUN_B; of two runs"),
             _file("--junit", metavar="F", help="write the conditions as JUnit test cases; of two runs"),
             _file("--markdown", metavar="F", help="write a summary; of two runs"),
             _file("--sarif", metavar="F", help="write findings and conditions at their lines, as SARIF 2.1.0; of two "
                                                "runs"), *THRESHOLD),
    _command("export", "write a run in a form that other programs read", "runs:run_export", RUN,
             _option("--format", required=True, metavar="NAME", help="perfetto, vcd, parquet, csv, what plugins bring"),
             _file("--out", required=True)),
    _command("import", "read another program's file as a run", "runs:run_import",
             _file("file"), _named("--format", "chrome and what plugins bring"), OUT_RUN, JSON),
    _command("study", "run an application over settings, platforms and changes, measured beside predicted",
             "study:run_study_command", _file("study", metavar="FILE", help="a study, FILE.study.yaml"),
             _option("--engine", choices=("local", "dask", "submitit"), default="local",
                     help="where runs are made (default: this machine's cores)"),
             _option("--jobs", type=int, default=0, metavar="N", help="how many at once (default: one a core)"),
             _named("--scheduler", "of --engine dask", "ADDRESS"), _flag("--again", "run points that failed again"),
             _file("--html", metavar="F", help="write a page in one file"),
             _file("--csv", metavar="F", help="write the points as a table"),
             _named("--point", "run this point alone, in this process", "KEY"), JSON),
    Command("predict", "predict an application's time from a model, before any code", _add_predict,
            _does("predict:run_predict"), logged=True),
    _actions("template", "platform templates: list, check, begin, try, measure, fit",
             ("list", "the templates there are", "templates:run_list", ()),
             ("check", "check a template file", "templates:run_check", (_file("file"),)),
             ("new", "start a template of your own from an existing one, or from a header", "templates:run_new", (
                 _file("file"),
                 _named("--of", "the template to start from, or the path of one (default: nallatech_h101)"),
                 _file("--header", metavar="API.h", help="add an entry for each call that this declares"))),
             ("try", "which calls of sources a template's entries match", "templates:run_try", (
                 _file("template", metavar="TEMPLATE", help="a file, or the name of one"),
                 _file("sources", metavar="SOURCE", nargs="+"),
                 _many("--include", "DIR", help="a folder of headers that the sources include"),
                 _many("--define", help="a macro that their compiler is given"))),
             ("bench", "measure the transfer tables with the template's own calls", "bench:run_bench", (
                 _file("file"), _file("--out", required=True, help="the template with the measured tables"),
                 _file("--from", dest="run_folder", metavar="RUN", help="take them from this run's calls"),
                 _file("--keep", metavar="DIR", help="leave the project that is run there, to be run on a machine"),
                 _option("--repeats", type=int, default=5, help="calls of each size"),
                 _named("--largest", "the largest size (default: each table's last)", "SIZE"))),
             ("fit", "a latency and a bandwidth for each table, with residuals", "bench:run_fit", (_file("file"),)),
             ("network", "measure L, o, g, G between MPI ranks by a program of its own", "network:run_network", (
                  _file("file"), _file("--out"), _option("--name", required=True, help="its name in the template"),
                  _named("--mpirun", "starts ranks on a machine, as 'mpirun -n 4' (default: simulated)", "COMMAND"),
                  _option("--mpicc", default="mpicc", metavar="COMMAND"), _file("--keep", metavar="DIR"),
                  _option("--ranks", type=int, default=4), _option("--repeats", type=int, default=5)))),
    _actions("rules", "bottleneck rules: list, check, eval, new, copy, remove, add",
             ("list", "the rules in force, or what each found in a run", "rules:run_list", (
                 _file("run_folder", metavar="RUN", nargs="?", help="whose findings are shown by rule"),)),
             ("check", "check a rule file", "rules:run_check", (_file("file"),)),
             ("eval", "hold a file's rules against a run, subject by subject", "rules:run_eval", (
                 _file("file"), RUN, _named("--rule", "only this rule"), THRESHOLD[0])),
             ("new", "begin a rule of one's own", "rules:run_new", (
                 _file("file", help="a rule file; made where it is not there"), _option("name", metavar="NAME"))),
             ("copy", "copy rules of a name into a file; there they replace the workbench's", "rules:run_copy", (
                 _option("name", metavar="NAME"), _file("file"),
                 _file("--of", metavar="SHARED", help="take them from this rule file"),
                 _named("--side", "only the one that looks at this side: host, fpga or any"),
                 _option("--as", dest="new", default="", metavar="NEW", help="another name, so that both apply"))),
             ("remove", "remove the rules of a name from a file", "rules:run_remove", (
                 _file("file"), _option("name", metavar="NAME"))),
             ("add", "name a rule file in a project, for its runs", "rules:run_add", (
                 _file("project", metavar="PROJECT"), _file("file")))),
    _actions("plugins", "what is loaded, from where, and what failed to load and why: list, info, check, new, api",
             ("list", "every plugin, source of the numbers and how much it brings", "plugins:run_list", ()),
             ("info", "what a plugin brings by name, overrides, load time, faults", "plugins:run_info",
              (_option("name", metavar="NAME"),)),
             ("check", "load the plugins of a folder, without installing them", "plugins:run_check", (
                 _file("folder", metavar="DIR", help="with a pyproject.toml that names them"),)),
             ("new", "begin a plugin", "plugins:run_new", (
                 _file("folder", metavar="DIR", help="a new folder; the plugin has its name"),)),
             ("api", "every name that a plugin may import, with its signature", "plugins:run_api", ()),
             usual="plugins:run_list"),
    _command("fields", "every field of a document: what it holds, its unit, default and meaning", "fields:run_fields",
             _option("document", nargs="?", metavar="DOCUMENT", help="template, project, model, rules or run"),
             _flag("--json", "JSON Schema, for editors that check while one types"), logged=False),
    _actions("settings", "appearance, keys, programs, folders, trusted projects, fields of a project: list, set, reset",
             ("list", "every setting, its value and what it does", "settings:run_list", ()),
             ("set", "set a value, and remember it", "settings:run_set", (
                 SETTING, _option("value", metavar="VALUE", help="an empty one: none, or the default"))),
             ("reset", "reset a setting to its default", "settings:run_reset", (SETTING,)),
             ("project", "every field of a project, its value and where that comes from", "settings:run_project", (
                 _file("project", metavar="PROJECT"), _flag("--set-only", "leave out what is at its default"),
                 _named("--reset", "take this field out of the project's file first", "FIELD"))),
             ("withdraw", "ask again before a project is run that was trusted", "settings:run_withdraw", (
                 _option("project", type=Path, metavar="PROJECT"),))),
    _command("doctor", "what this machine has and lacks, with versions and paths", "doctor:run_doctor",
             _flag("--clear-cache", "delete what was built and is kept; it is built again when it is needed"), JSON,
             logged=False),
    _command("desktop", "put the workbench into the desktop's menu, for this user", "doctor:run_desktop",
             _flag("--remove", "remove the entry"), JSON, logged=False),
)  # fmt: skip
