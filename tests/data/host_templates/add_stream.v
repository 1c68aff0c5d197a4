// A vFPGA: adds what register 0 holds to every word of a stream; register 1 counts words. Registers are of 64 bits, the low half
// of each is there.
module add_stream (
    input wire aclk, input wire aresetn,
    input wire [31:0] axis_host_recv_tdata, input wire axis_host_recv_tvalid, output wire axis_host_recv_tready,
    input wire axis_host_recv_tlast,
    output reg [31:0] axis_host_send_tdata, output reg axis_host_send_tvalid, input wire axis_host_send_tready,
    output reg axis_host_send_tlast,
    input wire axi_ctrl_awvalid, output wire axi_ctrl_awready, input wire [7:0] axi_ctrl_awaddr,
    input wire axi_ctrl_wvalid, output wire axi_ctrl_wready, input wire [31:0] axi_ctrl_wdata, input wire [3:0] axi_ctrl_wstrb,
    output reg axi_ctrl_bvalid, input wire axi_ctrl_bready, output wire [1:0] axi_ctrl_bresp,
    input wire axi_ctrl_arvalid, output wire axi_ctrl_arready, input wire [7:0] axi_ctrl_araddr,
    output reg axi_ctrl_rvalid, input wire axi_ctrl_rready, output reg [31:0] axi_ctrl_rdata, output wire [1:0] axi_ctrl_rresp
);
    reg [31:0] added, count;
    wire write = axi_ctrl_awvalid && axi_ctrl_wvalid && !axi_ctrl_bvalid;
    wire read = axi_ctrl_arvalid && !axi_ctrl_rvalid;
    assign axi_ctrl_awready = write;
    assign axi_ctrl_wready = write;
    assign axi_ctrl_arready = read;
    assign axi_ctrl_bresp = 2'b00;
    assign axi_ctrl_rresp = 2'b00;
    assign axis_host_recv_tready = !axis_host_send_tvalid || axis_host_send_tready;

    always @(posedge aclk) begin : control
        if (!aresetn) begin
            axi_ctrl_bvalid <= 1'b0;
            axi_ctrl_rvalid <= 1'b0;
            added <= 32'd0;
        end else begin
            if (axi_ctrl_bready) axi_ctrl_bvalid <= 1'b0;
            if (axi_ctrl_rready) axi_ctrl_rvalid <= 1'b0;
            if (write) begin
                //pragma recap takeControl recv(ctrl, $CPU, s1)
                axi_ctrl_bvalid <= 1'b1;
                if (axi_ctrl_awaddr[7:2] == 6'd0) added <= axi_ctrl_wdata;
            end else if (read) begin
                axi_ctrl_rvalid <= 1'b1;
                axi_ctrl_rdata <= axi_ctrl_araddr[7:2] == 6'd0 ? added : axi_ctrl_araddr[7:2] == 6'd2 ? count : 32'd0;
            end
        end
    end

    always @(posedge aclk) begin : adder
        if (!aresetn) begin
            axis_host_send_tvalid <= 1'b0;
            count <= 32'd0;
        end else if (axis_host_recv_tready) begin
            //pragma recap add work()
            axis_host_send_tvalid <= axis_host_recv_tvalid;
            axis_host_send_tlast <= axis_host_recv_tlast;
            axis_host_send_tdata <= axis_host_recv_tdata + added;
            if (axis_host_recv_tvalid) count <= count + 32'd1;
        end
    end
endmodule
