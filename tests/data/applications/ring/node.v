// Sends n words from when n is written to 0x800, and takes as many only then; the interrupt is high once they came.
module node (
    input wire clk, input wire rst, output wire irq,
    input wire [15:0] addr, input wire wr_en, input wire [31:0] wr_data, input wire rd_en, output reg [31:0] rd_data,
    output wire out_valid, input wire out_ready, output wire [31:0] out_data,
    input wire in_valid, output wire in_ready, input wire [31:0] in_data
);
    reg [31:0] n, sent, came;
    assign out_valid = sent != n;
    assign out_data = sent;
    assign in_ready = sent == n && came != n;
    assign irq = n != 0 && came == n;

    always @(posedge clk) begin : core
        rd_data <= came;
        if (rst) begin
            {n, sent, came} <= 96'd0;
        end else if (wr_en && addr == 16'h800) begin
            //pragma recap begin recv(ctrl, $CPU, n)
            n <= wr_data;
        end else if (out_valid) begin
            //pragma recap send work()
            if (out_ready) sent <= sent + 32'd1;
        end else if (in_ready) begin
            //pragma recap take work()
            if (in_valid) came <= came + (in_data == came);
        end
    end
endmodule
