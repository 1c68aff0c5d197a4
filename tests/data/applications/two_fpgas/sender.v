// Sends the numbers 1 to n, one a cycle, from when n is written to 0x800.
module sender (
    input wire clk, input wire rst, output wire irq,
    input wire [15:0] addr, input wire wr_en, input wire [31:0] wr_data, input wire rd_en, output reg [31:0] rd_data,
    output reg out_valid, input wire out_ready, output reg [31:0] out_data
);
    reg [31:0] last;
    assign irq = 1'b0;

    always @(posedge clk) begin : send
        rd_data <= last;
        if (rst) begin
            out_valid <= 1'b0;
        end else if (wr_en && addr == 16'h800) begin
            //pragma recap begin recv(ctrl, $CPU, n)
            last <= wr_data;
            out_data <= 32'd1;
            out_valid <= wr_data != 32'd0;
        end else if (out_valid && out_ready) begin
            //pragma recap give send(data, right.receiver.take, words)
            out_data <= out_data + 32'd1;
            out_valid <= out_data != last;
        end else if (out_valid) begin
            //pragma recap full wait_send(late_receiver, right.receiver.take, words)
            out_valid <= 1'b1;
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, n)
            out_valid <= 1'b0;
        end
    end
endmodule
