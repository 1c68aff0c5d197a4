`define W 32
