// Watches a block's state: whether it is one of those that are asked about, and which visits of these begin and end with
// a cycle, two cycles later. A visit begins too where the cycle before does not count, and ends where the next one does not.
module agent_state #(
    parameter BITS = 1,
    parameter [(1<<BITS)-1:0] CHOSEN = 1,   // a bit for each state
    parameter [(1<<BITS)-1:0] INTO = 1,     // of a transition, those that follow
    parameter FIRST = 1                     // a visit that begins with the first cycle is one
) (
    input  wire clock,
    input  wire reset,
    input  wire [BITS-1:0] state,
    input  wire counts_1,          // the cycle before this one is there
    input  wire counts_2,          // and the one before that
    output wire there,            // the block was in one of the states
    output wire ends,              // and a visit of it ends with the cycle
    output wire begins,            // a visit begins, or two: the first one's end is the next one's beginning
    output wire [1:0] visits,      // so many
    output wire moves,             // from one of the states to one of the others
    output wire [31:0] cycles      // that the visit has lasted
);
    reg [BITS-1:0] state_1, state_2;
    reg counts_3;
    reg [31:0] lasted;
    wire changes = counts_1 & state_1 != state_2;
    wire first = FIRST != 0 & counts_2 & ~counts_3 & CHOSEN[state_2];
    wire next = counts_2 & changes & CHOSEN[state_1];
    assign there = CHOSEN[state_2];
    assign ends = counts_2 & there & (changes | ~counts_1);
    assign begins = first | next;
    assign visits = {first & next, first ^ next};
    assign moves = counts_2 & there & changes & INTO[state_1];
    assign cycles = lasted + 1'b1;
    always @(posedge clock) begin
        state_1 <= state;
        state_2 <= state_1;
        counts_3 <= ~reset & counts_2;
        lasted <= reset | (counts_2 & (changes | ~counts_1)) ? 32'd0 : lasted + {31'd0, counts_2};
    end
endmodule
