// A query's 128 bases, one a cycle after a reset or a restart; then it is ready.
module query_bases #(
    parameter [31:0] seed = 1
) (
    input            clk,
    input            rst,
    input            restart,
    input     [31:0] query,
    output     [1:0] base,
    output reg [7:0] at,
    output           ready
);
    query_base #(.seed(seed)) of_place (.query(query), .place({24'd0, at}), .base(base));

    assign ready = at == 128;

    always @(posedge clk)
        if (rst || restart) at <= 0;
        else if (!ready) at <= at + 1;
endmodule

// A base of a query.
module query_base #(
    parameter [31:0] seed = 1
) (
    input  [31:0] query,
    input  [31:0] place,
    output  [1:0] base
);
    wire [31:0] own = seed + 101 * query;
    wire [31:0] number;

    mixed of_place (.x(own * 32'h10001 + place), .y(number));
    assign base = number[1:0];
endmodule

// A number like a random one.
module mixed (
    input  [31:0] x,
    output [31:0] y
);
    wire [31:0] a = (x ^ (x >> 16)) * 32'h7feb352d;
    wire [31:0] b = (a ^ (a >> 15)) * 32'h846ca68b;

    assign y = b ^ (b >> 16);
endmodule
