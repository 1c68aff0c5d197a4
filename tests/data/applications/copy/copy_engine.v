// Copies words in memory, with an AXI4 master of its own: a burst of up to 16 words is read, then written.
// AXI4-Lite: 0x00 write 1 to start, read 1 while busy; 0x04 from and 0x08 to, in bytes; 0x0c how many words.
module copy_engine (
    input wire clk, input wire rst_n,
    input wire s_axi_awvalid, output wire s_axi_awready, input wire [7:0] s_axi_awaddr,
    input wire s_axi_wvalid, output wire s_axi_wready, input wire [31:0] s_axi_wdata, input wire [3:0] s_axi_wstrb,
    output reg s_axi_bvalid, input wire s_axi_bready, output wire [1:0] s_axi_bresp,
    input wire s_axi_arvalid, output wire s_axi_arready, input wire [7:0] s_axi_araddr,
    output reg s_axi_rvalid, input wire s_axi_rready, output reg [31:0] s_axi_rdata, output wire [1:0] s_axi_rresp,
    output wire m_axi_awvalid, input wire m_axi_awready, output wire [31:0] m_axi_awaddr, output wire [7:0] m_axi_awlen,
    output wire [2:0] m_axi_awsize, output wire [1:0] m_axi_awburst,
    output wire m_axi_wvalid, input wire m_axi_wready, output wire [31:0] m_axi_wdata, output wire [3:0] m_axi_wstrb,
    output wire m_axi_wlast, input wire m_axi_bvalid, output wire m_axi_bready, input wire [1:0] m_axi_bresp,
    output wire m_axi_arvalid, input wire m_axi_arready, output wire [31:0] m_axi_araddr, output wire [7:0] m_axi_arlen,
    output wire [2:0] m_axi_arsize, output wire [1:0] m_axi_arburst,
    input wire m_axi_rvalid, output wire m_axi_rready, input wire [31:0] m_axi_rdata, input wire m_axi_rlast,
    input wire [1:0] m_axi_rresp,
    output wire irq
);
    localparam IDLE = 3'd0, ASK = 3'd1, READ = 3'd2, PLACE = 3'd3, WRITE = 3'd4, ANSWER = 3'd5;
    reg [2:0] state;
    reg [31:0] from, to, left;  // left: words
    reg [31:0] burst [0:15];
    reg [4:0] at;
    reg start;
    wire [4:0] words = left > 32'd16 ? 5'd16 : left[4:0];

    wire write = s_axi_awvalid && s_axi_wvalid && !s_axi_bvalid;
    wire read = s_axi_arvalid && !s_axi_rvalid;
    assign s_axi_awready = write;
    assign s_axi_wready = write;
    assign s_axi_arready = read;
    assign s_axi_bresp = 2'b00;
    assign s_axi_rresp = 2'b00;

    assign m_axi_arvalid = state == ASK;
    assign m_axi_araddr = from;
    assign m_axi_arlen = {3'd0, words} - 8'd1;
    assign m_axi_arsize = 3'd2;
    assign m_axi_arburst = 2'd1;
    assign m_axi_rready = state == READ;
    assign m_axi_awvalid = state == PLACE;
    assign m_axi_awaddr = to;
    assign m_axi_awlen = {3'd0, words} - 8'd1;
    assign m_axi_awsize = 3'd2;
    assign m_axi_awburst = 2'd1;
    assign m_axi_wvalid = state == WRITE;
    assign m_axi_wdata = burst[at[3:0]];
    assign m_axi_wstrb = 4'hf;
    assign m_axi_wlast = at + 5'd1 == words;
    assign m_axi_bready = state == ANSWER;
    assign irq = state == IDLE && !start;

    always @(posedge clk) begin : bus
        if (!rst_n) begin
            s_axi_bvalid <= 1'b0;
            s_axi_rvalid <= 1'b0;
            start <= 1'b0;
        end else begin
            start <= 1'b0;
            if (s_axi_bready) s_axi_bvalid <= 1'b0;
            if (s_axi_rready) s_axi_rvalid <= 1'b0;
            if (write) begin
                //pragma recap takeControl recv(ctrl, $CPU, s1)
                s_axi_bvalid <= 1'b1;
                start <= s_axi_awaddr[3:2] == 2'd0 && s_axi_wdata[0];
            end else if (read) begin
                s_axi_rvalid <= 1'b1;
                s_axi_rdata <= {31'd0, !irq};
            end
        end
    end

    always @(posedge clk) begin : mover
        if (!rst_n) begin
            state <= IDLE;
            left <= 32'd0;
            at <= 5'd0;
        end else if (state == IDLE) begin
            //pragma recap waitStart wait_recv(late_sender, $CPU, s1)
            if (write && s_axi_awaddr[3:2] == 2'd1) from <= s_axi_wdata;
            if (write && s_axi_awaddr[3:2] == 2'd2) to <= s_axi_wdata;
            if (write && s_axi_awaddr[3:2] == 2'd3) left <= s_axi_wdata;
            at <= 5'd0;
            if (start && left != 32'd0) state <= ASK;
        end else if (state == ASK) begin
            //pragma recap askRead overhead(update)
            if (m_axi_arready) state <= READ;
        end else if (state == READ) begin
            if (m_axi_rvalid) begin
                //pragma recap readWord recv(data, $MEM, m1)
                burst[at[3:0]] <= m_axi_rdata;
                at <= at + 5'd1;
                if (m_axi_rlast) begin
                    at <= 5'd0;
                    state <= PLACE;
                end
            end else begin
                //pragma recap waitRead wait_recv(late_sender, $MEM, m1)
                at <= at;
            end
        end else if (state == PLACE) begin
            //pragma recap askWrite overhead(update)
            if (m_axi_awready) state <= WRITE;
        end else if (state == WRITE) begin
            //pragma recap writeWord send(data, $MEM, m2)
            if (m_axi_wready) begin
                at <= at + 5'd1;
                if (m_axi_wlast) state <= ANSWER;
            end
        end else begin
            if (m_axi_bvalid) begin
                //pragma recap written send(ctrl, $CPU, i1)
                from <= from + {25'd0, words, 2'd0};
                to <= to + {25'd0, words, 2'd0};
                left <= left - {27'd0, words};
                at <= 5'd0;
                state <= left == {27'd0, words} ? IDLE : ASK;
            end else begin
                //pragma recap waitWritten wait_send(ack, $MEM, m2)
                at <= at;
            end
        end
    end
endmodule
