package sample_pkg; typedef logic [31:0] sample_t; endpackage
