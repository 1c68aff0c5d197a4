// How many elements passed one place, told to agents on other clocks: a count in Gray code, of which one bit changes at a
// time. It is never set to zero, since several bits would change then.
module agent_link #(
    parameter BITS = 8
) (
    input  wire clock,
    input  wire passes,         // an element does in this cycle
    output reg  [BITS-1:0] gray
);
    reg [BITS-1:0] count;
    wire [BITS-1:0] next = count + {{(BITS - 1){1'b0}}, passes};
    initial begin
        count = 0;
        gray = 0;
    end
    always @(posedge clock) begin
        count <= next;
        gray <= next ^ next >> 1;
    end
endmodule
