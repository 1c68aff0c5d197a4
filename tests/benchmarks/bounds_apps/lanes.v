// As unit.v, but the worker copies the batch before it works on it, LANES words a cycle.
// Multiplies words: out = 3 in + 1, and adds them up. The host writes words to 0x000..0x3FF and then a command,
// {count, base}, to 0x400; `pace` (0x401) is {cycles to copy LANES words, cycles a word}. 0x501 tells that all is done.
module unit_top #(parameter LANES = 1) (
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
    reg [31:0] copy [0:63];
    reg        start, working, loading, done;
    reg [5:0]  slot;
    integer    i;
    assign irq = done && !start;

    always @(posedge clk) begin : port
        start <= 0;
        if (rst)
            pace <= 1;
        else if (wr_en && addr < 32'h400) begin
            //pragma recap take recv(data, $CPU, x)
            in[addr[9:0]] <= wr_data;
        end else if (wr_en && addr == 32'h400) begin
            //pragma recap obey recv(ctrl, $CPU, go)
            {count, base} <= wr_data;
            start <= 1;
        end else if (wr_en && addr == 32'h401) begin
            //pragma recap set recv(ctrl, $CPU, pace)
            pace <= wr_data;
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y|d)
            rd_data <= addr == 32'h501 ? {31'b0, done} : addr == 32'h502 ? sum : out[addr[9:0]];
        end
    end

    always @(posedge clk) begin : worker
        if (rst) begin
            working <= 0;
            loading <= 0;
            done <= 0;
            sum <= 0;
        end else if (loading) begin
            //pragma recap load recv(data, port, x)
            if (left == 1) begin
                for (i = 0; i < LANES; i = i + 1)
                    copy[slot + i[5:0]] <= in[{4'b0, slot} + i[9:0]];
                slot <= slot + LANES[5:0];
                if ({26'b0, slot} + LANES == 64) begin
                    loading <= 0;
                    working <= 1;
                    left <= {16'b0, pace[15:0]};
                end else
                    left <= {16'b0, pace[31:16]};
            end else
                left <= left - 1;
        end else if (working) begin
            //pragma recap multiply work()
            left <= left - 1;
            if (left == 1) begin
                out[at[9:0]] <= 3 * copy[at[5:0]] + 1;
                sum <= sum + copy[at[5:0]];
                at <= at + 1;
                left <= {16'b0, pace[15:0]};
                if (at + 1 == count) begin
                    working <= 0;
                    done <= 1;
                end
            end
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, go)
            if (start) begin
                done <= 0;
                at <= 0;
                slot <= 0;
                loading <= 1;
                left <= {16'b0, pace[31:16]};
            end
        end
    end
endmodule
