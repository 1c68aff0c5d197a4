// The arithmetic that both forms share: combinational, so that each core's one clocked block holds the registers.
//
// Formats, as [total, fractional] bits: points and weights [18,9], squares [36,18], sums [48,9]. Each weight is rounded
// alone and sums are exact, so they are the same however the points are divided into batches and among cores.
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

// The Parzen window: h*h - d*d inside the radius h, 0 outside (Epanechnikov's kernel, without its constant), half rounded
// up to 9 fractional bits.
// h is SPACING / sqrt(2), so that the windows of neighbouring bins just cover the plane.
module pdf2d_weight #(parameter BITS = 3) (
    input  [35:0] dx_squared,
    input  [35:0] dy_squared,
    output [47:0] weight
);
    localparam SPACING = 4096 >> BITS;
    localparam [36:0] RADIUS_SQUARED = SPACING * SPACING / 2;
    wire [36:0] distance = dx_squared + dy_squared;
    wire [36:0] margin = RADIUS_SQUARED + 37'd256 - distance;
    assign weight = (distance < RADIUS_SQUARED) ? {20'b0, margin[36:9]} : 48'b0;
endmodule
