// Two stages: one makes numbers, the other adds them up. The host's command to 0x400 is how many; `pace` (0x401) is
// {cycles to make one, cycles to add one}. With UNEVEN what a number takes depends on it: one to four times as long, in
// other orders for each stage.
module unit_top #(parameter UNEVEN = 0) (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data,
    output            irq
);
    reg [31:0] pace, item, sum, number, making, adding;
    reg        start, full, done;
    reg [31:0] wanted, added;
    wire [31:0] next = making == 0 && full ? number + 1 : 0;
    wire [31:0] long_to_make = {16'b0, pace[31:16]} * (UNEVEN ? 1 + ((5 * next >> 1) & 3) : 1);
    wire [31:0] long_to_add = {16'b0, pace[15:0]} * (UNEVEN ? 1 + ((3 * item >> 2) & 3) : 1);
    assign irq = done && !start;

    always @(posedge clk) begin : port
        start <= 0;
        if (rst)
            pace <= {16'd1, 16'd1};
        else if (wr_en && addr == 32'h400) begin
            //pragma recap obey recv(ctrl, $CPU, go)
            wanted <= wr_data;
            start <= 1;
        end else if (wr_en) begin
            //pragma recap set recv(ctrl, $CPU, pace)
            pace <= wr_data;
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y|d)
            rd_data <= addr == 32'h501 ? {31'b0, done} : sum;
        end
    end

    always @(posedge clk) begin : maker
        if (rst) begin
            full <= 0;
            number <= 0;
            making <= 0;
        end else if (making != 0) begin
            //pragma recap make work()
            making <= making - 1;
            if (making == 1) begin
                item <= 7 * number + 3;
                full <= 1;
            end
        end else if (full) begin
            //pragma recap hand wait_send(late_receiver, adder, item)
            if (adding == 0) begin
                full <= 0;
                number <= number + 1;
                making <= number + 1 < wanted ? long_to_make : 0;
            end
        end else begin
            //pragma recap rest wait_recv(late_sender, $CPU, go)
            if (start) begin
                number <= 0;
                making <= long_to_make;
            end
        end
    end

    always @(posedge clk) begin : adder
        if (rst) begin
            adding <= 0;
            added <= 0;
            sum <= 0;
            done <= 0;
        end else if (adding != 0) begin
            //pragma recap add work()
            adding <= adding - 1;
            if (adding == 1) begin
                added <= added + 1;
                done <= added + 1 == wanted;
            end
        end else begin
            //pragma recap await wait_recv(late_sender, maker, item)
            if (start) begin
                added <= 0;
                done <= 0;
            end
            if (full) begin
                sum <= sum * 31 + item;
                adding <= long_to_add;
            end
        end
    end
endmodule
