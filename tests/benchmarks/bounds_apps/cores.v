// The work of unit.v on CORES cores that share the words. Core k has its command at 0x410 + k, its status at 0x510 + k;
// 0x501 tells that all are done, 0x502 the sum of all.
module core (
    input             clk,
    input             rst,
    input             start,
    input      [31:0] order,
    input      [31:0] pace,
    output reg [9:0]  at,
    input      [31:0] word,
    output reg [31:0] sum,
    output reg        done
);
    reg [31:0] left;
    reg [15:0] last;
    reg        working;

    always @(posedge clk) begin : worker
        if (rst) begin
            working <= 0;
            done <= 1;
            sum <= 0;
        end else if (working) begin
            //pragma recap multiply work()
            left <= left - 1;
            if (left == 1) begin
                sum <= sum + word;
                at <= at + 1;
                left <= pace;
                if (at + 1 == last) begin
                    working <= 0;
                    done <= 1;
                end
            end
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, go)
            if (start) begin
                done <= 0;
                at <= order[9:0];
                last <= order[15:0] + order[31:16];
                left <= pace;
                working <= 1;
            end
        end
    end
endmodule

module unit_top #(parameter CORES = 2) (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data
);
    reg [31:0] in [0:1023];
    reg [31:0] pace, total;
    reg [CORES-1:0] start;
    reg [31:0] order;
    wire [CORES-1:0] done;
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
            start[addr[3:0]] <= 1;
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y|d)
            rd_data <= addr == 32'h502 ? total : addr == 32'h501 ? {31'b0, &done} : {31'b0, done[addr[3:0]]};
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
            wire [9:0] at;
            core unit (.clk(clk), .rst(rst), .start(start[k]), .order(order), .pace(pace), .at(at), .word(in[at]),
                       .sum(sums[k]), .done(done[k]));
        end
    endgenerate
endmodule
