// Keeps what an agent sends, beside a monitor whose counters pause and are read after the run. It asks the agent for its
// last frames once the counters were frozen, and keeps RESERVE words of its memory for these: when all others are taken,
// the agent's frames wait, and go on to the end.
//
// `set` with a number is passed on to the agent as a setting (`agent_settings.v`).
module agent_store #(
    parameter ROOM_BITS = 10,
    parameter RESERVE = 0
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
    input  wire [31:0] report_data
);
    localparam [ROOM_BITS:0] MOST = (1 << ROOM_BITS) - RESERVE;
    (* ram_style = "block", no_rw_check *) reg [31:0] words [0:(1<<ROOM_BITS)-1];
    reg begun, held_1, held_2, ended, sets;
    reg [7:0] code;
    initial begin
        stored = 0;
        sets = 0;
    end
    wire ends = begun & held_2 & ~ended;
    assign command_valid = sets | ends;
    assign command_data = sets ? {4'd4, 20'd0, code} : 32'h20000000;
    assign report_ready = ~stored[ROOM_BITS] & (ended | stored < MOST);
    always @(posedge clock) begin
        held_1 <= held & ~clear;
        held_2 <= held_1 & held;
        begun <= ~clear & (begun | counts);
        ended <= ~clear & ~counts & (ended | (ends & ~sets & command_ready));
        stored <= clear ? {(ROOM_BITS + 1){1'b0}} : stored + {{ROOM_BITS{1'b0}}, report_valid & report_ready};
        sets <= set | (sets & ~command_ready);
        if (set) code <= entry[7:0];
    end
    always @(posedge clock) begin
        if (report_valid & report_ready) words[stored[ROOM_BITS-1:0]] <= report_data;
        word <= words[entry];
    end
endmodule
