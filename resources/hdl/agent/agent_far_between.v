// As `agent_between`, where elements come in on another clock: several in a cycle, if that is faster.
module agent_far_between #(
    parameter BITS = 8
) (
    input  wire clock,
    input  wire reset,
    input  wire [BITS-1:0] enters,
    input  wire leaves,
    output reg  [31:0] held
);
    always @(posedge clock) held <= reset ? 32'd0 : held + {{(32 - BITS){1'b0}}, enters} - {31'd0, leaves};
endmodule
