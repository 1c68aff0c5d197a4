// The work of unit.v on words as they come: no command, nothing to poll. Results are read from where the words went.
module unit_top (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data
);
    reg [31:0] fifo [0:1023];
    reg [31:0] out [0:1023];
    reg [31:0] pace, sum, left;
    reg [9:0]  head, tail;

    always @(posedge clk) begin : port
        if (rst) begin
            tail <= 0;
            pace <= 1;
        end else if (wr_en && addr < 32'h400) begin
            //pragma recap take recv(data, $CPU, x)
            fifo[tail] <= wr_data;
            tail <= tail + 1;
        end else if (wr_en) begin
            //pragma recap set recv(ctrl, $CPU, pace)
            pace <= wr_data;
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y)
            rd_data <= addr == 32'h502 ? sum : out[addr[9:0]];
        end
    end

    always @(posedge clk) begin : worker
        if (rst) begin
            head <= 0;
            sum <= 0;
            left <= 1;
        end else if (head != tail) begin
            //pragma recap multiply work()
            left <= left - 1;
            if (left == 1) begin
                out[head] <= 3 * fifo[head] + 1;
                sum <= sum + fifo[head];
                head <= head + 1;
                left <= {16'b0, pace[15:0]};
            end
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, x)
            left <= {16'b0, pace[15:0]};
        end
    end
endmodule
