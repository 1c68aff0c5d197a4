// SHA-256 behind AXI4-Lite. 0x00 control (1: first block, 2: another), 0x04 ready, 0x40 to 0x7c block, 0x80 to 0x9c digest.
module sha256_axil (
    input wire s_axi_aclk, input wire s_axi_aresetn,
    input wire s_axi_awvalid, output wire s_axi_awready, input wire [7:0] s_axi_awaddr, input wire [2:0] s_axi_awprot,
    input wire s_axi_wvalid, output wire s_axi_wready, input wire [31:0] s_axi_wdata, input wire [3:0] s_axi_wstrb,
    output reg s_axi_bvalid, input wire s_axi_bready, output wire [1:0] s_axi_bresp,
    input wire s_axi_arvalid, output wire s_axi_arready, input wire [7:0] s_axi_araddr, input wire [2:0] s_axi_arprot,
    output reg s_axi_rvalid, input wire s_axi_rready, output reg [31:0] s_axi_rdata, output wire [1:0] s_axi_rresp
);
    // A word is taken when address and data are there and the answer before has gone: two cycles a word.
    wire write = s_axi_awvalid && s_axi_wvalid && !s_axi_bvalid;
    wire read = s_axi_arvalid && !s_axi_rvalid;
    assign s_axi_awready = write;
    assign s_axi_wready = write;
    assign s_axi_arready = read;
    assign s_axi_bresp = 2'b00;
    assign s_axi_rresp = 2'b00;

    reg first, next;
    reg [511:0] block;
    wire ready;
    wire [255:0] digest;
    wire [8:0] block_bit = {4'd15 - s_axi_awaddr[5:2], 5'd0};
    wire [7:0] digest_bit = {3'd7 - s_axi_araddr[4:2], 5'd0};

    always @(posedge s_axi_aclk) begin : bus
        if (!s_axi_aresetn) begin
            s_axi_bvalid <= 1'b0;
            s_axi_rvalid <= 1'b0;
            first <= 1'b0;
            next <= 1'b0;
        end else begin
            first <= 1'b0;
            next <= 1'b0;
            if (s_axi_bready) s_axi_bvalid <= 1'b0;
            if (s_axi_rready) s_axi_rvalid <= 1'b0;
            if (write) begin
                //pragma recap takeControl recv(ctrl, $CPU, s1): !s_axi_awaddr[6]
                //pragma recap takeBlock recv(data, $CPU, b1): s_axi_awaddr[6]
                s_axi_bvalid <= 1'b1;
                if (s_axi_awaddr[6]) block[block_bit +: 32] <= s_axi_wdata;
                else {next, first} <= s_axi_wdata[1:0];
            end else if (read) begin
                //pragma recap giveReady send(ctrl, $CPU, r1): !s_axi_araddr[7]
                //pragma recap giveDigest send(data, $CPU, d1): s_axi_araddr[7]
                s_axi_rvalid <= 1'b1;
                s_axi_rdata <= s_axi_araddr[7] ? digest[digest_bit +: 32] : {31'd0, ready && !first && !next};
            end else begin
                //pragma recap waitHost wait_recv(late_sender, $CPU, b1|s1)
                block <= block;
            end
        end
    end

    sha256_core core (
        .clk(s_axi_aclk), .rst_n(s_axi_aresetn), .first(first), .next(next), .block(block), .ready(ready), .digest(digest)
    );
endmodule
