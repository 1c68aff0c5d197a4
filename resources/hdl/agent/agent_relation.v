// Compares two numbers.
module agent_relation #(
    parameter BITS = 1,
    parameter IS_SIGNED = 0,
    parameter RELATION = 0      // 0 >, 1 >=, 2 <, 3 <=, 4 ==, 5 !=
) (
    input  wire [BITS-1:0] a,
    input  wire [BITS-1:0] b,
    output wire holds
);
    wire [BITS-1:0] turn = IS_SIGNED << (BITS - 1); // to the order of unsigned numbers
    wire equal = a == b, more = (a ^ turn) > (b ^ turn);
    assign holds = RELATION == 0 ? more : RELATION == 1 ? more | equal : RELATION == 2 ? ~more & ~equal
                 : RELATION == 3 ? ~more : RELATION == 4 ? equal : ~equal;
endmodule
