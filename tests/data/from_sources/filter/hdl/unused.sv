module unused(input a); missing_module m(); endmodule
