"""The Verilog-2001 of a clock's monitor: its counters, what sums signals, its trace, and the words that are read."""

from collections.abc import Iterator, Sequence

from workbench.api.instrument.crossing import numbered
from workbench.api.instrument.probes import (
    AGE_BITS,
    COUNT_WORDS,
    FIRST_WORDS,
    HEADER_WORDS,
    LINKS,
    MAGIC,
    VALUE_WORDS,
    Counter,
    MonitorPlan,
    Probe,
    SumWords,
)

#: Set by what simulates the design and counts its taps by itself: the counters are then left out.
UNCOUNTED_DEFINE = "RECAP_UNCOUNTED"
VALUE_MODULE = "recap_value"
FIRST_MODULE = "recap_first"
OPEN_MODULE = "recap_open"
#: What counts the project's questions beside the counters of a clock's blocks (`agents` of `workbench_queries`).
AGENT_MODULE, AGENTS_FILE = "recap_agent", "recap_agents.v"


def monitor_text(plan: MonitorPlan, number: int) -> str:
    """The module of the monitor of that number."""
    count, entry, select = plan.count_bits, plan.entry_bits, plan.select_bits
    lines = [
        f"module {numbered('recap_monitor', number)} (",
        "    input wire clock, input wire reset,",
        *([f"    input wire [{plan.state_width - 1}:0] state,"] if plan.state_width else []),
        "    input wire write_control, input wire write_select, input wire [31:0] write_data,",
        "    output wire [31:0] word, output wire frozen, output wire clearing",
        *([f"    , {_link_ports(plan.linked)}"] if plan.linked else []),
        ");",
        f"`ifdef {UNCOUNTED_DEFINE}",
        "    assign word = 0, frozen = 0, clearing = 0;",
        *(["    assign links = 0;"] if plan.linked else []),
        "`else",
        "    wire [3:0] counted;",
        "    wire held, clear_write;",
        f"    wire [{select - 1}:0] select;",
        "    wire [47:0] cycles;",
        f"    recap_control #(.ENTRY_BITS({entry}), .SELECT_BITS({select})) control (",
        "        .clock(clock), .reset(reset),",
        "        .write_control(write_control), .write_select(write_select), .write_data(write_data),",
        "        .counted(counted), .frozen(frozen), .held(held),",
        "        .clearing(clearing), .clear_write(clear_write), .select(select), .cycles(cycles)",
        "    );",
    ]
    if any(counter.place_bits for counter in plan.counters):
        lines.append("    wire watch = write_control & write_data[2];")
    for slot, (counter, base) in enumerate(zip(plan.counters, plan.bases, strict=True), 1):
        lines += _counter(plan, counter, slot, _at(select, base, counter.words))
    lines += _values(plan, select)
    lines += _firsts(plan, select)
    lines += _opens(plan, select)
    lines += _trace(plan, select)
    lines += _agent(plan, number, select)
    shown = _or_tree([f"count_{slot}" for slot in range(1, len(plan.counters) + 1)])
    places = [f"place_shown_{slot}" for slot, counter in enumerate(plan.counters, 1) if counter.place_bits]
    place = f"({_or_tree(places)})" if places else "16'd0"
    half = f"{{{place}, 16'd0}}" if count <= 32 else f"{{{place}, {48 - count}'d0, shown[{count - 1}:32]}}"
    more = f"{' | trace_word' if plan.trace_words else ''}{' | agent_word' if plan.agent_words else ''}"
    more += "".join(f" | value_{n}" for n in range(len(plan.values)))
    more += "".join(f" | first_{n}" for n in range(len(plan.firsts)))
    more += "".join(f" | open_{n}" for n in range(len(plan.opens)))
    low = "shown[31:0]" if count >= 32 else f"{{{{{32 - count}{{1'b0}}}}, shown}}"
    lines += [
        f"    wire [{count - 1}:0] shown = {shown};" if shown else f"    wire [{count - 1}:0] shown = 0;",
        "    reg own = 0;  // as the counters' outputs: of the word that was selected a cycle ago",
        "    reg [1:0] part = 0;",
        "    always @(posedge clock) begin",
        f"        own <= {_at(select, plan.header, HEADER_WORDS)};",
        "        part <= select[1:0];",
        "    end",
        "    reg [31:0] header;",
        "    always @*",
        "        case (part)",
        f"            2'd0: header = 32'h{MAGIC:08x};",
        "            2'd1: header = cycles[31:0];",
        "            2'd2: header = {16'd0, cycles[47:32]};",
        f"            default: header = 32'd{len(plan.counters)};",
        "        endcase",
        f"    wire [31:0] counter_word = part[0] ? {half} : {low};",
        f"    assign word = own ? header : counter_word{more};",
    ]
    assert HEADER_WORDS == 4
    return "\n".join([*lines, "`endif", "endmodule", ""])


def _counter(plan: MonitorPlan, counter: Counter, slot: int, selected: str) -> Iterator[str]:
    """A counter, `count_SLOT`, and where it watches one of several blocks, which (`place_shown_SLOT`, 0 where another
    counter's words are asked for). Those states come one cycle later."""
    bits, width, several = counter.bits, plan.count_bits, counter.place_bits
    yield f"    wire at_{slot} = {selected};"
    (state, last, older) = _of_probe(counter.probes[0])
    if several:
        place, probes = f"place_{slot}", counter.probes
        (state, last, older) = f"seen_{slot}", f"last_{slot}", f"older_{slot}"
        yield f"    reg [{several - 1}:0] {place} = 0;"
        yield f"    reg [{bits - 1}:0] {state} = 0;"
        for bit in range(bits):
            of_each = (f"state[{p.lsb + bit}]" if bit < p.bits else "1'b0" for p in reversed(probes))
            yield f"    wire [{len(probes) - 1}:0] bit_{slot}_{bit} = {{{', '.join(of_each)}}};"
        seen = ", ".join(f"bit_{slot}_{bit}[{place}]" for bit in reversed(range(bits)))
        yield "    always @(posedge clock) begin"
        yield f"        if (watch & at_{slot}) {place} <= select[{several - 1}:0];"
        yield f"        {state} <= {{{seen}}};"
        yield "    end"
        late = sorted({probe.late for probe in probes})
        if len(late) > 1:
            those = "".join(str(probe.late) for probe in reversed(probes))
            yield f"    wire [{len(probes) - 1}:0] late_of_{slot} = {len(probes)}'b{those};"
            chosen = f"late_of_{slot}[{place}] ? "
            yield f"    wire {last} = {chosen}counted[2] : counted[1], {older} = {chosen}counted[3] : counted[2];"
        else:
            yield f"    wire {last} = counted[{late[0] + 1}], {older} = counted[{late[0] + 2}];"
        yield f"    reg [15:0] place_shown_{slot} = 0;"
        yield f"    always @(posedge clock) place_shown_{slot} <= {place} & {{{several}{{at_{slot}}}}};"
    yield f"    wire [{width - 1}:0] count_{slot};"
    yield f"    recap_counter #(.STATE_BITS({bits}), .COUNT_BITS({width}), .TAP({plan.tap})) counter_{slot} ("
    yield f"        .clock(clock), .state({state}), .last_counted({last}), .older_counted({older}),"
    yield f"        .frozen(held), .selected(~clearing & at_{slot}), .entry(select[{1 + 2 * bits}:1]),"
    yield f"        .clearing(clear_write), .count(count_{slot})"
    yield "    );"


def _of_probe(probe: Probe) -> tuple[str, str, str]:
    """A block's state, and whether the two cycles before its own count."""
    return f"state[{probe.lsb} +: {probe.bits}]", f"counted[{probe.late}]", f"counted[{probe.late + 1}]"


def _values(plan: MonitorPlan, select: int) -> Iterator[str]:
    """The sums of signals, each shown as `value_N`, which is 0 where another word is asked for."""
    for number, (probe, words) in enumerate(zip(plan.summed, plan.values, strict=True)):
        yield f"    wire [31:0] value_{number};"
        value = probe.value
        assert value is not None
        sizes = SumWords.of(value)
        parts = f".SUM({sizes.sum}), .EXTREMES({sizes.extreme}), .SQUARES({sizes.squares * probe.squares})"
        yield f"    {VALUE_MODULE} #(.BITS({value.bits}), .IS_SIGNED({int(value.signed)}), {parts}) sums_{number} ("
        yield f"        .clock(clock), .clear(clearing), .when(state[{probe.lsb}]),"
        yield f"        .value(state[{probe.value_lsb} +: {value.bits}]), .counts(counted[0]), .held(held),"
        yield f"        .selected({_at(select, words.base, VALUE_WORDS)}), .number(select[3:0]), .word(value_{number})"
        yield "    );"


def _firsts(plan: MonitorPlan, select: int) -> Iterator[str]:
    """The cycles in which states were there first, each shown as `first_N`, which is 0 where another word is asked
    for."""
    for number, (probe, words) in enumerate(zip(plan.dated, plan.firsts, strict=True)):
        there = f"state[{probe.lsb} +: {probe.bits}] == {probe.bits}'d{probe.first_of}"
        yield f"    wire [31:0] first_{number};"
        yield f"    {FIRST_MODULE} dated_{number} ("
        yield f"        .clock(clock), .clear(clearing), .there(counted[0] & ({there})), .cycle(cycles),"
        yield f"        .selected({_at(select, words.base, FIRST_WORDS)}), .high(select[0]), .word(first_{number})"
        yield "    );"


def _opens(plan: MonitorPlan, select: int) -> Iterator[str]:
    """The cycles in which what is open began, each shown as `open_N`, which is 0 where another word is asked for."""
    for number, (probe, words) in enumerate(zip(plan.strong, plan.opens, strict=True)):
        age, is_open = f"state[{probe.open_lsb} +: {AGE_BITS}]", f"state[{probe.open_lsb + AGE_BITS}]"
        yield f"    wire [31:0] open_{number};"
        yield f"    {OPEN_MODULE} opened_{number} ("
        yield f"        .clock(clock), .clear(clearing), .counts(counted[0]), .open({is_open}), .age({age}),"
        yield f"        .cycle(cycles), .selected({_at(select, words.base, FIRST_WORDS)}), .high(select[0]),"
        yield f"        .word(open_{number})"
        yield "    );"


def _trace(plan: MonitorPlan, select: int) -> Iterator[str]:
    """The trace's buffers and collector, and `trace_word`, 0 where another word is asked for."""
    words, store = plan.trace_words, plan.trace
    if words is None or store is None:
        return
    slots = range(1, len(plan.probes) + 1)
    last = len(plan.probes) - 1
    yield f"    wire [{last}:0] trace_there, trace_take;"
    for slot, probe in enumerate(plan.probes, 1):
        yield f"    wire [63:0] change_{slot};"
        yield f"    wire [31:0] lost_{slot};"
        state = f"state[{probe.lsb} +: {probe.bits}]"
        if not probe.late:
            yield f"    reg [{probe.bits - 1}:0] late_{slot} = 0;"
            yield f"    always @(posedge clock) late_{slot} <= {state};"
            state = f"late_{slot}"
        sizes = f".BLOCK({slot - 1}), .STATE_BITS({probe.bits}), .DEPTH_BITS({store.burst_bits})"
        yield f"    recap_trace_buffer #({sizes}) changes_{slot} ("
        yield f"        .clock(clock), .clear(clearing), .state({state}),"
        yield "        .counting(counted[0]), .first(counted[0] & ~counted[1]), .cycle(cycles[39:0]),"
        yield f"        .take(trace_take[{slot - 1}]), .there(trace_there[{slot - 1}]),"
        yield f"        .record(change_{slot}), .lost(lost_{slot})"
        yield "    );"
    yield "    wire [31:0] change_word, dropped;"
    yield f"    wire [{store.record_bits}:0] stored;"
    yield f"    recap_trace_collector #(.BUFFERS({last + 1}), .STORE_BITS({store.record_bits})) collector ("
    yield "        .clock(clock), .clear(clearing), .there(trace_there), .take(trace_take),"
    yield f"        .record({_or_tree([f'change_{slot}' for slot in slots])}),"
    yield f"        .entry(select[{store.record_bits}:0]), .word(change_word), .stored(stored), .dropped(dropped)"
    yield "    );"
    bits = (len(plan.probes) + 1).bit_length()
    yield "    reg [31:0] trace_count;"
    yield "    always @(posedge clock)"
    yield f"        case (select[{bits - 1}:0])"
    for number, name in enumerate(("stored", "dropped", *(f"lost_{slot}" for slot in slots))):
        yield f"            {bits}'d{number}: trace_count <= {name};"
    yield "            default: trace_count <= 0;"
    yield "        endcase"
    of_records, of_counts = _at(select, words.base, 2 * words.records), _at(select, words.counts, 1 << bits)
    yield "    reg of_records = 0, of_counts = 0;"
    yield "    always @(posedge clock) begin"
    yield f"        of_records <= {of_records};"
    yield f"        of_counts <= {of_counts};"
    yield "    end"
    yield "    wire [31:0] trace_word = of_records ? change_word : of_counts ? trace_count : 0;"


def _link_ports(linked: int) -> str:
    """What the agents of all clocks tell one, and what that tells."""
    return f"input wire [{linked * LINKS - 1}:0] far, output wire [{LINKS - 1}:0] links"


def agent_head(number: int, state_width: int, room_bits: int, linked: int = 0) -> str:
    """How the module begins of the agent beside the monitor of that number, which sees those of so many clocks."""
    ports = f",\n    {_link_ports(linked)}" if linked else ""
    return f"""module {numbered(AGENT_MODULE, number)} (
    input wire clock, input wire clear, input wire [{max(1, state_width) - 1}:0] state, input wire counts,
    input wire held, input wire set, input wire [{room_bits - 1}:0] entry,
    output wire [31:0] word, output wire [{room_bits}:0] stored{ports}
);
"""


def agents_without(plans: Sequence[MonitorPlan]) -> str:
    """The agents' modules of monitors that have room for them, as long as nothing is asked; empty where none has."""
    return "".join(
        agent_head(n, plan.state_width, plan.agent_bits, plan.linked) + without_agent(plan.linked)
        for n, plan in enumerate(plans) if plan.agent_bits
    )  # fmt: skip


def without_agent(linked: int) -> str:
    """The rest of an agent's module that counts nothing."""
    return f"    assign word = 0, stored = 0{', links = 0' if linked else ''};\nendmodule\n"


def _agent(plan: MonitorPlan, number: int, select: int) -> Iterator[str]:
    """The agent, whose module is written once it is known what blocks there are (`AGENT_MODULE`), and `agent_word`, 0
    where another word is asked for. It is shown each state a cycle late."""
    words = plan.agent_words
    if words is None:
        return
    bits, width = plan.agent_bits, max(1, plan.state_width)
    early = sum((1 << probe.bits) - 1 << probe.lsb for probe in plan.probes if not probe.late)
    module = numbered(AGENT_MODULE, number)
    yield f"    wire [{width - 1}:0] shown_states;"
    if early:
        yield f"    localparam [{width - 1}:0] EARLY = {width}'h{early:x};"
        yield f"    reg [{width - 1}:0] later_states = 0;"
        yield "    always @(posedge clock) later_states <= state;"
        yield "    assign shown_states = (later_states & EARLY) | (state & ~EARLY);"
    else:
        yield f"    assign shown_states = {'state' if plan.state_width else '0'};"
    yield "    reg fresh = 1, of_agent = 0, of_agent_count = 0;"
    yield f"    wire agent_chosen = {_at(select, words.base, words.words)};"
    yield "    always @(posedge clock) begin"
    yield "        fresh <= 0;"
    yield "        of_agent <= agent_chosen;"
    yield f"        of_agent_count <= {_at(select, words.count, COUNT_WORDS)};"
    yield "    end"
    yield "    wire [31:0] sent;"
    yield f"    wire [{bits}:0] sent_words;"
    yield f"    {module} {module} ("
    yield "        .clock(clock), .clear(clearing | fresh), .state(shown_states), .counts(counted[0]), .held(held),"
    yield "        .set(write_control & write_data[2] & agent_chosen),"
    links = ", .far(far), .links(links)" if plan.linked else ""
    yield f"        .entry(select[{bits - 1}:0]), .word(sent), .stored(sent_words){links}"
    yield "    );"
    yield f"    wire [31:0] agent_word = of_agent ? sent : of_agent_count ? {{{31 - bits}'d0, sent_words}} : 0;"


def _or_tree(names: Sequence[str]) -> str:
    """A balanced tree of ORs, of four inputs each."""
    terms = list(names)
    while len(terms) > 1:
        groups = [terms[i : i + 4] for i in range(0, len(terms), 4)]
        terms = [f"({' | '.join(group)})" if len(group) > 1 else group[0] for group in groups]
    return terms[0] if terms else ""


def _at(select_bits: int, base: int, words: int) -> str:
    """Whether `select` is one of `words` words from `base` on; `base` is a multiple of `words`, a power of two."""
    low = words.bit_length() - 1
    return (
        f"select[{select_bits - 1}:{low}] == {_number(base >> low, select_bits - low)}" if select_bits > low else "1'b1"
    )


def _number(value: int, bits: int) -> str:
    return f"{bits}'h{value:x}"
