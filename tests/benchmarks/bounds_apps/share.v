// The work of unit.v on CORES cores whose words are in one memory: an arbiter gives one of them a word at a time, in GRANT
// cycles, the lowest of those that did not have the last one first. With UNEVEN what a word takes then depends on it, one to
// four times as long. The host's command is as in unit.v; 0x501 tells that all is done,
// 0x502 the sum.
module core #(parameter K = 0, parameter CORES = 2, parameter UNEVEN = 0) (
    input             clk,
    input             rst,
    input             start,
    input      [31:0] order,
    input      [31:0] pace,
    input             served,
    input      [31:0] word,
    output reg [15:0] at,
    output reg        asking,
    output reg [31:0] sum,
    output reg        busy
);
    reg [31:0] left;
    reg [15:0] last;

    always @(posedge clk) begin : worker
        if (rst) begin
            left <= 0;
            sum <= 0;
            busy <= 0;
            asking <= 0;
        end else if (left != 0) begin
            //pragma recap multiply work()
            left <= left - 1;
            if (left == 1) begin
                at <= at + CORES;
                busy <= at + CORES < last;
                asking <= at + CORES < last;
            end
        end else if (asking) begin
            //pragma recap ask wait_recv(contention, arbiter, w)
            if (served) begin
                asking <= 0;
                sum <= sum + 3 * word + 1;
                left <= pace * (UNEVEN ? 1 + ((5 * word >> 2) & 3) : 1);
            end
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, go)
            if (start) begin
                at <= order[15:0] + K;
                last <= order[15:0] + order[31:16];
                busy <= 1;
                asking <= 1;
            end
        end
    end
endmodule

module unit_top #(parameter CORES = 2, parameter GRANT = 8, parameter UNEVEN = 0) (
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
    reg [CORES-1:0] served, chosen, late;
    reg [15:0] left;
    wire [CORES-1:0] asking, busy, open = asking & ~served;
    wire [CORES-1:0] first = (open & late) != 0 ? open & late : open;
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

    always @(posedge clk) begin : arbiter
        served <= 0;
        if (rst) begin
            left <= 0;
            late <= 0;
        end else if (left != 0) begin
            //pragma recap serve work()
            left <= left - 1;
            if (left == 1) begin
                served <= chosen;
                late <= ~chosen;
            end
        end else begin
            //pragma recap free wait_recv(late_sender, units[*].unit, w)
            if (open != 0) begin
                chosen <= first & (~first + 1);
                left <= GRANT;
            end
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
            core #(.K(k), .CORES(CORES), .UNEVEN(UNEVEN)) unit (
                .clk(clk), .rst(rst), .start(start), .order(order), .pace(pace), .served(served[k]), .word(in[at[9:0]]),
                .at(at), .asking(asking[k]), .sum(sums[k]), .busy(busy[k]));
        end
    endgenerate
endmodule
