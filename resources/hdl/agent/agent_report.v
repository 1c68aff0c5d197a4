// Sends what a group's monitors held when a frame ended, as a packet of 32-bit words: {8'hA6, 8'd1, GROUP}, the
// frame's number, its first cycle, the one after its last (two words each, the low one first), then the words of the
// chain, then those of each memory in turn.
module agent_report #(
    parameter [15:0] GROUP_NUMBER = 0,
    parameter CHAIN_WORDS = 0,        // words
    parameter MEMORIES = 0,
    parameter LINES = 1        // of what the memories tell, one at least
) (
    input  wire clock,
    input  wire reset,
    input  wire frame_end,
    input  wire [31:0] number,
    input  wire [47:0] start,
    input  wire [47:0] stop,
    output reg  free,
    output wire shift,
    input  wire [31:0] chain,
    output reg  [LINES-1:0] selected,
    output wire take,
    input  wire [LINES-1:0] ready,
    input  wire [LINES-1:0] last,
    input  wire [31:0] word,
    output wire report_valid,
    input  wire report_ready,
    output wire report_last,
    output reg  [31:0] report_data
);
    reg [15:0] place;
    wire heads = place < 6, chains = ~heads & selected == 0;
    wire no_more = chains ? MEMORIES == 0 & place == 5 + CHAIN_WORDS : selected[LINES-1] & |(selected & last);
    assign report_valid = ~free & (selected == 0 | |(selected & ready));
    assign report_last = CHAIN_WORDS == 0 & MEMORIES == 0 ? place == 5 : ~heads & no_more;
    wire sent = report_valid & report_ready;
    assign shift = sent & chains;
    assign take = sent & selected != 0;

    always @(posedge clock)
        if (reset) begin
            free <= 1;
            place <= 0;
            selected <= 0;
        end else if (frame_end) begin
            free <= 0;
            place <= 0;
            selected <= 0;
        end else if (sent) begin
            if (selected == 0) place <= place + 1'b1;
            if (report_last) free <= 1;
            if (report_last) selected <= 0;
            else if (MEMORIES > 0 & selected == 0 & place == 5 + CHAIN_WORDS) selected <= 1;
            else if (selected != 0 & |(selected & last)) selected <= selected << 1;
        end

    always @*
        case (place)
            0: report_data = {8'hA6, 8'd1, GROUP_NUMBER};
            1: report_data = number;
            2: report_data = start[31:0];
            3: report_data = {16'd0, start[47:32]};
            4: report_data = stop[31:0];
            5: report_data = {16'd0, stop[47:32]};
            default: report_data = chains ? chain : word;
        endcase
endmodule
