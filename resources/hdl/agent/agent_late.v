// A signal some cycles later.
module agent_late #(
    parameter CYCLES = 1
) (
    input  wire clock,
    input  wire reset,
    input  wire early,
    output wire late
);
    reg [CYCLES-1:0] held;
    wire [CYCLES:0] next = {held, early};
    assign late = held[CYCLES-1];
    always @(posedge clock) held <= reset ? {CYCLES{1'b0}} : next[CYCLES-1:0];
endmodule
