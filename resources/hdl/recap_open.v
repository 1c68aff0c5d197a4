// Of one assertion: the number of the counted cycle, from 1 on, in which the oldest of its strong checks began that are
// still open behind the last counted cycle; 0 where none is. It stays over a freeze, and is set to 0 by a clear.
//
// Words: 0 the low 32 bits, 1 the rest; both again as 2 and 3.
module recap_open (
    input  wire clock,
    input  wire clear,
    input  wire counts,              // the cycle before counts
    input  wire open,                // a check is open behind it
    input  wire [47:0] age,          // and the oldest of them began so many cycles before
    input  wire [47:0] cycle,        // its number
    input  wire selected,            // show the word; the output is 0 otherwise
    input  wire high,
    output reg  [31:0] word
);
    reg [47:0] since;
    initial begin
        since = 0;
        word = 0;
    end
    always @(posedge clock) begin
        if (clear) since <= 0;
        else if (counts) since <= ~open ? 48'd0 : age < cycle ? cycle - age : 48'd1;
        word <= ~selected ? 32'd0 : high ? {16'd0, since[47:32]} : since[31:0];
    end
endmodule
