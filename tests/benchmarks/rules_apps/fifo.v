// A maker gives words in bursts of eight to a FIFO of DEPTH words, from which a taker takes them one by one. The host writes
// words to 0x0000..0x1FFF, the registers below to 0x6000 + their number, and a command, {count, base}, to 0x6100. 0x6101
// tells that the words of the command are taken, 0x6102 the sum of all so far.
module fifo #(parameter DEPTH = 2) (
    input wire clk, input wire rst,
    input wire in_valid, output wire in_ready, input wire [31:0] in_data,
    output wire out_valid, input wire out_ready, output wire [31:0] out_data
);
    reg [31:0] words [0:DEPTH-1];
    reg [15:0] written, read;
    assign in_ready = written - read != DEPTH;
    assign out_valid = written != read;
    assign out_data = words[read % DEPTH];
    always @(posedge clk)
        if (rst) begin
            written <= 0;
            read <= 0;
        end else begin
            if (in_valid & in_ready) begin
                words[written % DEPTH] <= in_data;
                written <= written + 1;
            end
            if (out_valid & out_ready) read <= read + 1;
        end
endmodule

module maker (
    input wire clk, input wire rst, input wire start, input wire [15:0] count, input wire [15:0] pause,
    output reg [15:0] at, input wire [31:0] word,
    output wire m_axis_tvalid, input wire m_axis_tready, output wire [31:0] m_axis_tdata
);
    reg [15:0] left;
    reg going;
    assign m_axis_tvalid = going && left == 0;
    assign m_axis_tdata = word;
    always @(posedge clk)
        if (rst) begin
            going <= 0;
            left <= 0;
        end else if (start) begin
            going <= 1;
            at <= 0;
        end else if (going) begin
            if (left != 0)
                left <= left - 1;
            else if (m_axis_tready) begin
                at <= at + 1;
                left <= at[2:0] == 7 ? pause : 0;
                going <= at + 1 != count;
            end
        end
endmodule

module taker (
    input wire clk, input wire rst, input wire start, input wire [15:0] count, input wire [15:0] pace,
    input wire s_axis_tvalid, output wire s_axis_tready, input wire [31:0] s_axis_tdata,
    output reg [31:0] sum, output reg done
);
    reg [15:0] taken, left;
    assign s_axis_tready = left == 0 && !done;
    always @(posedge clk)
        if (rst) begin
            sum <= 0;
            left <= 0;
            done <= 1;
        end else if (start) begin
            taken <= 0;
            done <= 0;
        end else if (left != 0) begin
            left <= left - 1;
            done <= left == 1 && taken == count;
        end else if (s_axis_tvalid && !done) begin
            sum <= sum * 31 + s_axis_tdata;
            taken <= taken + 1;
            left <= pace;
        end
endmodule

module unit_top #(parameter DEPTH = 2) (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data,
    output            irq
);
    // PAUSE: cycles that the maker takes for the next eight words. PACE: those that the taker takes for a word.
    localparam PAUSE = 0, PACE = 1;
    reg [31:0] words [0:8191];
    reg [15:0] set [0:1];
    reg [15:0] base, count;
    reg        start;
    wire [15:0] at;
    wire [31:0] sum;
    wire        done, made_valid, made_ready, kept_valid, kept_ready;
    wire [31:0] made_data, kept_data;
    assign irq = done && !start;

    always @(posedge clk) begin : port
        start <= 0;
        if (rst)
            base <= 0;
        else if (wr_en && addr < 32'h2000) begin
            //pragma recap take recv(data, $CPU, x)
            words[addr[12:0]] <= wr_data;
        end else if (wr_en && addr == 32'h6100) begin
            //pragma recap go recv(ctrl, $CPU, go)
            {count, base} <= wr_data;
            start <= 1;
        end else if (wr_en && addr < 32'h6002) begin
            //pragma recap set recv(ctrl, $CPU, pace)
            set[addr[0]] <= wr_data[15:0];
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y|d)
            rd_data <= addr == 32'h6101 ? {31'b0, done} : sum;
        end
    end

    wire [15:0] place = base + at;
    maker make (.clk(clk), .rst(rst), .start(start), .count(count), .pause(set[PAUSE]), .at(at), .word(words[place[12:0]]),
                .m_axis_tvalid(made_valid), .m_axis_tready(made_ready), .m_axis_tdata(made_data));
    fifo #(.DEPTH(DEPTH)) kept (.clk(clk), .rst(rst), .in_valid(made_valid), .in_ready(made_ready), .in_data(made_data),
                                .out_valid(kept_valid), .out_ready(kept_ready), .out_data(kept_data));
    taker take (.clk(clk), .rst(rst), .start(start), .count(count), .pace(set[PACE]), .s_axis_tvalid(kept_valid),
                .s_axis_tready(kept_ready), .s_axis_tdata(kept_data), .sum(sum), .done(done));
endmodule
