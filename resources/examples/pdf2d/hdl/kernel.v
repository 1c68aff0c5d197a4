// The arithmetic that both forms share: combinational, so that each core's one clocked block holds the registers.
//
// Formats, as [total, fractional] bits: points and results [18,9], everything inside [48,18]. The square of an [18,9]
// offset has 18 fractional bits, so nothing is rounded before a sum leaves the card.
// The bins' centres stand `SPACING` apart in the square from -4 to 4.

// How far a coordinate is from the centre of bin number `index` along its axis.
module pdf2d_offset #(parameter BITS = 3) (
    input         [15:0]     coordinate,  // 9 fractional bits, signed
    input         [BITS-1:0] index,
    output signed [17:0]     offset
);
    localparam SPACING = 4096 >> BITS;
    wire signed [17:0] centre = $signed({6'b0, index, {12 - BITS{1'b0}}}) - 18'sd2048 + SPACING / 2;
    assign offset = $signed({{2{coordinate[15]}}, coordinate}) - centre;
endmodule

// The Parzen window: h*h - d*d inside the radius h, 0 outside (Epanechnikov's kernel, without its constant).
// h is SPACING / sqrt(2), so that the windows of neighbouring bins just cover the plane.
module pdf2d_weight #(parameter BITS = 3) (
    input  [35:0] dx_squared,
    input  [35:0] dy_squared,
    output [47:0] weight
);
    localparam SPACING = 4096 >> BITS;
    localparam [36:0] RADIUS_SQUARED = SPACING * SPACING / 2;
    wire [36:0] distance = dx_squared + dy_squared;
    wire [36:0] margin = RADIUS_SQUARED - distance;
    assign weight = (distance < RADIUS_SQUARED) ? {11'b0, margin} : 48'b0;
endmodule

// A sum as the host gets it: [48,18] to [18,9], half rounded up, held at the largest value.
module pdf2d_external (
    input  [47:0] sum,
    output [17:0] value
);
    wire [38:0] rounded = sum[47:9] + {38'b0, sum[8]};
    assign value = (rounded > 39'h1ffff) ? 18'h1ffff : rounded[17:0];
endmodule
