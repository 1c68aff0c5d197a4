// A kernel: multiplies words of memory by a factor, with an AXI4 master of its own, a burst of up to 16 words at a time.
// Its registers are a Vitis kernel's: 0x00 start, 0x04 and 0x08 interrupt enables, 0x0c interrupt status; arguments 0x10 from and
// 0x1c to (8 bytes each), 0x28 factor, 0x30 how many words (or 0x2c, where these two are one argument of 8 bytes).
module scale (
    input wire ap_clk, input wire ap_rst_n,
    input wire s_axi_control_awvalid, output wire s_axi_control_awready, input wire [7:0] s_axi_control_awaddr,
    input wire s_axi_control_wvalid, output wire s_axi_control_wready, input wire [31:0] s_axi_control_wdata,
    input wire [3:0] s_axi_control_wstrb,
    output reg s_axi_control_bvalid, input wire s_axi_control_bready, output wire [1:0] s_axi_control_bresp,
    input wire s_axi_control_arvalid, output wire s_axi_control_arready, input wire [7:0] s_axi_control_araddr,
    output reg s_axi_control_rvalid, input wire s_axi_control_rready, output reg [31:0] s_axi_control_rdata,
    output wire [1:0] s_axi_control_rresp,
    output wire m_axi_gmem_awvalid, input wire m_axi_gmem_awready, output wire [31:0] m_axi_gmem_awaddr,
    output wire [7:0] m_axi_gmem_awlen, output wire [2:0] m_axi_gmem_awsize, output wire [1:0] m_axi_gmem_awburst,
    output wire m_axi_gmem_wvalid, input wire m_axi_gmem_wready, output wire [31:0] m_axi_gmem_wdata,
    output wire [3:0] m_axi_gmem_wstrb, output wire m_axi_gmem_wlast,
    input wire m_axi_gmem_bvalid, output wire m_axi_gmem_bready, input wire [1:0] m_axi_gmem_bresp,
    output wire m_axi_gmem_arvalid, input wire m_axi_gmem_arready, output wire [31:0] m_axi_gmem_araddr,
    output wire [7:0] m_axi_gmem_arlen, output wire [2:0] m_axi_gmem_arsize, output wire [1:0] m_axi_gmem_arburst,
    input wire m_axi_gmem_rvalid, output wire m_axi_gmem_rready, input wire [31:0] m_axi_gmem_rdata,
    input wire m_axi_gmem_rlast, input wire [1:0] m_axi_gmem_rresp,
    output wire interrupt
);
    localparam IDLE = 3'd0, ASK = 3'd1, READ = 3'd2, PLACE = 3'd3, WRITE = 3'd4, ANSWER = 3'd5;
    reg [2:0] state;
    reg [31:0] from, to, factor, left;  // left: words
    reg [31:0] burst [0:15];
    reg [4:0] at;
    reg start, ended, enabled, of_end;
    wire [4:0] words = left > 32'd16 ? 5'd16 : left[4:0];
    wire last = state == ANSWER && m_axi_gmem_bvalid && left == {27'd0, words};

    wire write = s_axi_control_awvalid && s_axi_control_wvalid && !s_axi_control_bvalid;
    wire read = s_axi_control_arvalid && !s_axi_control_rvalid;
    wire [5:0] word = s_axi_control_awaddr[7:2];
    assign s_axi_control_awready = write;
    assign s_axi_control_wready = write;
    assign s_axi_control_arready = read;
    assign s_axi_control_bresp = 2'b00;
    assign s_axi_control_rresp = 2'b00;
    assign interrupt = ended && enabled && of_end;

    assign m_axi_gmem_arvalid = state == ASK;
    assign m_axi_gmem_araddr = from;
    assign m_axi_gmem_arlen = {3'd0, words} - 8'd1;
    assign m_axi_gmem_arsize = 3'd2;
    assign m_axi_gmem_arburst = 2'd1;
    assign m_axi_gmem_rready = state == READ;
    assign m_axi_gmem_awvalid = state == PLACE;
    assign m_axi_gmem_awaddr = to;
    assign m_axi_gmem_awlen = {3'd0, words} - 8'd1;
    assign m_axi_gmem_awsize = 3'd2;
    assign m_axi_gmem_awburst = 2'd1;
    assign m_axi_gmem_wvalid = state == WRITE;
    assign m_axi_gmem_wdata = burst[at[3:0]];
    assign m_axi_gmem_wstrb = 4'hf;
    assign m_axi_gmem_wlast = at + 5'd1 == words;
    assign m_axi_gmem_bready = state == ANSWER;

    always @(posedge ap_clk) begin : control
        if (!ap_rst_n) begin
            s_axi_control_bvalid <= 1'b0;
            s_axi_control_rvalid <= 1'b0;
            start <= 1'b0;
            ended <= 1'b0;
            enabled <= 1'b0;
            of_end <= 1'b0;
        end else begin
            start <= 1'b0;
            if (s_axi_control_bready) s_axi_control_bvalid <= 1'b0;
            if (s_axi_control_rready) s_axi_control_rvalid <= 1'b0;
            if (last) ended <= 1'b1;
            if (write) begin
                s_axi_control_bvalid <= 1'b1;
                start <= word == 6'd0 && s_axi_control_wdata[0];
                if (word == 6'd1) enabled <= s_axi_control_wdata[0];
                if (word == 6'd2) of_end <= s_axi_control_wdata[0];
                if (word == 6'd3 && s_axi_control_wdata[0]) ended <= !ended;
            end else if (read) begin
                s_axi_control_rvalid <= 1'b1;
                s_axi_control_rdata <= s_axi_control_araddr[7:2] == 6'd3 ? {31'd0, ended}
                                                                         : {29'd0, state == IDLE, ended, start};
            end
        end
    end

    always @(posedge ap_clk) begin : mover
        if (!ap_rst_n) begin
            state <= IDLE;
            left <= 32'd0;
            at <= 5'd0;
        end else if (state == IDLE) begin
            //pragma recap waitStart wait_recv(late_sender, $CPU, s1)
            if (write && word == 6'd4) from <= s_axi_control_wdata;
            if (write && word == 6'd7) to <= s_axi_control_wdata;
            if (write && word == 6'd10) factor <= s_axi_control_wdata;
            if (write && (word == 6'd11 || word == 6'd12)) left <= s_axi_control_wdata;
            at <= 5'd0;
            if (start) state <= ASK;
        end else if (state == ASK) begin
            //pragma recap askRead overhead(update)
            if (m_axi_gmem_arready) state <= READ;
        end else if (state == READ) begin
            //pragma recap readWord recv(data, $MEM, m1)
            if (m_axi_gmem_rvalid) begin
                burst[at[3:0]] <= m_axi_gmem_rdata * factor;
                at <= m_axi_gmem_rlast ? 5'd0 : at + 5'd1;
                if (m_axi_gmem_rlast) state <= PLACE;
            end
        end else if (state == PLACE) begin
            //pragma recap askWrite overhead(update)
            if (m_axi_gmem_awready) state <= WRITE;
        end else if (state == WRITE) begin
            //pragma recap writeWord send(data, $MEM, m2)
            if (m_axi_gmem_wready) begin
                at <= at + 5'd1;
                if (m_axi_gmem_wlast) state <= ANSWER;
            end
        end else begin
            //pragma recap waitWritten wait_send(ack, $MEM, m2)
            if (m_axi_gmem_bvalid) begin
                from <= from + {25'd0, words, 2'd0};
                to <= to + {25'd0, words, 2'd0};
                left <= left - {27'd0, words};
                at <= 5'd0;
                state <= last ? IDLE : ASK;
            end
        end
    end
endmodule
