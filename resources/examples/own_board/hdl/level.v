// The largest magnitude of the 1,024 words at 0x000, and the sum of all magnitudes, once 1 is written to 0x400. 0x401 tells
// when that is done, 0x402 holds the peak and 0x403 the sum.
module level (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data
);
    reg [31:0] samples [0:1023];
    reg [31:0] sample, peak, sum;
    reg [10:0] next;
    reg        busy, valid, done;
    wire [31:0] magnitude = sample[31] ? -sample : sample;

    always @(posedge clk) begin : port
        if (wr_en && addr < 32'h400) begin
            //pragma recap fill recv(data, $CPU, samples)
            samples[addr[9:0]] <= wr_data;
        end else if (rd_en) begin
            //pragma recap answer send(data, $CPU, result)
            rd_data <= addr == 32'h401 ? {31'b0, done} : addr == 32'h402 ? peak : sum;
        end else begin
            //pragma recap free wait_recv(late_sender, $CPU, samples)
        end
    end

    always @(posedge clk) begin : scan
        valid <= 0;
        if (rst) begin
            busy <= 0;
            done <= 0;
        end else if (wr_en && addr == 32'h400) begin
            //pragma recap begin_block overhead(initialize)
            {peak, sum, next} <= 0;
            busy <= 1;
            done <= 0;
        end else if (busy || valid) begin
            //pragma recap look work()
            busy <= busy && next != 11'd1023;
            valid <= busy;
            done <= !busy;
            sample <= samples[next[9:0]];
            next <= next + 1;
            if (valid) begin
                sum <= sum + magnitude;
                if (magnitude > peak)
                    peak <= magnitude;
            end
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, start)
        end
    end
endmodule
