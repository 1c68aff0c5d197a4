// Words written to 0x000..0x0FF go, BURST times each, through a FIFO to what adds them up, DELAY cycles each. 0x100 says
// whether all is done, 0x101 the sum.
module queued_top #(parameter DELAY = 9, parameter BURST = 1) (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data
);
    wire        in_tvalid, in_tready, out_tvalid, out_tready, idle;
    wire [63:0] in_tdata, out_tdata;
    wire [31:0] sum;
    take #(.BURST(BURST)) taker (.clk(clk), .rst(rst), .write(wr_en && addr < 32'h100), .data(wr_data),
                .m_tvalid(in_tvalid), .m_tready(in_tready), .m_tdata(in_tdata));
    fifo queue (.clk(clk), .rst(rst), .s_tvalid(in_tvalid), .s_tready(in_tready), .s_tdata(in_tdata),
                .m_tvalid(out_tvalid), .m_tready(out_tready), .m_tdata(out_tdata));
    adds #(.DELAY(DELAY)) adder (.clk(clk), .rst(rst), .s_tvalid(out_tvalid), .s_tready(out_tready),
                .s_tdata(out_tdata), .sum(sum), .idle(idle));
    always @(posedge clk) if (rd_en) rd_data <= addr == 32'h100 ? {31'b0, idle && !out_tvalid && !in_tvalid} : sum;
endmodule

// One word is kept until it is taken so often; the highest bit says whether it is odd.
module take #(parameter BURST = 1) (
    input             clk, rst, write,
    input      [31:0] data,
    output reg        m_tvalid,
    input             m_tready,
    output reg [63:0] m_tdata
);
    reg [7:0] left;
    always @(posedge clk)
        if (rst) m_tvalid <= 0;
        else if (write) begin
            m_tvalid <= 1;
            m_tdata <= {data[0], 31'd0, data};
            left <= BURST - 1;
        end else if (m_tready) begin
            m_tvalid <= m_tvalid && left != 0;
            left <= left - 1;
        end
endmodule

module fifo (
    input         clk, rst,
    input         s_tvalid,
    output        s_tready,
    input  [63:0] s_tdata,
    output        m_tvalid,
    input         m_tready,
    output [63:0] m_tdata
);
    localparam DEPTH = 16;
    reg [63:0] words [0:DEPTH-1];
    reg [4:0] head, tail;
    wire [4:0] held = tail - head;
    assign s_tready = held != DEPTH;
    assign m_tvalid = tail != head;
    assign m_tdata = words[head[3:0]];
    always @(posedge clk)
        if (rst) begin
            head <= 0;
            tail <= 0;
        end else begin
            if (s_tvalid && s_tready) begin
                words[tail[3:0]] <= s_tdata;
                tail <= tail + 1;
            end
            if (m_tvalid && m_tready) head <= head + 1;
        end
endmodule

module adds #(parameter DELAY = 9) (
    input             clk, rst,
    input             s_tvalid,
    output            s_tready,
    input      [63:0] s_tdata,
    output reg [31:0] sum,
    output            idle
);
    reg [7:0] left;
    assign s_tready = left == 0;
    assign idle = left == 0;
    always @(posedge clk) begin : adding
        if (rst) begin
            left <= 0;
            sum <= 0;
        end else if (left != 0) begin
            //pragma recap add work()
            left <= left - 1;
        end else if (s_tvalid) begin
            //pragma recap fetch overhead(update)
            left <= DELAY;
            sum <= sum + s_tdata[31:0];
        end else begin
            //pragma recap starve wait_recv(buffer_empty, queued_top.queue, w1)
            left <= 0;
        end
    end
endmodule
