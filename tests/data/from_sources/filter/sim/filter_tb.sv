module filter_tb; logic clk = 0; a_filter dut(.clk(clk)); initial #10 $finish; endmodule
