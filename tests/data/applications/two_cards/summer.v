// Adds up the first n words of its memory, one a cycle, from when n is written to 0x800; the sum is read at 0x801. The
// interrupt is high from then on until the next n.
module summer (
    input wire clk, input wire rst, output reg irq,
    input wire [15:0] addr, input wire wr_en, input wire [31:0] wr_data, input wire rd_en, output reg [31:0] rd_data
);
    reg [31:0] words [0:255];
    reg [31:0] sum;
    reg [8:0] at, left;
    wire start = wr_en && addr == 16'h800;

    always @(posedge clk) begin : memory
        if (rst) begin
            rd_data <= 32'd0;
        end else begin
            if (wr_en && addr < 16'h100) begin
                //pragma recap takeWord recv(data, $CPU, words)
                words[addr[7:0]] <= wr_data;
            end
            if (rd_en && addr == 16'h801) begin
                //pragma recap giveSum send(ctrl, $CPU, sum)
                rd_data <= sum;
            end
        end
    end

    always @(posedge clk) begin : core
        if (rst) begin
            left <= 9'd0;
            irq <= 1'b0;
        end else if (start) begin
            //pragma recap begin recv(ctrl, $CPU, n)
            at <= 9'd0;
            left <= wr_data[8:0];
            sum <= 32'd0;
            irq <= 1'b0;
        end else if (left != 9'd0) begin
            //pragma recap add work()
            sum <= sum + words[at[7:0]];
            at <= at + 9'd1;
            left <= left - 9'd1;
            irq <= left == 9'd1;
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, n)
            at <= 9'd0;
        end
    end
endmodule
