// A filter on AXI4-Stream with one multiplier; its coefficients are registers on AXI4-Lite, at 4 times their number.
// A sample is taken, multiplied with each coefficient, one a cycle, and its sum given away: TAPS + 2 cycles a sample.
module fir_axis #(
    parameter TAPS = 4
) (
    input wire aclk, input wire aresetn,
    input wire [31:0] s_axis_tdata, input wire s_axis_tvalid, output wire s_axis_tready, input wire s_axis_tlast,
    output reg [31:0] m_axis_tdata, output wire m_axis_tvalid, input wire m_axis_tready, output reg m_axis_tlast,
    input wire s_axil_awvalid, output wire s_axil_awready, input wire [7:0] s_axil_awaddr,
    input wire s_axil_wvalid, output wire s_axil_wready, input wire [31:0] s_axil_wdata, input wire [3:0] s_axil_wstrb,
    output reg s_axil_bvalid, input wire s_axil_bready, output wire [1:0] s_axil_bresp,
    input wire s_axil_arvalid, output wire s_axil_arready, input wire [7:0] s_axil_araddr,
    output reg s_axil_rvalid, input wire s_axil_rready, output reg [31:0] s_axil_rdata, output wire [1:0] s_axil_rresp
);
    localparam TAKE = 2'd0, MULTIPLY = 2'd1, GIVE = 2'd2;
    reg [1:0] state;
    reg [7:0] tap;
    reg [31:0] sample [0:TAPS-1];
    reg [31:0] coefficient [0:TAPS-1];
    integer i;

    wire write = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
    wire read = s_axil_arvalid && !s_axil_rvalid;
    assign s_axil_awready = write;
    assign s_axil_wready = write;
    assign s_axil_arready = read;
    assign s_axil_bresp = 2'b00;
    assign s_axil_rresp = 2'b00;

    always @(posedge aclk) begin : registers
        if (!aresetn) begin
            s_axil_bvalid <= 1'b0;
            s_axil_rvalid <= 1'b0;
        end else begin
            if (s_axil_bready) s_axil_bvalid <= 1'b0;
            if (s_axil_rready) s_axil_rvalid <= 1'b0;
            if (write) begin
                //pragma recap takeCoefficient recv(ctrl, $CPU, c1)
                s_axil_bvalid <= 1'b1;
                coefficient[s_axil_awaddr[7:2]] <= s_axil_wdata;
            end else if (read) begin
                s_axil_rvalid <= 1'b1;
                s_axil_rdata <= coefficient[s_axil_araddr[7:2]];
            end
        end
    end

    assign s_axis_tready = state == TAKE;
    assign m_axis_tvalid = state == GIVE;

    always @(posedge aclk) begin : filter
        if (!aresetn) begin
            state <= TAKE;
            tap <= 8'd0;
            m_axis_tlast <= 1'b0;
            for (i = 0; i < TAPS; i = i + 1) sample[i] <= 32'd0;
        end else if (state == TAKE) begin
            if (s_axis_tvalid) begin
                //pragma recap take recv(data, $CPU, x1)
                sample[0] <= s_axis_tdata;
                for (i = 1; i < TAPS; i = i + 1) sample[i] <= sample[i-1];
                m_axis_tdata <= 32'd0;
                m_axis_tlast <= s_axis_tlast;
                tap <= 8'd0;
                state <= MULTIPLY;
            end else begin
                //pragma recap waitSample wait_recv(late_sender, $CPU, x1)
                tap <= 8'd0;
            end
        end else if (state == MULTIPLY) begin
            //pragma recap multiply work()
            m_axis_tdata <= m_axis_tdata + sample[tap] * coefficient[tap];
            tap <= tap + 8'd1;
            if (tap == TAPS - 1) state <= GIVE;
        end else begin
            if (m_axis_tready) begin
                //pragma recap give send(data, $CPU, y1)
                state <= TAKE;
            end else begin
                //pragma recap waitTaken wait_send(late_receiver, $CPU, y1)
                tap <= 8'd0;
            end
        end
    end
endmodule
