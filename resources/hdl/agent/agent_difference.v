// By how many more elements passed one place than another in a cycle.
module agent_difference #(
    parameter BITS = 8
) (
    input  wire [BITS-1:0] a,
    input  wire [BITS-1:0] b,
    output wire [BITS:0] more   // with a sign
);
    assign more = {1'b0, a} - {1'b0, b};
endmodule
