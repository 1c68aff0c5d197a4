// Memory of 256 words from 0x000 on, of which those up to 0x200's value are added up when 0x201 is written; 0x202 reads the sum,
// and the interrupt is high while it holds.
module sum_words (
    input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en, output reg [31:0] rd_data,
    output irq
);
    reg [31:0] words [0:255];
    reg [31:0] count, at, sum;
    reg adding;
    assign irq = !adding;

    always @(posedge clk) begin : port
        if (wr_en && addr < 32'h100) begin
            //pragma recap take recv(data, $CPU, w1)
            words[addr[7:0]] <= wr_data;
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, d1)
            rd_data <= addr == 32'h202 ? sum : words[addr[7:0]];
        end
    end

    always @(posedge clk) begin : adder
        if (rst) begin
            adding <= 1'b0;
            count <= 32'd0;
            sum <= 32'd0;
            at <= 32'd0;
        end else if (adding) begin
            //pragma recap add work()
            sum <= sum + words[at[7:0]];
            at <= at + 32'd1;
            if (at + 32'd1 == count) adding <= 1'b0;
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, s1)
            if (wr_en && addr == 32'h200) count <= wr_data;
            if (wr_en && addr == 32'h201) begin
                sum <= 32'd0;
                at <= 32'd0;
                adding <= count != 32'd0;
            end
        end
    end
endmodule
