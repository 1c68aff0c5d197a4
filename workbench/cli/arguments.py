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
    flag("--assertions", "watch the assertions in the design's text too"),
    flag("--branches", "count how often each branch of the design's text is taken: see `coverage`"),
)
WATCH = many(
    "--blocks",
    metavar="BLOCK",
    help="a block that a counter watches on a real machine where the project has "
    "fewer of them (default: its hardware.watch); * is any part of its name; of several FPGAs it "
    "begins with one's (left:core.state), or is a block of each",
)
SETTING = option("name", metavar="NAME", help="such as theme, program.g++ or key.run")
MOMENTS = (
    option("--from", dest="first", metavar="TIME", help="only what follows this moment of a traced run"),
    option("--to", dest="last", metavar="TIME", help='only what comes before this moment, as in "1.5 ms"'),
)
THRESHOLD = (
    option("--threshold", type=float, default=1.05, help="least speedup (if only this time went) that is reported"),
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
    command("open", "the window, on a project, a run, another program's trace, a model or a platform template",
            "window:run_open", file("path", metavar="PATH", nargs="?", help="(default: the welcome page)"),
            logged=False),
    command("demo", "the bundled application, from instrumenting to the report", "demo:run_demo",
            flag("--headless", "make the report and pictures, open no window"),
            file("--out", metavar="DIR", default=Path("demo"))),
    command("pictures", "pictures of the window, every view, light and dark", "demo:run_pictures", OUT,
            file("--demo", metavar="DIR", default=Path("demo"), help="a folder that `demo` left"),
            flag("--sizes", "at four sizes, from 1024 x 700 to 2560 x 1440")),
    command("new", "a project file from a folder of sources", "new:run_new",
            file("folder", metavar="DIR", help="the folder of the host's and the hardware's sources"),
            named("--example", "copy an example below DIR instead: pdf2d, laplace, blastn, queues or own_board"),
            named("--name", "the project's name (default: the folder's)"),
            named("--top", "the top module, or its file", "MODULE"),
            named("--host", "the C or C++ source with main", "FILE"),
            named("--platform", "a platform template, or the path of one"),
            many("--constant", help="the value of an input that nothing drives"),
            many("--set", help="the value of a macro that the host uses and nothing declares, or of a parameter"),
            many("--define", help="the value of a macro that the hardware uses and nothing defines"),
            flag("--dry-run", "say what was found, and write nothing"), JSON),
    command("scan", "find API calls, clocked blocks, branches and pragmas", "projects:run_scan", *PROJECT),
    command("propose", "pragmas for the sources, from state registers, handshakes and API calls", "marks:run_propose",
            many("--accept", "ID", help="write this one, or all of a group or `all`, into its source"),
            flag("--undo", "put the sources back as they were before --accept was last given"), *PROJECT),
    command("definition", "where the name at a place of a source is defined", "projects:run_definition", *PROJECT,
            option("place", metavar="FILE:LINE:COLUMN", help="a place of a source; columns count bytes, from 1"),
            logged=False),
    command("find", "where a text is in the files of a project", "find:run_find", file("project", metavar="PROJECT"),
            option("text", metavar="TEXT"), flag("--case", "upper and lower case differ"),
            flag("--word", "whole words only"), flag("--regex", "TEXT is a regular expression"), JSON, logged=False),
    command("instrument", "write instrumented copies, and what a real machine builds and runs them with",
            "projects:run_instrument", OUT, *COUNTS, WATCH, *PROJECT),
    command("run", "instrument, build and run, on the simulated card or the project's own target",
            "projects:run_run",
            file("--out", metavar="RUN", help="run folder to make (default: runs/run-N beside the project)"),
            flag("--plain", "leave host and hardware uninstrumented"),
            flag("--trace", "keep every change of state, for the timeline"),
            flag("--deterministic", "host time from counted work: two runs are identical"),
            flag("--best", "say what to change first, and how it compares with the run before"),
            flag("--waves", "write the design's signals to a VCD file of the run folder"),
            flag("--ports", "write the top's ports alone to that file: see `testbench`"),
            option("--from", dest="first", metavar="TIME", help="signals from this moment on, as in '1.5 ms'"),
            option("--to", dest="last", metavar="TIME", help="signals until this moment"),
            option("--ranks", type=int, metavar="N", help="processes of the host (MPI)"), *COUNTS,
            named("--target", "where it runs (default: the project's target)"), WATCH, *PROJECT),
    compiler("cc", "compile C as the compiler would, with the platform's calls recorded: make CC='workbench cc'",
             "compiler:run_cc"),
    compiler("c++", "the same for C++", "compiler:run_cxx"),
    command("collect", "a run folder from the records of a run on a real machine", "projects:run_collect",
            file("tree", metavar="DIR", help="what `instrument` left, and the program was built from; or the "
                                              "project of one that `workbench cc` built"),
            file("records", metavar="RECORDS", help="the folder that RCW_RAW named as it ran"), OUT_RUN, JSON),
    command("report", "what a run spent its time on, and which bottleneck to fix", "runs:run_report", RUN,
            file("--html", metavar="F", help="write a report in one file"),
            file("--svg", metavar="F", help="write the block graph"),
            option("--states", metavar="BLOCK", help="with --svg: the states of this block, or of replicas, instead"),
            flag("--flame", "with --svg: time by component, block, state and call as a flame graph, instead"),
            flag("--treemap", "with --svg: the same as a treemap"),
            flag("--no-waits", "with --flame or --treemap: without what waits or is unclassified"),
            flag("--all", "unfold all advice, parts and numbers of each finding"),
            option("--predict", type=float, metavar="SECONDS",
                    help="processor time for predictions of what advice gains; 0 for none (default: the setting)"),
            file("--png", metavar="F", help="write a picture of the window on this run"), *MOMENTS, *THRESHOLD),
    command("coverage", "which branches of its design a run took, and which not", "coverage:run_coverage", RUN,
            flag("--all", "those that were taken too"), JSON),
    command("testbench", "a testbench that replays what passed the design's ports in a run",
            "testbench:run_testbench_command", RUN, OUT,
            file("--project", metavar="PROJECT", help="whose design is held against the run (default: the run's)"),
            option("--run", dest="runs", action="store_true",
                    help="run it too, with Verilator or GHDL, and say the first difference"), JSON),
    command("ledger", "the predictions that were kept, and what came true", "ledger:run_ledger",
            file("project", metavar="PROJECT", help="a project, its folder, or one of its runs"),
            named("--drop", "withdraw an open prediction", "ID"), JSON),
    command("streams", "what a run counted of a design's streams, and how deep FIFOs and edges have to be",
            "streams:run_streams",
            file("target", metavar="RUN|PROJECT",
                  help="a traced run, whose depths are predicted, or a project whose FIFOs are tried"),
            option("--loss", type=float, default=1.0, help="percent of the throughput that depths may cost"),
            flag("--confirm", "of a run: simulate the chosen depths, at most twice"),
            many("--set", dest="changes"), JSON),
    command("prove", "whether instrumentation changes nothing: module by module, by proof or by simulation",
            "prove:run_prove", *PROJECT, named("--module", "one module only (default: all of the design)"),
            option("--timeout", type=float, default=60.0, metavar="S", help="seconds for a module's proof (60)"),
            option("--cycles", type=int, default=100_000, metavar="N",
                    help="random cycles of what is not proved (100000); 0: nothing is simulated"),
            flag("--strict", "exit code 1 where anything was only simulated")),
    command("timeline", "what lies between two moments of a traced run, as figures, picture and data",
            "timeline:run_timeline", RUN, *MOMENTS,
            named("--find", "list where states and calls occur that all of these words name", "WORDS"),
            flag("--statistics", "visits, time and lengths of every state of every block"),
            many("--mark", "NAME=TIME", help="set a marker of the run"), many("--unmark", "NAME", help="delete one"),
            many("--pin", "ROW", help="keep a row above the others, in the whole project"),
            many("--unpin", "ROW", help="no longer keep it there"),
            file("--svg", metavar="F", help="write the timeline"),
            flag("--shares", "with --svg: the share of each state over time, replicas together"),
            flag("--causes", "with --svg: the critical path, and arrows from what was waited for to what waited"),
            file("--csv", metavar="F", help="write every state and call"), JSON),
    command("waves", "show a moment of a run in Surfer or GTKWave: the design's signals (`run --waves`), or states",
            "waves:run_waves", RUN, option("--at", required=True, metavar="TIME", help='the moment, as in "1.5 ms"'),
            option("--window", default="1 us", metavar="TIME", help="how much around it (default: 1 us each way)"),
            many("--block", "ID", help="a block whose signals are shown"),
            named("--label", "what the marker is called", "TEXT"),
            option("--viewer", choices=("surfer", "gtkwave"), help="default: the first that is installed"),
            file("--out", metavar="DIR", help="write files for both there; with --viewer show them too"), JSON),
    command("whatif", "what changes would gain of a run, predicted from it", "whatif:run_whatif", RUN,
            many("--change", "SPEC", dest="changes", required=True,
                  help="a change, as in 'unite calls=host/main.c:31 count=16'; several are made together"),
            flag("--confirm", "run the application again as if they were made: its time, and its answer"),
            flag("--keep", "keep the prediction in the project's ledger"),
            flag("--findings", "also which findings stay, and what the next change then gains"), JSON),
    command("path", "what a run's time was spent on: its critical path", "whatif:run_path", RUN, JSON),
    command("compare", "two to twenty runs side by side", "compare:run_compare",
            file("run_a", metavar="RUN_A"), file("run_b", metavar="RUN_B"),
            file("more", metavar="RUN", nargs="*", help="more runs, each compared with RUN_A"),
            many("--fail-if", "EXPRESSION", help="exit with 1 where this holds of any run, as in 'time > 1.02' (times"
                                                  " are over RUN_A's); may be given several times"),
            option("--settle", metavar="ID", help="settle this prediction of RUN_A with the last run given"),
            file("--junit", metavar="F", help="write the conditions as JUnit test cases"),
            file("--markdown", metavar="F", help="write a summary"),
            file("--sarif", metavar="F", help="write findings and conditions at their lines, as SARIF 2.1.0"),
            file("--svg", metavar="F", help="draw the curve of the setting in which the runs differ"),
            option("--curve", choices=("speedup", "efficiency", "states", "blocks"), default="speedup",
                    help="with --svg: what is drawn"),
            flag("--log", "with --svg: logarithmic axes"), *THRESHOLD),
    command("export", "write a run in a form that other programs read", "runs:run_export", RUN,
            option("--format", required=True, metavar="NAME", help="perfetto, vcd, parquet, csv, what plugins bring"),
            file("--out", required=True)),
    command("import", "read another program's file as a run", "runs:run_import",
            file("file"), named("--format", "chrome and what plugins bring"), OUT_RUN, JSON),
    command("study", "run an application over settings, platforms and changes, measured beside predicted",
            "study:run_study_command", file("study", metavar="FILE", help="a study, FILE.study.yaml"),
            option("--engine", choices=("local", "dask", "submitit"), default="local",
                    help="where runs are made (default: this machine's cores)"),
            option("--jobs", type=int, default=0, metavar="N", help="how many at once (default: one a core)"),
            named("--scheduler", "of --engine dask", "ADDRESS"), flag("--again", "run points that failed again"),
            file("--html", metavar="F", help="write a page in one file"),
            file("--csv", metavar="F", help="write the points as a table"),
            named("--point", "run this point alone, in this process", "KEY"), JSON),
    Command("predict", "predict an application's time from a model, before any code", add_predict,
            does("predict:run_predict"), logged=True),
    actions("template", "platform templates: list, check, begin, try, measure, fit",
            ("list", "the templates there are", "templates:run_list", ()),
            ("check", "check a template file", "templates:run_check", (file("file"),)),
            ("new", "start a template of your own from an existing one, or from a header", "templates:run_new", (
                file("file"),
                named("--of", "the template to start from, or the path of one (default: nallatech_h101)"),
                file("--header", metavar="API.h", help="add an entry for each call that this declares"))),
            ("try", "which calls of sources a template's entries match", "templates:run_try", (
                file("template", metavar="TEMPLATE", help="a file, or the name of one"),
                file("sources", metavar="SOURCE", nargs="+"),
                many("--include", "DIR", help="a folder of headers that the sources include"),
                many("--define", help="a macro that their compiler is given"))),
            ("bench", "measure the transfer tables with the template's own calls", "bench:run_bench", (
                file("file"), file("--out", required=True, help="the template with the measured tables"),
                file("--from", dest="run_folder", metavar="RUN", help="take them from this run's calls"),
                file("--keep", metavar="DIR", help="leave the project that is run there, to be run on a machine"),
                option("--repeats", type=int, default=5, help="calls of each size"),
                named("--largest", "the largest size (default: each table's last)", "SIZE"))),
            ("fit", "a latency and a bandwidth for each table, with residuals", "bench:run_fit", (file("file"),)),
            ("network", "measure L, o, g, G between MPI ranks by a program of its own", "network:run_network", (
                 file("file"), file("--out"), option("--name", required=True, help="its name in the template"),
                 named("--mpirun", "starts ranks on a machine, as 'mpirun -n 4' (default: simulated)", "COMMAND"),
                 option("--mpicc", default="mpicc", metavar="COMMAND"), file("--keep", metavar="DIR"),
                 option("--ranks", type=int, default=4), option("--repeats", type=int, default=5)))),
    actions("rules", "bottleneck rules: list, check, eval, new, copy, remove, add",
            ("list", "the rules in force, or what each found in a run", "rules:run_list", (
                file("run_folder", metavar="RUN", nargs="?", help="whose findings are shown by rule"),)),
            ("check", "check a rule file", "rules:run_check", (file("file"),)),
            ("eval", "hold a file's rules against a run, subject by subject", "rules:run_eval", (
                file("file"), RUN, named("--rule", "only this rule"), THRESHOLD[0])),
            ("new", "begin a rule of one's own", "rules:run_new", (
                file("file", help="a rule file; made where it is not there"), option("name", metavar="NAME"))),
            ("copy", "copy rules of a name into a file; there they replace the workbench's", "rules:run_copy", (
                option("name", metavar="NAME"), file("file"),
                file("--of", metavar="SHARED", help="take them from this rule file"),
                named("--side", "only the one that looks at this side: host, fpga or any"),
                option("--as", dest="new", default="", metavar="NEW", help="another name, so that both apply"))),
            ("remove", "remove the rules of a name from a file", "rules:run_remove", (
                file("file"), option("name", metavar="NAME"))),
            ("add", "name a rule file in a project, for its runs", "rules:run_add", (
                file("project", metavar="PROJECT"), file("file")))),
    actions("plugins", "what is loaded, from where, and what failed to load and why: list, info, check, new, api",
            ("list", "every plugin, source of the numbers and how much it brings", "plugins:run_list", ()),
            ("info", "what a plugin brings by name, overrides, load time, faults", "plugins:run_info",
             (option("name", metavar="NAME"),)),
            ("check", "load the plugins of a folder, without installing them", "plugins:run_check", (
                file("folder", metavar="DIR", help="with a pyproject.toml that names them"),)),
            ("new", "begin a plugin", "plugins:run_new", (
                file("folder", metavar="DIR", help="a new folder; the plugin has its name"),)),
            ("api", "every name that a plugin may import, with its signature", "plugins:run_api", ()),
            usual="plugins:run_list"),
    command("fields", "every field of a document: what it holds, its unit, default and meaning", "fields:run_fields",
            option("document", nargs="?", metavar="DOCUMENT", help="template, project, model, rules or run"),
            flag("--json", "JSON Schema, for editors that check while one types"), logged=False),
    actions("settings", "appearance, keys, programs, folders, trusted projects, fields of a project: list, set, reset",
            ("list", "every setting, its value and what it does", "settings:run_list", ()),
            ("set", "set a value, and remember it", "settings:run_set", (
                SETTING, option("value", metavar="VALUE", help="an empty one: none, or the default"))),
            ("reset", "reset a setting to its default", "settings:run_reset", (SETTING,)),
            ("project", "every field of a project, its value and where that comes from", "settings:run_project", (
                file("project", metavar="PROJECT"), flag("--set-only", "leave out what is at its default"),
                named("--reset", "take this field out of the project's file first", "FIELD"))),
            ("withdraw", "ask again before a project is run that was trusted", "settings:run_withdraw", (
                option("project", type=Path, metavar="PROJECT"),))),
    command("doctor", "what this machine has and lacks, with versions and paths", "doctor:run_doctor",
            flag("--clear-cache", "delete what was built and is kept; it is built again when it is needed"), JSON,
            logged=False),
    command("desktop", "put the workbench into the desktop's menu, for this user", "doctor:run_desktop",
            flag("--remove", "remove the entry"), JSON, logged=False),
)  # fmt: skip
