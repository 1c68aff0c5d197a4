// The work of unit.v on CORES cores that share it word by word, and go on together once all are done with theirs. Core 0
// takes SLOW times as long; with UNEVEN what a word takes depends on it, one to four times as long. The host's command is
// as in unit.v; 0x501 tells that all is done, 0x502 the sum.
module core #(parameter K = 0, parameter CORES = 2, parameter SLOW = 1, parameter UNEVEN = 0) (
    input             clk,
    input             rst,
    input             start,
    input      [31:0] order,
    input      [31:0] pace,
    input      [31:0] word,
    input             all,
    output reg [15:0] at,
    output reg        arrived,
    output reg [31:0] sum,
    output reg        busy
);
    reg [31:0] left;
    reg [15:0] last;
    wire [31:0] long = pace * (K == 0 ? SLOW : 1) * (UNEVEN ? 1 + ((word + K) & 3) : 1);

    always @(posedge clk) begin : worker
        if (rst) begin
            left <= 0;
            sum <= 0;
            busy <= 0;
            arrived <= 0;
        end else if (left != 0) begin
            //pragma recap multiply work()
            left <= left - 1;
            if (left == 1) begin
                sum <= sum + 3 * word + 1;
                at <= at + CORES;
                arrived <= 1;
            end
        end else if (arrived) begin
            //pragma recap sync wait_recv(barrier, units[*].unit, s)
            if (all) begin
                arrived <= 0;
                busy <= at < last;
                left <= at < last ? long : 0;
            end
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, go)
            if (start) begin
                at <= order[15:0] + K;
                last <= order[15:0] + order[31:16];
                busy <= 1;
                left <= pace * (K == 0 ? SLOW : 1);
            end
        end
    end
endmodule

module unit_top #(parameter CORES = 4, parameter SLOW = 1, parameter UNEVEN = 0) (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data
);
    reg [31:0] in [0:1023];
    reg [31:0] pace, total, order;
    reg        start;
    wire [CORES-1:0] arrived, busy;
    wire [31:0] sums [0:CORES-1];
    integer i;

    always @(posedge clk) begin : port
        start <= 0;
        if (rst)
            pace <= 1;
        else if (wr_en && addr < 32'h400) begin
            //pragma recap take recv(data, $CPU, x)
            in[addr[9:0]] <= wr_data;
        end else if (wr_en && addr == 32'h401) begin
            //pragma recap set recv(ctrl, $CPU, pace)
            pace <= wr_data;
        end else if (wr_en) begin
            //pragma recap obey recv(ctrl, $CPU, go)
            order <= wr_data;
            start <= 1;
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y|d)
            rd_data <= addr == 32'h502 ? total : {31'b0, !start && busy == 0};
        end
    end

    always @* begin
        total = 0;
        for (i = 0; i < CORES; i = i + 1)
            total = total + sums[i];
    end

    genvar k;
    generate
        for (k = 0; k < CORES; k = k + 1) begin : units
            wire [15:0] at;
            core #(.K(k), .CORES(CORES), .SLOW(SLOW), .UNEVEN(UNEVEN)) unit (
                .clk(clk), .rst(rst), .start(start), .order(order), .pace(pace), .word(in[at[9:0]]),
                .all(&arrived), .at(at), .arrived(arrived[k]), .sum(sums[k]), .busy(busy[k]));
        end
    endgenerate
endmodule
