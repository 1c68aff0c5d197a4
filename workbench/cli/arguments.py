"""The workbench's own commands: what each takes, and the function of this package that does it.

Nothing here imports what a command needs, so that help and bad usage are answered at once.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.api.commands import Command
from workbench.cli.options import JSON, actions, command, compiler, does, file, flag, many, named, option
from workbench.cli.predict_options import add_predict

OUT = file("--out", metavar="DIR", required=True)
OUT_RUN = file("--out", metavar="RUN", required=True, help="run folder to make")
RUN = file("run_folder", metavar="RUN")
PROJECT = (file("project", metavar="PROJECT"), many("--set", dest="changes"), JSON)
COUNTS = (
    flag("--assertions", "watch the design's assertions too"),
    flag("--branches", "count how often each branch of the design is taken (see `coverage`)"),
)
SWITCHES = (
    option("--frame", metavar="LENGTH", default="",
           help="frame length of agents: a time (1 ms), or a number of words for frames of words"),
    many("--only", metavar="STATEMENT", help="a statement that agents count, by label or text (default: all)"),
)  # fmt: skip
WATCH = many(
    "--blocks",
    metavar="BLOCK",
    help="a block to watch on a real machine, if the project has fewer counters than blocks (default: its "
    "hardware.watch); * matches any part of a name; with several FPGAs a name may begin with that of one "
    "(left:core.state), otherwise it means that block of each",
)
SETTING = option("name", metavar="NAME", help="such as theme, program.g++ or key.run")
MOMENTS = (
    option("--from", dest="first", metavar="TIME", help="use a traced run from this moment on"),
    option("--to", dest="last", metavar="TIME", help='use a traced run up to this moment, as in "1.5 ms"'),
)
THRESHOLD = (
    option("--threshold", type=float, default=1.05, help="smallest speedup (if only this time is saved) to report"),
    JSON,
)


def add_commands(top: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """The workbench's own command that the first argument names; without one every command, those of plugins too."""
    own = {offer.name: offer for offer in OWN}
    offered: Mapping[str, Command] = own
    if given and given[0] in own:
        offered = {given[0]: own[given[0]]}
    elif not given or given[0] != "--version":
        from workbench.cli.output import loaded_plugins

        offered = {**own, **{name: c for name, c in loaded_plugins().commands.items() if name not in own}}
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, offer in offered.items():
        parser = commands.add_parser(name, help=offer.title)
        if not given or given[0] == name:
            parser.set_defaults(run=offer.run, logged=offer.logged)
            offer.add(parser)


OWN: Sequence[Command] = (
    command("open", "open the window on a project, a run, an imported trace, a model or a platform template",
            "window:run_open", file("path", metavar="PATH", nargs="?", help="(default: the welcome page)"),
            logged=False),
    command("demo", "run the bundled application, from instrumentation to the report", "demo:run_demo",
            flag("--headless", "write the report and pictures; open no window"),
            file("--out", metavar="DIR", default=Path("demo"))),
    command("pictures", "save pictures of every view of the window, light and dark", "demo:run_pictures", OUT,
            file("--demo", metavar="DIR", default=Path("demo"), help="a folder that `demo` wrote"),
            flag("--sizes", "at four sizes, from 1024 x 700 to 2560 x 1440")),
    command("new", "write a project file for a folder of sources", "new:run_new",
            file("folder", metavar="DIR", help="the folder with the host's and the hardware's sources"),
            named("--example", "copy an example into DIR instead: pdf2d, laplace, blastn, queues or own_board"),
            named("--name", "the project's name (default: the folder's)"),
            named("--top", "the top module, or its file", "MODULE"),
            named("--host", "the C or C++ source with main", "FILE"),
            named("--platform", "a platform template, or the path of one"),
            many("--constant", help="the value of an input that nothing drives"),
            many("--set", help="the value of a parameter, or of an undeclared macro that the host uses"),
            many("--define", help="the value of an undefined macro that the hardware uses"),
            flag("--dry-run", "print what would be written; write nothing"), JSON),
    command("scan", "list API calls, clocked blocks, branches and pragmas", "projects:run_scan", *PROJECT),
    command("propose", "propose pragmas from state registers, handshakes and API calls", "marks:run_propose",
            many("--accept", "ID", help="write this proposal, all of a group, or `all` into the sources"),
            flag("--undo", "restore the sources as they were before the last --accept"), *PROJECT),
    command("definition", "find where the name at a place in a source is defined", "projects:run_definition", *PROJECT,
            option("place", metavar="FILE:LINE:COLUMN", help="a place in a source; columns count bytes, from 1"),
            logged=False),
    command("fix", "list the certain fixes for the problems of a project or a platform template", "fix:run_fix",
            file("file"), flag("--write", "write the fixes into the files"), JSON),
    command("find", "find a text in a project's files", "find:run_find", file("project", metavar="PROJECT"),
            option("text", metavar="TEXT"), flag("--case", "distinguish upper and lower case"),
            flag("--word", "match whole words only"), flag("--regex", "TEXT is a regular expression"), JSON,
            logged=False),
    command("instrument", "write instrumented copies, with all that a real machine needs to build and run them",
            "projects:run_instrument", OUT, *COUNTS, WATCH, *PROJECT),
    command("run", "instrument, build and run, on the simulated card or the project's target",
            "projects:run_run",
            file("--out", metavar="RUN", help="run folder to make (default: runs/run-N beside the project)"),
            flag("--plain", "run host and hardware uninstrumented"),
            flag("--trace", "record every change of state, for the Timeline"),
            flag("--deterministic", "derive host time from counted work, so that two runs are identical"),
            flag("--best", "print the first change to make, and a comparison with the previous run"),
            flag("--waves", "write the design's signals to a VCD file in the run folder"),
            flag("--ports", "write only the top's ports to that file (see `testbench`)"),
            option("--from", dest="first", metavar="TIME", help="write signals from this moment on, as in '1.5 ms'"),
            option("--to", dest="last", metavar="TIME", help="write signals until this moment"),
            option("--ranks", type=int, metavar="N", help="processes of the host (MPI)"), *COUNTS, *SWITCHES,
            named("--target", "where to run (default: the project's target)"), WATCH, *PROJECT),
    compiler("cc", "compile C as the compiler would, and record the platform's calls: make CC='workbench cc'",
             "compiler:run_cc"),
    compiler("c++", "the same for C++", "compiler:run_cxx"),
    command("collect", "write a run folder from the records of a run on a real machine", "projects:run_collect",
            file("tree", metavar="DIR", nargs="+", help="the folder that `instrument` wrote, or the project for "
                 "`workbench cc`; for several projects under one mpirun, all their folders"),
            file("records", metavar="RECORDS", help="the folder that RCW_RAW named during the run"), OUT_RUN, JSON),
    command("agent", "print how to change what a program's agents count, without a new build",
            "projects:run_agent", file("tree", metavar="DIR", help="the folder that `instrument` wrote"),
            *SWITCHES, JSON),
    command("report", "show where a run spent its time, and which bottleneck to fix first", "runs:run_report", RUN,
            file("--html", metavar="F", help="write the report as one HTML file"),
            file("--svg", metavar="F", help="write the block graph"),
            option("--states", metavar="BLOCK", help="with --svg: draw the states of this block or replicas, instead"),
            flag("--flame", "with --svg: draw time by component, block, state and call as a flame graph, instead"),
            flag("--treemap", "with --svg: draw the same as a treemap"),
            flag("--no-waits", "with --flame or --treemap: leave out waits and unclassified time"),
            flag("--all", "print all advice, parts and numbers of each finding"),
            option("--predict", type=float, metavar="SECONDS",
                    help="processor time for predicting speedups of advice; 0: no predictions (default: the setting)"),
            file("--png", metavar="F", help="write a picture of the window with this run"), *MOMENTS, *THRESHOLD),
    command("coverage", "list the design's branches that a run did not take", "coverage:run_coverage", RUN,
            flag("--all", "list the branches taken too"), JSON),
    command("testbench", "write a testbench that replays a run's traffic at the design's ports",
            "testbench:run_testbench_command", RUN, OUT,
            file("--project", metavar="PROJECT", help="the project whose design is tested (default: the run's)"),
            named("--fpga", "the FPGA whose design is tested, if there are several"),
            option("--run", dest="runs", action="store_true",
                    help="run it too, with Verilator or GHDL, and report the first difference"), JSON),
    command("ledger", "list kept predictions, and which came true", "ledger:run_ledger",
            file("project", metavar="PROJECT", help="a project, its folder, or one of its runs"),
            named("--drop", "withdraw an open prediction", "ID"), JSON),
    command("streams", "show what a run counted on streams, and how deep FIFOs and edges must be",
            "streams:run_streams",
            file("target", metavar="RUN|PROJECT",
                  help="a traced run to predict depths from, or a project whose FIFOs are tried"),
            option("--loss", type=float, default=1.0, help="percent of the throughput that smaller depths may cost"),
            flag("--confirm", "with a run: simulate the chosen depths, at most twice"),
            many("--set", dest="changes"), JSON),
    command("prove", "prove that instrumentation changes nothing, module by module",
            "prove:run_prove", *PROJECT, named("--module", "only this module (default: all modules)"),
            option("--timeout", type=float, default=60.0, metavar="S", help="seconds for one module's proof (60)"),
            option("--cycles", type=int, default=100_000, metavar="N",
                    help="random cycles to simulate of a module that was not proved (100000); 0: no simulation"),
            flag("--strict", "exit with 1 if a module was only simulated")),
    command("timeline", "show a range of a traced run as figures, picture or data",
            "timeline:run_timeline", RUN, *MOMENTS,
            named("--find", "list when states and calls occur whose names contain all of these words", "WORDS"),
            flag("--statistics", "print visits, time and durations of every state of every block"),
            many("--mark", "NAME=TIME", help="set a marker in the run"),
            many("--unmark", "NAME", help="delete a marker"),
            many("--pin", "ROW", help="pin a row above the others, for the whole project"),
            many("--unpin", "ROW", help="unpin a row"),
            file("--svg", metavar="F", help="write the timeline"),
            flag("--shares", "with --svg: draw the share of each state over time, replicas together"),
            flag("--causes", "with --svg: draw the critical path, and arrows from each cause to what waited for it"),
            file("--csv", metavar="F", help="write every state and call"), JSON),
    command("waves", "show a moment of a run in Surfer or GTKWave: the design's signals (`run --waves`), or states",
            "waves:run_waves", RUN, option("--at", required=True, metavar="TIME", help='the moment, as in "1.5 ms"'),
            option("--window", default="1 us", metavar="TIME", help="time to show before and after it (default: 1 us)"),
            many("--block", "ID", help="a block whose signals are shown"),
            named("--label", "the marker's name", "TEXT"),
            option("--viewer", choices=("surfer", "gtkwave"), help="default: the first that is installed"),
            file("--out", metavar="DIR", help="write files for both viewers; with --viewer, also open them"), JSON),
    command("whatif", "predict the speedup of changes from a run", "whatif:run_whatif", RUN,
            many("--change", "SPEC", dest="changes", required=True,
                  help="a change, as in 'unite calls=host/main.c:31 count=16'; several apply together"),
            flag("--confirm", "run the application as if the changes were made; compare its time and its results"),
            flag("--keep", "keep the prediction in the project's ledger"),
            flag("--findings", "also list the remaining findings, and the speedup of the next change"), JSON),
    command("path", "show a run's critical path", "whatif:run_path", RUN,
            file("--svg", metavar="F", help="draw its states and calls, how often each leads to which, slack"), JSON),
    command("compare", "compare two to twenty runs", "compare:run_compare",
            file("run_a", metavar="RUN_A"), file("run_b", metavar="RUN_B"),
            file("more", metavar="RUN", nargs="*", help="more runs, each compared with RUN_A"),
            many("--fail-if", "EXPRESSION", help="exit with 1 if this holds for any run, as in 'time > 1.02' (times"
                                                  " are over RUN_A's); may be given several times"),
            option("--settle", metavar="ID", help="settle this prediction of RUN_A with the last run given"),
            file("--junit", metavar="F", help="write the conditions as JUnit test cases"),
            file("--markdown", metavar="F", help="write a summary"),
            file("--sarif", metavar="F", help="write findings and conditions at their lines, as SARIF 2.1.0"),
            file("--svg", metavar="F", help="draw the curve of the setting in which the runs differ"),
            option("--curve", choices=("speedup", "efficiency", "states", "blocks"), default="speedup",
                    help="with --svg: the curve to draw"),
            flag("--log", "with --svg: logarithmic axes"), *THRESHOLD),
    command("export", "write a run in a form that other programs read", "runs:run_export", RUN,
            option("--format", required=True, metavar="NAME", help="perfetto, vcd, parquet, csv, or a plugin's format"),
            file("--out", required=True)),
    command("import", "read another program's file as a run", "runs:run_import",
            file("file"), named("--format", "chrome, or a plugin's format"), OUT_RUN, JSON),
    command("study", "run an application over settings, platforms and changes, and compare with predictions",
            "study:run_study_command", file("study", metavar="FILE", help="a study, FILE.study.yaml"),
            option("--engine", choices=("local", "dask", "submitit"), default="local",
                    help="where to run (default: this machine's cores)"),
            option("--jobs", type=int, default=0, metavar="N", help="runs at a time (default: one per core)"),
            named("--scheduler", "the address of the scheduler for --engine dask", "ADDRESS"),
            flag("--again", "run points that failed again"),
            file("--html", metavar="F", help="write the results as one HTML file"),
            file("--csv", metavar="F", help="write the points as a table"),
            named("--point", "run only this point, in this process", "KEY"), JSON),
    Command("predict", "predict an application's time from a model, before any code", add_predict,
            does("predict:run_predict"), logged=True),
    actions("template", "platform templates: list, check, create, try, measure, fit",
            ("list", "list the templates", "templates:run_list", ()),
            ("check", "check a template", "templates:run_check", (
                file("file", help="a file, or the name of one"),)),
            ("new", "write a new template, from an existing one or from a C header", "templates:run_new", (
                file("file"),
                named("--of", "the template to start from, or the path of one (default: nallatech_h101)"),
                file("--header", metavar="API.h", help="add an entry for each call that this header declares"))),
            ("try", "list the calls in sources that a template's entries match", "templates:run_try", (
                file("template", metavar="TEMPLATE", help="a file, or the name of one"),
                file("sources", metavar="SOURCE", nargs="+"),
                many("--include", "DIR", help="a folder of headers that the sources include"),
                many("--define", help="a macro that the compiler is given"))),
            ("bench", "measure the transfer tables with the template's own calls", "bench:run_bench", (
                file("file"), file("--out", required=True, help="the template with the measured tables"),
                file("--from", dest="run_folder", metavar="RUN", help="take the times from this run's calls"),
                file("--keep", metavar="DIR", help="keep the measuring project here, to run it on a machine"),
                option("--repeats", type=int, default=5, help="calls of each size"),
                named("--largest", "the largest size (default: each table's last)", "SIZE"))),
            ("fit", "fit a latency and a bandwidth to each table, with residuals", "bench:run_fit", (
                file("file", help="a file, or the name of one"),)),
            ("network", "measure the network's L, o, g and G between MPI ranks", "network:run_network", (
                 file("file"), file("--out"), option("--name", required=True, help="its name in the template"),
                 named("--mpirun", "starts ranks on a machine, as 'mpirun -n 4' (default: simulated)", "COMMAND"),
                 option("--mpicc", default="mpicc", metavar="COMMAND"), file("--keep", metavar="DIR"),
                 option("--ranks", type=int, default=4), option("--repeats", type=int, default=5)))),
    actions("rules", "bottleneck rules: list, check, eval, new, copy, remove, add",
            ("list", "list the rules in force, or what each found in a run", "rules:run_list", (
                file("run_folder", metavar="RUN", nargs="?", help="a run whose findings are listed by rule"),)),
            ("check", "check a rule file", "rules:run_check", (file("file"),)),
            ("eval", "evaluate a file's rules on a run, subject by subject", "rules:run_eval", (
                file("file"), RUN, named("--rule", "only this rule"), THRESHOLD[0])),
            ("new", "write a new rule into a file", "rules:run_new", (
                file("file", help="a rule file; created if it does not exist"), option("name", metavar="NAME"))),
            ("copy", "copy the rules of a name into a file, where they replace the workbench's", "rules:run_copy", (
                option("name", metavar="NAME"), file("file"),
                file("--of", metavar="SHARED", help="take them from this rule file"),
                named("--side", "only the rule for this side: host, fpga or any"),
                option("--as", dest="new", default="", metavar="NEW",
                       help="give the copy another name, so that both apply"))),
            ("remove", "remove the rules of a name from a file", "rules:run_remove", (
                file("file"), option("name", metavar="NAME"))),
            ("add", "add a rule file to a project, for its runs", "rules:run_add", (
                file("project", metavar="PROJECT"), file("file")))),
    actions("plugins", "installed plugins: list, info, check, new, api",
            ("list", "list every plugin, where it comes from, what it adds, and why one failed to load",
             "plugins:run_list", ()),
            ("info", "show what a plugin adds by name, its overrides, load time and faults", "plugins:run_info",
             (option("name", metavar="NAME"),)),
            ("check", "load the plugins of a folder without installing them", "plugins:run_check", (
                file("folder", metavar="DIR", help="a folder whose pyproject.toml names the plugins"),)),
            ("new", "write the files of a new plugin", "plugins:run_new", (
                file("folder", metavar="DIR", help="a new folder; the plugin gets its name"),)),
            ("api", "list every name that a plugin may import, with its signature", "plugins:run_api", ()),
            usual="plugins:run_list"),
    command("fields", "list every field of a document: type, unit, default and meaning", "fields:run_fields",
            option("document", nargs="?", metavar="DOCUMENT", help="template, project, model, rules or run"),
            flag("--json", "print a JSON Schema, for editors that check as you type"), logged=False),
    actions("settings", "preferences and project fields: list, set, reset, project, withdraw",
            ("list", "list every setting, its value and what it does", "settings:run_list", ()),
            ("set", "set a value, and remember it", "settings:run_set", (
                SETTING, option("value", metavar="VALUE", help="the new value; empty for none, or the default"))),
            ("reset", "reset a setting to its default", "settings:run_reset", (SETTING,)),
            ("project", "list every field of a project, its value and its origin", "settings:run_project", (
                file("project", metavar="PROJECT"), flag("--set-only", "leave out fields at their default"),
                named("--reset", "remove this field from the project's file first", "FIELD"))),
            ("withdraw", "ask again before running a project that was trusted", "settings:run_withdraw", (
                option("project", type=Path, metavar="PROJECT"),))),
    command("doctor", "list what this machine has and lacks, with versions and paths", "doctor:run_doctor",
            flag("--clear-cache", "delete the cache of builds; they are built again when needed"), JSON,
            logged=False),
    command("desktop", "add the workbench to the desktop's menu, for this user", "doctor:run_desktop",
            flag("--remove", "remove the entry"), JSON, logged=False),
)  # fmt: skip
