module a_filter import sample_pkg::*; #(parameter int TAPS = 4) (
    input logic clk, input logic rst, input logic [15:0] addr,
    input logic wr_en, input sample_t wr_data, input logic rd_en, output sample_t rd_data);
    sample_t sum;
    mac #(.TAPS(TAPS)) u_mac (.clk, .rst, .take(wr_en && addr == 16'h0010), .sample(wr_data), .sum);
    always_ff @(posedge clk)
        if (rd_en) rd_data <= (addr == `STATUS_ADDRESS) ? sample_t'(1) : sum;
endmodule
