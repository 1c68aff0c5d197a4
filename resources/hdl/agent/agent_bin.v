// The number of a value's bin: how many of the bounds it reaches. Bounds that lie evenly are counted by a product.
module agent_bin #(
    parameter VALUE_BITS = 1,
    parameter IS_SIGNED = 0,
    parameter BIN_BITS = 4,
    parameter BOUNDS = 1,
    parameter EVEN = 0,                         // bound i is the least v with (v - the first one) * SCALE >> SHIFT >= i
    parameter [47:0] SCALE = 1,
    parameter SHIFT = 0,
    parameter [BOUNDS*VALUE_BITS-1:0] AT = 0    // the bounds, the first one lowest
) (
    input  wire [VALUE_BITS-1:0] value,
    output reg  [BIN_BITS-1:0] bin
);
    wire [VALUE_BITS-1:0] turn = IS_SIGNED << (VALUE_BITS - 1);
    wire [VALUE_BITS-1:0] first = AT[VALUE_BITS-1:0] ^ turn, end_ = AT[(BOUNDS-1)*VALUE_BITS +: VALUE_BITS] ^ turn;
    wire [VALUE_BITS-1:0] place = value ^ turn;
    wire [VALUE_BITS+47:0] scaled = {48'd0, place - first} * {{VALUE_BITS{1'b0}}, SCALE};
    wire [VALUE_BITS+47:0] steps = scaled >> SHIFT;
    integer i;
    always @*
        if (EVEN != 0) begin
            if (place < first) bin = 0;
            else if (place >= end_) bin = BOUNDS[BIN_BITS-1:0];
            else bin = steps[BIN_BITS-1:0] + 1'b1;
        end else begin
            bin = 0;
            for (i = 0; i < BOUNDS; i = i + 1) bin = bin + (place >= (AT[i*VALUE_BITS +: VALUE_BITS] ^ turn));
        end
endmodule
