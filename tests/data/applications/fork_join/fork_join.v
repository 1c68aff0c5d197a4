// A fork to two branches in lockstep, the slow one of which takes LATENCY words before it gives one, and their join.
module fifo #(parameter WIDTH = 32, parameter DEPTH = 4) (
    input wire clk, input wire rst,
    input wire in_valid, output wire in_ready, input wire [WIDTH-1:0] in_data,
    output wire out_valid, input wire out_ready, output wire [WIDTH-1:0] out_data
);
    reg [WIDTH-1:0] words [0:DEPTH-1];
    reg [15:0] written = 0, read = 0;
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

// Gives GATHER words for each GATHER taken, DELAY cycles after it has them all.
module slow #(parameter GATHER = 8, parameter DELAY = 0) (
    input wire clk, input wire rst,
    input wire s_axis_tvalid, output wire s_axis_tready, input wire [31:0] s_axis_tdata,
    output wire m_axis_tvalid, input wire m_axis_tready, output wire [31:0] m_axis_tdata
);
    reg [31:0] held [0:GATHER-1];
    reg [15:0] count = 0, given = 0;
    reg giving = 0;
    reg [31:0] delayed = 0;
    assign s_axis_tready = ~giving;
    assign m_axis_tvalid = giving & delayed == DELAY;
    assign m_axis_tdata = held[given];
    always @(posedge clk)
        if (rst) begin
            count <= 0;
            given <= 0;
            giving <= 0;
            delayed <= 0;
        end else if (~giving) begin
            if (s_axis_tvalid) begin
                held[count] <= s_axis_tdata + 1;
                count <= count == GATHER - 1 ? 0 : count + 1;
                giving <= count == GATHER - 1;
                delayed <= 0;
            end
        end else if (delayed != DELAY) begin
            delayed <= delayed + 1;
        end else if (m_axis_tready) begin
            given <= given == GATHER - 1 ? 0 : given + 1;
            giving <= given != GATHER - 1;
        end
endmodule

module fork2 (
    input wire in_valid, output wire in_ready, input wire [31:0] in_data,
    output wire a_valid, input wire a_ready, output wire [31:0] a_data,
    output wire b_valid, input wire b_ready, output wire [31:0] b_data
);
    assign in_ready = a_ready & b_ready;
    assign a_valid = in_valid & b_ready;
    assign b_valid = in_valid & a_ready;
    assign a_data = in_data;
    assign b_data = in_data;
endmodule

module join2 (
    input wire a_valid, output wire a_ready, input wire [31:0] a_data,
    input wire b_valid, output wire b_ready, input wire [31:0] b_data,
    output wire out_valid, input wire out_ready, output wire [31:0] out_data
);
    assign out_valid = a_valid & b_valid;
    assign a_ready = out_ready & b_valid;
    assign b_ready = out_ready & a_valid;
    assign out_data = a_data + b_data;
endmodule

module fork_join #(parameter SHORT = 16, parameter GATHER = 8, parameter DELAY = 0) (
    input wire clk, input wire rst,
    input wire s_axis_tvalid, output wire s_axis_tready, input wire [31:0] s_axis_tdata, input wire s_axis_tlast,
    output wire m_axis_tvalid, input wire m_axis_tready, output wire [31:0] m_axis_tdata,
    output reg [31:0] ticks
);
    always @(posedge clk) ticks <= rst ? 0 : ticks + 1; // goes on whatever stands still

    wire a_valid, a_ready, b_valid, b_ready, fa_valid, fa_ready, fb_valid, fb_ready, c_valid, c_ready;
    wire [31:0] a_data, b_data, fa_data, fb_data, c_data;

    fork2 split (
        .in_valid(s_axis_tvalid), .in_ready(s_axis_tready), .in_data(s_axis_tdata),
        .a_valid(a_valid), .a_ready(a_ready), .a_data(a_data),
        .b_valid(b_valid), .b_ready(b_ready), .b_data(b_data)
    );
    fifo #(.DEPTH(SHORT)) short (
        .clk(clk), .rst(rst), .in_valid(a_valid), .in_ready(a_ready), .in_data(a_data),
        .out_valid(fa_valid), .out_ready(fa_ready), .out_data(fa_data)
    );
    fifo #(.DEPTH(16)) ahead (
        .clk(clk), .rst(rst), .in_valid(b_valid), .in_ready(b_ready), .in_data(b_data),
        .out_valid(fb_valid), .out_ready(fb_ready), .out_data(fb_data)
    );
    slow #(.GATHER(GATHER), .DELAY(DELAY)) gather (
        .clk(clk), .rst(rst), .s_axis_tvalid(fb_valid), .s_axis_tready(fb_ready), .s_axis_tdata(fb_data),
        .m_axis_tvalid(c_valid), .m_axis_tready(c_ready), .m_axis_tdata(c_data)
    );
    join2 merge (
        .a_valid(fa_valid), .a_ready(fa_ready), .a_data(fa_data),
        .b_valid(c_valid), .b_ready(c_ready), .b_data(c_data),
        .out_valid(m_axis_tvalid), .out_ready(m_axis_tready), .out_data(m_axis_tdata)
    );
endmodule
