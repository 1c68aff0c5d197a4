// Gives an element on after so many cycles.
module pass #(
    parameter work = 1
) (
    input             clk,
    input             rst,
    input      [15:0] in_tdata,
    input             in_tlast,
    input             in_tvalid,
    output            in_tready,
    output reg [15:0] out_tdata,
    output reg        out_tlast,
    output            out_tvalid,
    input             out_tready
);
    reg        busy;
    reg [31:0] left;

    assign out_tvalid = busy && left == 0;
    assign in_tready  = !busy || (out_tvalid && out_tready);

    always @(posedge clk) begin
        if (in_tready) begin
            busy <= in_tvalid;
            {out_tlast, out_tdata} <= {in_tlast, in_tdata};
            left <= in_tlast ? 0 : work / 100;
        end else if (left != 0) left <= left - 1;
        if (rst) busy <= 0;
    end
endmodule
