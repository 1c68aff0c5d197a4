// Registers behind AXI4-Lite and a memory behind AXI4, as shells of PCI Express cards show them to a host. Any value written to 0x80
// raises the interrupt 64 cycles later, one written to 0x84 lowers it; 0x88 counts the registers' writes.
module registers (
    input wire aclk, input wire aresetn, output reg irq,
    input wire s_axil_awvalid, output wire s_axil_awready, input wire [7:0] s_axil_awaddr,
    input wire s_axil_wvalid, output wire s_axil_wready, input wire [31:0] s_axil_wdata, input wire [3:0] s_axil_wstrb,
    output reg s_axil_bvalid, input wire s_axil_bready, output wire [1:0] s_axil_bresp,
    input wire s_axil_arvalid, output wire s_axil_arready, input wire [7:0] s_axil_araddr,
    output reg s_axil_rvalid, input wire s_axil_rready, output reg [31:0] s_axil_rdata, output wire [1:0] s_axil_rresp,
    input wire s_axi_awvalid, output wire s_axi_awready, input wire [15:0] s_axi_awaddr, input wire [7:0] s_axi_awlen,
    input wire s_axi_wvalid, output wire s_axi_wready, input wire [31:0] s_axi_wdata, input wire s_axi_wlast,
    output reg s_axi_bvalid, input wire s_axi_bready, output wire [1:0] s_axi_bresp,
    input wire s_axi_arvalid, output wire s_axi_arready, input wire [15:0] s_axi_araddr, input wire [7:0] s_axi_arlen,
    output reg s_axi_rvalid, input wire s_axi_rready, output reg [31:0] s_axi_rdata, output reg s_axi_rlast,
    output wire [1:0] s_axi_rresp
);
    reg [31:0] registers [0:31];
    reg [31:0] writes;
    reg [6:0] left;
    wire write = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
    wire read = s_axil_arvalid && !s_axil_rvalid;
    assign s_axil_awready = write;
    assign s_axil_wready = write;
    assign s_axil_arready = read;
    assign s_axil_bresp = 2'b00;
    assign s_axil_rresp = 2'b00;

    always @(posedge aclk) begin : control
        if (!aresetn) begin
            s_axil_bvalid <= 1'b0;
            s_axil_rvalid <= 1'b0;
            writes <= 32'd0;
            left <= 7'd0;
            irq <= 1'b0;
        end else begin
            if (s_axil_bready) s_axil_bvalid <= 1'b0;
            if (s_axil_rready) s_axil_rvalid <= 1'b0;
            if (left != 7'd0) left <= left - 7'd1;
            if (left == 7'd1) irq <= 1'b1;
            if (write) begin
                //pragma recap takeRegister recv(ctrl, $CPU, s1)
                s_axil_bvalid <= 1'b1;
                writes <= writes + 32'd1;
                if (!s_axil_awaddr[7]) registers[s_axil_awaddr[6:2]] <= s_axil_wdata;
                if (s_axil_awaddr[7:2] == 6'h20) left <= 7'd64;
                if (s_axil_awaddr[7:2] == 6'h21) irq <= 1'b0;
            end else if (read) begin
                s_axil_rvalid <= 1'b1;
                s_axil_rdata <= s_axil_araddr[7] ? writes : registers[s_axil_araddr[6:2]];
            end
        end
    end

    reg [31:0] memory [0:4095];
    reg [13:2] to, from;
    reg [8:0] to_give;
    reg taking;
    assign s_axi_awready = !taking && !s_axi_bvalid;
    assign s_axi_wready = taking;
    assign s_axi_arready = to_give == 9'd0 && !s_axi_rvalid;
    assign s_axi_bresp = 2'b00;
    assign s_axi_rresp = 2'b00;

    always @(posedge aclk) begin : store
        if (!aresetn) begin
            taking <= 1'b0;
            s_axi_bvalid <= 1'b0;
        end else begin
            if (s_axi_bready) s_axi_bvalid <= 1'b0;
            if (s_axi_awvalid && s_axi_awready) begin
                to <= s_axi_awaddr[13:2];
                taking <= 1'b1;
            end else if (taking && s_axi_wvalid) begin
                //pragma recap takeWord recv(data, $CPU, m1)
                memory[to] <= s_axi_wdata;
                to <= to + 12'd1;
                taking <= !s_axi_wlast;
                s_axi_bvalid <= s_axi_wlast;
            end
        end
    end

    always @(posedge aclk) begin : load
        if (!aresetn) begin
            to_give <= 9'd0;
            s_axi_rvalid <= 1'b0;
            s_axi_rlast <= 1'b0;
        end else if (s_axi_arvalid && s_axi_arready) begin
            from <= s_axi_araddr[13:2];
            to_give <= {1'b0, s_axi_arlen} + 9'd1;
        end else if (!s_axi_rvalid || s_axi_rready) begin
            //pragma recap giveWord send(data, $CPU, m2): to_give != 9'd0
            s_axi_rvalid <= to_give != 9'd0;
            s_axi_rdata <= memory[from];
            s_axi_rlast <= to_give == 9'd1;
            from <= from + 12'd1;
            if (to_give != 9'd0) to_give <= to_give - 9'd1;
        end
    end
endmodule
