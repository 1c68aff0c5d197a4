// Multiplies words: out = 3 in + 1, and adds them up. The host writes words to 0x000..0x3FF and then a command,
// {count, base}, to 0x400; `pace` (at PACE_AT) is {cycles to clear before, cycles a word}. 0x501 tells that all is done.
// With UNEVEN what a word takes depends on it too: one to eight times as long from batch to batch, and one to four times as
// long from word to word.
module unit_top #(parameter PACE_AT = 32'h401, parameter UNEVEN = 0) (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data,
    output            irq
);
    reg [31:0] in [0:1023];
    reg [31:0] out [0:1023];
    reg [31:0] pace, sum, left;
    reg [15:0] base, count, at;
    reg        start, working, clearing, done;
    wire [15:0] next = working ? at + 1 : clearing ? at : base;
    wire [31:0] word = in[next[9:0]];
    wire [31:0] batch = word >> 6;
    wire [31:0] long = {16'b0, pace[15:0]} * (UNEVEN ? 1 + ((5 * batch) & 7) + (word & 3) : 1);
    assign irq = done && !start;

    always @(posedge clk) begin : port
        start <= 0;
        if (rst)
            pace <= 1;
        else if (wr_en && addr == PACE_AT) begin
            //pragma recap set recv(ctrl, $CPU, pace)
            pace <= wr_data;
        end else if (wr_en && addr < 32'h400) begin
            //pragma recap take recv(data, $CPU, x)
            in[addr[9:0]] <= wr_data;
        end else if (wr_en && addr == 32'h400) begin
            //pragma recap obey recv(ctrl, $CPU, go)
            {count, base} <= wr_data;
            start <= 1;
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y|d)
            rd_data <= addr == 32'h501 ? {31'b0, done} : addr == 32'h502 ? sum : out[addr[9:0]];
        end
    end

    always @(posedge clk) begin : worker
        if (rst) begin
            working <= 0;
            clearing <= 0;
            done <= 0;
            sum <= 0;
        end else if (clearing) begin
            //pragma recap clear overhead(initialize)
            left <= left - 1;
            if (left == 1) begin
                clearing <= 0;
                working <= 1;
                left <= long;
            end
        end else if (working) begin
            //pragma recap multiply work()
            left <= left - 1;
            if (left == 1) begin
                out[at[9:0]] <= 3 * in[at[9:0]] + 1;
                sum <= sum + in[at[9:0]];
                at <= at + 1;
                left <= long;
                if (at + 1 == base + count) begin
                    working <= 0;
                    done <= 1;
                end
            end
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, go)
            if (start) begin
                done <= 0;
                at <= base;
                clearing <= pace[31:16] != 0;
                working <= pace[31:16] == 0;
                left <= pace[31:16] != 0 ? {16'b0, pace[31:16]} : long;
            end
        end
    end
endmodule
