// Address 0 is 1 from cycle 1999 on; the interrupt is high from cycle 1200 on.
module card (
    input clk, input rst,
    input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en, output reg [31:0] rd_data, output irq
);
    reg [31:0] cycles;
    assign irq = cycles >= 1200;
    always @(posedge clk) begin
        cycles <= rst ? 0 : cycles + 1;
        if (rd_en) rd_data <= cycles >= 1999;
    end
endmodule
