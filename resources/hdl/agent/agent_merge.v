// Two streams of packets become one, packet by packet; each gets its turn.
module agent_merge (
    input  wire clock,
    input  wire reset,
    input  wire a_valid,
    output wire a_ready,
    input  wire a_last,
    input  wire [31:0] a_data,
    input  wire b_valid,
    output wire b_ready,
    input  wire b_last,
    input  wire [31:0] b_data,
    output wire valid,
    input  wire ready,
    output wire last,
    output wire [31:0] data
);
    reg open, of_b; // a packet is open, or was the last one
    wire b = open ? of_b : b_valid & (~a_valid | ~of_b);
    assign valid = b ? b_valid : a_valid;
    assign last = b ? b_last : a_last;
    assign data = b ? b_data : a_data;
    assign a_ready = ready & ~b;
    assign b_ready = ready & b;
    always @(posedge clock)
        if (reset) begin
            open <= 0;
            of_b <= 0;
        end else if (valid) begin
            of_b <= b;
            open <= ~(ready & last);
        end
endmodule
