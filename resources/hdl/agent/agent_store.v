// Keeps what an agent sends, beside a monitor whose counters pause and are read after the run. It asks the agent for its
// last frames once the counters were frozen, and keeps RESERVE words of its memory for these: when all others are taken,
// the agent's frames wait, and go on to the end.
//
// `set` with a number switches the agent: 0 to 15 are four bits more of a length, the highest first; 16 + g is that
// length for the frames of group g, from when the counts are cleared; 80 + 2 s + on says whether statement s is counted.
// Where the simulated card runs it, the numbers are those that the card has for MONITOR, as the design begins.
module agent_store #(
    parameter MONITOR = 0,
    parameter ROOM_BITS = 10,
    parameter RESERVE = 0,
    parameter GROUPS = 1,
    parameter STATEMENTS = 1,
    parameter [32*GROUPS-1:0] LENGTHS = 1
) (
    input  wire clock,
    input  wire clear,
    input  wire counts,
    input  wire held,           // every cycle that counts was counted
    input  wire set,
    input  wire [ROOM_BITS-1:0] entry,
    output reg  [31:0] word,    // of that number, in the next cycle
    output reg  [ROOM_BITS:0] stored,
    output wire command_valid,
    input  wire command_ready,
    output wire [31:0] command_data,
    input  wire report_valid,
    output wire report_ready,
    input  wire [31:0] report_data,
    output reg  [32*GROUPS-1:0] lengths,
    output reg  [STATEMENTS-1:0] enabled
);
    localparam [ROOM_BITS:0] MOST = (1 << ROOM_BITS) - RESERVE;
    (* ram_style = "block", no_rw_check *) reg [31:0] words [0:(1<<ROOM_BITS)-1];
    reg begun, held_1, held_2, ended;
    reg [31:0] length;
    integer i;
`ifdef RECAP_TAPS
    import "DPI-C" function int recap_switch_of(input int monitor, input int place);
    integer place, number;
`endif
    wire [31:0] code = {24'd0, entry[7:0]};
    initial begin
        stored = 0;
        length = 0;
        lengths = LENGTHS;
        enabled = {STATEMENTS{1'b1}};
`ifdef RECAP_TAPS
        place = 0;
        number = recap_switch_of(MONITOR, place);
        while (number >= 0) begin
            if (number < 16) length = {length[27:0], number[3:0]};
            for (i = 0; i < GROUPS; i = i + 1) if (number == 16 + i) lengths[32*i +: 32] = length;
            for (i = 0; i < STATEMENTS; i = i + 1) if (number >> 1 == 40 + i) enabled[i] = number[0];
            place = place + 1;
            number = recap_switch_of(MONITOR, place);
        end
`endif
    end
    assign command_valid = begun & held_2 & ~ended;
    assign command_data = 32'h20000000;
    assign report_ready = ~stored[ROOM_BITS] & (ended | stored < MOST);
    always @(posedge clock) begin
        held_1 <= held & ~clear;
        held_2 <= held_1 & held;
        begun <= ~clear & (begun | counts);
        ended <= ~clear & ~counts & (ended | (command_valid & command_ready));
        stored <= clear ? {(ROOM_BITS + 1){1'b0}} : stored + {{ROOM_BITS{1'b0}}, report_valid & report_ready};
        if (set & code < 16) length <= {length[27:0], entry[3:0]};
        for (i = 0; i < GROUPS; i = i + 1)
            if (set & code == 16 + i) lengths[32*i +: 32] <= length;
        for (i = 0; i < STATEMENTS; i = i + 1)
            if (set & code >> 1 == 40 + i) enabled[i] <= entry[0];
    end
    always @(posedge clock) begin
        if (report_valid & report_ready) words[stored[ROOM_BITS-1:0]] <= report_data;
        word <= words[entry];
    end
endmodule
