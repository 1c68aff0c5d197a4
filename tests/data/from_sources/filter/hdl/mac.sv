module mac #(parameter int TAPS = 4) (
    input logic clk, rst, take, input logic [31:0] sample, output logic [31:0] sum);
    import weight_pkg::*;
    logic unused;  // a signal that is called as a module is
    always_ff @(posedge clk)
        if (rst) sum <= 0;
        else if (take) sum <= sum + weighted(sample);
endmodule
