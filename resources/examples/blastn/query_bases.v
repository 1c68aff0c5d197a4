// The query's 128 bases, one a cycle after a reset; then it is ready.
module query_bases #(
    parameter [31:0] seed = 1
) (
    input            clk,
    input            rst,
    output     [1:0] base,
    output reg [7:0] at,
    output           ready
);
    wire [31:0] a = seed * 32'h10001 + {24'd0, at};
    wire [31:0] b = (a ^ (a >> 16)) * 32'h7feb352d;
    wire [31:0] c = (b ^ (b >> 15)) * 32'h846ca68b;
    wire [31:0] d = c ^ (c >> 16);

    assign base  = d[1:0];
    assign ready = at == 128;

    always @(posedge clk)
        if (rst) at <= 0;
        else if (!ready) at <= at + 1;
endmodule
