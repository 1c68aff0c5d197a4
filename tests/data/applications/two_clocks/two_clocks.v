// Adds up the numbers from 1 to n on a clock of its own, one a cycle; n is written, and the sum read, on the bus clock.
// A write flips `asked`, which the other clock sees two edges later. The interrupt lasts one cycle of that clock.
module two_clocks (
    input wire clk, input wire rst_n, input wire fast, output reg irq,
    input wire awvalid, output wire awready, input wire [7:0] awaddr,
    input wire wvalid, output wire wready, input wire [31:0] wdata, input wire [3:0] wstrb,
    output reg bvalid, input wire bready, output wire [1:0] bresp,
    input wire arvalid, output wire arready, input wire [7:0] araddr,
    output reg rvalid, input wire rready, output reg [31:0] rdata, output wire [1:0] rresp
);
    reg asked;
    reg [31:0] upto, left, sum;
    reg [2:0] seen;
    wire write = awvalid && wvalid && !bvalid;
    wire read = arvalid && !rvalid;
    assign awready = write, wready = write, arready = read, bresp = 2'b00, rresp = 2'b00;

    always @(posedge clk) begin : registers
        if (!rst_n) begin
            bvalid <= 1'b0;
            rvalid <= 1'b0;
            asked <= 1'b0;
        end else begin
            if (bready) bvalid <= 1'b0;
            if (rready) rvalid <= 1'b0;
            if (write) begin
                //pragma recap takeNumber recv(ctrl, $CPU, n)
                bvalid <= 1'b1;
                upto <= wdata;
                asked <= !asked;
            end else if (read) begin
                //pragma recap giveSum send(ctrl, $CPU, sum)
                rvalid <= 1'b1;
                rdata <= sum;
            end
        end
    end

    always @(posedge fast) seen <= rst_n ? {seen[1:0], asked} : 3'd0;

    always @(posedge fast) begin : worker
        irq <= 1'b0;
        if (!rst_n) begin
            left <= 32'd0;
        end else if (seen[2] != seen[1]) begin
            //pragma recap begin overhead(initialize)
            left <= upto;
            sum <= 32'd0;
        end else if (left != 32'd0) begin
            //pragma recap add work()
            left <= left - 32'd1;
            sum <= sum + left;
            irq <= left == 32'd1;
        end else begin
            //pragma recap idle wait_recv(late_sender, $CPU, n)
            irq <= 1'b0;
        end
    end
endmodule
