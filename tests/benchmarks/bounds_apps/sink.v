// Adds up whatever is written below 0x200000.
module unit_top (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data
);
    reg [31:0] sum;

    always @(posedge clk) begin : worker
        if (rst)
            sum <= 0;
        else if (wr_en && addr < 32'h200000) begin
            //pragma recap add work()
            sum <= sum + wr_data;
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y)
            rd_data <= sum;
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, x)
            rd_data <= rd_data;
        end
    end
endmodule
