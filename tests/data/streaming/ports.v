// The elements at the head of one queue go to another, behind the same block as `axis` is.
module queue #(parameter factor = 1) (
    input clk, input rst,
    input [31:0] x_data, input x_empty, output x_pop,
    output [31:0] y_data, output y_push, input y_full
);
    wire there = !x_empty, room = !y_full, goes, comes;
    scale #(.factor(factor)) same (
        .clk(clk), .rst(rst), .x_tdata(x_data), .x_tvalid(there), .x_tlast(1'b0), .x_tready(goes),
        .y_tdata(y_data), .y_tvalid(comes), .y_tlast(), .y_tready(room)
    );
    assign x_pop = there && goes;
    assign y_push = comes && room;
endmodule

// An element comes in the cycle after it was read.
module late #(parameter factor = 1) (
    input clk, input rst,
    input [31:0] x_q, input x_empty, output x_read,
    output [31:0] y_data, output y_write, input y_full
);
    reg comes;
    assign x_read = !x_empty && !y_full && !comes;
    assign y_write = comes;
    assign y_data = x_q * factor;
    always @(posedge clk) comes <= x_read && !rst;
endmodule

module hls #(parameter factor = 1) (
    input ap_clk, input ap_rst_n, input ap_start,
    input [31:0] x_dout, input x_empty_n, output x_read,
    output [31:0] y_din, output y_write, input y_full_n
);
    assign x_read = ap_start && x_empty_n && y_full_n;
    assign y_write = x_read;
    assign y_din = x_dout * factor;
endmodule
