// Of one metric: sum, least and largest of a signal over the cycles that count and in which its condition holds, and where
// asked for the sum of its squares. They go on over a freeze, and are set to zero by a clear.
//
// Words: 0 to 2 the sum, 3 and 4 the least and 5 and 6 the largest value (with the sign bit turned; nothing where no cycle
// was counted), 7 to 10 the sum of squares.
module recap_value #(
    parameter BITS = 33,
    parameter SQUARES = 0
) (
    input  wire clock,
    input  wire clear,
    input  wire when,                // of the cycle before, as the value is
    input  wire [BITS-1:0] value,
    input  wire counts,              // that cycle counts
    input  wire held,                // nothing is counted any more
    input  wire selected,            // show word `number`; the output is 0 otherwise
    input  wire [3:0] number,
    output reg  [31:0] word
);
    wire sample = when & counts;
    wire [223:0] sums;
    wire [127:0] squares;
    recap_average #(
        .VALUE_BITS(BITS), .COUNT(0), .SUM(3), .EXTREMES(2), .IS_SIGNED(1), .WORDS(7), .KEEP(1)
    ) average (
        .clock(clock), .reset(clear), .collects(1'b0), .sample(sample), .value(value), .frame_end(held),
        .shift(1'b0), .chain_in(32'd0), .chain_out(), .held(sums)
    );
    generate
        if (SQUARES != 0) begin : of_squares
            reg signed [2*BITS-1:0] square;
            reg squared;
            initial begin
                square = 0;
                squared = 0;
            end
            always @(posedge clock) begin
                square <= $signed(value) * $signed(value);
                squared <= sample;
            end
            recap_average #(.VALUE_BITS(2*BITS), .COUNT(0), .SUM(4), .WORDS(4), .KEEP(1)) deviation (
                .clock(clock), .reset(clear), .collects(1'b0), .sample(squared), .value(square), .frame_end(held),
                .shift(1'b0), .chain_in(32'd0), .chain_out(), .held(squares)
            );
        end else begin : no_squares
            assign squares = 128'd0;
        end
    endgenerate
    wire [511:0] all = {160'd0, squares, sums};
    initial word = 0;
    always @(posedge clock) word <= selected ? all[32*number +: 32] : 32'd0;
endmodule
