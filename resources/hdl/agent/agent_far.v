// What another clock's `agent_link` tells, through two registers: how many elements passed there, as far as it is known
// in this cycle and was not in the cycle before.
module agent_far #(
    parameter BITS = 8
) (
    input  wire clock,
    input  wire [BITS-1:0] gray,
    output wire [BITS-1:0] passes
);
    (* async_reg = "true" *) reg [BITS-1:0] gray_1, gray_2;
    reg [BITS-1:0] known;
    reg [BITS-1:0] count;
    integer i;
    initial begin
        gray_1 = 0;
        gray_2 = 0;
        known = 0;
    end
    always @*
        for (i = BITS - 1; i >= 0; i = i - 1) count[i] = ^(gray_2 >> i);
    assign passes = count - known;
    always @(posedge clock) begin
        gray_1 <= gray;
        gray_2 <= gray_1;
        known <= count;
    end
endmodule
