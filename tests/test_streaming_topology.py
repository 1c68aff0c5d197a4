"""A streaming application's topology: the X language of Fig. 2.3, the same in a project file, where each fault is."""

import time

import pytest
from rc_workbench_plugins.streaming.flatten import flattened
from rc_workbench_plugins.streaming.x_language import Declared, read_section, read_x

from workbench.model.diagnostic import WorkbenchError
from workbench.model.streaming import Streaming
from workbench.model.topology import At, MappedTo, Topology, Way

FIG_2_3 = """
block Sensor {
    output unsigned16 y; // port declaration
}
block LPF {
    input unsigned16 x; // port declarations
    output unsigned16 y;
}
block Accumulate {
    input unsigned16 x; // port declarations
    output unsigned32 y;
}
block WriteFile {
    input unsigned32 x; // port declaration
    config string filename;
}
block Stream {
    Sensor    acquire; // block declarations
    LPF       filter;
    Accumulate total;
    WriteFile report (filename="out.txt");

    a: acquire -> filter; // topology
    b: filter  -> total;
    c: total  -> report;
}
"""
SENSOR_ENDS = "// port declaration\n}\nblock L"
BUILT = "".join(f'impl {name} cpp "{name}.hpp";\n' for name in ("Sensor", "LPF", "Accumulate", "WriteFile"))


def topology(text: str, section: Streaming | None = None) -> Topology:
    declared = Declared()
    read_x(text, "stream.x", declared)
    if section:
        read_section(section, lambda keys: At("p.yaml", 1, 1), declared)
    found, problems = flattened(declared, At("stream.x", 1, 1))
    if found is None:
        raise WorkbenchError(*problems)
    return found


def test_figure_2_3() -> None:
    stream = topology(FIG_2_3 + BUILT)
    assert [b.name for b in stream.blocks] == ["Stream.acquire", "Stream.filter", "Stream.total", "Stream.report"]
    assert [(e.label, e.text, e.type, e.width_bytes) for e in stream.edges] == [
        ("Stream.a", "Stream.acquire.y -> Stream.filter.x", "unsigned16", 2),
        ("Stream.b", "Stream.filter.y -> Stream.total.x", "unsigned16", 2),
        ("Stream.c", "Stream.total.y -> Stream.report.x", "unsigned32", 4),
    ]
    assert stream.block_by_name["Stream.report"].config == {"filename": "out.txt"}
    assert {stream.place(b.name) for b in stream.blocks} == {MappedTo.CORE}


@pytest.mark.parametrize(
    ("name", "labels"),
    [("a", ["Stream.a"]), ("Stream.b", ["Stream.b"]), ("filter.y", ["Stream.b"]), ("total.x", ["Stream.b"]),
     ("acquire -> filter", ["Stream.a"]), ("filter.y -> total.x", ["Stream.b"]),
     ("x", ["Stream.a", "Stream.b", "Stream.c"]),
     ("nothing", []), ("acquire -> total", [])],
)  # fmt: skip
def test_an_edge_is_found_by_its_label_a_port_or_both_ends(name: str, labels: list[str]) -> None:
    assert [edge.label for edge in topology(FIG_2_3 + BUILT).find(name)] == labels


def test_the_project_file_says_the_same() -> None:
    section = Streaming.model_validate(
        {
            "blocks": {
                "Sensor": {"outputs": {"y": "unsigned16"}, "cpp": ["Sensor.hpp"]},
                "LPF": {"inputs": {"x": "unsigned16"}, "outputs": {"y": "unsigned16"}, "cpp": ["LPF.hpp"]},
                "Accumulate": {"inputs": {"x": "unsigned16"}, "outputs": {"y": "unsigned32"},
                               "cpp": ["Accumulate.hpp"]},
                "WriteFile": {"inputs": {"x": "unsigned32"}, "config": {"filename": "string"},
                              "cpp": ["WriteFile.hpp"]},
                "Stream": {
                    "blocks": {"acquire": "Sensor", "filter": "LPF", "total": "Accumulate",
                               "report": 'WriteFile (filename="out.txt")'},
                    "edges": {"a": "acquire -> filter", "b": "filter -> total", "c": "total -> report"},
                },
            }
        }
    )  # fmt: skip
    assert topology("", section) == topology(FIG_2_3 + BUILT)


def test_a_mapping_line_moves_a_block_and_the_project_is_laid_over_the_files() -> None:
    text = FIG_2_3 + BUILT + 'impl LPF verilog "lpf.v" as lpf_16;'
    text += "resource core c0; resource fpga card; map Stream -> c0;"
    moved = topology(text + "map filter -> card;")
    assert moved.mapping == {
        "Stream.acquire": "c0",
        "Stream.filter": "card",
        "Stream.total": "c0",
        "Stream.report": "c0",
    }
    made = moved.implementation(moved.block_by_name["Stream.filter"])
    assert made
    assert (made.unit, made.files) == ("lpf_16", ("lpf.v",))
    assert [edge.label for edge in moved.edges if moved.crosses(edge)] == ["Stream.a", "Stream.b"]
    same = topology(text, Streaming(mapping={"Stream.filter": "card"}))
    assert same == moved


COMPOSED = """
block Source { output unsigned32 y; }
block Sink { input unsigned32 x; }
block Split { input unsigned32 x; output unsigned32 left, right; }
block Join { input unsigned32 left, right; output unsigned32 y; }
block Work { input unsigned32 x; output unsigned32 y; config float64 scale = 2; }
block Two { input unsigned32 x; output unsigned32 y;
    Split s; Work w1, w2 (scale=3); Join j;
    x -> s; l: s.left -> w1; s.right -> w2 (depth=5); w1 -> j.left; w2 -> j.right; j -> y; }
block Four { input unsigned32 x; output unsigned32 y;
    Split s; Two t1, t2; Join j;
    x -> s; s.left -> t1; s.right -> t2; t1 -> j.left; t2 -> j.right; j -> y; }
block App { Source source; Four four; Sink sink; in: source -> four (depth=9); out: four -> sink; }
""" + "".join(f'impl {n} cpp "{n}.hpp";' for n in ("Source", "Sink", "Split", "Join", "Work"))


def test_composed_blocks_are_opened_up() -> None:
    app = topology(COMPOSED)
    assert len(app.blocks) == 1 + 2 + 2 * 4 + 1
    edges = {edge.label: edge for edge in app.edges}
    assert edges["App.in"].text == "App.source.y -> App.four.s.x"
    assert edges["App.in"].depth == 9
    assert edges["App.four.t1.l"].text == "App.four.t1.s.left -> App.four.t1.w1.x"
    assert edges["App.four.t2.s.right"].depth == 5
    assert edges["App.four.s.left"].text == "App.four.s.left -> App.four.t1.s.x"
    assert edges["App.out"].text == "App.four.j.y -> App.sink.x"
    assert app.block_by_name["App.four.t2.w1"].config == {"scale": 2.0}
    assert app.block_by_name["App.four.t2.w2"].config == {"scale": 3.0}
    assert [e.label for e in app.edges_of("App.four.j", Way.IN)] == ["App.four.t1.y", "App.four.t2.y"]
    assert len(list(app.paths(edges["App.in"], edges["App.out"]))) == 4


@pytest.mark.parametrize(
    ("wrong", "line", "column", "said"),
    [
        ("block A {\n  input unsigned16 x\n}", 3, 1, "'}' is not expected here"),
        ("block A {\n  input unsigned16 x;", 2, 22, "the text ends too early"),
        ("block A {\n  input unsigned15 x;\n}", 2, 3, "'unsigned15' is not an element type"),
        ("block A { output string y; }", 1, 11, "'string' is not an element type"),
        ("block A { }\nblock A { }", 2, 1, "the block 'A' is defined twice"),
        ('impl Filtre cpp "f.hpp";', 1, 1, "there is no block 'Filtre' to implement"),
        ("block T { Nothing n; }\nuse T;", 1, 19, "there is no block 'Nothing'"),
        ("block T { T t; }\nuse T;", 1, 1, "the block contains itself: T in T"),
        ("map nobody -> c0; resource core c0;", 1, 1, "there is no block 'nobody'"),
        ("map filter -> c1;", 1, 1, "there is no resource 'c1'"),
        ("block A { $ }", 1, 11, "'$' is not expected here"),
    ],
)
def test_a_fault_is_told_with_its_place(wrong: str, line: int, column: int, said: str) -> None:
    before = (FIG_2_3 + BUILT).count("\n")
    with pytest.raises(WorkbenchError) as told:
        topology(FIG_2_3 + BUILT + wrong)
    first = told.value.diagnostics[0]
    assert said in first.message
    assert (first.file, first.line, first.column) == ("stream.x", before + line, column)


@pytest.mark.parametrize(
    ("old", "new", "said", "hint"),
    [
        ("b: filter  -> total;", "b: filtre -> total;", "no block or port 'filtre' here", "Did you mean 'filter'?"),
        ("b: filter  -> total;", "b: filter.z -> total;", "'filter' has no out port 'z'", "It has y."),
        ("b: filter  -> total;", "b: filter -> total.y;", "'total' has no in port 'y'", "It has x."),
        ("b: filter  -> total;", "", "the out port 'y' of 'Stream.filter' has no edge", "Connect every port"),
        ("b: filter  -> total;", "b: filter -> total; d: filter -> total;", "'filter.y' has two edges", "line 24"),
        ("b: filter  -> total;", "b: filter -> total (deep=3);", "an edge has no 'deep'", ""),
        ("b: filter  -> total;", "b: filter -> total (depth=0);", "0 is not a queue depth", ""),
        ("b: filter  -> total;", f"b: filter -> total (depth={'9' * 11});", "is not a queue depth", "to 16,777,216"),
        ("b: filter  -> total;", "a: filter -> total;", "'a' is already the name", ""),
        ("c: total  -> report;", "c: filter -> report;", "begins with unsigned16 and ends with unsigned32", ""),
        ('report (filename="out.txt")', "report", "'report' lacks its configuration 'filename'", "filename="),
        ('(filename="out.txt")', "(filename=3)", "'filename' must be a text", ""),
        (SENSOR_ENDS, "config float64 n = 1e999; }\nblock L", "'n' must be finite (float64)", ""),
        (SENSOR_ENDS, f"config unsigned8 n = {'9' * 5000}; }}\nblock L", "inf does not fit", "from 0 to 255"),
        ('(filename="out.txt")', '(filname="x")', "'WriteFile' has no configuration 'filname'", "Did you mean"),
        ("", "resource fpga card; map filter -> card;", "'LPF' has no implementation for that", "impl LPF verilog"),
    ],
)  # fmt: skip
def test_a_topology_that_is_none_is_told(old: str, new: str, said: str, hint: str) -> None:
    text = FIG_2_3 + BUILT
    with pytest.raises(WorkbenchError) as told:
        topology(text.replace(old, new) if old else text + new)
    matching = [d for d in told.value.diagnostics if said in d.message]
    assert matching, told.value
    assert hint in matching[0].hint
    assert matching[0].line


def test_a_block_that_holds_itself_is_told_where_nothing_else_is_composed() -> None:
    with pytest.raises(WorkbenchError, match="the block contains itself: A in B in A"):
        topology("block A { B b; }\nblock B { A a; }")


def test_a_fault_in_the_section_stands_at_its_key() -> None:
    section = Streaming.model_validate({"blocks": {"Top": {"blocks": {"a": "Sensor ("}, "edges": {}}}})
    with pytest.raises(WorkbenchError) as told:
        read_section(section, lambda keys: At("p.yaml", len(keys), 1), Declared())
    assert told.value.diagnostics[0].line == len(("streaming", "blocks", "Top", "blocks", "a"))


LEAF = "block Leaf { output unsigned8 out; }\n"


def nested(levels: int, held: str = "a") -> str:
    """Blocks within one another, each of which holds the one before as often as it has names."""
    lines = [f"block B{n} {{ {f'B{n - 1}' if n else 'Leaf'} {held}; }}" for n in range(levels)]
    return LEAF + "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (nested(31, "a, b"), 3, "the application has more than 1000 blocks"),
        (nested(31, "a, b").replace("Leaf a", "Nosuch a"), 3, "the application has more than 1000 blocks"),
        (nested(1200), 1101, "blocks are nested more than 100 deep"),
        (f"block A {{ {'Leaf a; ' * 3000} }}{LEAF}", 1, "'A' defines the name 'a' twice"),
        (f"block A {{ Leaf {'a' * 300}; }}{LEAF}", 1, "a name has 300 characters"),
    ],
)
def test_what_unfolds_without_end_is_refused_at_once(text: str, line: int, said: str) -> None:
    """While it is unfolded, not after it."""
    begun_s = time.process_time()
    with pytest.raises(WorkbenchError) as raised:
        topology(text)
    assert said in {problem.message for problem in raised.value.diagnostics if problem.line == line}
    assert time.process_time() - begun_s < 5
