module echo (
    input clk, input rst, input [15:0] tdata, input tvalid, output tready,
    output reg [15:0] back_tdata, output reg back_tvalid, input back_tready
);
    assign tready = ~back_tvalid;
    always @(posedge clk) begin : answer
        if (rst) back_tvalid <= 0;
        else if (tvalid & tready) begin
            //pragma recap take recv(data, $CPU, word)
            back_tdata <= tdata + 1;
            back_tvalid <= 1;
        end else if (back_tvalid & back_tready) begin
            //pragma recap give send(data, $CPU, word)
            back_tvalid <= 0;
        end
    end
endmodule
