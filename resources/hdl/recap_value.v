// Of one metric: sum, least and largest of a signal over the cycles that count and in which its condition holds, and where
// asked for the sum of its squares. They go on over a freeze, and are set to zero by a clear.
//
// Words, the first ones lowest: SUM of the sum, EXTREMES of the least and as many of the largest value (of signed ones
// with the sign bit turned; nothing where no cycle was counted), SQUARES of the sum of squares; at most 16. They are so
// many that no sum overflows before the cycles' counter does (`SumWords` in workbench/api/instrument/probes.py).
module recap_value #(
    parameter BITS = 33,
    parameter IS_SIGNED = 1,
    parameter SUM = 3,
    parameter EXTREMES = 2,
    parameter SQUARES = 0            // 0: of no squares
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
    localparam WORDS = SUM + 2 * EXTREMES;
    localparam REST = SQUARES != 0 ? SQUARES : 1;
    wire [32*WORDS-1:0] sums;
    wire [32*REST-1:0] squares;
    recap_average #(
        .VALUE_BITS(BITS), .COUNT(0), .SUM(SUM), .EXTREMES(EXTREMES), .IS_SIGNED(IS_SIGNED), .WORDS(WORDS), .KEEP(1)
    ) average (
        .clock(clock), .reset(clear), .collects(1'b0), .sample(sample), .value(value), .frame_end(held),
        .shift(1'b0), .chain_in(32'd0), .chain_out(), .held(sums)
    );
    generate
        if (SQUARES != 0) begin : of_squares
            reg [2*BITS-1:0] square;
            reg squared;
            wire [2*BITS-1:0] product;
            if (IS_SIGNED != 0) begin : of_signed
                assign product = $signed(value) * $signed(value);
            end else begin : of_unsigned
                assign product = value * value;
            end
            initial begin
                square = 0;
                squared = 0;
            end
            always @(posedge clock) begin
                square <= product;
                squared <= sample;
            end
            recap_average #(.VALUE_BITS(2*BITS), .COUNT(0), .SUM(SQUARES), .WORDS(SQUARES), .KEEP(1)) deviation (
                .clock(clock), .reset(clear), .collects(1'b0), .sample(squared), .value(square), .frame_end(held),
                .shift(1'b0), .chain_in(32'd0), .chain_out(), .held(squares)
            );
        end else begin : no_squares
            assign squares = 32'd0;
        end
    endgenerate
    wire [511:0] all = {{(512 - 32 * (REST + WORDS)){1'b0}}, squares, sums};
    initial word = 0;
    always @(posedge clock) word <= selected ? all[32*number +: 32] : 32'd0;
endmodule
