module gain #(parameter factor = 1) (
    input clk, input rst,
    input [31:0] x_tdata, input x_tvalid, input x_tlast, output x_tready,
    output [31:0] y_tdata, output y_tvalid, output y_tlast, input y_tready
);
    assign y_tdata = x_tdata * factor;
    assign y_tvalid = x_tvalid;
    assign y_tlast = x_tlast;
    assign x_tready = y_tready;
endmodule
