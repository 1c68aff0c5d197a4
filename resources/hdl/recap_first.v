// Of one assertion: the number of the first counted cycle, from 1 on, in which it failed; 0 while it did not. It stays over
// a freeze, and is set to 0 by a clear.
//
// Words: 0 the low 32 bits, 1 the rest; both again as 2 and 3.
module recap_first (
    input  wire clock,
    input  wire clear,
    input  wire there,               // it failed in the cycle before, and that counts
    input  wire [47:0] cycle,        // its number
    input  wire selected,            // show the word; the output is 0 otherwise
    input  wire high,
    output reg  [31:0] word
);
    reg [47:0] first;
    initial begin
        first = 0;
        word = 0;
    end
    always @(posedge clock) begin
        if (clear) first <= 0;
        else if (there & first == 0) first <= cycle;
        word <= ~selected ? 32'd0 : high ? {16'd0, first[47:32]} : first[31:0];
    end
endmodule
