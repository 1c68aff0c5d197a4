// How many elements lie between two places that they pass: those that went in before this cycle, and did not come out.
module agent_between (
    input  wire clock,
    input  wire reset,
    input  wire enters,
    input  wire leaves,
    output reg  [31:0] held
);
    always @(posedge clock) held <= reset ? 32'd0 : held + {31'd0, enters} - {31'd0, leaves};
endmodule
