// A maker gives a word every `pace` cycles to a FIFO of DEPTH words, of which a taker takes 16 at a time and then rests for 12
// times as long. The host's command to 0x400 is how many words; 0x501 tells that all are taken, 0x502 their sum.
module fifo #(parameter DEPTH = 4) (
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
    input wire clk, input wire rst, input wire start, input wire [31:0] wanted, input wire [15:0] pace,
    output wire m_axis_tvalid, input wire m_axis_tready, output wire [31:0] m_axis_tdata
);
    reg [31:0] number;
    reg [15:0] left;
    reg going;
    assign m_axis_tvalid = going && left == 0;
    assign m_axis_tdata = 7 * number + 3;
    always @(posedge clk)
        if (rst) begin
            going <= 0;
            left <= 0;
            number <= 0;
        end else if (start) begin
            going <= 1;
            number <= 0;
            left <= pace;
        end else if (going) begin
            if (left != 0)
                left <= left - 1;
            else if (m_axis_tready) begin
                number <= number + 1;
                left <= pace;
                going <= number + 1 != wanted;
            end
        end
endmodule

module taker (
    input wire clk, input wire rst, input wire start, input wire [31:0] wanted, input wire [15:0] pace,
    input wire s_axis_tvalid, output wire s_axis_tready, input wire [31:0] s_axis_tdata,
    output reg [31:0] sum, output reg done
);
    reg [31:0] taken;
    reg [19:0] rest;
    assign s_axis_tready = rest == 0;
    always @(posedge clk)
        if (rst) begin
            sum <= 0;
            taken <= 0;
            rest <= 0;
            done <= 0;
        end else if (start) begin
            taken <= 0;
            done <= 0;
        end else if (rest != 0) begin
            rest <= rest - 1;
        end else if (s_axis_tvalid) begin
            sum <= sum * 31 + s_axis_tdata;
            taken <= taken + 1;
            done <= taken + 1 == wanted;
            rest <= taken[3:0] == 15 ? 12 * pace : 0;
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
    reg [31:0] wanted;
    reg [15:0] pace;
    reg start;
    wire [31:0] sum;
    wire done;
    assign irq = done && !start;

    always @(posedge clk) begin : port
        start <= 0;
        if (rst)
            pace <= 1;
        else if (wr_en && addr == 32'h400) begin
            //pragma recap obey recv(ctrl, $CPU, go)
            wanted <= {16'b0, wr_data[31:16]};
            start <= 1;
        end else if (wr_en) begin
            //pragma recap set recv(ctrl, $CPU, pace)
            pace <= wr_data[15:0];
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y|d)
            rd_data <= addr == 32'h501 ? {31'b0, done} : sum;
        end
    end

    wire made_valid, made_ready, kept_valid, kept_ready;
    wire [31:0] made_data, kept_data;
    maker make (.clk(clk), .rst(rst), .start(start), .wanted(wanted), .pace(pace),
                .m_axis_tvalid(made_valid), .m_axis_tready(made_ready), .m_axis_tdata(made_data));
    fifo #(.DEPTH(DEPTH)) words (.clk(clk), .rst(rst), .in_valid(made_valid), .in_ready(made_ready), .in_data(made_data),
                                 .out_valid(kept_valid), .out_ready(kept_ready), .out_data(kept_data));
    taker take (.clk(clk), .rst(rst), .start(start), .wanted(wanted), .pace(pace), .s_axis_tvalid(kept_valid),
                .s_axis_tready(kept_ready), .s_axis_tdata(kept_data), .sum(sum), .done(done));
endmodule
