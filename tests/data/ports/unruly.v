// A design that does what no bus allows: which of it is written to a register. Parts of it are as every_port.v's.
module unruly (
    input clk, input rst_n,
    input [15:0] awaddr, input awvalid, output awready, input [31:0] wdata, input wvalid, output wready,
    output [1:0] bresp, output reg bvalid, input bready,
    input [15:0] araddr, input arvalid, output arready, output [31:0] rdata, output [1:0] rresp, output reg rvalid, input rready,
    input [15:0] b_awaddr, input [7:0] b_awlen, input b_awvalid, output b_awready, input [31:0] b_wdata, input b_wlast,
    input b_wvalid, output b_wready, output [1:0] b_bresp, output reg b_bvalid, input b_bready,
    input [15:0] b_araddr, input [7:0] b_arlen, input b_arvalid, output b_arready,
    output [31:0] b_rdata, output [1:0] b_rresp, output b_rlast, output b_rvalid, input b_rready,
    input [9:0] a_address, input a_read, input a_write, input [31:0] a_writedata, output [31:0] a_readdata,
    output a_readdatavalid,
    output [31:0] m_araddr, output [7:0] m_arlen, output [2:0] m_arsize, output [1:0] m_arburst, output reg m_arvalid,
    input m_arready, input m_rvalid, output m_rready,
    output [31:0] m_awaddr, output [7:0] m_awlen, output reg m_awvalid, input m_awready,
    output [31:0] m_wdata, output m_wlast, output reg m_wvalid, input m_wready, input m_bvalid, output m_bready
);
    localparam EARLY_B = 1, OWN_R = 2, EARLY_RLAST = 3, NO_RLAST = 4, WRITE_ERROR = 5, READ_ERROR = 6, OWN_DATA = 7,
        EARLY_WLAST = 8, NO_WLAST = 9, CROSSES = 10, WRAPS = 11, NARROW = 12;
    reg [7:0] fault;

    wire take = awvalid & wvalid & ~bvalid;
    assign awready = take, wready = take, arready = ~rvalid, bresp = 0, rresp = 0, rdata = 0;
    always @(posedge clk) begin
        bvalid <= rst_n & (take | (bvalid & ~bready));
        rvalid <= rst_n & ((arvalid & arready) | (rvalid & ~rready));
        if (!rst_n) fault <= 0;
        else if (take) fault <= wdata[7:0];
    end

    reg reading;
    reg [7:0] left;
    assign b_awready = 1, b_wready = 1, b_arready = ~reading, b_rdata = 0;
    assign b_bresp = fault == WRITE_ERROR ? 2 : 0, b_rresp = fault == READ_ERROR ? 2 : 0;
    assign b_rvalid = reading | (fault == OWN_R);
    assign b_rlast = fault == EARLY_RLAST ? 1 : fault == NO_RLAST ? 0 : left == 0;
    always @(posedge clk) begin
        b_bvalid <= rst_n & b_wvalid & (b_wlast | (fault == EARLY_B));
        if (b_arvalid & b_arready) begin reading <= 1; left <= b_arlen; end
        if (reading) left <= left - 1;
        if ((reading & (left == 0)) | ~rst_n) reading <= 0;
    end

    reg [1:0] valid;
    assign a_readdata = 0;
    assign a_readdatavalid = valid[1] | (fault == OWN_DATA);
    always @(posedge clk) valid <= {valid[0], a_read};

    reg asked, second;
    wire writes = fault == EARLY_WLAST | fault == NO_WLAST, reads = fault == CROSSES | fault == WRAPS | fault == NARROW;
    assign m_araddr = fault == CROSSES ? 32'hff8 : 0, m_arlen = 3, m_rready = 1;
    assign m_arsize = fault == NARROW ? 1 : 2, m_arburst = fault == WRAPS ? 2 : 1;
    assign m_awaddr = 0, m_awlen = 1, m_wdata = 0, m_bready = 1;
    assign m_wlast = fault == EARLY_WLAST;
    always @(posedge clk) begin
        asked <= rst_n & (writes | reads);
        if (~asked & writes) begin m_awvalid <= 1; m_wvalid <= 1; end
        if (~asked & reads) m_arvalid <= 1;
        if (m_awready & m_awvalid) m_awvalid <= 0;
        if (m_arready & m_arvalid) m_arvalid <= 0;
        if (m_wready & m_wvalid) begin second <= 1; if (second) m_wvalid <= 0; end
        if (!rst_n) begin m_awvalid <= 0; m_arvalid <= 0; m_wvalid <= 0; second <= 0; end
    end
endmodule
