// Whether, over the last frame that ended, A times the sum of one value stands in a relation to B times the sum of
// another. A mean is compared with a limit by a second value of 1 for whatever the mean is taken of: so the answer is
// there when the frame ends, without a division.
module agent_compare #(
    parameter BITS = 48,
    parameter A_BITS = 1,
    parameter B_BITS = 1,
    parameter IS_SIGNED = 0,       // both values
    parameter [BITS-1:0] A_SCALE = 1,
    parameter [BITS-1:0] B_SCALE = 1,
    parameter RELATION = 0      // 0 >, 1 >=, 2 <, 3 <=, 4 ==, 5 !=
) (
    input  wire clock,
    input  wire reset,
    input  wire any,                    // there is something in this cycle to take the value of
    input  wire a_sample,
    input  wire [A_BITS-1:0] a,
    input  wire b_sample,
    input  wire [B_BITS-1:0] b,
    input  wire frame_end,
    output reg  known,                  // a frame has ended that had a value
    output reg  holds
);
    reg signed [BITS-1:0] sum;
    reg some;
    wire top_a = IS_SIGNED & a[A_BITS-1], top_b = IS_SIGNED & b[B_BITS-1];
    wire [BITS-1:0] wide_a = {{(BITS - A_BITS){top_a}}, a};
    wire [BITS-1:0] wide_b = {{(BITS - B_BITS){top_b}}, b};
    wire signed [BITS-1:0] now = sum + (a_sample ? wide_a * A_SCALE : {BITS{1'b0}})
                                     - (b_sample ? wide_b * B_SCALE : {BITS{1'b0}});
    wire zero = now == 0, below = now[BITS-1];
    wire answer = RELATION == 0 ? ~zero & ~below : RELATION == 1 ? ~below : RELATION == 2 ? below
                : RELATION == 3 ? zero | below : RELATION == 4 ? zero : ~zero;
    always @(posedge clock)
        if (reset) begin
            sum <= 0;
            some <= 0;
            known <= 0;
            holds <= 0;
        end else if (frame_end) begin
            sum <= 0;
            some <= 0;
            known <= some | any;
            holds <= answer;
        end else begin
            sum <= now;
            some <= some | any;
        end
endmodule
