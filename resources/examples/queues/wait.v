// Takes an element, and gives it on as many cycles later as it says (one at least).
module wait_cycles (
    input             clk,
    input             rst,
    input      [31:0] x_tdata,
    input             x_tlast,
    input             x_tvalid,
    output            x_tready,
    output reg [31:0] y_tdata,
    output reg        y_tlast,
    output            y_tvalid,
    input             y_tready
);
    reg        busy;
    reg [31:0] left;

    assign y_tvalid = busy && left == 0;
    assign x_tready = !busy || (y_tvalid && y_tready);

    always @(posedge clk) begin
        if (x_tready) begin
            busy <= x_tvalid;
            {y_tlast, y_tdata} <= {x_tlast, x_tdata};
            left <= x_tlast || x_tdata == 0 ? 0 : x_tdata - 1;
        end else if (left != 0) left <= left - 1;
        if (rst) busy <= 0;
    end
endmodule
