// Counts LFSR points in a quarter circle.
module monte (
    input  wire        aclk,
    input  wire        aresetn,
    input  wire [7:0]  s_axi_awaddr,
    input  wire        s_axi_awvalid,
    output wire        s_axi_awready,
    input  wire [31:0] s_axi_wdata,
    input  wire [3:0]  s_axi_wstrb,
    input  wire        s_axi_wvalid,
    output wire        s_axi_wready,
    output wire [1:0]  s_axi_bresp,
    output reg         s_axi_bvalid,
    input  wire        s_axi_bready,
    input  wire [7:0]  s_axi_araddr,
    input  wire        s_axi_arvalid,
    output wire        s_axi_arready,
    output reg  [31:0] s_axi_rdata,
    output wire [1:0]  s_axi_rresp,
    output reg         s_axi_rvalid,
    input  wire        s_axi_rready,
    output wire        irq
);
    reg [31:0] lfsr, hits, seed;
    reg [11:0] left;
    wire busy = |left;
    wire write = s_axi_awvalid & s_axi_wvalid & ~s_axi_bvalid;
    assign s_axi_awready = write;
    assign s_axi_wready  = write;
    assign s_axi_bresp   = 2'b00;
    assign s_axi_rresp   = 2'b00;
    assign s_axi_arready = ~s_axi_rvalid;
    assign irq = ~busy;
    wire [15:0] x = lfsr[15:0], y = lfsr[31:16];
    wire [32:0] r = x * x + y * y;

    always @(posedge aclk)
        if (!aresetn) begin
            s_axi_bvalid <= 0;
            s_axi_rvalid <= 0;
        end else begin
            if (write)
                s_axi_bvalid <= 1;
            else if (s_axi_bready) s_axi_bvalid <= 0;
            if (s_axi_arvalid & s_axi_arready) begin
                s_axi_rvalid <= 1;
                case (s_axi_araddr[3:2])
                    2'd1: s_axi_rdata <= {31'd0, busy};
                    2'd3: s_axi_rdata <= hits;
                    default: s_axi_rdata <= seed;
                endcase
            end else if (s_axi_rready) s_axi_rvalid <= 0;
        end

    always @(posedge aclk)
        if (!aresetn) begin
            left <= 0;
            hits <= 0;
        end else if (write && s_axi_awaddr[3:2] == 2)
            seed <= s_axi_wdata;
        else if (write && s_axi_awaddr[3:2] == 0 && s_axi_wdata[0]) begin
            left <= 2000;
            hits <= 0;
            lfsr <= seed;
        end else if (busy) begin
            lfsr <= {lfsr[30:0], lfsr[31] ^ lfsr[21] ^ lfsr[1] ^ lfsr[0]};
            if (r < 33'h1_0000_0000) hits <= hits + 1;
            left <= left - 1;
        end
endmodule
